import Foundation
import Testing

/// What a pipeline sees: a check of nothing does not pass, and codes survive what runs the check.
@Suite("Exit codes in pipelines", .endsHangs)
struct ExitCodeTests {
  /// A check, or another command, that has nothing to judge.
  struct Vacuous: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Keys of the only scenario, or a whole project file that begins with `version`.
    var yaml = ""
    /// A bash script that runs before; `$HIGHWATER` is the program.
    var before = ""
    var command = "check"
    let code: Int32
    /// In the output.
    let words: String

    init(
      _ title: String, yaml: String = "", before: String = "", run command: String = "check", _ code: Int32,
      _ words: String
    ) {
      (testDescription, self.yaml, self.before, self.command) = (title, yaml, before, command)
      (self.code, self.words) = (code, words)
    }

    var project: String {
      if yaml.hasPrefix("version") { return yaml }
      let keys = yaml.isEmpty ? "" : ", \(yaml)"
      let scenario = "{name: a, target: [\"true\"], warmup: 0, repetitions: 2\(keys)}"
      return "version: 1\nhistory: off\nscenarios:\n  - \(scenario)\n"
    }
  }

  private static let approved = "\"$HIGHWATER\" check || \"$HIGHWATER\" approve"

  /// A baseline of the scenario before it had its gate.
  private static let approvedWithoutGate =
    "cp highwater.yml y; sed -i 's/, gate: .*/}/' highwater.yml; \(approved); mv y highwater.yml"

  /// Stores a result in `r.json`, changed by jq.
  private static func result(_ filter: String) -> String {
    "\(approved); jq '\(filter)' .highwater/result.json >r.json"
  }

  private static func baseline(_ filter: String) -> String {
    "\(approved); for file in baselines/a/*.json; do jq '\(filter)' $file >x && mv x $file; done"
  }

  static let vacuous: [Vacuous] = [
    .init("an empty project file", yaml: "version: 1\n", 2, "the project has no scenarios"),
    .init("an empty list of scenarios", yaml: "version: 1\nscenarios: []\n", 2, "the project has no scenarios"),
    .init("a pattern without files", yaml: "version: 1\ninclude: [x/*.yml]\n", 2, "no file matches"),
    .init(
      "an included file without scenarios",
      yaml: "version: 1\ninclude: [x.yml]\nscenarios: [{name: a, target: [a]}]\n",
      before: "echo 'scenarios: []' >x.yml", 2,
      "the file has no scenarios"),
    .init("a matrix without values", yaml: "matrix: {x: []}", 2, "`x` has no values"),
    .init("a name that no scenario has", run: "check b", 2, "no scenario matches `b`"),
    .init("a pattern that no name matches", run: "check 'b*'", 2, "no scenario matches"),
    .init("a tag that no scenario has", run: "check tag:fast", 2, "no scenario matches `tag:fast`"),
    .init("one name of two", run: "check a b", 2, "no scenario matches `b`"),
    .init("no repetitions", run: "check --repetitions 0", 2, "from 1 to 1000"),
    .init("a loop without steps", yaml: "steps: [{repeat: {times: 9, steps: []}}]", 2, "`repeat` repeats no steps"),
    .init("a gate without metrics", yaml: "gate: {}", 2, "`gate` has no metrics"),
    .init("a gate whose metrics are off", yaml: "gate: {peak_rss: off}", 2, "every metric is off"),
    .init(
      "a target that is missing", yaml: "version: 1\nscenarios: [{name: a, target: [./missing]}]\n",
      run: "check --allow-missing-baseline", 3, "failed"),
    .init("no baseline", 5, "no baseline"),
    .init("an empty baseline file", before: "\(approved); : >\"$(ls baselines/a/*.json)\"", 2, "is empty"),
    .init("a baseline without metrics", before: baseline(".metrics = {}"), 2, "`metrics` has no values"),
    .init("a baseline without the judged metric", before: baseline("del(.metrics.peak_rss)"), 5, "no-baseline"),
    .init(
      "a metric that a short program does not have", yaml: "gate: {steady_rss: 3%}", before: approvedWithoutGate,
      4, "steady_rss"),
    .init(
      "a value that is never reported", yaml: "gate: {value.heap: 3%}", before: approvedWithoutGate, 4, "value.heap"),
    .init(
      "a phase that never starts", yaml: "gate: {phase.load.peak_rss: 3%}", before: approvedWithoutGate,
      4, "phase.load"),
    .init("an empty result", before: ": >r.json", run: "compare r.json r.json", 2, "is empty"),
    .init(
      "a result without scenarios", before: result(".scenarios = []"), run: "compare r.json r.json", 2,
      "has no scenario"),
    .init(
      "a result without repetitions", before: result(".scenarios[].repetitions = []"),
      run: "compare .highwater/result.json r.json", 4, "inconclusive"),
    .init(
      "a base without repetitions", before: result(".scenarios[].repetitions = []"),
      run: "compare r.json .highwater/result.json", 5, "no-baseline"),
    .init(
      "results of different scenarios", before: result(".scenarios[].name = \"b\""),
      run: "compare r.json .highwater/result.json", 5, "no-baseline"),
    .init("approving an empty result", before: result(".scenarios = []"), run: "approve --from r.json", 2, "is empty"),
    .init("approving nothing", run: "approve", 2, "no result to approve"),
    .init(
      "a trend without a history", yaml: "version: 1\nscenarios: [{name: a, target: [a]}]\n", run: "trend", 2,
      "no history"),
    .init("what is skipped on request", run: "check --allow-missing-baseline", 0, "1 scenario skipped"),
  ]

  @Test("What judges nothing does not pass, or says so", arguments: vacuous)
  func nothing(case vacuous: Vacuous) throws {
    let project = try TemporaryProject(vacuous.project)
    let before = "{ \(vacuous.before.isEmpty ? ":" : vacuous.before); } >/dev/null 2>&1"
    let script = "\(before); \"$HIGHWATER\" \(vacuous.command)"
    let outcome = try Highwater.shell(script, in: project)
    #expect(outcome.code == vacuous.code && outcome.text.contains(vacuous.words), "\(outcome.text)")
  }

  /// The scripts under "Exit codes" in the article on CI systems: their shell, their text.
  static let recipes: [(shell: String, script: String)] = {
    let article = "\(ExampleTests.root)/Sources/highwater/Documentation.docc/ci-systems.md"
    let text = (try? String(contentsOfFile: article, encoding: .utf8)) ?? ""
    let section = text.components(separatedBy: "\n## ").first { $0.hasPrefix("Exit codes") } ?? ""
    return section.matches(of: #/```(sh|bash|make)\n(?<script>(?s).*?)```/#).map { (String($0.1), String($0.script)) }
  }()

  @Test("Each recipe of the article ends with the code of the check")
  func recipes() throws {
    #expect(Self.recipes.map(\.shell) == ["sh", "bash", "sh", "make", "sh", "sh"])
    let project = try TemporaryProject(Vacuous("", 5, "").project)
    try FileManager.default.createSymbolicLink(
      atPath: project.url("highwater").path,
      withDestinationPath: URL(fileURLWithPath: Highwater.binary).standardizedFileURL.path)
    for (shell, script) in Self.recipes {
      guard shell != "make" else {
        try project.write(script, to: "Makefile")
        continue
      }
      try project.write(script, to: "recipe")
      for interpreter in shell == "sh" ? ["dash", "dash -e", "bash"] : ["bash", "bash -e"] {
        let outcome = try Highwater.shell("PATH=.:$PATH; \(interpreter) ./recipe highwater check", in: project)
        #expect(outcome.code == 5, "\(interpreter): \(script)\n\(outcome.text)")
      }
    }
  }

  /// With the root file system of this machine instead of an image, and the limits that an unprivileged host allows.
  @Test("A container passes the code on", .enabled(if: Highwater.isRoot, "podman needs root here"))
  func container() throws {
    let project = try TemporaryProject(Vacuous("", 5, "").project)
    let options = "--rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v \"$PWD:$PWD\" -w \"$PWD\""
    let outcome = try Highwater.shell(
      "podman --runtime runc run \(options) --rootfs /:O \"$HIGHWATER\" check", in: project)
    #expect(outcome.code == 5 && outcome.verdict == "no-baseline", "\(outcome.text)")
  }
}
