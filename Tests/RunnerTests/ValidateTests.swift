import Foundation
import GateCore
import Testing

@testable import GateApplication

/// A project file with one error.
struct InvalidProjectFile: Sendable, CustomTestStringConvertible {
  let yaml: String
  /// The location of the first error, as `line:column`.
  let place: String
  /// A part of the message.
  let message: String

  init(_ yaml: String, at place: String, _ message: String) {
    (self.yaml, self.place, self.message) = (yaml, place, message)
  }

  /// An error in the line after a scenario's target.
  static func scenario(_ line: String, at column: Int = 3, _ message: String) -> InvalidProjectFile {
    InvalidProjectFile(
      "version: 1\nscenarios:\n- name: a\n  target: {command: [x]}\n  \(line)\n", at: "5:\(column)", message)
  }

  /// An error in the only line of the target.
  static func target(_ line: String, at column: Int = 5, _ message: String) -> InvalidProjectFile {
    InvalidProjectFile("version: 1\nscenarios:\n- name: a\n  target:\n    \(line)\n", at: "5:\(column)", message)
  }

  /// An error in the third line of the file.
  static func top(_ line: String, at column: Int = 1, _ message: String) -> InvalidProjectFile {
    InvalidProjectFile(
      "version: 1\nscenarios: [{name: a, target: {command: [x]}}]\n\(line)\n", at: "3:\(column)", message)
  }

  var testDescription: String { message }
}

@Suite("Validating project files")
struct ValidateTests {
  private func validate(
    _ yaml: String,
    variables: [String: String] = [:],
    include: [String: String] = [:]
  ) throws -> UseCaseProject.Outcome {
    let project = try UseCaseProject(yaml, holding: 8)
    for (name, text) in include { try project.write(text, to: name) }
    return try project.run(variables: variables) { try Validate().run(in: $0) }
  }

  static let errors: [InvalidProjectFile] = [
    InvalidProjectFile("scenarios: [{name: a, target: {command: [x]}}]", at: "1:1", "has no `version`"),
    InvalidProjectFile("version: 2\nscenarios: [{name: a, target: {command: [x]}}]", at: "1:10", "must be 1"),
    InvalidProjectFile("version: '1'\nscenarios: [{name: a, target: {command: [x]}}]", at: "1:10", "must be 1"),
    InvalidProjectFile("version: 1", at: "1:1", "no scenarios"),
    InvalidProjectFile("version: 1\nscenarios: {}", at: "2:12", "`scenarios`"),
    InvalidProjectFile("- a", at: "1:1", "a project file"),
    InvalidProjectFile("version: 1\nscenarios: [", at: "3:1", "invalid YAML"),
    InvalidProjectFile("version: 1\n\tx: 1", at: "2:", "invalid YAML"),
    InvalidProjectFile("version: 1\nversion: 1", at: "2:1", "duplicate key `version`"),
    InvalidProjectFile("version: 1\nscenarios:\n- target: {command: [x]}", at: "3:3", "no `name`"),
    InvalidProjectFile("version: 1\nscenarios:\n- name: a", at: "3:3", "needs a `target`"),
    InvalidProjectFile("version: 1\nscenarios:\n- {name: ../a, target: {command: [x]}}", at: "3:10", "is not a name"),
    InvalidProjectFile(
      "version: 1\nscenarios:\n- {name: \"a\\e[31m\", target: {command: [x]}}", at: "3:10", "control characters"),
    InvalidProjectFile(
      "version: 1\nscenarios:\n- {name: a, target: {command: [x]}}\n- {name: a, target: {command: [x]}}", at: "4:3",
      "duplicate scenario name"),
    .top("webhook: []", "webhooks"),
    .top("webhooks: [{url: ftp://x}]", at: 18, "is not an HTTP URL"),
    .top("webhooks: [{url: http://x, on: sometimes}]", at: 32, "sometimes"),
    .top("webhooks: [{url: http://x, format: xml}]", at: 36, "xml"),
    .top("webhooks: [{on: always}]", at: 12, "url"),
    .top("baselines: [a]", at: 12, "baselines"),
    .top("environment: {ignore: [kernel]}", at: 24, "never prevents a comparison"),
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
    .scenario("tags: {server: yes}", at: 9, "tags"),
    .scenario("isolation: {aslr: maybe}", at: 21, "maybe"),
    .scenario("isolation: {cpus: \"0-\"}", at: 21, "0-"),
    .scenario("matrix: {n: []}", at: 15, "`n` has no values"),
    .scenario("stop: {signal: NOPE}", at: 18, "NOPE"),
    .scenario("expect: {exit: soon}", at: 18, "soon"),
    .scenario("setup: [[]]", at: 11, "`setup` is empty"),
    .scenario("ready: {log: \"(\", within: 10s}", at: 16, "("),
    .scenario("ready: {tcp: 70000}", at: 16, "70000"),
    .scenario("ready: {log: a, tcp: 80}", at: 19, "only one of them is allowed"),
    .scenario("steps: [{fly: 1}]", at: 12, "fly"),
    .scenario("steps: [{wait: 2}]", at: 18, "2"),
    .scenario("steps: [{repeat: {times: 0, steps: [{mark: a}]}}]", at: 28, "`times` must be a whole number"),
    .scenario("steps: [{http: {url: gopher://x}}]", at: 24, "is not an HTTP URL"),
    .scenario("steps: [{phase: a, mark: b}]", at: 22, "one key"),
    .scenario("gate: {rss: 3%}", at: 10, "rss"),
    .scenario("gate: {peak_rss: 3}", at: 20, "3"),
    .scenario("gate: {peak_rss: [3%, 4%]}", at: 20, "at most one percentage and one amount"),
    .scenario("gate: {peak_rss: {tolerance: 3%, on: loud}}", at: 40, "loud"),
    .scenario("gate: {peak_rss: {limit: -1MiB}}", at: 28, "-1MiB"),
    .target("command: []", at: 14, "command"),
    .target("command: redis-server", at: 14, "command"),
    .target("shell: \"\"", at: 12, "shell"),
    .target("cmd: [x]", "cmd"),
    .target("command: [x, [y]]", at: 18, "must be a string, not a list"),
  ]

