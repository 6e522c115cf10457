/// Finds all objects that values hold, breadth first, so that each object has its shortest path.
///
/// All objects are kept alive until the walk ends, so that no address is reused.
struct GraphWalker {
  private let options: LeakOptions
  private let support: RuntimeSupport
  private let shared: ObjectGraph?
  private var graph = ObjectGraph()
  private var held: [AnyObject?] = []
  private var types: [ObjectIdentifier: TypeFacts] = [:]

  /// Where a value was found: the object, the fields in it, and how many values are nested.
  struct Place {
    let holder: Int?
    let label: String
    let nesting: Int

    func inner(_ label: String) -> Self {
      Self(holder: holder, label: self.label + label, nesting: nesting + 1)
    }
  }

  /// Walks over all objects that the roots hold; those in `shared` may stay alive.
  static func walk(
    _ roots: [(name: String, value: Any)],
    options: LeakOptions,
    ignoring shared: ObjectGraph? = nil,
    support: RuntimeSupport
  ) -> GraphWalk {
    var walker = Self(options: options, support: support, shared: shared)
    guard LeakCheck.isSupported else {
      walker.graph.note("nothing was inspected: LeakAssertions knows the layout of objects on Linux only")
      return GraphWalk(graph: walker.graph, held: [])
    }
    support.notes.forEach { walker.graph.note($0) }
    for root in roots {
      walker.visit(root.value, at: Place(holder: nil, label: root.name, nesting: 0))
    }
    var next = 0
    while next < walker.held.count {
      walker.expand(next)
      next += 1
    }
    return GraphWalk(graph: walker.graph, held: walker.held)
  }

  private init(options: LeakOptions, support: RuntimeSupport, shared: ObjectGraph?) {
    self.options = options
    self.support = support
    self.shared = shared
  }

  // MARK: Objects

  /// Visits the references of an object.
  private mutating func expand(_ index: Int) {
    graph.beginNode()
    guard let object = held[index] else { return }
    let address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    let place = Place(holder: index, label: "", nesting: 0)
    guard TypeKind(ofObjectAt: address) == .object else { return expandContext(at: address, holder: index) }
    let type = facts(of: type(of: object))
    if let storage = type.storage { return visitElements(of: storage, object, place) }
    if type.isTraversable, let traversable = object as? any LeakTraversable, !visitExtras(of: traversable, at: place) {
      return
    }
    if let kind = type.opaque {
      graph.append(ObjectGraph.Opaque(holder: index, label: "", kind: kind))
    }
    if support.fields {
      visit(type.fields, at: address, place)
    } else {
      visitMirror(Mirror(reflecting: object), at: place)
    }
  }

  private mutating func expandContext(at address: UnsafeRawPointer, holder: Int) {
    var captures: [(Int, ClosureContext.Capture)] = []
    if !ClosureContext(at: address).forEachCapture({ captures.append(($0, $1)) }) {
      graph.note("closure not fully inspected: \(graph.path(of: holder))")
    }
    // A captured variable has a heap object of its own, with one value.
    let isVariable = graph.nodes[holder].typeName == Self.variable
    for (number, capture) in captures {
      let place = Place(holder: holder, label: isVariable ? "" : "capture#\(number)", nesting: 0)
      switch capture {
      case .value(let type, let address): visit(type, at: address, place)
      case .variable(let address): reach(address, as: Self.variable, at: place)
      // The compiler wraps closures to adapt them to generic code: a closure that only captures another is that one.
      case .function(let address) where captures.count == 1 && !isVariable:
        reach(address, as: Self.closure, at: Place(holder: holder, label: "", nesting: 0))
      case .function(let address): reach(address, as: Self.closure, at: place.inner("{}"))
      }
    }
  }

  private static let closure = "closure"
  private static let variable = "captured variable"

  /// Records a heap object, and the reference of its holder.
  private mutating func reach(_ address: UnsafeRawPointer, as contextName: String? = nil, at place: Place) {
    // A context is not an instance of a class, but its header has the same reference counts.
    let object = Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue()
    guard let index = graph.index(of: object) ?? append(object, at: address, contextName, place) else { return }
    if place.holder != nil {
      graph.append(ObjectGraph.Edge(label: place.label, target: index))
    }
  }

