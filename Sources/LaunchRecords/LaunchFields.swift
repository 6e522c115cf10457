/// Encodes or decodes the fields of a record in order.
///
/// One list of fields serves both directions, so that they cannot differ.
protocol FieldCoder {
  mutating func field(_ number: inout UInt64)
  /// A string of at most `limit` bytes; a longer one is cut.
  mutating func field(_ text: inout String, limit: Int)
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

  /// An optional number: whether it is present, then the number.
  mutating func field(_ number: inout UInt64?) {
    var isPresent = number != nil
    var bits = number ?? 0
    field(&isPresent)
    field(&bits)
    number = isPresent ? bits : nil
  }
}

/// Writes fields into a buffer, little-endian, strings after their length.
struct FieldWriter: FieldCoder {
  private let buffer: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  /// - Parameter buffer: Large enough for all fields.
  init(_ buffer: UnsafeMutableRawBufferPointer) {
    self.buffer = buffer
  }

  mutating func field(_ number: inout UInt64) {
    precondition(buffer.count - count >= 8, "the limits of all strings of a record fit into a slot")
    buffer.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  mutating func field(_ text: inout String, limit: Int) {
    text.withUTF8 { content in
      let size = min(content.count, limit)
      var length = UInt64(size)
      field(&length)
      precondition(buffer.count - count >= size, "the limits of all strings of a record fit into a slot")
      for index in 0..<size { buffer[count + index] = content[index] }
      count += size
    }
  }
}

/// Reads fields; beyond the last byte they are zero, and `isShort` is set.
struct FieldReader: FieldCoder {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private(set) var isShort = false

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func field(_ number: inout UInt64) {
    number = advance(8) ? UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position - 8, as: UInt64.self)) : 0
  }

  mutating func field(_ text: inout String, limit: Int) {
    var length: UInt64 = 0
    field(&length)
    guard length <= UInt64(limit), advance(Int(length)) else { return isShort = true }
    text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[(position - Int(length))..<position]), as: UTF8.self)
  }

  /// Skips this many bytes if they are present.
  private mutating func advance(_ count: Int) -> Bool {
    guard bytes.count - position >= count else {
      isShort = true
      return false
    }
    position += count
    return true
  }
}
