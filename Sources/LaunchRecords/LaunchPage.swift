/// Why a page contains no readable record.
package enum LaunchPageError: Error, Equatable {
  case corrupt
  case unknownVersion(UInt32)
}

/// The format of a launch record: 4096 bytes in a file that the program keeps mapped.
///
/// | offset | content |
/// | --- | --- |
/// | 0 | `HWLAUNCH`, then the version (32 bits); written last, so that a page without them has no record yet |
/// | 64, 72, 80, 88 | the words of the marks crash, exit, request, fork |
/// | 512, 2304 | two slots: sequence (64 bits), length (32), CRC-32C of both and the content (32), content |
///
/// A change is written to the older slot, so that the newer one stays valid if the writer is killed meanwhile. A mark is
/// one aligned word, which a signal handler can store atomically: the low half is its content, the high half the inverted
/// content XOR the run's tag, so that a word of an earlier run is not valid. All numbers are little-endian.
package enum LaunchPage {
  package static let size = 4096
  package static let version: UInt32 = 2
  package static let crashWord = 64
  package static let exitWord = 72
  package static let requestWord = 80
  package static let forkWord = 88

  /// `HWLAUNCH`, as a little-endian number.
  private static let magic: UInt64 = 0x4843_4e55_414c_5748
  private static let versionOffset = 8
  private static let slotSize = 1792
  private static let slotHeader = 16

  /// The offset of the slot for a sequence number.
  private static func slot(_ sequence: UInt64) -> Int { 512 + Int(sequence & 1) * slotSize }

  /// A record with its sequence number.
  package typealias Entry = (record: LaunchRecord, sequence: UInt64)

  // MARK: Reading

  /// Whether the bytes begin like a page of any version.
  package static func isPage(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= 8 && number(in: bytes, at: 0) == magic
  }

  /// The newest record of a page; nil if none was completed.
  package static func load(_ bytes: [UInt8]) throws(LaunchPageError) -> Entry? {
    var record = LaunchRecord()
    let sequence = try bytes.withUnsafeBytes { page in
      Result { () throws(LaunchPageError) in try read(page, into: &record) }
    }.get()
    return sequence.map { (record, $0) }
  }

  /// Reads the newest record of a page into the caller's variable: copying an optional record would need parts of the
  /// Swift runtime that a small program does not use otherwise.
  ///
  /// - Returns: The sequence number; nil if no record was completed.
  package static func read(
    _ page: UnsafeRawBufferPointer,
    into record: inout LaunchRecord
  ) throws(LaunchPageError) -> UInt64? {
    // A new file is empty, or has no magic number yet.
    if page.prefix(8).allSatisfy({ $0 == 0 }) { return nil }
    guard page.count == size, number(in: page, at: 0) == magic else { throw .corrupt }
    let found = UInt32(truncatingIfNeeded: number(in: page, at: versionOffset))
    guard found == version else { throw .unknownVersion(found) }
    guard let start = newestSlot(in: page) else { throw .corrupt }
    let content = start + slotHeader
    var reader = FieldReader(UnsafeRawBufferPointer(rebasing: page[content..<(content + length(in: page, at: start))]))
    record.code(with: &reader)
    guard !reader.isShort else { throw .corrupt }
    record.crash = mark(in: page, at: crashWord, tag: record.tag).map { Int32($0 & 0xff) }
    record.exit = mark(in: page, at: exitWord, tag: record.tag).map(LaunchRecord.Exit.init(payload:))
    record.request = mark(in: page, at: requestWord, tag: record.tag).map(LaunchRecord.Request.init(payload:))
    record.forkedChild = mark(in: page, at: forkWord, tag: record.tag).map { Int32(truncatingIfNeeded: $0) }
    return number(in: page, at: start)
  }

  /// The slot with the last completed change; nil if neither is valid.
  private static func newestSlot(in page: UnsafeRawBufferPointer) -> Int? {
    let (first, second) = (slot(0), slot(1))
    guard isValid(first, in: page) else { return isValid(second, in: page) ? second : nil }
    guard isValid(second, in: page) else { return first }
    return number(in: page, at: first) < number(in: page, at: second) ? second : first
  }

  private static func isValid(_ start: Int, in page: UnsafeRawBufferPointer) -> Bool {
    let length = length(in: page, at: start)
    return length <= slotSize - slotHeader
      && UInt32(number(in: page, at: start + 8) >> 32) == sum(of: page, at: start, length: length)
  }

  private static func length(in page: UnsafeRawBufferPointer, at start: Int) -> Int {
    Int(number(in: page, at: start + 8) & 0xffff_ffff)
  }

  /// The checksum of a slot: of its sequence and length, then of its content.
  private static func sum(of page: UnsafeRawBufferPointer, at start: Int, length: Int) -> UInt32 {
    var sum = CRC32C()
    sum.add(UnsafeRawBufferPointer(rebasing: page[start..<(start + 12)]))
    sum.add(UnsafeRawBufferPointer(rebasing: page[(start + slotHeader)..<(start + slotHeader + length)]))
    return sum.value
  }

  private static func mark(in page: UnsafeRawBufferPointer, at offset: Int, tag: UInt32) -> UInt32? {
    let word = number(in: page, at: offset)
    let payload = UInt32(truncatingIfNeeded: word)
    return word == self.word(payload, tag: tag) ? payload : nil
  }

  private static func number(in page: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    UInt64(littleEndian: page.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  // MARK: Writing

  /// Writes the record with a sequence number into a page.
  ///
  /// Marks that the record does not have are not changed: a handler may have stored them meanwhile.
  package static func store(_ record: LaunchRecord, sequence: UInt64, in page: UnsafeMutableRawBufferPointer) {
    fill(slot(sequence), of: page, with: record, sequence)
    func mark(_ offset: Int, _ payload: UInt32?) {
      guard let payload else { return }
      page.storeBytes(of: word(payload, tag: record.tag).littleEndian, toByteOffset: offset, as: UInt64.self)
    }
    mark(crashWord, record.crash.map { UInt32(bitPattern: $0) })
    mark(exitWord, record.exit?.payload)
    mark(requestWord, record.request?.payload)
    mark(forkWord, record.forkedChild.map { UInt32(bitPattern: $0) })
    page.storeBytes(of: version.littleEndian, toByteOffset: versionOffset, as: UInt32.self)
    page.storeBytes(of: magic.littleEndian, toByteOffset: 0, as: UInt64.self)
  }

  /// Removes the record, by one store, so that no kill leaves half of it; its file is then free for a new run.
  package static func clear(_ page: UnsafeMutableRawBufferPointer) {
    page.storeBytes(of: 0, toByteOffset: 0, as: UInt64.self)
  }

  private static func fill(
    _ start: Int,
    of page: UnsafeMutableRawBufferPointer,
    with record: LaunchRecord,
    _ sequence: UInt64
  ) {
    var record = record
    var writer = FieldWriter(UnsafeMutableRawBufferPointer(rebasing: page[(start + slotHeader)..<(start + slotSize)]))
    record.code(with: &writer)
    page.storeBytes(of: sequence.littleEndian, toByteOffset: start, as: UInt64.self)
    page.storeBytes(of: UInt32(writer.count).littleEndian, toByteOffset: start + 8, as: UInt32.self)
    let sum = sum(of: UnsafeRawBufferPointer(page), at: start, length: writer.count)
    page.storeBytes(of: sum.littleEndian, toByteOffset: start + 12, as: UInt32.self)
  }

  // MARK: A record without a file

  /// The page of a record without its trailing zeros, for other stores than a mapped file.
  package static func bytes(of record: LaunchRecord) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: size)
    page.withUnsafeMutableBytes { store(record, sequence: 0, in: $0) }
    return Array(page.prefix(slot(1)))
  }

  /// The record from the bytes of ``bytes(of:)``; nil if they are not valid.
  package static func record(from bytes: [UInt8]) -> LaunchRecord? {
    guard bytes.count == slot(1) else { return nil }
    return (try? load(bytes + [UInt8](repeating: 0, count: size - bytes.count)))?.record
  }

  /// A mark in the page; `mark` in `hw_launch.c` must match.
  package static func word(_ payload: UInt32, tag: UInt32) -> UInt64 {
    UInt64(~payload ^ tag) << 32 | UInt64(payload)
  }
}