  private mutating func append(
    _ object: AnyObject,
    at address: UnsafeRawPointer,
    _ contextName: String?,
    _ place: Place
  ) -> Int? {
    let depth = place.holder.map { graph.nodes[$0].depth + 1 } ?? 0
    guard depth <= options.maxDepth else {
      graph.exceed("objects more than \(options.maxDepth) references deep (maxDepth)")
      return nil
    }
    guard held.count < options.maxObjects else {
      graph.exceed("objects after the first \(options.maxObjects) (maxObjects)")
      return nil
    }
    let type = TypeKind(ofObjectAt: address) == .object ? facts(of: Swift.type(of: object)) : nil
    let traversable = type?.isTraversable == true ? object as? any LeakTraversable : nil
    let node = ObjectGraph.Node(
      holder: place.holder,
      label: place.label,
      typeName: type?.name ?? contextName ?? Self.closure,
      depth: depth,
      isInstance: type.map { $0.storage == nil } ?? false,
      isIgnored: type.map { isIgnored(object, $0, traversable) } ?? false,
      grace: traversable?.leakGrace ?? .zero
    )
    graph.append(node, for: object)
    held.append(object)
    return held.count - 1
  }

  private func isIgnored(_ object: AnyObject, _ type: TypeFacts, _ traversable: (any LeakTraversable)?) -> Bool {
    // One by one: the operator || would copy the walker for each object.
    if type.isToolchain && !options.reportsToolchainObjects { return true }
    if traversable?.leakIgnoresSelf == true { return true }
    return options.ignores(object) ? true : shared?.index(of: object) != nil
  }

  private mutating func facts(of type: Any.Type) -> TypeFacts {
    if let known = types[ObjectIdentifier(type)] { return known }
    let facts = TypeFacts(of: type, support)
    facts.hidden.forEach { graph.note("not inspected: \($0)") }
    types[ObjectIdentifier(type)] = facts
    return facts
  }

  // MARK: Values

  /// Visits the references in a value of any type.
  private mutating func visit<Value>(_ value: Value, at place: Place) {
    withUnsafePointer(to: value) { visit(Value.self, at: UnsafeRawPointer($0), place) }
  }

  /// The most values that may be nested, since each takes some of the stack.
  private static let deepestValue = 200

  private mutating func visit(_ type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    guard place.nesting <= Self.deepestValue else {
      return graph.exceed("values nested more than \(Self.deepestValue) deep, such as an indirect enum")
    }
    switch TypeKind(of: type) {
    case .object:
      if let object = address.load(as: UnsafeRawPointer?.self) {
        reach(object, at: place)
      }
    case .bridgeObject:
      // Other bits than those of an address mean something else than an object (`docs/ABI/TypeLayout.rst`).
      if case let word = address.load(as: UInt.self), word != 0, word & ~0x7fff_ffff_fff8 == 0,
        let object = UnsafeRawPointer(bitPattern: word)
      {
        reach(object, at: place)
      }
    case .structure, .enumeration, .optional, .tuple: visitValue(type, at: address, place)
    case .fixedArray: visitFixedArray(type, at: address, place)
    case .existential, .extendedExistential: visitExistential(type, at: address, place)
    case .function: visitFunction(type, at: address, place)
    case .other: break
    }
  }

  private mutating func visitFixedArray(_ type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    let array = FixedArrayType(type)
    let layout = TypeLayout(of: array.element)
    guard !layout.isTrivial else { return }
    for index in 0..<array.count {
      visit(array.element, at: address + index * layout.stride, place.inner("[\(index)]"))
    }
  }

  private mutating func visitExistential(_ type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    switch ExistentialContent(of: type, at: address) {
    case .object(let object?): reach(object, at: place)
    case .value(let type, let address): visit(type, at: address, place)
    case .error:
      let error: any Error = address.load(as: (any Error).self)
      visit(error, at: place)
    case .object(nil), nil: break
    }
  }

