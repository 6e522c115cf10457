import Foundation
import Testing

/// A project file with one fault.
struct Faulty: Sendable, CustomTestStringConvertible {
  let yaml: String
  /// Where the first fault is, as `line:column`.
  let place: String
  /// A part of what is said of it.
  let words: String

  init(_ yaml: String, at place: String, _ words: String) {
    (self.yaml, self.place, self.words) = (yaml, place, words)
  }

  /// A fault in the line after a scenario's target.
  static func scenario(_ line: String, at column: Int = 3, _ words: String) -> Faulty {
    Faulty("version: 1\nscenarios:\n- name: a\n  target: {command: [x]}\n  \(line)\n", at: "5:\(column)", words)
  }

  /// A fault in the only line of the target.
  static func target(_ line: String, at column: Int = 5, _ words: String) -> Faulty {
    Faulty("version: 1\nscenarios:\n- name: a\n  target:\n    \(line)\n", at: "5:\(column)", words)
  }

  /// A fault in the file's third line.
  static func top(_ line: String, at column: Int = 1, _ words: String) -> Faulty {
    Faulty("version: 1\nscenarios: [{name: a, target: {command: [x]}}]\n\(line)\n", at: "3:\(column)", words)
  }

  var testDescription: String { words }
}

@Suite("Project files, through `highwater validate`")
struct ProjectFileTests {
  static let faults: [Faulty] = [
    Faulty("scenarios: [{name: a, target: {command: [x]}}]", at: "1:1", "does not say its version"),
    Faulty("version: 2\nscenarios: [{name: a, target: {command: [x]}}]", at: "1:10", "must be 1"),
    Faulty("version: '1'\nscenarios: [{name: a, target: {command: [x]}}]", at: "1:10", "must be 1"),
    Faulty("version: 1", at: "1:1", "no scenarios"),
    Faulty("version: 1\nscenarios: {}", at: "2:12", "`scenarios`"),
    Faulty("- a", at: "1:1", "a project file"),
    Faulty("version: 1\nscenarios: [", at: "3:1", "this is not YAML"),
    Faulty("version: 1\n\tx: 1", at: "2:", "this is not YAML"),
    Faulty("version: 1\nversion: 1", at: "1:1", "the key `version` stands twice"),
    Faulty("version: 1\nscenarios:\n- target: {command: [x]}", at: "3:3", "no `name`"),
    Faulty("version: 1\nscenarios:\n- name: a", at: "3:3", "needs a `target`"),
    Faulty("version: 1\nscenarios:\n- {name: ../a, target: {command: [x]}}", at: "3:10", "is not a name"),
    Faulty("version: 1\nscenarios:\n- {name: \"a\\e[31m\", target: {command: [x]}}", at: "3:10", "control characters"),
    Faulty(
      "version: 1\nscenarios:\n- {name: a, target: {command: [x]}}\n- {name: a, target: {command: [x]}}", at: "4:3",
      "exists twice"),
    .top("webhook: []", "webhooks"),
    .top("webhooks: [{url: \"${NOT_SET_ANYWHERE}\"}]", at: 18, "NOT_SET_ANYWHERE"),
    .top("webhooks: [{url: ftp://x}]", at: 18, "not the address of a web server"),
    .top("webhooks: [{url: http://x, on: sometimes}]", at: 32, "sometimes"),
    .top("webhooks: [{url: http://x, format: xml}]", at: 36, "xml"),
    .top("webhooks: [{on: always}]", at: 12, "url"),
    .top("baselines: [a]", at: 12, "baselines"),
    .top("environment: {ignore: [kernel]}", at: 24, "is compared across anyway"),
    .top("environment: {name: a/b}", at: 21, "a/b"),
    .top("include: [nothing/*.yml, missing.yml]", at: 11, "missing.yml"),
    .top("defaults: {name: a}", at: 12, "name"),
    .scenario("tolerance: 3%", "no scenario has the key `tolerance`"),
    .scenario("timout: 5m", "did you mean `timeout`?"),
    .scenario("timeout: 5", at: 12, "the duration `5` has no unit"),
    .scenario("timeout: 5 parsecs", at: 12, "`parsecs` is not a unit"),
    .scenario("timeout: -5s", at: 12, "-5s"),
    .scenario("interval: 0ms", at: 13, "interval"),
    .scenario("repetitions: 0", at: 16, "repetitions"),
    .scenario("repetitions: {min: 9, max: 3}", at: 17, "`min` is larger than `max`"),
    .scenario("warmup: many", at: 11, "many"),
    .scenario("memory-limit: 512", at: 17, "the size `512` has no unit"),
    .scenario("until: dawn", at: 10, "dawn"),
    .scenario("tags: server", at: 9, "tags"),
    .scenario("isolation: {aslr: maybe}", at: 21, "maybe"),
    .scenario("isolation: {cpus: \"0-\"}", at: 21, "0-"),
    .scenario("matrix: {n: []}", at: 15, "`n` has no values"),
    .scenario("stop: {signal: NOPE}", at: 18, "NOPE"),
    .scenario("expect: {exit: soon}", at: 18, "soon"),
    .scenario("setup: [[]]", at: 11, "`setup` names no program"),
    .scenario("ready: {log: \"(\", within: 10s}", at: 16, "("),
    .scenario("ready: {tcp: 70000}", at: 16, "70000"),
    .scenario("ready: {log: a, tcp: 80}", at: 19, "takes one of them only"),
    .scenario("steps: [{fly: 1}]", at: 12, "fly"),
    .scenario("steps: [{wait: 2}]", at: 18, "2"),
    .scenario("steps: [{repeat: {times: 0, steps: [{mark: a}]}}]", at: 28, "`times` must be a whole number"),
    .scenario("steps: [{http: {url: gopher://x}}]", at: 24, "not the address of a web server"),
    .scenario("steps: [{phase: a, mark: b}]", at: 22, "one key"),
    .scenario("gate: {rss: 3%}", at: 10, "rss"),
    .scenario("gate: {peak_rss: 3}", at: 20, "3"),
    .scenario("gate: {peak_rss: [3%, 4%]}", at: 20, "one share and one amount at most"),
    .scenario("gate: {peak_rss: {tolerance: 3%, on: loud}}", at: 40, "loud"),
    .scenario("gate: {peak_rss: {limit: -1MiB}}", at: 28, "-1MiB"),
    .target("command: []", at: 14, "command"),
    .target("command: redis-server", at: 14, "command"),
    .target("shell: \"\"", at: 12, "shell"),
    .target("cmd: [x]", "cmd"),
    .target("command: [x, [y]]", at: 18, "must be a text, not a list"),
  ]

