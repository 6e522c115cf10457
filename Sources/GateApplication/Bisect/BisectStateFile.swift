import GateCore

/// What a search has measured so far (`highwater.bisect-state/1`), so that the same command resumes where it stopped.
struct BisectState: Sendable, Equatable, Codable {
  /// The good end that ran alternately with all commits.
  var good: String
  var bad: String
  /// What is known of each commit.
  var answers: [String: CommitAnswer] = [:]
}

enum BisectStateFile {
  /// The largest file that is read, in bytes.
  private static let largest = 64 << 20

  static func write(_ state: BisectState, to path: String) throws(FileError) {
    try SafeFile.write(encode(state), to: path)
  }

  static func encode(_ state: BisectState) -> [UInt8] {
    JSON.encode(WithSchema(schema: .bisectState, content: state), .pretty)
  }

  static func read(_ path: String) throws(FileError) -> BisectState {
    try decode(try SafeFile.read(path, atMost: largest), path: path)
  }

  static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> BisectState {
    let hint = "start anew with `highwater bisect --restart`"
    return try JSON.decode(DecodedState.self, from: bytes, path: path, hint: hint).state
  }
}

private struct DecodedState: Decodable {
  let state: BisectState

  init(from decoder: any Decoder) throws {
    try Schema.bisectState.check(decoder)
    state = try BisectState(from: decoder)
  }
}
