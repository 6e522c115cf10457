/// Bytes in the making.
///
/// Numbers are varints: seven bits a byte, the lowest first, the eighth bit set on all but the last; signed ones are
/// zig-zag coded, so that small magnitudes stay short.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ raw: some Sequence<UInt8>) {
    bytes.append(contentsOf: raw)
  }

  mutating func append(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func append(count: Int) {
    append(UInt64(max(0, count)))
  }

  mutating func append(_ number: Int64) {
    append(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  mutating func append(_ text: String) {
    append(count: text.utf8.count)
    append(text.utf8)
  }

  /// Writes whether there is a value, and it.
  mutating func append<Value>(_ value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
    append(count: value == nil ? 0 : 1)
    if let value { write(&self, value) }
  }

  mutating func append<Element>(_ list: [Element], _ write: (inout ByteWriter, Element) -> Void) {
    append(count: list.count)
    for element in list { write(&self, element) }
  }
}

/// What is wrong with bytes that should be a recording.
struct ByteFault: Error {
  var problem: String

  static let short = ByteFault(problem: "ends in the middle: it is cut short")
  static let damaged = ByteFault(problem: "is damaged")
}

/// Bytes from a file that anybody may have written: each read is bounded, and none can trap.
struct ByteReader {
  /// The version of the file: what later ones have added is not in it.
  let version: UInt8
  private let content: [UInt8]
  private var position = 0

  init(_ content: [UInt8], version: UInt8 = RecordingFile.version) {
    self.content = content
    self.version = version
  }

  var remaining: Int { content.count - position }

  mutating func raw(_ count: Int) throws(ByteFault) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw .short }
    defer { position += count }
    return content[position..<position + count]
  }

  mutating func unsigned() throws(ByteFault) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      guard position < content.count else { throw .short }
      let byte = content[position]
      position += 1
      // The tenth byte has room for one bit.
      if shift == 63, byte > 1 { throw .damaged }
      number |= UInt64(byte & 0x7f) << UInt64(shift)
      if byte < 0x80 { return number }
    }
    throw .damaged
  }

  mutating func signed() throws(ByteFault) -> Int64 {
    let number = try unsigned()
    return Int64(bitPattern: (number >> 1) ^ (0 &- (number & 1)))
  }

  /// A number that must not be larger than `most`.
  mutating func count(atMost most: Int) throws(ByteFault) -> Int {
    let number = try unsigned()
    guard number <= UInt64(most) else { throw .damaged }
    return Int(number)
  }

  mutating func text() throws(ByteFault) -> String {
    let length = try count(atMost: RecordingFile.longestText)
    guard let text = String(validating: try raw(length), as: UTF8.self) else { throw .damaged }
    return text
  }

  mutating func optional<Value>(
    _ read: (inout ByteReader) throws(ByteFault) -> Value
  ) throws(ByteFault) -> Value? {
    try count(atMost: 1) == 0 ? nil : try read(&self)
  }

  /// What a version has added, or what a file of an earlier one means by its absence.
  mutating func added<Value>(
    in version: UInt8,
    else absent: @autoclosure () -> Value,
    _ read: (inout ByteReader) throws(ByteFault) -> Value
  ) throws(ByteFault) -> Value {
    self.version < version ? absent() : try read(&self)
  }

  /// A list whose elements have at least one byte each, so that its length is also bounded by what is left.
  mutating func list<Element>(
    atMost most: Int,
    _ read: (inout ByteReader) throws(ByteFault) -> Element
  ) throws(ByteFault) -> [Element] {
    let count = try count(atMost: min(most, remaining))
    var elements: [Element] = []
    for _ in 0..<count { elements.append(try read(&self)) }
    return elements
  }
}

/// The checksum of zip and PNG (CRC-32, ISO 3309): tells a damaged file, not a forged one.
enum Checksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? (crc >> 1) ^ 0xedb8_8320 : crc >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let table = table
    return ~bytes.reduce(~0) { crc, byte in table[Int((crc ^ UInt32(byte)) & 0xff)] ^ (crc >> 8) }
  }

  /// The checksum as four bytes, the lowest first.
  static func bytes(of content: some Sequence<UInt8>) -> [UInt8] {
    let sum = of(content)
    return [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: sum >> $0) }
  }
}
