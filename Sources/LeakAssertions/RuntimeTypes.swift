/// What a type is, in the words of the Swift runtime (`include/swift/ABI/MetadataKind.def`).
enum TypeKind: Equatable {
  case object
  case structure
  case enumeration
  case optional
  case tuple
  case function
  case existential
  case extendedExistential

  /// Metatypes, the types of `Builtin` and whatever else holds no object that can be reached.
  case other

  init(of type: Any.Type) {
    self.init(word: unsafeBitCast(type, to: UnsafeRawPointer.self).load(as: UInt.self))
  }

  /// Reads the first word of a type's metadata; where it is no kind, it is the pointer that classes have there.
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
      case 0x800...: .object
      default: .other
      }
  }
}

/// How values of a type lie in memory, from its value witness table (`include/swift/ABI/ValueWitness.def`).
struct TypeLayout {
  let size: Int
  let alignment: Int

  /// Whether values are plain bytes, so that no reference can be in them.
  let isTrivial: Bool

  /// Whether values lie in the three words of an existential, and not in a box.
  let isInline: Bool

  let isCopyable: Bool

  /// Reads the table that stands one word before the metadata: eight functions, size, stride, flags.
  init(of type: Any.Type) {
    let word = MemoryLayout<UnsafeRawPointer>.size
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    let table = metadata.load(fromByteOffset: -word, as: UnsafeRawPointer.self)
    let flags = table.load(fromByteOffset: 10 * word, as: UInt32.self)
    size = table.load(fromByteOffset: 8 * word, as: Int.self)
    alignment = Int(flags & 0xFF) + 1
    isTrivial = flags & 0x01_0000 == 0
    isInline = flags & 0x02_0000 == 0
    isCopyable = flags & 0x80_0000 == 0
  }
}

/// A stored property, an element of a tuple or the payload of an enum case: where it lies, and as what.
struct Field {
  let label: String
  let type: Any.Type
  let offset: Int

  /// Whether the runtime does not tell its type, as it is with noncopyable ones, and gives the empty tuple instead.
  var isHidden: Bool { type == Void.self }
}

/// The stored properties of structs and classes and the elements of tuples, as the runtime lists them.
enum RuntimeFields {
  /// The fields that hold what they refer to, those of superclasses first.
  ///
  /// What is `weak`, `unowned` or unmanaged is left out by its flag, before a value is read: reading an `unowned`
  /// reference whose object is gone ends the process.
  static func strong(of type: Any.Type) -> [Field] {
    all(of: type).filter(\.isStrong).map(\.field)
  }

  /// All fields, each with whether it holds what it refers to.
  static func all(of type: Any.Type) -> [(field: Field, isStrong: Bool)] {
    (0..<recursiveChildCount(type)).map { index in
      var about = FieldAbout()
      let fieldType = recursiveChildMetadata(type, index: index, about: &about)
      defer { about.freeName?(about.name) }
      let name = about.name.map { String(cString: $0) } ?? ""
      let offset = recursiveChildOffset(type, index: index)
      return (Field(label: label(for: name, at: index), type: fieldType, offset: offset), about.isStrong)
    }
  }

  /// The case of an enum's value and its payload; `nil` where it has none.
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

  /// A property without the prefix of the storage of `lazy` ones, an unlabelled element by its number.
  static func label(for name: String, at index: Int) -> String {
    let lazyPrefix = "$__lazy_storage_$_"
    if name.hasPrefix(lazyPrefix) {
      return ".\(name.dropFirst(lazyPrefix.count))"
    }
    return name.isEmpty ? ".\(index)" : name.hasPrefix(".") ? name : ".\(name)"
  }
}

/// What an existential holds.
enum ExistentialContent {
  case object(UnsafeRawPointer?)
  case value(Any.Type, UnsafeRawPointer)
  case error

  /// Looks into the existential of a type at an address (`include/swift/ABI/Metadata.h`: ExistentialTypeMetadata and
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

/// The convention of a function type (`include/swift/ABI/MetadataValues.h`: TargetFunctionTypeFlags).
struct FunctionType {
  /// Whether its values are Swift closures, two words with a context, and not C functions.
  let hasContext: Bool

  init(_ type: Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    hasContext = metadata.load(fromByteOffset: MemoryLayout<UInt>.size, as: UInt32.self) & 0xFF_0000 == 0
  }
}

// The entry points through which `Mirror` reads types (`stdlib/public/core/ReflectionMirror.swift`). They follow Swift's
// calling convention and take generic values, which a C header cannot declare; that they still do what is expected here
// is found out by `RuntimeTrust` before anything else is read.

private typealias NameFreeing = @convention(c) (UnsafePointer<CChar>?) -> Void

/// `_FieldReflectionMetadata` of the standard library.
private struct FieldAbout {
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
  about: UnsafeMutablePointer<FieldAbout>
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
