/// What the walk needs to know about a type, read once.
///
/// A class, because many copies of it would take most of the time of the walk.
final class TypeFacts {
  let name: String

  /// Whether values are plain bytes without references.
  let isTrivial: Bool

  let isCopyable: Bool

  /// Whether it is a class of a library of the toolchain; types in an extension belong to the extension's module.
  let isToolchain: Bool

  /// Whether it customizes how its values are treated.
  let isTraversable: Bool

  /// Whether it is a collection with elements outside its fields.
  let isCollection: Bool

  /// The stored properties that can hold references.
  let fields: [Field]

  /// The stored properties whose types the runtime hides.
  let hidden: [String]

  /// The elements of a class that stores those of a collection.
  let storage: CollectionStorage?

  /// Why its references cannot be read.
  let opaque: OpaqueKind?

  init(of type: Any.Type, _ support: RuntimeSupport) {
    let layout = TypeLayout(of: type)
    let kind = TypeKind(of: type)
    let fullName = String(reflecting: type)
    let isObject = kind == .object
    name = String(describing: type)
    // A string holds bytes only.
    isTrivial = layout.isTrivial || type == String.self
    isCopyable = layout.isCopyable
    isToolchain = isObject && Self.isToolchain(fullName)
    isTraversable = type is any LeakTraversable.Type
    isCollection = kind == .structure && type is any StoredCollection.Type
    storage = isObject && support.storages ? CollectionStorage(of: type, named: fullName) : nil
    opaque = OpaqueKind(of: type, named: fullName, isObject: isObject)
    let hasFields = support.fields && [.object, .structure, .tuple].contains(kind) && !isTrivial && storage == nil
    let all = hasFields ? RuntimeFields.strong(of: type) : []
    fields = all.filter { !$0.isHidden && !TypeLayout(of: $0.type).isTrivial }
    hidden = all.filter(\.isHidden).map { "\(type)\($0.label) (noncopyable type)" }
  }

  /// Whether the module in a name belongs to the toolchain; the names of its private modules start with an underscore.
  private static func isToolchain(_ fullName: String) -> Bool {
    let extended = "(extension in "
    let isExtended = fullName.hasPrefix(extended)
    let module = fullName.dropFirst(isExtended ? extended.count : 0).prefix { $0 != (isExtended ? ")" : ".") }
    return module.hasPrefix("Foundation") || module.hasPrefix("_")
      || ["Swift", "Dispatch", "Synchronization", "Observation", "RegexBuilder", "Distributed"].contains(module)
  }
}

/// A value that may hold objects, but whose references cannot be read.
enum OpaqueKind: Hashable {
  case task
  case dispatch
  case observer
  case buffer

  init?(of type: Any.Type, named name: String, isObject: Bool) {
    if !isObject && name.hasPrefix("Swift.Task<") {
      self = .task
    } else if isObject && name.hasPrefix("Dispatch.") {
      self = .dispatch
    } else if isObject && name.contains("NotificationCenter._") {
      self = .observer
    } else if isObject && (name.hasPrefix("Swift.ManagedBuffer<") || Self.isBuffer(type)) {
      self = .buffer
    } else {
      return nil
    }
  }

  private static func isBuffer(_ type: Any.Type) -> Bool {
    guard let parent = ClassType(type).superclass else { return false }
    return String(reflecting: parent).hasPrefix("Swift.ManagedBuffer<") || isBuffer(parent)
  }

  /// What it is, for a failure.
  var description: String {
    switch self {
    case .task: "a task, whose captures cannot be read"
    case .dispatch: "an object of Dispatch, whose handlers cannot be read"
    case .observer: "an observer of a NotificationCenter, whose block cannot be read"
    case .buffer: "a ManagedBuffer, whose elements cannot be read"
    }
  }
}
