import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Suites of tests, with scripted recordings")
struct SuiteUseTests {
  /// Tests that need these MiB: by themselves, and more after another one.
  private struct Tests {
    var own: [String: Int] = [:]
    var order: [String] = []
    var after: (causes: Set<String>, test: String, more: Int)?
    /// What each keeps, and what the first test of a run takes for all and the last gives back, as a fixture does.
    var kept: [String: Int] = [:]
    var shared = 0
    var outcome: [String: String] = [:]
    var extraLines: [String] = []
    var end = End(.exited, code: 0)

    init(_ own: KeyValuePairs<String, Int>) {
      order = own.map(\.key)
      self.own = Dictionary(uniqueKeysWithValues: own.map { ($0.key, $0.value) })
    }

    func lines(only: [String]?) -> [String] {
      var seen: Set<String> = []
      let names = (only ?? order).filter { own[$0] != nil }
      return names.flatMap { test -> [String] in
        seen.insert(test)
        let fixture = (test == names.first ? shared : 0) - (test == names.last ? shared : 0)
        let resident = (30 + (kept[test] ?? 0) + fixture) << 20
        let more = after.map { $0.test == test && !seen.isDisjoint(with: $0.causes) ? $0.more : 0 } ?? 0
        let peak = (30 + (own[test] ?? 0) + more) << 20
        let begin = #"{"event": "begin", "test": "\#(test)", "file": "t.py", "line": 7, "resident": \#(30 << 20), "#
        let end = #"{"event": "end", "test": "\#(test)", "outcome": "\#(outcome[test] ?? "passed")", "seconds": 0.1, "#
        return [
          begin + #""peak": \#(30 << 20), "reset": true}"#,
          end + #""resident": \#(resident), "peak": \#(max(peak, resident))}"#,
        ]
      }
    }

    /// Writes the log that a plugin would write.
    func recording(of scenario: Scenario) -> Recording? {
      let variables = scenario.target.environment
      let only = variables["HIGHWATER_ONLY"].flatMap { FileManager.default.contents(atPath: $0) }
        .flatMap { try? JSONDecoder().decode([String].self, from: $0) }
      let text = (lines(only: only) + extraLines).map { $0 + "\n" }.joined()
      guard let folder = variables["HIGHWATER_TESTS"] else { return nil }
      try? Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/42.jsonl"))
      return .holding(30, end: end, output: "the output\n")
    }
  }

  private func suite(
    _ tests: Tests, in project: UseCaseProject, _ configure: (inout SuiteCheck) -> Void = { _ in }
  ) throws -> UseCaseProject.Outcome {
    project.measurer.follow { scenario, _ in tests.recording(of: scenario) }
    var check = SuiteCheck(command: ["pytest", "-q"])
    configure(&check)
    return try project.run(variables: ["TMPDIR": project.path]) { try check.run(in: $0) }
  }