  private mutating func visitFunction(_ type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    guard options.followClosures, support.closures, FunctionType(type).hasContext else {
      return
    }
    if let context = ClosureContext.address(ofClosureAt: address) {
      reach(context, as: Self.closure, at: place.inner("{}"))
    }
  }

  private mutating func visitValue(_ type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    let facts = facts(of: type)
    guard !facts.isTrivial else {
      return
    }
    guard facts.isCopyable else {
      return graph.note("not inspected: a value of the noncopyable type \(type)")
    }
    if let kind = facts.opaque {
      graph.append(ObjectGraph.Opaque(holder: place.holder, label: place.label, kind: kind))
    }
    func open<Value>(_: Value.Type) {
      visitCopyable(address.assumingMemoryBound(to: Value.self), facts, place)
    }
    open(type)
  }

  private mutating func visitCopyable<Value>(_ pointer: UnsafePointer<Value>, _ facts: TypeFacts, _ place: Place) {
    if facts.isTraversable, let traversable = pointer.pointee as? any LeakTraversable,
      !visitExtras(of: traversable, at: place)
    {
      return
    }
    guard !facts.isCollection else {
      return visitCollection(pointer, place)
    }
    guard support.fields else {
      return visitMirror(Mirror(reflecting: pointer.pointee), at: place)
    }
    switch TypeKind(of: Value.self) {
    case .optional, .enumeration:
      if let (name, payload) = RuntimeFields.payload(of: pointer.pointee) {
        visit(payload, at: place.inner(TypeKind(of: Value.self) == .optional ? "?" : ".\(name)"))
      }
    default: visit(facts.fields, at: UnsafeRawPointer(pointer), place)
    }
  }

  private mutating func visit(_ fields: [Field], at address: UnsafeRawPointer, _ place: Place) {
    for field in fields {
      visit(field.type, at: address + field.offset, place.inner(field.label))
    }
  }

  /// Visits the children that a type lists beside its fields.
  ///
  /// - Returns: Whether its fields are to be visited.
  private mutating func visitExtras(of traversable: any LeakTraversable, at place: Place) -> Bool {
    for (name, value) in traversable.leakExtraChildren {
      visit(value, at: place.inner(".\(name)"))
    }
    return !traversable.leakIgnoresChildren
  }

  /// Reads fields with `Mirror`, if the runtime's metadata is not as expected.
  private mutating func visitMirror(_ mirror: Mirror, at place: Place) {
    if let superclass = mirror.superclassMirror {
      visitMirror(superclass, at: place)
    }
    for (index, child) in mirror.children.enumerated() {
      let label = mirror.displayStyle == .optional ? "?" : RuntimeFields.label(for: child.label ?? "", at: index)
      visit(child.value, at: place.inner(label))
    }
  }

  // MARK: Collections

  /// Visits the storage of a collection, which is walked once, however many values share it.
  private mutating func visitCollection<Value>(_ pointer: UnsafePointer<Value>, _ place: Place) {
    guard let collection = pointer.pointee as? any StoredCollection, !collection.isEmpty else { return }
    if support.storages, let storage = collection.storage {
      return reach(storage, as: Self.storage, at: place)
    }
    collection.forEachElement { visit($1, at: $2, place.inner($0)) }
    if support.storages, let owner = collection.sharedStorage {
      reach(owner, as: Self.storage, at: place.inner(".base"))
    }
  }

  private static let storage = "storage"

  private mutating func visitElements(of storage: CollectionStorage, _ object: AnyObject, _ place: Place) {
    switch storage {
    case .array(let element): visitArray(element, at: CollectionStorage.elements(of: object, element), place)
    case .hashed(let type):
      CollectionStorage.collection(type, of: object)?.forEachElement { visit($1, at: $2, place.inner($0)) }
    }
  }

  private mutating func visitArray(
    _ element: Any.Type, at elements: (start: UnsafeRawPointer, count: Int), _ place: Place
  ) {
    let layout = TypeLayout(of: element)
    guard !layout.isTrivial else { return }
    for index in 0..<elements.count {
      visit(element, at: elements.start + index * layout.stride, place.inner("[\(index)]"))
    }
  }
}
