import Dispatch
package import GateCore
import GateFiles
import GateHistory
import GateReports
import Synchronization

/// Brings runs into the history from JSON lines and result files, of other machines or of one whose cache was lost.
package struct HistoryImport {
  /// Paths, at least one; `-` is standard input.
  package var files: [String]
  package var options = SharedOptions()

  package init(files: [String]) {
    self.files = files
  }

  /// Adds the runs that are not there yet; what cannot be read is told and costs no other run.
  ///
  /// - Returns: `usage` where anything could not be read.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let path = try options.historyPath(in: invocation)
    var round = ImportRound(
      history: try HistoryPlace(path: path).openForWriting(in: invocation), console: invocation.console)
    for file in files {
      do {
        try round.add(file, at: file == "-" ? file : invocation.absolute(file))
      } catch let error as FileError {
        round.refuse(error)
      }
      try round.flush()
      if invocation.isInterrupted { break }
    }
    try round.finish()
    if let code = invocation.interruptedCode { return code }
    invocation.console.say(round.summary)
    return round.refused > 0 ? .usage : .pass
  }
}

/// One import while it goes on.
private struct ImportRound {
  let console: Console
  private let adding: BatchAddition
  private(set) var refused = 0
  private var batch = Batch()

  /// Lines that wait to be decoded and added together: one transaction a batch lets other processes in between.
  private struct Batch {
    var lines: [(bytes: [UInt8], path: String, number: Int?)] = []
    var size = 0
    var isFull: Bool { lines.count >= 1000 || size >= 32 << 20 }
  }

  init(history: History, console: Console) {
    self.console = console
    adding = BatchAddition(to: history)
  }

  /// Reads a file; a first line of a lone brace is that of a result file, which is one document.
  mutating func add(_ shown: String, at path: String) throws {
    var reader = try RunLineReader(path)
    var number = 0
    while let line = try reader.next() {
      number += 1
      guard case .whole(let bytes) = line else {
        let problem = "the line is longer than \(RunLine.largest >> 20) MiB, the most that is read here"
        refuse(FileError(code: .tooLarge, path: shown, position: "\(number)", problem: problem))
        continue
      }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { continue }
      if number == 1, bytes == [UInt8(ascii: "{")] {
        return try take(Self.rest(of: &reader, after: bytes, shown), shown, nil)
      }
      try take(bytes, shown, number)
    }
  }

  private static func rest(
    of reader: inout RunLineReader,
    after first: [UInt8],
    _ shown: String
  ) throws(FileError) -> [UInt8] {
    var document = first
    while let line = try reader.next() {
      guard case .whole(let bytes) = line, document.count + bytes.count < ResultFile.largest else {
        throw FileError(code: .tooLarge, path: shown, problem: "is larger than any result file that is read here")
      }
      document += [0x0a] + bytes
    }
    return document
  }

  private mutating func take(_ bytes: [UInt8], _ path: String, _ number: Int?) throws {
    batch.lines.append((bytes, path, number))
    batch.size += bytes.count
    if batch.isFull { try flush() }
  }

  /// Decodes what waits, on all processors, and has it added.
  mutating func flush() throws {
    let lines = batch.lines
    batch = Batch()
    let decoded = Mutex([Result<RunRecord, FileError>?](repeating: nil, count: lines.count))
    DispatchQueue.concurrentPerform(iterations: (lines.count + Self.share - 1) / Self.share) { part in
      let range = part * Self.share..<min(lines.count, (part + 1) * Self.share)
      let results = lines[range].map { line in
        Result { () throws(FileError) in try RunLine.decode(line.bytes, path: line.path, line: line.number) }
      }
      decoded.withLock { all in
        for (index, result) in zip(range, results) { all[index] = result }
      }
    }
    var records: [RunRecord] = []
    for result in decoded.withLock({ $0 }) {
      switch result {
      case .success(let record): records.append(record.verbatim)
      case .failure(let error): refuse(error)
      case nil: break
      }
    }
    if !records.isEmpty { try adding.start(records) }
  }

  /// Waits until all is added.
  func finish() throws(HistoryError) {
    for id in try adding.finish().conflicts {
      console.warn("run \(id) came with different figures: the one whose line sorts last is kept")
    }
  }

  /// Lines that one thread decodes in a go.
  private static let share = 16

  mutating func refuse(_ error: FileError) {
    refused += 1
    console.printError(error)
  }

  var summary: String {
    let additions = adding.additions
    var parts = ["added \(Console.count(additions.added, "run"))"]
    if additions.known > 0 { parts.append("\(additions.known) known already") }
    if refused > 0 { parts.append("\(refused) not understood") }
    return parts.joined(separator: ", ")
  }
}

/// Adds one batch while the next one is decoded.
private final class BatchAddition: Sendable {
  private let history: History
  private let queue = DispatchQueue(label: "history")
  private let state = Mutex<(additions: History.Additions, error: HistoryError?)>((History.Additions(), nil))

  init(to history: History) {
    self.history = history
  }

  /// What has become of the batches that are finished.
  var additions: History.Additions { state.withLock { $0.additions } }

  /// Begins with a batch when the one before is finished.
  func start(_ records: [RunRecord]) throws(HistoryError) {
    try finish()
    queue.async { [self] in
      do throws(HistoryError) {
        // Of two runs of one id the one that comes later by its bytes stays, whichever came first.
        let round = try history.append(records) { new, kept in
          RunLine.encode(kept).lexicographicallyPrecedes(RunLine.encode(new))
        }
        state.withLock { $0.additions += round }
      } catch {
        state.withLock { $0.error = error }
      }
    }
  }

  /// Waits for the batch that is under way.
  @discardableResult
  func finish() throws(HistoryError) -> History.Additions {
    queue.sync {}
    let (additions, error) = state.withLock { $0 }
    if let error { throw error }
    return additions
  }
}

extension History.Additions {
  fileprivate static func += (total: inout Self, part: Self) {
    total.added += part.added
    total.known += part.known
    total.conflicts += part.conflicts
  }
}
