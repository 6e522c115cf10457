/// The class in which a collection of the standard library stores its elements, after its fields.
///
/// Keys, values, iterators and the closures that capture nothing but a collection lead to it, too.
enum CollectionStorage {
  /// Of arrays of this element.
  case array(Any.Type)

  /// Of sets or dictionaries of this type.
  case hashed(Any.Type)

  init?(of type: Any.Type, named name: String) {
    if name.hasPrefix("Swift._ContiguousArrayStorage<") {
      self = .array(ClassType(type).genericArgument(0))
    } else if name.hasPrefix("Swift._SetStorage<") {
      guard let set = Self.set(of: ClassType(type).genericArgument(0)) else { return nil }
      self = .hashed(set)
    } else if name.hasPrefix("Swift._DictionaryStorage<") {
      let (key, value) = (ClassType(type).genericArgument(0), ClassType(type).genericArgument(1))
      guard let dictionary = Self.dictionary(of: key, value) else { return nil }
      self = .hashed(dictionary)
    } else {
      return nil
    }
  }

  private static func set(of element: Any.Type) -> Any.Type? {
    func open<Element: Hashable>(_: Element.Type) -> Any.Type { Set<Element>.self }
    return (element as? any Hashable.Type).map { open($0) }
  }

  private static func dictionary(of key: Any.Type, _ value: Any.Type) -> Any.Type? {
    func open<Key: Hashable>(_: Key.Type) -> Any.Type {
      func openValue<Value>(_: Value.Type) -> Any.Type { [Key: Value].self }
      return _openExistential(value, do: openValue)
    }
    return (key as? any Hashable.Type).map { open($0) }
  }

  /// The elements of an array, which follow the number of elements and the capacity (`ContiguousArrayBuffer.swift`).
  static func elements(of storage: AnyObject, _ element: Any.Type) -> (start: UnsafeRawPointer, count: Int) {
    let address = UnsafeRawPointer(Unmanaged.passUnretained(storage).toOpaque())
    let word = MemoryLayout<Int>.size
    let alignment = TypeLayout(of: element).alignment
    let start = (4 * word + alignment - 1) / alignment * alignment
    return (address + start, address.load(fromByteOffset: 2 * word, as: Int.self))
  }

  /// The set or dictionary, which has its storage as its only word.
  static func collection(_ type: Any.Type, of storage: AnyObject) -> (any StoredCollection)? {
    func open<Value>(_: Value.Type) -> (any StoredCollection)? {
      unsafeBitCast(storage, to: Value.self) as? any StoredCollection
    }
    return _openExistential(type, do: open)
  }
}

/// A collection of the standard library, whose elements are not stored in fields.
///
/// Other collections may compute their elements, so they are read by their fields, which lead to one of these.
protocol StoredCollection {
  var isEmpty: Bool { get }

  /// The object with the elements, if it is all that the value has, and there may be references in it.
  var storage: UnsafeRawPointer? { get }

  /// The object with more elements than the value has, all of which it keeps alive.
  var sharedStorage: UnsafeRawPointer? { get }

  /// Calls a function with the label, type and address of each element.
  ///
  /// It iterates over a copy that shares the elements, so a concurrent change is neither seen nor harmful.
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void)
}

extension StoredCollection {
  var storage: UnsafeRawPointer? { nil }
  var sharedStorage: UnsafeRawPointer? { nil }

  /// The value as its only word.
  fileprivate var word: UnsafeRawPointer { unsafeBitCast(self, to: UnsafeRawPointer.self) }
}

extension StoredCollection where Self: Sequence {
  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void) {
    guard !TypeLayout(of: Element.self).isTrivial else { return }
    for (index, element) in self.enumerated() {
      withUnsafePointer(to: element) { body("[\(index)]", Element.self, UnsafeRawPointer($0)) }
    }
  }
}

extension Array: StoredCollection {
  var storage: UnsafeRawPointer? { word }
}

extension ContiguousArray: StoredCollection {
  var storage: UnsafeRawPointer? { word }
}

extension Set: StoredCollection {
  var storage: UnsafeRawPointer? { word }
}

extension ArraySlice: StoredCollection {
  /// The array, if the slice is a part of it: the first of four words (`SliceBuffer.swift`).
  var sharedStorage: UnsafeRawPointer? {
    let owner = Swift.withUnsafeBytes(of: self) { $0.load(as: UnsafeRawPointer.self) }
    return owner.load(fromByteOffset: 2 * MemoryLayout<Int>.size, as: Int.self) > count ? owner : nil
  }
}

extension Dictionary: StoredCollection {
  var storage: UnsafeRawPointer? { word }

  func forEachElement(_ body: (String, Any.Type, UnsafeRawPointer) -> Void) {
    for (index, (key, value)) in self.enumerated() {
      withUnsafePointer(to: key) { body("[\(index)].key", Key.self, UnsafeRawPointer($0)) }
      withUnsafePointer(to: value) { body("[\(index)].value", Value.self, UnsafeRawPointer($0)) }
    }
  }
}
