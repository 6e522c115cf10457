/// The heap object that keeps what a closure has captured, or a captured variable.
///
/// Its metadata (`HeapLocalVariableMetadata`, kind 0x400) has the offset of the first capture and a descriptor
/// (`include/swift/RemoteInspection/Records.h`: CaptureDescriptor) that names the types of all in their order.
struct ClosureContext {
  /// What a context holds on to.
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

  /// The context of a closure that is stored at an address, in its second word.
  ///
  /// It is `nil` for functions that capture nothing and for an Optional's `nil`, and an object of a class where that is
  /// all that is captured.
  static func address(ofClosureAt address: UnsafeRawPointer) -> UnsafeRawPointer? {
    guard address.load(as: UInt.self) != 0 else {
      return nil
    }
    return address.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
  }

  /// Hands out what is captured strongly, each with its number.
  ///
  /// - Returns: Whether all was understood. Where a type is unknown, all that comes after it is left out, since its
  ///   place depends on it; a context of a generic closure is left out as a whole, since types stand before it.
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

/// How a capture lies in its context, and what of it is held, by the end of its mangled type (`docs/ABI/Mangling.rst`).
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
      // Weak, unowned and unmanaged references: as large as the strong one, and not to be read.
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

/// A mangled type as metadata refers to it: text between which bytes below 0x20 introduce references of four or eight
/// bytes (`docs/ABI/Mangling.rst`, "Symbolic references").
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

  /// Whether this is a lowered function type that comes with a context; `nil` where it is none.
  ///
  /// `I`, then `e` for escaping (before it perhaps `s`, `I`, `P`), then the callee's convention, `t` where it is thin;
  /// all ends with `_`, and with `Sg` for an Optional.
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

  /// The type that the runtime knows by this name.
  func resolved(droppingLast dropped: Int) -> Any.Type? {
    _getTypeByMangledNameInContext(
      start.assumingMemoryBound(to: UInt8.self),
      UInt(length - dropped),
      genericContext: nil,
      genericArguments: nil
    )
  }
}
