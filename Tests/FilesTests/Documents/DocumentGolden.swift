import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

/// Compares documents with the files in `Golden`.
///
/// `HIGHWATER_UPDATE_GOLDEN=1` rewrites them; review the diff.
enum DocumentGolden {
  private static func path(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(components: "Golden", name).path
  }

  /// A file's text; empty if unreadable, which fails every test that uses it.
  static func text(_ name: String) -> String {
    (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
  }

  /// A file's bytes; empty if unreadable, which fails every test that uses it.
  static func bytes(_ name: String) -> [UInt8] {
    ((try? Data(contentsOf: URL(filePath: path(name)))) ?? Data()).map(\.self)
  }

  static func expect(
    _ bytes: [UInt8],
    toBe name: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let path = path(name)
    if ProcessInfo.processInfo.environment["HIGHWATER_UPDATE_GOLDEN"] == "1" {
      try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    }
    let expected = try Data(contentsOf: URL(filePath: path))
    #expect(
      String(decoding: bytes, as: UTF8.self) == String(decoding: expected, as: UTF8.self),
      sourceLocation: sourceLocation
    )
  }
}

extension ResultFile {
  static func encode(_ result: RunResult) -> [UInt8] {
    encode(result, words: .examples)
  }
}

extension FileWords {
  static let examples = FileWords(
    reason: { "the reason of \($0.metric)" },
    note: { "a note on \($1.name)" },
    runNote: { "a note on the run: \($0)" },
    recordingNote: { "a note on the repetition: \($0)" },
    failure: { "failed: \($0.part?.text ?? "")" },
    explanation: { "explained: \($0.rise.rawValue)" },
    end: { FileWords.EndTexts(text: "ended by \($0.kind)", proof: $0.proof.map { "proof: \($0)" }, detail: nil) }
  )
}
