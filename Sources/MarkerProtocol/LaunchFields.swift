/// Passes over the fields of a record, one after the other, to write or to read them.
///
/// One list of fields serves both directions, so that they cannot disagree.
protocol FieldCoder {
  mutating func field(_ number: inout UInt64)
  /// A text of at most that many bytes; the rest is cut.
  mutating func field(_ text: inout String, most: Int)
}

extension FieldCoder {
  mutating func field(_ number: inout Int32) {
    var bits = UInt64(UInt32(bitPattern: number))
    field(&bits)
    number = Int32(truncatingIfNeeded: bits)
  }

  mutating func field(_ number: inout UInt32) {
    var bits = UInt64(number)
    field(&bits)
    number = UInt32(truncatingIfNeeded: bits)
  }

  mutating func field(_ number: inout Double) {
    var bits = number.bitPattern
    field(&bits)
    number = Double(bitPattern: bits)
  }

  mutating func field(_ flag: inout Bool) {
    var bits: UInt64 = flag ? 1 : 0
    field(&bits)
    flag = bits != 0
  }

  /// A number that may be missing: whether it is there, then the number.
  mutating func field(_ number: inout UInt64?) {
    var isThere = number != nil
    var bits = number ?? 0
    field(&isThere)
    field(&bits)
    number = isThere ? bits : nil
  }
}

/// Writes fields, little-endian, texts with their length before them.
struct FieldWriter: FieldCoder {
  private(set) var bytes: [UInt8] = []

  mutating func field(_ number: inout UInt64) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func field(_ text: inout String, most: Int) {
    text.withUTF8 { content in
      let count = min(content.count, most)
      var length = UInt64(count)
      field(&length)
      bytes.append(contentsOf: content[..<count])
    }
  }
}

/// Reads fields back; what is behind the last byte reads as zero, and is told of.
struct FieldReader: FieldCoder {
  private var rest: ArraySlice<UInt8>
  private(set) var isShort = false

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  mutating func field(_ number: inout UInt64) {
    let bytes = take(8)
    number = bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func field(_ text: inout String, most: Int) {
    var length: UInt64 = 0
    field(&length)
    guard length <= UInt64(most) else { return isShort = true }
    text = String(decoding: take(Int(length)), as: UTF8.self)
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8> {
    guard rest.count >= count else {
      isShort = true
      return []
    }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
