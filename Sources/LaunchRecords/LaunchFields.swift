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

/// Writes fields into a place, little-endian, texts with their length before them.
struct FieldWriter: FieldCoder {
  private let place: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  /// - Parameter place: Large enough for all that is written.
  init(_ place: UnsafeMutableRawBufferPointer) {
    self.place = place
  }

  mutating func field(_ number: inout UInt64) {
    precondition(place.count - count >= 8, "every text of a record is cut to a length that fits")
    place.storeBytes(of: number.littleEndian, toByteOffset: count, as: UInt64.self)
    count += 8
  }

  mutating func field(_ text: inout String, most: Int) {
    text.withUTF8 { content in
      let size = min(content.count, most)
      var length = UInt64(size)
      field(&length)
      precondition(place.count - count >= size, "every text of a record is cut to a length that fits")
      for index in 0..<size { place[count + index] = content[index] }
      count += size
    }
  }
}

/// Reads fields back; what is behind the last byte reads as zero, and is told of.
struct FieldReader: FieldCoder {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0
  private(set) var isShort = false

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func field(_ number: inout UInt64) {
    number = has(8) ? UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position - 8, as: UInt64.self)) : 0
  }

  mutating func field(_ text: inout String, most: Int) {
    var length: UInt64 = 0
    field(&length)
    guard length <= UInt64(most), has(Int(length)) else { return isShort = true }
    text = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[(position - Int(length))..<position]), as: UTF8.self)
  }

  /// Goes on by so many bytes, if there are as many.
  private mutating func has(_ count: Int) -> Bool {
    guard bytes.count - position >= count else {
      isShort = true
      return false
    }
    position += count
    return true
  }
}