  @Test(
    "Every fault ends with 2, its place and its words on standard error, and nothing on standard output",
    arguments: faults)
  func fault(_ faulty: Faulty) throws {
    let outcome = try Gate.run("validate", in: TemporaryProject(faulty.yaml))
    #expect(outcome.code == 2)
    #expect(outcome.output.isEmpty)
    let first = outcome.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(first.range(of: "^highwater\\.yml:[0-9]+:[0-9]+: error: ", options: .regularExpression) != nil, "\(first)")
    let column = faulty.place.hasSuffix(":") ? faulty.place : faulty.place + ":"
    #expect(first.hasPrefix("highwater.yml:\(column)"), "\(outcome.errors)")
    #expect(outcome.errors.contains(faulty.words), "\(outcome.errors)")
    #expect(!outcome.errors.contains("\u{1b}"))
  }

  @Test("Every fault of a file is told, not just the first")
  func allFaults() throws {
    let outcome = try Gate.run(
      "validate",
      in: TemporaryProject(
        """
        version: 1
        scenarios:
          - {name: a, target: {command: [x]}, timout: 5m}
          - {name: b, target: {command: [x]}, warmup: -1}
          - {name: c, target: {command: 7}, gate: {rss: 1%}}
        """))
    #expect(outcome.code == 2)
    for line in [3, 4, 5] { #expect(outcome.errors.contains("highwater.yml:\(line):"), "\(outcome.errors)") }
    #expect(outcome.errors.components(separatedBy: " error: ").count == 5, "\(outcome.errors)")
  }

  @Test("A few lines that stand for thousands of millions of values are refused")
  func aliasBomb() throws {
    var yaml = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...12 {
      yaml += "a\(level): &a\(level) [\((0..<10).map { _ in "*a\(level - 1)" }.joined(separator: ", "))]\n"
    }
    let outcome = try Gate.run("validate", in: TemporaryProject(yaml + "scenarios: *a12\n"))
    #expect(outcome.code == 2)
    #expect(outcome.errors.hasPrefix("highwater.yml"), "\(outcome.errors.prefix(300))")
  }

  @Test("Files of ten million bytes are refused", arguments: ["x", "[", "- ", "a: &b\n", "# \n"])
  func huge(unit: String) throws {
    let text = "version: 1\n" + String(repeating: unit, count: 10_000_000 / unit.utf8.count)
    let outcome = try Gate.run("validate", in: TemporaryProject(text))
    #expect(outcome.code == 2)
    #expect(outcome.errors.hasPrefix("highwater.yml"), "\(outcome.errors.prefix(300))")
    #expect(outcome.errors.utf8.count < 2000)
  }

  @Test("Nesting without end is refused", arguments: ["[", "{a: ", "- "])
  func deep(unit: String) throws {
    let text = "version: 1\nscenarios: \(unit == "- " ? "\n" : "")" + String(repeating: unit, count: 50_000)
    let outcome = try Gate.run("validate", in: TemporaryProject(text))
    #expect(outcome.code == 2)
    #expect(outcome.errors.hasPrefix("highwater.yml"), "\(outcome.errors.prefix(300))")
  }

  @Test("An unset variable is named, and the values of those that are set are not")
  func unsetVariable() throws {
    let yaml = """
      version: 1
      webhooks:
        - {url: "https://user:${HOOK_PASSWORD}@host/${HOOK_PATH_UNSET}", secret: "${HOOK_SECRET}"}
        - {url: "not an address ${HOOK_SECRET}"}
      scenarios: [{name: a, target: {command: [x]}}]
      """
    let variables = ["HOOK_PASSWORD": "swordfish", "HOOK_SECRET": "s3cret-value"]
    for command in ["validate", "check"] {
      let outcome = try Gate.run(command, in: TemporaryProject(yaml), variables: variables)
      #expect(outcome.code == 2)
      #expect(outcome.errors.contains("HOOK_PATH_UNSET"))
      #expect(!outcome.errors.contains("swordfish") && !outcome.errors.contains("s3cret-value"), "\(outcome.errors)")
    }
  }

  @Test(
    "Faults of an included file have its name, and what cannot be included is told",
    arguments: [
      ("part.yml", "scenarios: [{name: b, target: {command: [x]}, timout: 1s}]", "part.yml:1:47: error:"),
      ("part.yml", "scenarios: [{name: a, target: {command: [x]}}]", "exists twice"),
      ("part.yml", "include: [part.yml]", "part.yml:1:1: error:"),
      ("part.yml", "", "part.yml:1:1: error: the file is empty"),
      ("part.yml", "version: 2\nscenarios: []", "part.yml:1:10: error:"), ("part.yml", "scenarios: [", "part.yml:"),
      ("other.yml", "scenarios: []", "highwater.yml:2:11: error:"),
    ])
  func includes(name: String, text: String, expected: String) throws {
    let project = try TemporaryProject(
      """
      version: 1
      include: [part.yml]
      scenarios: [{name: a, target: {command: [x]}}]
      """)
    try project.write(text, to: name)
    let outcome = try Gate.run("validate", in: project)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}

@Suite("The example that the contract gives, through `highwater validate`")
struct ContractExampleTests {
  private static let variables = [
    "HIGHWATER_WEBHOOK_URL": "https://hooks.example.com/services/T0?token=x", "HIGHWATER_WEBHOOK_SECRET": "s3cret",
  ]

  /// The example, as the tests of the project file keep it.
  private func example() throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: folder.appendingPathComponent("GateFilesTests/Golden/contract.yml"), encoding: .utf8)
  }

