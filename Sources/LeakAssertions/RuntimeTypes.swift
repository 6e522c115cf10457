/// The kind of a type in the Swift runtime (`include/swift/ABI/MetadataKind.def`).
enum TypeKind: Equatable {
  case object
  case structure
  case enumeration
  case optional
  case tuple
  case function
  case existential
  case extendedExistential
  case fixedArray

  /// `Builtin.BridgeObject`, in which dictionaries and sets keep their storage.
  case bridgeObject

  /// Metatypes, `Builtin` types and other types without references that can be followed.
  case other

  init(of type: Any.Type) {
    guard type != Self.bridgeObjectType else {
      self = .bridgeObject
      return
    }
    self.init(word: unsafeBitCast(type, to: UnsafeRawPointer.self).load(as: UInt.self))
  }

  private static let bridgeObjectType = _typeByName("Bb")

  /// The kind of the type in the header of a heap object.
  init(ofObjectAt address: UnsafeRawPointer) {
    self.init(word: address.load(as: UnsafePointer<UInt>.self).pointee)
  }

  /// Interprets the first word of a type's metadata: the kind, or a pointer for classes.
  init(word: UInt) {
    self =
      switch word {
      case 0, 0x203: .object
      case 0x200: .structure
      case 0x201: .enumeration
      case 0x202: .optional
      case 0x301: .tuple
      case 0x302: .function
      case 0x303: .existential
      case 0x307: .extendedExistential
      case 0x308: .fixedArray
      case 0x800...: .object
      default: .other
      }
  }
}

/// The memory layout of a type, from its value witness table (`include/swift/ABI/ValueWitness.def`).
struct TypeLayout {
  let size: Int

  /// The distance between elements of an array.
  let stride: Int

  let alignment: Int

  /// Whether values are plain bytes without references.
  let isTrivial: Bool

  /// Whether an existential stores values inline, in three words, and not in a box.
  let isInline: Bool

  let isCopyable: Bool

  /// Reads the table, whose pointer is one word before the metadata: eight functions, size, stride, flags.
  init(of type: Any.Type) {
    let word = MemoryLayout<UnsafeRawPointer>.size
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let table = metadata.load(fromByteOffset: -word, as: UnsafeRawPointer.self)
    let flags = table.load(fromByteOffset: 10 * word, as: UInt32.self)
    size = table.load(fromByteOffset: 8 * word, as: Int.self)
    stride = table.load(fromByteOffset: 9 * word, as: Int.self)
    alignment = Int(flags & 0xFF) + 1
    isTrivial = flags & 0x01_0000 == 0
    isInline = flags & 0x02_0000 == 0
    isCopyable = flags & 0x80_0000 == 0
  }
}

/// A stored property or an element of a tuple.
struct Field {
  let label: String
  let type: Any.Type
  let offset: Int

  /// Whether the runtime hides its type and returns the empty tuple, as for noncopyable types.
  var isHidden: Bool { type == Void.self }
}

/// The stored properties of structs and classes and the elements of tuples, from the runtime's metadata.
enum RuntimeFields {
  /// The fields with strong references, those of superclasses first.
  ///
  /// `weak`, `unowned` and unmanaged fields are skipped by their flags, before a value is read: reading an `unowned`
  /// reference to a deallocated object would terminate the process.
  static func strong(of type: Any.Type) -> [Field] {
    all(of: type).filter(\.isStrong).map(\.field)
  }

  /// All fields, each with whether its reference is strong.
  static func all(of type: Any.Type) -> [(field: Field, isStrong: Bool)] {
    (0..<recursiveChildCount(type)).map { index in
      var attributes = FieldAttributes()
      let fieldType = recursiveChildMetadata(type, index: index, about: &attributes)
      defer { attributes.freeName?(attributes.name) }
      let name = attributes.name.map { String(cString: $0) } ?? ""
      let offset = recursiveChildOffset(type, index: index)
      return (Field(label: label(for: name, at: index), type: fieldType, offset: offset), attributes.isStrong)
    }
  }

  /// The case and the payload of an enum value; `nil` if it has no payload.
  static func payload<Value>(of value: Value) -> (name: String, payload: Any)? {
    guard childCount(value, type: Value.self) > 0 else {
      return nil
    }
    var name: UnsafePointer<CChar>?
    var freeName: NameFreeing?
    let payload = child(of: value, type: Value.self, index: 0, name: &name, freeName: &freeName)
    defer { freeName?(name) }
    return (name.map { String(cString: $0) } ?? "", payload)
  }

