import FoundationEssentials
import Testing

@testable import GateApplication

/// A malformed project file and all its errors.
///
/// The cases are in `Golden/malformed.txt`:
/// ```
/// [scenario] a bare tolerance
/// | gate: {peak_rss: 3}
/// 5:22: the tolerance `3` has no unit
///   hint: write a percentage such as `3%`, …
/// ```
/// Lines with `|` are the part of the file that the brackets name; the rest of the file is valid.
struct MalformedProject: Sendable, CustomTestStringConvertible {
  enum Part: String {
    case file
    /// Keys beside `version` and `scenarios`.
    case project
    /// Keys of a scenario that has a name and a target.
    case scenario
    /// Keys of a scenario that has a name.
    case bareScenario = "bare scenario"
  }

  let part: Part
  let title: String
  let lines: [Substring]
  let messages: [Substring]

  var testDescription: String { title }

  private static let scenario = "scenarios:\n  - name: load\n"
  private static let target = "    target: {command: [sleep, '1']}\n"

  var yaml: String {
    let text = lines.map { "\($0)\n" }.joined()
    let keys = lines.map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined()
    return switch part {
    case .file: text
    case .project: "version: 1\n" + text + Self.scenario + Self.target
    case .scenario: "version: 1\n" + Self.scenario + Self.target + keys
    case .bareScenario: "version: 1\n" + Self.scenario + keys
    }
  }

  /// The errors as the program prints them.
  var expected: String {
    messages.map { message in
      if message.hasPrefix("  hint: ") { return String(message) }
      return "highwater.yml"
        + (message.hasPrefix("file: ") ? message.dropFirst(4) : ":" + message).replacing(
          ": ", with: ": error: ", maxReplacements: 1)
    }
    .joined(separator: "\n")
  }
}

extension MalformedProject {
  static let all = DocumentGolden.text("malformed.txt").split(separator: "\n\n").compactMap(MalformedProject.init)

  private init?(_ text: Substring) {
    var lines = text.split(separator: "\n").drop { $0.hasPrefix("#") }
    guard let first = lines.popFirst(), let end = first.firstIndex(of: "]"),
      let part = Part(rawValue: String(first[..<end].dropFirst()))
    else { return nil }
    (self.part, title) = (part, String(first[end...].dropFirst(2)))
    self.lines = lines.prefix { $0.hasPrefix("|") }.map { $0.dropFirst(2) }
    messages = Array(lines.dropFirst(self.lines.count))
  }
}

@Suite("Errors in project files")
struct MalformedProjectTests {
  /// `SET` holds what must never be printed: a secret, and a control character that no header may have.
  static let environment = ["SET": "se cret\u{1b}", "HOOK": "https://example.com/x"]

  @Test("Every error has a location and a hint", arguments: MalformedProject.all)
  func diagnostics(malformed: MalformedProject) throws {
    let folder = try ProjectFolder(files: ["highwater.yml": malformed.yaml])
    #expect(folder.verdict(environment: Self.environment) == malformed.expected)
  }

  @Test("Every case of the golden file is run")
  func count() {
    #expect(MalformedProject.all.count == 141)
  }
}
