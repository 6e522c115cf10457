import GateCore
import Glibc

/// Parses the kernel's texts byte by byte, since the sampler's loop must not allocate.
enum ProcText {
  /// The pages of a process by `/proc/<pid>/statm`.
  struct Pages {
    /// The second number; zero for a process that has ended.
    var resident: Int64
    /// The resident pages without those of files and shared memory, which the third number counts.
    var anonymous: Int64
  }

  static func pages(inStatm text: UnsafeRawBufferPointer) -> Pages {
    var at = 0
    while at < text.count, text[at] != UInt8(ascii: " ") { at += 1 }
    let resident = number(in: text, at: at)
    at += 1
    while at < text.count, text[at] != UInt8(ascii: " ") { at += 1 }
    return Pages(resident: resident, anonymous: max(0, resident - number(in: text, at: at)))
  }

  /// The memory lines of `/proc/<pid>/status`.
  ///
  /// - Returns: nil if the text has no `VmRSS`: the process is a zombie, or its first thread has ended.
  static func memory(inStatus text: UnsafeRawBufferPointer) -> MemoryReading? {
    var resident: Int64?
    var (peak, anonymous, file, shared): (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
    var start = 0
    while start < text.count {
      let first = text[start]
      // Skips most of the roughly sixty lines early.
      if first == UInt8(ascii: "V") || first == UInt8(ascii: "R") {
        if let value = value(of: "VmRSS:", in: text, at: start) { resident = value }
        if let value = value(of: "VmHWM:", in: text, at: start) { peak = value }
        if let value = value(of: "RssAnon:", in: text, at: start) { anonymous = value }
        if let value = value(of: "RssFile:", in: text, at: start) { file = value }
        if let value = value(of: "RssShmem:", in: text, at: start) {
          shared = value
          break
        }
      }
      start = endOfLine(in: text, at: start) + 1
    }
    guard let resident else { return nil }
    return MemoryReading(
      resident: .kibibytes(resident), peak: .kibibytes(peak), anonymous: .kibibytes(anonymous),
      file: .kibibytes(file), shared: .kibibytes(shared)
    )
  }

  /// The activity in `/proc/<pid>/stat`: the fields 10 (`minflt`), 14 (`utime`) and 15 (`stime`).
  ///
  /// - Returns: nil if the text is not such a line.
  static func activity(inStat text: UnsafeRawBufferPointer) -> Activity? {
    // The name, the second field, is in parentheses and may contain any byte.
    var at = text.count - 1
    while at >= 0, text[at] != UInt8(ascii: ")") { at -= 1 }
    guard at >= 0 else { return nil }
    var (field, faults, ticks): (Int, Int64, Int64) = (2, 0, 0)
    while at < text.count, field < 15 {
      if text[at] == UInt8(ascii: " ") {
        field += 1
        if field == 10 { faults = number(in: text, at: at) }
        if field == 14 || field == 15 { ticks += number(in: text, at: at) }
      }
      at += 1
    }
    guard field == 15 else { return nil }
    return Activity(minorFaults: faults, cpuTime: .nanoseconds(min(ticks, mostTicks) * nanosecondsPerTick))
  }

  private static let mostTicks = Int64.max / nanosecondsPerTick
  private static let nanosecondsPerTick = 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))

  /// The number after the key of the line that starts at `start`; nil if the line has another key.
  static func value(of key: StaticString, in text: UnsafeRawBufferPointer, at start: Int) -> Int64? {
    let count = key.utf8CodeUnitCount
    guard start + count <= text.count else { return nil }
    let expected = key.utf8Start
    for at in 0..<count where text[start + at] != expected[at] { return nil }
    return number(in: text, at: start + count)
  }

  /// The largest number in bytes, KiB or pages, or of clock ticks, that a text is read as: sums of a few cannot overflow.
  static let largest: Int64 = 1 << 50

  /// The number at an offset, after any spaces and tabs; zero if there is none.
  static func number(in text: UnsafeRawBufferPointer, at start: Int) -> Int64 {
    var at = start
    while at < text.count, text[at] == UInt8(ascii: " ") || text[at] == UInt8(ascii: "\t") { at += 1 }
    var value: Int64 = 0
    while at < text.count, case let digit = text[at] &- UInt8(ascii: "0"), digit <= 9 {
      value = min(value &* 10 &+ Int64(digit), largest)
      at += 1
    }
    return value
  }

  /// Whether the text is a single line with these words.
  static func isLine(_ text: UnsafeRawBufferPointer, _ words: String) -> Bool {
    guard let start = text.baseAddress, text.count == words.utf8.count + 1 else { return false }
    return words.utf8.withContiguousStorageIfAvailable { words in
      words.baseAddress.map { memcmp(start, $0, words.count) == 0 } ?? true
    } ?? false
  }

  /// The offset of the line feed, or of the end of the text.
  static func endOfLine(in text: UnsafeRawBufferPointer, at start: Int) -> Int {
    guard start < text.count, let base = text.baseAddress,
      let end = memchr(base + start, CInt(UInt8(ascii: "\n")), text.count - start)
    else { return text.count }
    return UnsafeRawPointer(end) - base
  }
}
