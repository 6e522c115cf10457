/// The heap object that contains the captures of a closure, or a captured variable.
///
/// Its metadata (`HeapLocalVariableMetadata`, kind 0x400) has the offset of the first capture and a descriptor
/// (`include/swift/RemoteInspection/Records.h`: CaptureDescriptor) with the types of all captures in order.
struct ClosureContext {
  /// A strong reference of a context.
  enum Capture {
    case value(Any.Type, UnsafeRawPointer)

    /// The heap object of a captured variable.
    case variable(UnsafeRawPointer)

    /// The context of a captured closure.
    case function(UnsafeRawPointer)
  }

  private let address: UnsafeRawPointer

  init(at address: UnsafeRawPointer) {
    self.address = address
  }

  /// The context of the closure that is stored at an address: its second word.
  ///
  /// It is `nil` for functions without captures and for an Optional's `nil`, and the captured object itself if that is the
  /// only capture.
  static func address(ofClosureAt address: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard address.load(as: UInt.self) != 0 else {
      return nil
    }
    return address.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
  }

  /// Calls a function with each strong capture and its number.
  ///
  /// - Returns: Whether all captures were read. Captures after an unknown type are skipped, because their offset depends
  ///   on it; so are all captures of a generic closure, whose context begins with type metadata.
  func forEachCapture(_ body: (Int, Capture) -> Void) -> Bool {
    let metadata = address.load(as: UnsafeRawPointer.self)
    guard metadata.load(as: UInt.self) == 0x400,
      let descriptor = metadata.load(fromByteOffset: 16, as: UnsafeRawPointer?.self),
      descriptor.load(fromByteOffset: 8, as: UInt32.self) == 0
    else {
      return false
    }
    var offset = Int(metadata.load(fromByteOffset: 8, as: UInt32.self))
    for index in 0..<Int(descriptor.load(as: UInt32.self)) {
      let record = descriptor + 12 + 4 * index
      let name = MangledName(at: record + Int(record.load(as: Int32.self)))
      guard let shape = CaptureShape(of: name) else {
        return false
      }
      offset = (offset + shape.alignment - 1) / shape.alignment * shape.alignment
      if let capture = shape.capture(at: address + offset) {
        body(index, capture)
      }
      offset += shape.size
    }
    return true
  }
}

/// The layout of a capture and the strong reference in it, from the suffix of its mangled type (`docs/ABI/Mangling.rst`).
private struct CaptureShape {
  private enum Held {
    case nothing
    case value(Any.Type)
    case variable
    case function
  }

  private let held: Held
  let size: Int
  let alignment: Int

  init?(of name: MangledName) {
    let word = MemoryLayout<UnsafeRawPointer>.size
    if name.hasSuffix("_Xx") {
      (held, size, alignment) = (.variable, word, word)
    } else if let isThick = name.isThickFunction {
      (held, size, alignment) = (isThick ? .function : .nothing, isThick ? 2 * word : word, word)
    } else if name.hasSuffix("XMt") {
      (held, size, alignment) = (.nothing, 0, 1)
    } else {
      // Weak, unowned and unmanaged references have the size of strong ones, and must not be read.
      let isReference = ["Xw", "Xo", "Xu"].contains { name.hasSuffix($0) }
      guard let type = name.resolved(droppingLast: isReference ? 2 : 0) else {
        return nil
      }
      let layout = TypeLayout(of: type)
      (held, size, alignment) = (isReference ? .nothing : .value(type), layout.size, layout.alignment)
    }
  }

  func capture(at address: UnsafeRawPointer) -> ClosureContext.Capture? {
    switch held {
    case .nothing: nil
    case .value(let type): .value(type, address)
    case .variable: address.load(as: UnsafeRawPointer?.self).map { .variable($0) }
    case .function: ClosureContext.address(ofClosureAt: address).map { .function($0) }
    }
  }
}

/// A mangled type name in metadata: characters, and bytes below 0x20 that introduce references of four or eight bytes
/// (`docs/ABI/Mangling.rst`, "Symbolic references").
private struct MangledName {
  private let start: UnsafeRawPointer
  private let length: Int

  /// The characters; each reference is a zero.
  private let text: [UInt8]

  init(at start: UnsafeRawPointer) {
    var length = 0
    var text: [UInt8] = []
    while case let byte = start.load(fromByteOffset: length, as: UInt8.self), byte != 0 {
      text.append(byte < 0x20 ? 0 : byte)
      length += byte >= 0x20 ? 1 : byte < 0x18 ? 5 : 9
    }
    self.start = start
    self.length = length
    self.text = text
  }

  func hasSuffix(_ suffix: String) -> Bool {
    text.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  /// Whether this is a lowered function type with a context; `nil` if it is not a function type.
  ///
  /// `I`, then `e` for escaping (perhaps after `s`, `I`, `P`), then the callee convention, `t` for thin; the name ends
  /// with `_`, and with `Sg` for an Optional.
  var isThickFunction: Bool? {
    let function = hasSuffix("_Sg") ? text.dropLast(2) : text[...]
    guard function.last == UInt8(ascii: "_"),
      let escaping = function.indices.last(where: { index in
        text[index] == UInt8(ascii: "e") && index > 0 && "sIP".utf8.contains(text[index - 1])
          && function[index...].allSatisfy { $0 > 0x20 && !(0x30...0x39).contains($0) }
      }),
      let convention = function[(escaping + 1)...].first(where: { $0 != UInt8(ascii: "A") })
    else {
      return nil
    }
    switch convention {
    case UInt8(ascii: "g"), UInt8(ascii: "x"), UInt8(ascii: "y"): return true
    case UInt8(ascii: "t"): return false
    default: return nil
    }
  }

  /// The type with this name; `nil` if the runtime cannot resolve it.
  func resolved(droppingLast dropped: Int) -> Any.Type? {
    _getTypeByMangledNameInContext(
      start.assumingMemoryBound(to: UInt8.self),
      UInt(length - dropped),
      genericContext: nil,
      genericArguments: nil
    )
  }
}
