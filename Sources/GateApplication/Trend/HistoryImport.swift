import GateCore
import Glibc
import LinuxSystem

/// Adds runs to the history from JSON lines and result files, of other machines or of a lost cache, or from the results of
/// another tool.
struct HistoryImport {
  /// Paths, at least one; `-` is standard input.
  var files: [String]
  /// The tool that wrote them; nil for the own formats, which are read line by line.
  var format: ForeignTool?
  var options = SharedOptions()

  init(files: [String]) {
    self.files = files
  }

  /// Adds the runs that are not yet stored; an unreadable line is reported, and the others are still added.
  ///
  /// - Returns: `usage` if anything could not be read.
  func run(in invocation: Invocation) throws -> ExitCode {
    let history = try options.historyLocation(in: invocation).openToAdd(for: .importing, in: invocation)
    var batches = ImportBatches(history: history, in: invocation)
    for file in files {
      do {
        let path = file == "-" ? file : invocation.absolute(file)
        if let format {
          try batches.add(file, at: path, as: ImportFormat(format))
        } else {
          try batches.add(file, at: path)
        }
      } catch let error as FileError {
        batches.reject(error)
      }
      try batches.flush()
      if invocation.isInterrupted { break }
    }
    if let code = invocation.interruptedCode { return code }
    invocation.console.say(batches.summary)
    return batches.rejected > 0 ? .usage : .pass
  }
}

/// The runs of an import, added in batches: one transaction per batch, so that other processes get access in between.
private struct ImportBatches {
  let history: History
  let console: Console
  /// How many runs are decoded at the same time, which takes most of the time.
  let decoders: Int
  private(set) var rejected = 0
  private var additions = History.Additions()
  private var documents: [Document] = []
  private var size = 0

  /// The text of a run, and where it was found, for messages.
  private struct Document: Sendable {
    let bytes: [UInt8]
    let path: String
    var line: Int?
    /// nil for the own formats.
    var format: ImportFormat?

    func decoded() -> Result<[RunSummary], FileError> {
      do throws(FileError) {
        guard let format else { return .success([try RunLine.decode(bytes, path: path, line: line)]) }
        // What another tool calls a name or a number of CPUs has to follow the rules of lines.
        return .success(
          try format.runs(bytes, path).map { run throws(FileError) in
            try RunLine.decode(RunLine.encode(run), path: path, line: nil)
          })
      } catch {
        return .failure(error)
      }
    }
  }

  private static let batchSize = 1000
  /// In bytes.
  private static let largestBatch = 16 << 20

  init(history: History, in invocation: Invocation) {
    self.history = history
    console = invocation.console
    decoders = invocation.measurer.usableCPUs.count
  }

  /// Reads a file; if its first line is a single brace, it is a result file, which is one document.
  mutating func add(_ shown: String, at path: String) throws {
    var reader = try RunLineReader(path)
    var number = 0
    while let line = try reader.next() {
      number += 1
      guard case .whole(let bytes) = line else {
        let problem = "the line is longer than \(RunLine.largest >> 20) MiB"
        reject(FileError(code: .tooLarge, path: shown, position: "\(number)", problem: problem))
        continue
      }
      if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { continue }
      if number == 1, bytes == [UInt8(ascii: "{")] {
        return try add(Self.document(from: &reader, after: bytes, shown), shown, nil)
      }
      try add(bytes, shown, number)
    }
  }

  /// Adds a file of another tool, or the results in a folder and the folders in it.
  mutating func add(_ shown: String, at path: String, as format: ImportFormat) throws {
    guard (try? Descriptor.kind(of: path, followingLinks: true)) == .folder else {
      return try add(try SafeFile.read(path, atMost: RunLine.largest), shown, format)
    }
    let found = try Self.results(in: path, format, depth: 1)
    if found.isEmpty { reject(FileError(code: .notFound, path: shown, problem: "has no results of this format")) }
    for name in found {
      do {
        try add(try SafeFile.read("\(path)/\(name)", atMost: RunLine.largest), "\(shown)/\(name)", format)
      } catch let error as FileError {
        reject(error)
      }
    }
  }

  private mutating func add(_ bytes: [UInt8], _ path: String, _ format: ImportFormat) throws {
    try add(Document(bytes: bytes, path: path, format: format))
  }

  /// The paths of results, relative to the folder, sorted.
  private static func results(
    in folder: String, _ format: ImportFormat, depth: Int
  ) throws(FileError) -> [String] {
    let entries: [(name: String, isFolder: Bool)]
    do throws(ErrorNumber) {
      entries = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY).entries()
    } catch {
      throw error.whileReading(folder)
    }
    var paths = entries.filter { !$0.isFolder && format.isResult($0.name) }.map(\.name)
    for inner in entries where inner.isFolder && depth > 0 {
      paths += try results(in: "\(folder)/\(inner.name)", format, depth: depth - 1).map { "\(inner.name)/\($0)" }
    }
    return paths.sorted()
  }

  private static func document(
    from reader: inout RunLineReader,
    after first: [UInt8],
    _ shown: String
  ) throws(FileError) -> [UInt8] {
    var document = first
    while let line = try reader.next() {
      guard case .whole(let bytes) = line, document.count + bytes.count < ResultFile.largest else {
        throw FileError(
          code: .tooLarge, path: shown, problem: "is larger than \(ResultFile.largest >> 20) MiB")
      }
      document += [0x0a] + bytes
    }
    return document
  }

  private mutating func add(_ bytes: [UInt8], _ path: String, _ line: Int?) throws {
    try add(Document(bytes: bytes, path: path, line: line))
  }

  private mutating func add(_ document: Document) throws {
    documents.append(document)
    size += document.bytes.count
    if documents.count >= Self.batchSize || size >= Self.largestBatch { try flush() }
  }

  /// Adds the pending runs.
  mutating func flush() throws(HistoryError) {
    var runs: [RunSummary] = []
    for result in SideBySide.map(documents, on: decoders, { $0.decoded() }) ?? [] {
      switch result {
      case .success(let decoded): runs += decoded
      case .failure(let error): reject(error)
      }
    }
    (documents, size) = ([], 0)
    guard !runs.isEmpty else { return }
    let added = try history.append(runs)
    for id in added.conflicts {
      console.warn("run \(id) is already stored with different values: kept one of them (the choice is deterministic)")
    }
    additions.added += added.added
    additions.known += added.known
  }

  mutating func reject(_ error: FileError) {
    rejected += 1
    console.printError(error)
  }

  var summary: String {
    var parts = ["added \(Console.count(additions.added, "run"))"]
    if additions.known > 0 { parts.append("\(additions.known) already there") }
    if rejected > 0 { parts.append("\(rejected) rejected") }
    return parts.joined(separator: ", ")
  }
}
