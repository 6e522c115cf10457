import Foundation
import Testing

@testable import GateApplication

@Suite("The schema of project files, and their documentation")
struct ProjectSchemaTests {
  @Test("An independent validator accepts what the reader accepts, and refuses most of what it refuses")
  func agrees() throws {
    let accepted = try Self.accepted.map { try Self.folder($0) }
    for folder in accepted { #expect(folder.verdict(environment: Self.environment) == "loads") }
    let refused = try MalformedProject.all.compactMap { malformed in
      try YAMLDocument.parsed(malformed.yaml).map { (malformed.title, $0) }
    }
    let values = try Self.accepted.compactMap(YAMLDocument.parsed) + refused.map(\.1)
    let verdicts = try Self.validate(values)
    #expect(verdicts.count == values.count)
    for (text, verdict) in zip(Self.accepted, verdicts) { #expect(verdict == "valid", "\(text)") }
    let unseen = zip(refused, verdicts.dropFirst(Self.accepted.count)).filter { $0.1 == "valid" }.map(\.0.0)
    try DocumentGolden.expect(Array(unseen.map { "\($0)\n" }.joined().utf8), toBe: "schema-accepts.txt")
  }

  @Test("Each key stands in the tables of project-file.md with what it means, its default and its example")
  func documentation() throws {
    let path = "Sources/highwater/Documentation.docc/project-file.md"
    let root = URL(filePath: #filePath).pathComponents.dropLast(4).joined(separator: "/").dropFirst()
    let lines = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8).split(separator: "\n").map(String.init)
    for row in Self.documented {
      let cells = [row.meaning, row.standard ?? "–", "`\(row.example)`"]
      #expect(lines.contains("| `\(row.name)` | \(cells.joined(separator: " | ")) |"), "\(row.name): \(cells)")
    }
    for row in ReadyKeys.conditions.map(\.row) {
      #expect(lines.contains("| `\(row.name)` | \(row.meaning) | `\(row.example)` |"), "\(row.name)")
    }
  }

  private static let documented = [
    ProjectKeys.table, EnvironmentKeys.table, WebhookKeys.table, ScenarioKeys.table, TargetKeys.table,
    IsolationKeys.table, StepKeys.table,
  ].flatMap(\.rows)

  // MARK: Cases

  private static let environment = ContractExampleTests.environment.merging(["HOOK": "https://example.com/x"]) { $1 }

  /// Project files that are read without an error: the whole contract, and the example of each key by itself.
  private static let accepted: [String] = {
    let target = "  target: {command: [sleep, 1]}\n"
    func project(_ keys: String) -> String { "version: 1\n\(keys)\n" }
    func scenario(_ lines: String) -> String {
      project("scenarios:\n- name: load\n" + (lines.contains("target:") ? "" : target) + "  \(lines)")
    }
    let ofProject = ProjectKeys.table.rows.filter { !["version", "scenarios"].contains($0.name) }
      .map { project("\($0.example)\nscenarios:\n- name: load\n\(target)") }
    let ofScenario = ScenarioKeys.table.rows.filter { $0.name != "name" }.map { row in
      scenario(row.name == "scale" ? "description: '{{keys}}'\n  \(row.example)" : row.example)
    }
    let ofTarget = TargetKeys.table.rows.map { row in
      let target = TargetKeys.table.only.contains(row.name) ? row.example : "shell: cat, \(row.example)"
      return scenario("target: {\(target)}" + (row.name == "suite" ? "" : "\n  steps: [{wait: 1s}]"))
    }
    let ofReady = ReadyKeys.conditions.map { scenario($0.row.example) }
    let ofSteps = StepKeys.table.rows.map { scenario("steps: [{\($0.example)}]") }
    let short = [
      "settle: 5s", "run: true", #"http: "http://h/""#, "expect: saved", "wait: 1.5s", "send: 5", "signal: SIGHUP",
    ]
    let filled = scenario(
      "matrix: {n: [1, 2]}\n  warmup: \"{{n}}\"\n  timeout: \"{{n}}m\"\n  gate: {peak_rss: \"{{n}}%\"}")
    return [ContractExampleTests.text.replacing("include: [scenarios/*.yml]", with: ""), filled]
      + ofProject.map { $0.contains("include:") ? $0.replacing("scenarios/*.yml", with: "other.yml") : $0 }
      + ofScenario + ofTarget + ofReady + ofSteps + short.map { scenario("steps: [{\($0)}]") }
      + ["expect: 3", "expect: [0, 3]", "stop: INT", "limit: off", "limit: 64MiB", "setup: mkdir run", "explain: 30s"]
      .map { scenario($0) }
  }()

  private static func folder(_ text: String) throws -> ProjectFolder {
    try ProjectFolder(files: [
      "highwater.yml": text, "other.yml": "scenarios:\n- {name: other, target: {command: [sleep, 1]}}\n",
    ])
  }

  // MARK: Validating

  /// What Python's `jsonschema` says of each value by our schema: `valid` or the first error.
  private static func validate(_ values: [YAMLValue]) throws -> [String] {
    let schema = try JSONSerialization.jsonObject(with: Data(ProjectSchema.text.utf8))
    let input = try JSONSerialization.data(withJSONObject: ["schema": schema, "values": values.map(\.json)])
    let script = """
      import json, sys, jsonschema
      cases = json.load(sys.stdin)
      jsonschema.Draft7Validator.check_schema(cases["schema"])
      validator = jsonschema.Draft7Validator(cases["schema"])
      for value in cases["values"]:
          error = next(validator.iter_errors(value), None)
          print("valid" if error is None else error.message.replace("\\n", " "))
      """
    let file = FileManager.default.temporaryDirectory.appending(path: "highwater-schema-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    try input.write(to: file)
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", script]
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map(String.init)
  }
}

extension YAMLDocument {
  /// The value of a text; nil if it is not YAML.
  fileprivate static func parsed(_ text: String) throws -> YAMLValue? {
    try? parse(text, name: "highwater.yml")
  }
}

extension YAMLValue {
  /// The value in JSON by YAML's core schema (YAML 1.2.2, section 10.3), as an editor reads it.
  fileprivate var json: Any {
    switch content {
    case .sequence(let items): return items.map(\.json)
    case .mapping(let entries):
      return Dictionary(entries.map { ($0.key.text, $0.value.json) }) { first, _ in first }
    case .scalar(let text, .plain):
      if isNull { return NSNull() }
      if ["true", "false"].contains(text) { return text == "true" }
      if let number = Int(text) { return number }
      return text.wholeMatch(of: #/[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?/#) == nil
        ? text : Double(text).flatMap { $0.isFinite ? $0 as Any : nil } ?? text
    case .scalar(let text, _): return text
    }
  }
}
