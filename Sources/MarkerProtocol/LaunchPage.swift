/// Why a page holds no record that can be understood.
package enum LaunchPageError: Error, Equatable {
  case corrupt
  case unknownVersion(UInt32)
}

/// The 4096 bytes of a launch record, as they stand in a file that the program keeps mapped.
///
/// | offset | what |
/// | --- | --- |
/// | 0 | `HWLAUNCH`, then the version (32 bits); written last, so that a page without them has no record yet |
/// | 64, 72, 80 | the words of the marks crash, exit, request |
/// | 512, 2304 | two slots: sequence (64 bits), length (32), CRC-32C of both and the content (32), content |
///
/// A change goes into the slot that is not the newest. Whatever kills the writer meanwhile leaves the other one whole.
/// A mark is one aligned word, which a signal handler can store at once: the low half is its content, the high half the
/// same inverted and mixed with the run's tag, so that a word of an earlier run is none. All is little-endian.
package enum LaunchPage {
  package static let size = 4096
  package static let version: UInt32 = 1
  package static let crashWord = 64
  package static let exitWord = 72
  package static let requestWord = 80

  private static let magic = Array("HWLAUNCH".utf8)
  private static let versionPlace = 8
  private static let slotSize = 1792
  private static let slotHeader = 16

  /// Where the slot for a change of that number begins.
  private static func slot(_ sequence: UInt64) -> Int { 512 + Int(sequence & 1) * slotSize }

  /// A record with the number of its change.
  package typealias Entry = (record: LaunchRecord, sequence: UInt64)

  // MARK: Reading

  /// The newest record in the bytes of a page; nil where none was ever finished.
  package static func load(_ bytes: [UInt8]) throws(LaunchPageError) -> Entry? {
    if bytes.prefix(magic.count).allSatisfy({ $0 == 0 }) { return nil }
    guard bytes.count == size, bytes.starts(with: magic) else { throw .corrupt }
    let found = UInt32(truncatingIfNeeded: number(in: bytes, at: versionPlace, count: 4))
    guard found == version else { throw .unknownVersion(found) }
    guard var entry = newer(slot(in: bytes, at: slot(0)), slot(in: bytes, at: slot(1))) else { throw .corrupt }
    let tag = entry.record.tag
    entry.record.crash = mark(in: bytes, at: crashWord, tag: tag).map { Int32($0 & 0xff) }
    entry.record.exit = mark(in: bytes, at: exitWord, tag: tag).map(LaunchRecord.Exit.init(payload:))
    entry.record.request = mark(in: bytes, at: requestWord, tag: tag).map(LaunchRecord.Request.init(payload:))
    return entry
  }

  private static func slot(in bytes: [UInt8], at start: Int) -> Entry? {
    let length = Int(number(in: bytes, at: start + 8, count: 4))
    guard length <= slotSize - slotHeader else { return nil }
    let content = bytes[(start + slotHeader)..<(start + slotHeader + length)]
    let sum = UInt32(truncatingIfNeeded: number(in: bytes, at: start + 12, count: 4))
    guard sum == CRC32C.checksum(of: Array(bytes[start..<(start + 12)]) + content) else { return nil }
    var record = LaunchRecord()
    var reader = FieldReader(content)
    record.code(with: &reader)
    return reader.isShort ? nil : (record, number(in: bytes, at: start, count: 8))
  }

  private static func newer(_ one: Entry?, _ other: Entry?) -> Entry? {
    guard let one, let other else { return one ?? other }
    return one.sequence < other.sequence ? other : one
  }

  private static func mark(in bytes: [UInt8], at place: Int, tag: UInt32) -> UInt32? {
    let word = number(in: bytes, at: place, count: 8)
    let payload = UInt32(truncatingIfNeeded: word)
    return word == self.word(payload, tag: tag) ? payload : nil
  }

  private static func number(in bytes: [UInt8], at place: Int, count: Int) -> UInt64 {
    bytes[place..<(place + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: Writing

  /// Puts the record, as the change of that number, into a page.
  ///
  /// A mark that the record has not is left as it stands: a handler may have made it meanwhile.
  package static func store(_ record: LaunchRecord, sequence: UInt64, in page: UnsafeMutableRawBufferPointer) {
    store(content(of: record), sequence: sequence, at: slot(sequence), in: page)
    func mark(_ place: Int, _ payload: UInt32?) {
      guard let payload else { return }
      page.storeBytes(of: word(payload, tag: record.tag).littleEndian, toByteOffset: place, as: UInt64.self)
    }
    mark(crashWord, record.crash.map { UInt32(bitPattern: $0) })
    mark(exitWord, record.exit?.payload)
    mark(requestWord, record.request?.payload)
    page.storeBytes(of: version.littleEndian, toByteOffset: versionPlace, as: UInt32.self)
    page.baseAddress?.copyMemory(from: magic, byteCount: magic.count)
  }

  private static func content(of record: LaunchRecord) -> [UInt8] {
    var record = record
    var writer = FieldWriter()
    record.code(with: &writer)
    precondition(writer.bytes.count <= slotSize - slotHeader, "every text of a record is cut to a length that fits")
    return writer.bytes
  }

  private static func store(
    _ content: [UInt8],
    sequence: UInt64,
    at start: Int,
    in page: UnsafeMutableRawBufferPointer
  ) {
    var head: [UInt8] = []
    withUnsafeBytes(of: sequence.littleEndian) { head.append(contentsOf: $0) }
    withUnsafeBytes(of: UInt32(content.count).littleEndian) { head.append(contentsOf: $0) }
    let sum = CRC32C.checksum(of: head + content)
    withUnsafeBytes(of: sum.littleEndian) { head.append(contentsOf: $0) }
    page[start..<(start + slotSize)].copyBytes(from: head + content)
  }

  // MARK: A record alone

  /// A record for a place other than a file of a page's size: the page, without the zeros at its end.
  package static func bytes(of record: LaunchRecord) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: size)
    page.withUnsafeMutableBytes { store(record, sequence: 0, in: $0) }
    return Array(page.prefix(slot(1)))
  }

  /// The record in the bytes that ``bytes(of:)`` has made; nil where there is none.
  package static func record(from bytes: [UInt8]) -> LaunchRecord? {
    guard bytes.count == slot(1) else { return nil }
    return (try? load(bytes + [UInt8](repeating: 0, count: size - bytes.count)))?.record
  }

  /// A mark as it stands in the page; `hw_launch.c` makes the same.
  package static func word(_ payload: UInt32, tag: UInt32) -> UInt64 {
    UInt64(~payload ^ tag) << 32 | UInt64(payload)
  }
}