  private func approved(_ tests: Tests) throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 8)
    #expect(try suite(tests, in: project).code == .noBaseline)
    #expect(try project.approve().code == .pass)
    return project
  }

  @Test("The first run asks for an approval, whose file has a line for each test; then the same passes in one line")
  func firstUse() throws {
    let project = try approved(Tests(["b": 2, "a": 40]))
    let files = try FileManager.default.subpathsOfDirectory(atPath: "\(project.path)/baselines")
    let file = try #require(files.first { $0.hasSuffix(".suite.json") })
    let lines = try String(contentsOfFile: "\(project.path)/baselines/\(file)", encoding: .utf8)
      .split(separator: "\n")
    #expect(
      lines.dropLast(2).suffix(2).map(String.init) == [
        #"    "a": {"kept":0,"peak":41943040},"#, #"    "b": {"kept":0,"peak":2097152}"#,
      ])
    let again = try suite(Tests(["b": 2, "a": 40]), in: project)
    #expect(again.code == .pass && again.text.contains("2 tests, the heaviest 40.0 MiB"), "\(again.text)")
    #expect(project.measurer.measured.count == 1)
  }

  @Test("A test that also needs more alone is a regression, with its place; new and removed tests are counted")
  func regression() throws {
    let project = try approved(Tests(["a": 2, "b": 2, "gone": 1]))
    let outcome = try suite(Tests(["a": 2, "b": 30, "new": 1]), in: project) {
      $0.options.json = "s.json"
      $0.options.reports = [ReportFile(.junit, path: "s.xml"), ReportFile(.markdown, path: "s.md")]
    }
    #expect(outcome.code == .regression && outcome.verdict == "regression")
    for text in ["b (t.py:7)", "needs 30.0 MiB instead of 2.0 MiB, also when it runs alone", "1 new, 1 removed"] {
      #expect(outcome.text.contains(text), "\(outcome.text)")
    }
    let scenarios = try #require(try project.object("s.json")["scenarios"] as? [[String: Any]])
    let tests = try #require((scenarios.first?["suite"] as? [String: Any])?["tests"] as? [[String: Any]])
    #expect(tests.map { $0["verdict"] as? String } == ["pass", "regression", "no-baseline"])
    let junit = try String(contentsOfFile: "\(project.path)/s.xml", encoding: .utf8)
    #expect(junit.contains(#"<testsuite name="pytest" tests="3" failures="1" errors="0">"#), "\(junit)")
    #expect(junit.contains(#"<property name="peak" value="31457280"/>"#) && junit.contains(#"file="t.py" line="7""#))
    let markdown = try String(contentsOfFile: "\(project.path)/s.md", encoding: .utf8)
    #expect(markdown.contains("`test.b.peak`"), "\(markdown)")
    // Approving it changes its line only, and then it passes.
    #expect(try project.approve().text.contains("1 new, 1 changed, 1 removed: the baseline has 3 tests"))
    #expect(try suite(Tests(["a": 2, "b": 30, "new": 1]), in: project).code == .pass)
  }

  @Test("A test that needs more only because of another one passes, and the other one is the regression")
  func causes() throws {
    let names: KeyValuePairs = ["a": 2, "b": 2, "c": 2, "d": 2, "e": 2]
    let project = try approved(Tests(names))
    var tests = Tests(names)
    tests.after = (["b"], "e", 40)
    let outcome = try suite(tests, in: project)
    #expect(outcome.code == .regression)
    #expect(
      outcome.text.contains("makes another test need more: e needs 42.0 MiB instead of 2.0 MiB"), "\(outcome.text)")
    #expect(outcome.text.contains("e needs 42.0 MiB instead of 2.0 MiB because of b; alone it does not"))
    // Its row has the figures of the test that needs more.
    #expect(outcome.text.contains(#/test\.e\.peak +2\.0 MiB → 42\.0 MiB/#), "\(outcome.text)")
  }

  @Test("Of several tests of a file that make another one need more, the first is the regression")
  func firstUsers() throws {
    let names: KeyValuePairs = ["a": 2, "b": 2, "c": 2, "d": 2, "e": 2]
    let project = try approved(Tests(names))
    var tests = Tests(names)
    tests.after = (["b", "c", "d"], "e", 40)
    let outcome = try suite(tests, in: project)
    #expect(outcome.code == .regression && outcome.text.contains("because of b; alone it does not"), "\(outcome.text)")
  }

  @Test("Behind a regression that has to do with nothing else, one that disturbs a later test is blamed for it")
  func severalRegressions() throws {
    let names: KeyValuePairs = ["a": 2, "b": 2, "loads": 2, "c": 2, "d": 2]
    let project = try approved(Tests(names))
    project.measurer.follow { scenario, _ in
      var tests = Tests(["a": 30, "b": 30, "loads": 2, "c": 2, "d": 2])
      // Alone `d` loads as much itself; after `loads` it needs more only because of `b`.
      let only =
        scenario.target.environment["HIGHWATER_ONLY"].flatMap { FileManager.default.contents(atPath: $0) }
        .flatMap { try? JSONDecoder().decode([String].self, from: $0) } ?? ["b"]
      if only.contains("b") || !only.contains("loads") { tests.own["d"] = 30 }
      return tests.recording(of: scenario)
    }
    let outcome = try project.run(variables: ["TMPDIR": project.path]) {
      try SuiteCheck(command: ["pytest", "-q"]).run(in: $0)
    }
    #expect(outcome.code == .regression && outcome.text.contains("because of b; alone it does not"), "\(outcome.text)")
    for test in ["a", "b"] { #expect(outcome.text.contains("\(test) (t.py:7) needs 30.0 MiB"), "\(outcome.text)") }
    #expect(!outcome.text.contains("d (t.py:7) needs"), "\(outcome.text)")
  }

  @Test("If most tests need more, a note says so, with the command of the baseline if that was another one")
  func common() throws {
    let names = (1...12).map { "t\($0)" }
    var tests = Tests([:])
    (tests.order, tests.own) = (names, Dictionary(uniqueKeysWithValues: names.map { ($0, 2) }))
    let project = try approved(tests)
    tests.own = tests.own.mapValues { _ in 30 }
    let same = try suite(tests, in: project)
    #expect(same.code == .regression && same.text.contains("12 of 12 tests need more: something that they share"))
    let other = try suite(tests, in: project) { $0.command = ["pytest", "-q", "--race"] }
    #expect(other.text.contains("the baseline was approved with `pytest -q`"), "\(other.text)")
  }

  @Test("A test that needs more in one run only passes with a note")
  func once() throws {
    let project = try approved(Tests(["a": 2, "b": 2]))
    project.measurer.follow { scenario, _ in
      let isFirst = scenario.target.environment["HIGHWATER_ONLY"] == nil
      return Tests(["a": 2, "b": isFirst ? 30 : 2]).recording(of: scenario)
    }
    let outcome = try project.run(variables: ["TMPDIR": project.path]) {
      try SuiteCheck(command: ["pytest", "-q"]).run(in: $0)
    }
    #expect(outcome.code == .pass && outcome.text.contains("1 test needed more than was approved in one run only: b"))
  }

  @Test("A test that keeps more is a regression, also where what tests share is taken down in the last one of a run")
  func sharedFixture() throws {
    var tests = Tests(["a": 2, "b": 20, "c": 2])
    tests.shared = 15
    let project = try approved(tests)
    tests.kept["b"] = 12
    let risen = try suite(tests, in: project)
    #expect(risen.code == .regression && risen.text.contains("b (t.py:7) keeps 12.0 MiB"), "\(risen.text)")
  }

  @Test("What no test was reported for, what failed, ended early or was forged is never a pass")
  func badInput() throws {
    let good = Tests(["a": 2, "b": 2])
    let project = try approved(good)
    let empty = try suite(Tests([:]), in: project)
    #expect(empty.code == .failed && empty.text.contains("no test was reported"), "\(empty.text)")
    var failing = good
    (failing.outcome, failing.end) = (["b": "failed"], End(.exited, code: 1))
    let failed = try suite(failing, in: project)
    #expect(failed.text.contains("1 of 2 tests failed: b (t.py:7)"), "\(failed.text)")
    var crashing = good
    crashing.end = End(.crash, signal: .segv)
    let crashed = try suite(crashing, in: project)
    #expect(crashed.code == .failed && crashed.text.contains("the output"), "\(crashed.text)")
    var forged = good
    forged.extraLines = ["nonsense", forged.lines(only: ["a"])[0]]
    let outcome = try suite(forged, in: project)
    #expect(outcome.code == .failed && outcome.text.contains("1 line in the log"), "\(outcome.text)")
    #expect(outcome.text.contains("give each test its own name"), "\(outcome.text)")
    #expect(try project.approve().code == .failed)
  }

  // MARK: In a project file

  /// A project whose scenario `tests` is a suite, beside the program `load`.
  private func projectWithSuite(
    _ tests: Tests, keys: String = "history: off", limit: String = ""
  ) throws -> UseCaseProject {
    let project = try UseCaseProject(
      """
      version: 1
      \(keys)
      defaults: {repetitions: 2, warmup: 0}
      scenarios:
        - name: load
          target: {command: [server]}
        - name: tests
          target: {suite: {command: [pytest, -q]\(limit)}}
      """, holding: 8)
    follow(tests, in: project)
    return project
  }

  private func follow(_ tests: Tests, in project: UseCaseProject) {
    project.measurer.follow { scenario, _ in
      scenario.target.suite == nil ? .holding(8) : tests.recording(of: scenario)
    }
  }

  @Test("A suite of the project file is checked, approved and stored beside the programs")
  func inProject() throws {
    let project = try projectWithSuite(Tests(["b": 2, "a": 40]), keys: "")
    let first = try project.check()
    #expect(first.code == .noBaseline && first.text.contains("heaviest tests"), "\(first.text)")
    let approved = try project.approve()
    #expect(approved.code == .pass, "\(approved.text)")
    #expect(approved.text.contains("approved 2 new: the baseline has 2 tests"), "\(approved.text)")
    let same = try project.check()
    #expect(same.code == .pass && same.text.contains("2 tests, the heaviest 40.0 MiB"), "\(same.text)")
    follow(Tests(["b": 30, "a": 40]), in: project)
    let risen = try project.check { $0.options.reports = [ReportFile(.junit, path: "junit.xml")] }
    #expect(risen.code == .regression, "\(risen.text)")
    #expect(
      risen.text.contains("b (t.py:7) needs 30.0 MiB instead of 2.0 MiB, also when it runs alone"), "\(risen.text)")
    let junit = try String(contentsOfFile: "\(project.path)/junit.xml", encoding: .utf8)
    #expect(junit.contains(#"<testsuite name="tests" tests="2" failures="1" errors="0">"#), "\(junit)")
    let page = try String(contentsOfFile: "\(project.path)/.highwater/trend.html", encoding: .utf8)
    #expect(page.contains("suite.heaviest") && page.contains("test.b.peak") && !page.contains("test.a.peak"))
    #expect(try project.approve().text.contains("approved 1 changed: the baseline has 2 tests"))
    #expect(try project.check().code == .pass)
  }

  @Test("Limits of tests by their names need no baseline, and one that fits no test gets a note")
  func limits() throws {
    let limit = #", limit: {"*": 30MiB, "a": 60MiB, "z*": 1GiB}"#
    let project = try projectWithSuite(Tests(["b": 40, "a": 40]), limit: limit)
    let outcome = try project.check()
    #expect(outcome.code == .regression && outcome.text.contains("b (t.py:7) needs more than the limit"))
    #expect(!outcome.text.contains("a (t.py:7) needs") && outcome.text.contains("limit of `z*` fits no test"))
  }

  @Test("A change of a suite's baseline says which tests it moves")
  func movedBaseline() throws {
    let project = try projectWithSuite(Tests(["b": 2, "a": 40]))
    _ = try project.check()
    #expect(try project.approve().code == .pass)
    try project.commit("baselines")
    try project.shell("git branch -m main && git update-ref refs/remotes/origin/main HEAD && git checkout -q -b topic")
    follow(Tests(["b": 30, "a": 40]), in: project)
    _ = try project.check()
    #expect(try project.approve { $0.request.reason = "larger tables" }.code == .pass)
    try project.commit(".")
    let job = ["JENKINS_URL": "https://ci.example", "CHANGE_ID": "7", "CHANGE_TARGET": "main"]
    let outcome = try project.check(variables: job)
    #expect(outcome.code == .pass && outcome.text.contains("test.b.peak 2.0 MiB → 30.0 MiB"), "\(outcome.text)")
    #expect(outcome.text.contains("larger tables") && !outcome.text.contains("test.a."), "\(outcome.text)")
  }

  @Test("A failed test fails the suite and is named with the output, and what passed can be approved")
  func failedInProject() throws {
    var tests = Tests(["b": 2, "a": 40])
    let project = try projectWithSuite(tests)
    tests.outcome = ["b": "failed"]
    tests.end = End(.exited, code: 1)
    follow(tests, in: project)
    let failed = try project.check()
    #expect(failed.code == .failed && failed.text.contains("the suite: 1 of 2 tests failed: b"), "\(failed.text)")
    #expect(failed.text.contains("the output"), "\(failed.text)")
    #expect(try project.approve().text.contains("approved 1 new: the baseline has 1 test"))
  }

  @Test("Two results of a suite are compared without further runs, so that a rise stays undecided")
  func compared() throws {
    let project = try projectWithSuite(Tests(["b": 2, "a": 40]))
    _ = try project.check { $0.options.json = "old.json" }
    follow(Tests(["b": 30, "a": 40]), in: project)
    _ = try project.check { $0.options.json = "new.json" }
    #expect(try project.compare("old.json", "old.json").code == .pass)
    let compared = try project.compare("old.json", "new.json")
    #expect(compared.code == .inconclusive && compared.text.contains("b (t.py:7) needs 30.0 MiB"), "\(compared.text)")
  }

  @Test("`highwater suite` adds its run to the history of a project")
  func history() throws {
    let project = try projectWithSuite(Tests(["b": 2]), keys: "")
    _ = try suite(Tests(["b": 2]), in: project)
    let page = try String(contentsOfFile: "\(project.path)/.highwater/trend.html", encoding: .utf8)
    #expect(page.contains("suite.peaks") && page.contains("pytest"))
  }

  @Test(
    "What has no meaning for a suite is an error that says so",
    arguments: [
      ("steps: [{wait: 1s}]", "`steps` has no effect on a suite"),
      ("gate: {peak_rss: 3%}", "`gate` has no effect on a suite"),
      ("repetitions: 5", "`repetitions` has no effect on a suite"),
    ])
  func refusedKeys(key: String, message: String) throws {
    let project = try UseCaseProject(
      "version: 1\nscenarios:\n- name: tests\n  target: {suite: [pytest]}\n  \(key)\n", holding: 8)
    let outcome = try project.check()
    #expect(outcome.code == .usage && outcome.text.contains(message), "\(outcome.text)")
  }

  @Test("A suite cannot be compared with another program, and other commands leave it out or refuse it")
  func otherCommands() throws {
    let project = try projectWithSuite(Tests(["b": 2]))
    let against = try project.check { $0.against = .command("./other") }
    #expect(against.code == .usage && against.text.contains("`tests` is a suite of tests"), "\(against.text)")
    let noise = try project.noise { $0.selection = ["tests"] }
    #expect(noise.code == .usage && noise.text.contains("needs the scenario of a program"), "\(noise.text)")
  }
}
