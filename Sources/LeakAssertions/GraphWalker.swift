/// Finds all objects that values hold, breadth first, so that each object has its shortest path.
///
/// All objects are kept alive until the walk ends: no address is reused, and a long list is released object by object,
/// where its own release would recurse.
struct GraphWalker {
  private let options: LeakOptions
  private let support: RuntimeSupport
  private let shared: ObjectGraph?
  private var graph = ObjectGraph()
  private var held: [AnyObject] = []
  private var fields: [ObjectIdentifier: [Field]] = [:]
  private var toolchainTypes: [ObjectIdentifier: Bool] = [:]

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
  static func graph(
    of roots: [(name: String, value: Any)],
    options: LeakOptions,
    ignoring shared: ObjectGraph? = nil,
    support: RuntimeSupport
  ) -> ObjectGraph {
    var walker = Self(options: options, support: support, shared: shared)
    walker.graph.notes = support.notes
    for root in roots {
      walker.visit(root.value, at: Place(holder: nil, label: root.name, nesting: 0))
    }
    var next = 0
    while next < walker.held.count {
      walker.expand(next)
      next += 1
    }
    return walker.graph
  }

  private init(options: LeakOptions, support: RuntimeSupport, shared: ObjectGraph?) {
    self.options = options
    self.support = support
    self.shared = shared
  }

  // MARK: Objects

  /// Visits the references of an object.
  private mutating func expand(_ index: Int) {
    let object = held[index]
    let address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    guard graph.nodes[index].isInstance else {
      expandContext(at: address, holder: index)
      return
    }
    let place = Place(holder: index, label: "", nesting: 0)
    if let traversable = object as? any LeakTraversable, !visitExtras(of: traversable, at: place) {
      return
    }
    if support.fields {
      visitFields(of: type(of: object), at: address, place)
    } else {
      visitMirror(Mirror(reflecting: object), at: place)
    }
  }

  private mutating func expandContext(at address: UnsafeRawPointer, holder: Int) {
    var captures: [(Int, ClosureContext.Capture)] = []
    if !ClosureContext(at: address).forEachCapture({ captures.append(($0, $1)) }) {
      graph.note("closure not fully inspected: \(graph.path(of: holder))")
    }
    for (number, capture) in captures {
      // A captured variable has a heap object of its own, with one value.
      let isVariable = graph.nodes[holder].typeName == Self.variable
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
    let isInstance = TypeKind(word: address.load(as: UnsafePointer<UInt>.self).pointee) == .object
    guard let index = graph.index(of: object) ?? append(object, isInstance ? nil : contextName, at: place) else {
      return
    }
    if let holder = place.holder {
      graph.nodes[holder].edges.append(ObjectGraph.Edge(label: place.label, target: index))
    }
  }

  private mutating func append(_ object: AnyObject, _ contextName: String?, at place: Place) -> Int? {
    let depth = place.holder.map { graph.nodes[$0].depth + 1 } ?? 0
    guard depth <= options.maxDepth else {
      graph.note("not inspected: objects more than \(options.maxDepth) references deep (maxDepth)")
      return nil
    }
    guard held.count < options.maxObjects else {
      graph.note("not inspected: objects after the first \(options.maxObjects) (maxObjects)")
      return nil
    }
    let traversable = contextName == nil ? object as? any LeakTraversable : nil
    let isIgnored =
      contextName == nil
      && (traversable?.leakIgnoresSelf == true || options.ignores(object) || shared?.index(of: object) != nil
        || (!options.reportsToolchainObjects && comesFromToolchain(type(of: object))))
    let node = ObjectGraph.Node(
      object: object,
      holder: place.holder,
      label: place.label,
      typeName: contextName ?? String(describing: type(of: object)),
      depth: depth,
      isInstance: contextName == nil,
      isIgnored: isIgnored,
      grace: traversable?.leakGrace ?? .zero
    )
    graph.append(node, for: object)
    held.append(object)
    return held.count - 1
  }

  /// Whether a class belongs to a library of the toolchain; types in an extension belong to the extension's module.
  private mutating func comesFromToolchain(_ type: AnyClass) -> Bool {
    if let known = toolchainTypes[ObjectIdentifier(type)] {
      return known
    }
    let module = String(reflecting: type).prefix { $0 != "." }
    let answer = ["Swift", "Dispatch", "Synchronization"].contains(module) || module.hasPrefix("Foundation")
    toolchainTypes[ObjectIdentifier(type)] = answer
    return answer
  }

  // MARK: Values

  /// Visits the references in a value of any type.
  private mutating func visit<Value>(_ value: Value, at place: Place) {
    withUnsafePointer(to: value) { visit(Value.self, at: UnsafeRawPointer($0), place) }
  }

  private mutating func visit(_ type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    guard place.nesting <= options.maxDepth else {
      graph.note("not inspected: values nested more than \(options.maxDepth) deep (maxDepth)")
      return
    }
    switch TypeKind(of: type) {
    case .object:
      if let object = address.load(as: UnsafeRawPointer?.self) {
        reach(object, at: place)
      }
    case .structure, .enumeration, .optional, .tuple: visitValue(type, at: address, place)
    case .existential, .extendedExistential: visitExistential(type, at: address, place)
    case .function: visitFunction(type, at: address, place)
    case .other: break
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
    let layout = TypeLayout(of: type)
    guard !layout.isTrivial else {
      return
    }
    guard layout.isCopyable else {
      graph.note("not inspected: a value of the noncopyable type \(type)")
      return
    }
    func open<Value>(_: Value.Type) {
      visitCopyable(address.assumingMemoryBound(to: Value.self), place)
    }
    open(type)
  }

  private mutating func visitCopyable<Value>(_ pointer: UnsafePointer<Value>, _ place: Place) {
    if Value.self is any LeakTraversable.Type, let traversable = pointer.pointee as? any LeakTraversable,
      !visitExtras(of: traversable, at: place)
    {
      return
    }
    if Value.self is any ElementContainer.Type, let holder = pointer.pointee as? any ElementContainer {
      holder.forEachElement { visit($1, at: $2, place.inner($0)) }
      return
    }
    guard support.fields else {
      visitMirror(Mirror(reflecting: pointer.pointee), at: place)
      return
    }
    switch TypeKind(of: Value.self) {
    case .optional, .enumeration:
      if let (name, payload) = RuntimeFields.payload(of: pointer.pointee) {
        visit(payload, at: place.inner(TypeKind(of: Value.self) == .optional ? "?" : ".\(name)"))
      }
    default: visitFields(of: Value.self, at: UnsafeRawPointer(pointer), place)
    }
  }

  private mutating func visitFields(of type: Any.Type, at address: UnsafeRawPointer, _ place: Place) {
    for field in strongFields(of: type) {
      visit(field.type, at: address + field.offset, place.inner(field.label))
    }
  }

  private mutating func strongFields(of type: Any.Type) -> [Field] {
    if let known = fields[ObjectIdentifier(type)] {
      return known
    }
    let all = RuntimeFields.strong(of: type)
    for hidden in all where hidden.isHidden {
      graph.note("not inspected: \(type)\(hidden.label) (noncopyable type)")
    }
    let strong = all.filter { !TypeLayout(of: $0.type).isTrivial }
    fields[ObjectIdentifier(type)] = strong
    return strong
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
}
