package import GateCore

/// What a search has measured so far (`highwater.bisect-state/1`), so that the same command goes on where it was.
package struct BisectState: Sendable, Equatable, Codable {
  /// The good end that ran alternately with all commits.
  package var good: String
  package var bad: String
  /// What is known of each commit.
  package var answers: [String: CommitAnswer]

  package init(good: String, bad: String, answers: [String: CommitAnswer] = [:]) {
    (self.good, self.bad, self.answers) = (good, bad, answers)
  }
}

package enum BisectStateFile {
  /// The largest file that is read, in bytes.
  private static let largest = 64 << 20

  package static func write(_ state: BisectState, to path: String) throws(FileError) {
    try SafeFile.write(encode(state), to: path)
  }

  package static func encode(_ state: BisectState) -> [UInt8] {
    JSON.encode(WithSchema(schema: .bisectState, content: state), .pretty)
  }

  package static func read(_ path: String) throws(FileError) -> BisectState {
    try decode(try SafeFile.read(path, atMost: largest), path: path)
  }

  package static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> BisectState {
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