  private func validate(_ text: String) throws -> Gate.Outcome {
    let project = try TemporaryProject(text)
    try project.write("scenarios:\n  - name: idle\n    target: {command: [sleep, 1]}\n", to: "scenarios/idle.yml")
    return try Gate.run("validate", in: project, variables: Self.variables)
  }

  @Test("It is sound, and its scenarios are listed")
  func sound() throws {
    let outcome = try validate(example())
    #expect(outcome.code == 0, "\(outcome.errors)")
    #expect(outcome.errors.isEmpty)
    for name in ["redis-load[clients=1]", "redis-load[clients=50]", "idle"] { #expect(outcome.output.contains(name)) }
    #expect(!outcome.output.contains("s3cret") && !outcome.output.contains("token=x"))
  }

  @Test("None of its keys is passed over: misspelt, each is an error that names it")
  func everyKey() throws {
    let lines = try example().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // The names that a project gives to its own things.
    let free: Set<String> = ["LC_ALL", "A", "clients"]
    var keys = 0
    for (number, line) in lines.enumerated() {
      let code = line.range(of: " #").map { String(line[..<$0.lowerBound]) } ?? line
      for match in code.matches(of: /([A-Za-z_][A-Za-z0-9_.-]*):( |$)/) {
        let key = String(match.1)
        guard !free.contains(key), code[..<match.range.lowerBound].filter({ $0 == "\"" }).count % 2 == 0 else {
          continue
        }
        var changed = lines
        changed[number] = String(code[..<match.range.lowerBound]) + "x\(key)" + code[match.1.endIndex...]
        let outcome = try validate(changed.joined(separator: "\n"))
        #expect(outcome.code == 2, "\(key) in line \(number + 1)")
        #expect(outcome.errors.contains("x\(key)"), "\(key) in line \(number + 1): \(outcome.errors)")
        keys += 1
      }
    }
    #expect(keys >= 60, "only \(keys) keys were found")
  }
}
