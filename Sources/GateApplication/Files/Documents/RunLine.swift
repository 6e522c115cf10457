import FoundationEssentials
import GateCore
import Glibc
import LinuxSystem

/// Runs of the history as JSON lines (`highwater.run/2`): one object per line.
///
/// A line has the run, its environment, and the summary of each scenario, in the same form as the result file. A
/// scenario without an environment has the run's.
enum RunLine {
  /// The largest line that is read, in bytes.
  static let largest = 32 << 20

  /// The run as a line with its newline; equal runs give equal bytes.
  static func encode(_ run: RunSummary) -> [UInt8] {
    JSON.encode(WithSchema(schema: .run, content: RunDocument(run)), .line)
  }

  /// Decodes a line, or a whole result document.
  ///
  /// - Parameters:
  ///   - bytes: The line, with or without its newline.
  ///   - path: The file, for messages.
  ///   - number: The line number from 1, for messages; nil for a whole file.
  /// - Returns: The run.
  /// - Throws: The error, with its line and column.
  static func decode(_ bytes: [UInt8], path: String, line number: Int?) throws(FileError) -> RunSummary {
    let hint = "name JSON lines as `\(Tool.name) history export` writes them, or result files"
    return try JSON.decode(DecodedRun.self, from: bytes, path: path, line: number, hint: hint).run
  }
}

private struct RunDocument: Codable {
  let summary: RunSummary

  private enum Key: CodingKey {
    case run, environment, scenarios
  }

  init(_ summary: RunSummary) {
    self.summary = summary
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    let run = try fields.decode(RunInfo.self, forKey: .run)
    let environment = try fields.decode(EnvironmentInfo.self, forKey: .environment)
    summary = RunSummary(
      run: run, environment: environment,
      scenarios: try fields.decodeAll(ScenarioSummary.self, forKey: .scenarios, inRunOf: environment))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(summary.run, forKey: .run)
    try fields.encode(summary.environment, forKey: .environment)
    try fields.encode(summary.scenarios, forKey: .scenarios, configuration: summary.environment)
  }
}

private struct DecodedRun: Decodable {
  let run: RunSummary

  init(from decoder: any Decoder) throws {
    if try Schema.text(in: decoder).hasPrefix("\(Schema.result.name)/") {
      run = try DecodedResult(from: decoder).result.summary.stored
    } else {
      try Schema.run.check(decoder)
      run = try RunDocument(from: decoder).summary.stored
      try DocumentCheck(decoder).check(run)
    }
  }
}

extension RunSummary {
  /// The part that a history stores, which excludes libraries.
  var stored: RunSummary {
    var stored = self
    for index in stored.scenarios.indices {
      stored.scenarios[index].composition?.libraries = []
      stored.scenarios[index].composition?.unmapped = []
    }
    return stored
  }
}

/// Splits a file of any size, or standard input, into lines.
struct RunLineReader: ~Copyable {
  enum Line: Sendable {
    case whole([UInt8])
    /// The line had more than ``RunLine/largest`` bytes, which were discarded.
    case tooLong
  }

  private let file: Descriptor
  private let path: String
  private var chunk: [UInt8] = []
  private var position = 0

  /// Opens a file; `-` is standard input.
  init(_ path: String) throws(FileError) {
    self.path = path
    file = try Self.open(path)
  }

  private static func open(_ path: String) throws(FileError) -> Descriptor {
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path == "-" ? "/dev/stdin" : path, O_RDONLY)
      if try file.kind() == .folder { throw ErrorNumber(EISDIR) }
      return file
    } catch {
      throw error.whileReading(path)
    }
  }

  /// The next line without its newline; nil at the end.
  mutating func next() throws(FileError) -> Line? {
    var line: [UInt8] = []
    var length = 0
    while true {
      if position == chunk.count {
        do throws(ErrorNumber) { chunk = try file.readChunk(1 << 20) } catch { throw error.whileReading(path) }
        position = 0
        if chunk.isEmpty { return length == 0 ? nil : length > RunLine.largest ? .tooLong : .whole(line) }
      }
      let end = chunk[position...].firstIndex(of: 0x0a)
      let part = chunk[position..<(end ?? chunk.count)]
      length += part.count
      if length <= RunLine.largest { line += part } else { line = [] }
      position = end.map { $0 + 1 } ?? chunk.count
      if end != nil { return length > RunLine.largest ? .tooLong : .whole(line) }
    }
  }
}
