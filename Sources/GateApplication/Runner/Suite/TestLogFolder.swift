import GateCore
import LinuxSystem

/// The folder in which the plugins write the logs of their processes, one `PID.jsonl` each.
///
/// The tests can write there as well: sizes and counts are bounded, and what is not an event counts as a fault.
struct TestLogFolder {
  let path: String

  /// More tests make neither a report nor a baseline that anybody reads.
  static let mostTests = 100_000
  private static let mostProcesses = 10_000
  private static let largestLog = 256 << 20
  private static let longestLine = 64 << 10
  private static let longestName = 4096

  /// Reads all logs.
  ///
  /// - Returns: the tests, and what makes them fewer than there were.
  func read() throws -> (log: TestLog, problem: SuiteProblem?) {
    let folder = try Descriptor.folder(path)
    let names = try folder.names(atMost: Self.mostProcesses) { $0.hasSuffix(".jsonl") }
    // The plugins remove it at the end of the last test.
    let recording = try folder.names(atMost: Self.mostProcesses) { $0.hasSuffix(".recording") }
    let processes = names.compactMap { Int32($0.dropLast(".jsonl".count)) }.sorted()
    var log = TestLog()
    for process in processes {
      // The tests may have written too much, or replaced the file.
      let bytes = try? SafeFile.read("\(path)/\(process).jsonl", atMost: Self.largestLog)
      let (events, unreadable) = bytes.map(Self.events) ?? ([], 1)
      log.add(events, unreadable: unreadable, process: process)
      if log.runs.count > Self.mostTests { return (log, .tooManyTests(most: Self.mostTests)) }
    }
    if log.faults > 0 { return (log, .unreadable(lines: log.faults)) }
    return (log, recording.isEmpty ? nil : .notRecorded(processes: recording.count))
  }

  /// The events, and the number of other lines; a last line without its end is of a process that was killed.
  static func events(in bytes: [UInt8]) -> (events: [TestEvent], unreadable: Int) {
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast()
    let events = lines.compactMap { event(in: $0) }
    return (events, lines.count - events.count)
  }

  private static func event(in line: ArraySlice<UInt8>) -> TestEvent? {
    guard line.count <= longestLine,
      let line = try? JSON.decode(LogLine.self, from: Array(line), path: "", hint: "")
    else { return nil }
    guard !line.test.isEmpty, line.test.utf8.count <= longestName else { return nil }
    let test = SuiteTest(line.test, file: line.file, line: line.line)
    switch line.event {
    case .begin:
      return TestEvent(.begin(isReset: line.reset ?? false), of: test, resident: line.resident, peak: line.peak)
    case .end:
      guard let outcome = line.outcome else { return nil }
      let time = Duration.seconds(min(max(0, line.seconds ?? 0), 1e9))
      return TestEvent(
        .end(outcome, after: time), of: test, resident: line.resident, peak: line.peak, objects: line.objects)
    }
  }
}

private struct LogLine: Decodable {
  enum Event: String, Decodable { case begin, end }

  let event: Event
  let test: String
  let file: String?
  let line: Int?
  let resident: Bytes
  let peak: Bytes
  let objects: Bytes?
  let reset: Bool?
  let outcome: TestRun.Outcome?
  let seconds: Double?
}
