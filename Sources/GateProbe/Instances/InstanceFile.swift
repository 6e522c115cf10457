import GateCore
import Glibc
import LinuxSystem

/// The counts of one process, as the preloaded library writes them into a file that it maps (hw_instances.h).
///
/// The process under measurement can write anything here.
struct InstanceFile {
  /// The living instances by class.
  private(set) var live: [String: Int] = [:]
  /// Why nothing is counted; nil if something is.
  let refusal: InstanceRefusal?

  /// The sizes and places in `struct hw_instances_file`.
  private enum Layout {
    static let magic: UInt64 = 0x3173_6e49_7768_4948
    static let header = 64
    static let (refusal, classes, namesUsed) = (12, 16, 20)
    static let (record, mostClasses) = (288, 8192)
    static let (name, nameLength, kind) = (8, 12, 14)
    static let (allocated, freed, shard, shardCount) = (32, 40, 32, 8)
    static let names = header + record * mostClasses
    static let (namesSize, longestName) = (1 << 20, 380)
    /// More do not fit into any memory, and sums of them do not overflow.
    static let mostInstances: UInt64 = 1 << 40
    /// The object of the self-test.
    static let testKind = 3
  }

  /// Nil if the file is none of the library.
  init?(at path: String) {
    // It may have been replaced by a link, or by a FIFO, for which open(2) would wait.
    guard let file = try? Descriptor.file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW),
      let header = InstanceBytes(of: file, at: 0, count: Layout.header), header.number(at: 0) == Layout.magic
    else { return nil }
    refusal = Self.refusal(code: header.number(at: Layout.refusal) as Int32)
    let count = min(Int(header.number(at: Layout.classes) as UInt32), Layout.mostClasses)
    let size = min(Int(header.number(at: Layout.namesUsed) as UInt32), Layout.namesSize)
    guard refusal == nil, let records = InstanceBytes(of: file, at: Layout.header, count: count * Layout.record),
      let names = InstanceBytes(of: file, at: Layout.names, count: size)
    else { return }
    for index in 0..<count { add(records, at: index * Layout.record, names) }
  }

  private mutating func add(_ records: InstanceBytes, at start: Int, _ names: InstanceBytes) {
    let place = Int(records.number(at: start + Layout.name) as UInt32)
    let length = Int(records.number(at: start + Layout.nameLength) as UInt16)
    let kind = Int(records.number(at: start + Layout.kind) as UInt16)
    guard kind != Layout.testKind, length > 0, length <= Layout.longestName, place + length <= names.count
    else { return }
    let freed = records.sum(at: start + Layout.freed, every: Layout.shard, count: Layout.shardCount)
    let allocated = records.sum(at: start + Layout.allocated, every: Layout.shard, count: Layout.shardCount)
    // If more were released than allocated, not all allocations were seen.
    guard allocated > 0, freed <= allocated else { return }
    let number = min(allocated - freed, Layout.mostInstances)
    live[names.text(at: place, length: length), default: 0] += Int(number)
  }

  private static func refusal(code: Int32) -> InstanceRefusal? {
    switch code {
    case 0: nil
    case 1: .noSymbols
    case 2: .unknownCode
    case 4, 7: .protectedMemory
    default: .failedSelfTest
    }
  }
}

/// A part of a file.
private struct InstanceBytes {
  private let bytes: [UInt8]

  /// Nil if the file is shorter.
  init?(of file: Descriptor, at offset: Int, count: Int) {
    bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      read = max(0, pread(file.number, buffer.baseAddress, count, off_t(offset)))
    }
    guard bytes.count == count else { return nil }
  }

  var count: Int { bytes.count }

  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
  }

  /// The sum of some numbers, which does not overflow.
  func sum(at offset: Int, every distance: Int, count: Int) -> UInt64 {
    (0..<count).reduce(0) { sum, index in
      let (next, overflow) = sum.addingReportingOverflow(number(at: offset + index * distance))
      return overflow ? .max : next
    }
  }

  func text(at offset: Int, length: Int) -> String { String(decoding: bytes[offset..<offset + length], as: UTF8.self) }
}
