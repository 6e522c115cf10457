import Testing

@testable import GateFiles

/// A project file that is not sound, and all that is said of it.
struct Malformed: Sendable, CustomTestStringConvertible {
  let title: String
  let yaml: String
  let expected: String

  init(_ title: String, _ yaml: String, is expected: String) {
    self.title = title
    self.yaml = yaml
    self.expected = expected
  }

  var testDescription: String { title }
}

@Suite("What is said of project files that are not sound")
struct MalformedTests {
  /// `SET` holds what must never be shown: a secret, and a control character that no header may have.
  static let environment = ["SET": "se cret\u{1b}", "HOOK": "https://example.com/x"]

  @Test(
    "Every fault is told with its place, and what would heal it",
    arguments: [
      Malformed.syntax, Malformed.scenarios, Malformed.measuring, Malformed.targets, Malformed.scripts,
      Malformed.gates, Malformed.values, Malformed.projects,
    ].flatMap(\.self)
  )
  func diagnostics(malformed: Malformed) throws {
    let folder = try ProjectFolder(files: ["highwater.yml": malformed.yaml + "\n"])
    #expect(folder.verdict(environment: Self.environment) == malformed.expected)
  }
}