  @Test(
    "Every error exits with 2 and a message with its location, and prints nothing on standard output",
    arguments: errors)
  func error(_ file: InvalidProjectFile) throws {
    let outcome = try validate(file.yaml)
    #expect(outcome.code == .usage)
    #expect(outcome.output.isEmpty)
    let first = outcome.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(first.range(of: "^highwater\\.yml:[0-9]+:[0-9]+: error: ", options: .regularExpression) != nil, "\(first)")
    let column = file.place.hasSuffix(":") ? file.place : file.place + ":"
    #expect(first.hasPrefix("highwater.yml:\(column)"), "\(outcome.errors)")
    #expect(outcome.errors.contains(file.message), "\(outcome.errors)")
    #expect(!outcome.errors.contains("\u{1b}"))
  }

  @Test("All errors of a file are reported, not only the first")
  func allErrors() throws {
    let outcome = try validate(
      """
      version: 1
      scenarios:
        - {name: a, target: {command: [x]}, timout: 5m}
        - {name: b, target: {command: [x]}, warmup: -1}
        - {name: c, target: {command: 7}, gate: {rss: 1%}}
      """)
    #expect(outcome.code == .usage)
    for line in [3, 4, 5] { #expect(outcome.errors.contains("highwater.yml:\(line):"), "\(outcome.errors)") }
    #expect(outcome.errors.components(separatedBy: " error: ").count == 5, "\(outcome.errors)")
  }

  @Test("A webhook's variables need not be set for a validation or approval, nor for a check outside CI")
  func unsetVariableOutsideCI() throws {
    let yaml = """
      version: 1
      history: off
      webhooks: [{url: "https://host/${HOOK_UNSET}"}]
      scenarios: [{name: a, target: {command: [x]}}]
      """
    let outcome = try validate(yaml, variables: ["CI": "true"])
    #expect(outcome.code == .pass, "\(outcome.errors)")
    #expect(outcome.errors.contains("note: the webhook of highwater.yml:3:12 gets no message: `HOOK_UNSET` is not set"))
    let project = try UseCaseProject(yaml, holding: 8)
    let check = try project.check()
    #expect(check.code == .noBaseline)
    #expect(check.errors.contains("note: the webhook of highwater.yml:3:12 gets no message"), "\(check.errors)")
    #expect(try project.approve(variables: ["CI": "true"]).code == .pass)
    for variables in [["CI": "true"], ["CI": "1"], ["JENKINS_URL": "http://j/"]] {
      let check = try project.check(variables: variables)
      #expect(check.code == .usage)
      #expect(check.errors.contains("HOOK_UNSET"))
    }
  }

  @Test("An unset variable is named, and values of set variables are not printed")
  func unsetVariable() throws {
    let yaml = """
      version: 1
      webhooks:
        - {url: "https://user:${HOOK_PASSWORD}@host/${HOOK_PATH_UNSET}", secret: "${HOOK_SECRET}"}
        - {url: "not an address ${HOOK_SECRET}"}
      scenarios: [{name: a, target: {command: [x]}}]
      """
    let variables = ["HOOK_PASSWORD": "swordfish", "HOOK_SECRET": "s3cret-value", "CI": "true"]
    let check = try UseCaseProject(yaml, holding: 8).check(variables: variables)
    #expect(check.errors.contains("HOOK_PATH_UNSET"))
    for outcome in [try validate(yaml, variables: variables), check] {
      #expect(outcome.code == .usage)
      #expect(!outcome.errors.contains("swordfish") && !outcome.errors.contains("s3cret-value"), "\(outcome.errors)")
    }
  }

  @Test(
    "Errors in an included file name it, and so do files that cannot be included",
    arguments: [
      ("part.yml", "scenarios: [{name: b, target: {command: [x]}, timout: 1s}]", "part.yml:1:47: error:"),
      ("part.yml", "scenarios: [{name: a, target: {command: [x]}}]", "duplicate scenario name"),
      ("part.yml", "include: [part.yml]", "part.yml:1:1: error:"),
      ("part.yml", "", "part.yml:1:1: error: the file is empty"),
      ("part.yml", "version: 2\nscenarios: []", "part.yml:1:10: error:"), ("part.yml", "scenarios: [", "part.yml:"),
      ("other.yml", "scenarios: []", "highwater.yml:2:11: error:"),
    ])
  func includes(name: String, text: String, expected: String) throws {
    let yaml = """
      version: 1
      include: [part.yml]
      scenarios: [{name: a, target: {command: [x]}}]
      """
    let outcome = try validate(yaml, include: [name: text])
    #expect(outcome.code == .usage)
    #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}

@Suite("Validating the documented example")
struct ContractExampleTests {
  private static let variables = [
    "HIGHWATER_WEBHOOK_URL": "https://hooks.example.com/services/T0?token=x", "HIGHWATER_WEBHOOK_SECRET": "s3cret",
  ]

  /// The example in the golden files of the file tests.
  private func example() throws -> String {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: folder.appendingPathComponent("FilesTests/Golden/contract.yml"), encoding: .utf8)
  }

  private func validate(_ text: String) throws -> UseCaseProject.Outcome {
    let project = try UseCaseProject(text, holding: 8)
    try project.write("scenarios:\n  - name: idle\n    target: {command: [sleep, 1]}\n", to: "scenarios/idle.yml")
    return try project.run(variables: Self.variables) { try Validate().run(in: $0) }
  }

  @Test("It is valid, and its scenarios are listed")
  func valid() throws {
    let outcome = try validate(example())
    #expect(outcome.code == .pass, "\(outcome.errors)")
    #expect(outcome.errors.isEmpty)
    for name in ["redis-load[clients=1]", "redis-load[clients=50]", "idle"] { #expect(outcome.output.contains(name)) }
    #expect(!outcome.output.contains("s3cret") && !outcome.output.contains("token=x"))
  }

  @Test("Each of its keys is read: a misspelt key is an error that names it")
  func everyKey() throws {
    let lines = try example().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    // Names chosen by the project.
    let userDefined: Set<String> = ["LC_ALL", "A", "clients"]
    var keys = 0
    for (number, line) in lines.enumerated() {
      let code = line.range(of: " #").map { String(line[..<$0.lowerBound]) } ?? line
      for match in code.matches(of: /([A-Za-z_][A-Za-z0-9_.-]*):( |$)/) {
        let key = String(match.1)
        guard !userDefined.contains(key), code[..<match.range.lowerBound].filter({ $0 == "\"" }).count % 2 == 0 else {
          continue
        }
        var changed = lines
        changed[number] = String(code[..<match.range.lowerBound]) + "x\(key)" + code[match.1.endIndex...]
        let outcome = try validate(changed.joined(separator: "\n"))
        #expect(outcome.code == .usage, "\(key) in line \(number + 1)")
        #expect(outcome.errors.contains("x\(key)"), "\(key) in line \(number + 1): \(outcome.errors)")
        keys += 1
      }
    }
    #expect(keys >= 60, "only \(keys) keys were found")
  }

  @Test("An environment that no check has used for 90 days is listed with the command that removes its baselines")
  func unusedEnvironment() throws {
    let project = try UseCaseProject(holding: 8, keys: "")
    func validate() throws -> String { try project.run { try Validate().run(in: $0) }.text }
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    project.now = start
    try project.checkAndApprove()
    project.now = start.addingTimeInterval(100 * 86400)
    project.measurer.fingerprint.cpus = 1
    try project.checkAndApprove()
    let text = try validate()
    #expect(
      text.contains("no check has used the baselines for linux-x86_64-2cpu (1 scenario) since 2027-01-15"), "\(text)")
    #expect(text.contains("git rm -q 'baselines/*/linux-x86_64-2cpu.*'") && !text.contains("1cpu"), "\(text)")
    project.measurer.fingerprint.cpus = 2
    _ = try project.check()
    #expect(try !validate().contains("no check has used"))
  }
}