  /// The name of a property, without the prefix of `lazy` storage, or the number of an unlabelled element.
  static func label(for name: String, at index: Int) -> String {
    let lazyPrefix = "$__lazy_storage_$_"
    if name.hasPrefix(lazyPrefix) {
      return ".\(name.dropFirst(lazyPrefix.count))"
    }
    return name.isEmpty ? ".\(index)" : name.hasPrefix(".") ? name : ".\(name)"
  }
}

/// The content of an existential.
enum ExistentialContent {
  case object(UnsafeRawPointer?)
  case value(Any.Type, UnsafeRawPointer)
  case error

  /// Reads the existential of a type at an address (`include/swift/ABI/Metadata.h`: ExistentialTypeMetadata and
  /// ExtendedExistentialTypeShape; `docs/ABI/TypeLayout.rst`).
  init?(of type: Any.Type, at address: UnsafeRawPointer) {
    let word = MemoryLayout<UnsafeRawPointer>.size
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let isObject: Bool
    if TypeKind(of: type) == .existential {
      let flags = metadata.load(fromByteOffset: word, as: UInt32.self)
      guard (flags >> 24) & 0x3F != 1 else {
        self = .error
        return
      }
      isObject = flags & 0x8000_0000 == 0
    } else {
      let shape = metadata.load(fromByteOffset: word, as: UnsafeRawPointer.self)
      let special = shape.load(as: UInt32.self) & 0xFF
      guard special <= 1 else {
        return nil
      }
      isObject = special == 1
    }
    self = isObject ? .object(address.load(as: UnsafeRawPointer?.self)) : Self.opaque(at: address)
  }

  private static func opaque(at address: UnsafeRawPointer) -> Self {
    let word = MemoryLayout<UnsafeRawPointer>.size
    let type = address.load(fromByteOffset: 3 * word, as: Any.Type.self)
    let layout = TypeLayout(of: type)
    guard !layout.isInline else {
      return .value(type, address)
    }
    let header = (2 * word + layout.alignment - 1) / layout.alignment * layout.alignment
    return .value(type, address.load(as: UnsafeRawPointer.self) + header)
  }
}

/// The type of `InlineArray`'s elements (`include/swift/ABI/Metadata.h`: TargetFixedArrayTypeMetadata).
struct FixedArrayType {
  let count: Int
  let element: Any.Type

  init(_ type: Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    count = metadata.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)
    element = metadata.load(fromByteOffset: 2 * MemoryLayout<Int>.size, as: Any.Type.self)
  }
}

/// The metadata of a class (`include/swift/ABI/Metadata.h`: TargetClassMetadata, TargetClassDescriptor).
struct ClassType {
  private let metadata: UnsafeRawPointer

  init(_ type: Any.Type) {
    metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  }

  var superclass: Any.Type? { metadata.load(fromByteOffset: 8, as: Any.Type?.self) }

  /// An argument of a generic class, whose superclass is of the same module.
  func genericArgument(_ index: Int) -> Any.Type {
    let descriptor = metadata.load(fromByteOffset: 40, as: UnsafeRawPointer.self)
    let size = descriptor.load(fromByteOffset: 28, as: UInt32.self)
    let ownMembers = descriptor.load(fromByteOffset: 32, as: UInt32.self)
    return metadata.load(fromByteOffset: 8 * (Int(size - ownMembers) + index), as: Any.Type.self)
  }
}

/// The convention of a function type (`include/swift/ABI/MetadataValues.h`: TargetFunctionTypeFlags).
struct FunctionType {
  /// Whether its values are Swift closures, two words with a context, and not C functions.
  let hasContext: Bool

  init(_ type: Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    hasContext = metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) & 0xFF_0000 == 0
  }
}

// The entry points that `Mirror` uses (`stdlib/public/core/ReflectionMirror.swift`). They have Swift's calling convention
// and take generic values, which a C header cannot declare. `RuntimeSupport` tests them before anything else is read.

private typealias NameFreeing = @convention(c) (UnsafePointer<CChar>?) -> Void

/// `_FieldReflectionMetadata` of the standard library.
private struct FieldAttributes {
  var name: UnsafePointer<CChar>?
  var freeName: NameFreeing?
  var isStrong = false
  var isVariable = false
}

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func recursiveChildCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func recursiveChildOffset(_ type: Any.Type, index: Int) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func recursiveChildMetadata(
  _ type: Any.Type,
  index: Int,
  about: UnsafeMutablePointer<FieldAttributes>
) -> Any.Type

@_silgen_name("swift_reflectionMirror_count")
private func childCount<Value>(_ value: Value, type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_subscript")
private func child<Value>(
  of value: Value,
  type: Any.Type,
  index: Int,
  name: UnsafeMutablePointer<UnsafePointer<CChar>?>,
  freeName: UnsafeMutablePointer<NameFreeing?>
) -> Any
