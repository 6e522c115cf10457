import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Baselines, from the first check to the next approval")
struct BaselineUseTests {
  @Test("The first check has no baseline, an approval creates one, and then a rise is a regression")
  func cycle() throws {
    let project = try UseCaseProject(holding: 8)
    let first = try project.check()
    #expect(first.code == .noBaseline && first.verdict == "no-baseline")
    #expect(first.output.contains("highwater approve"))
    #expect(try project.baselines().isEmpty, "a check does not approve")
    #expect(
      try project.approve(variables: ["HIGHWATER_APPROVER": "ada"]) { $0.request.reason = "agreed in #7" }.code == .pass
    )
    let approved = try #require(project.object(project.baseline())["approved"] as? [String: Any])
    #expect(approved["reason"] as? String == "agreed in #7" && approved["by"] as? String == "ada")
    #expect(try project.check().verdict == "pass")

    project.measurer.hold(12)
    let regressed = try project.check()
    #expect(regressed.code == .regression && regressed.verdict == "regression")
    #expect(regressed.output.contains("peak_rss"))
    #expect(try project.approve().code == .pass)
    #expect(try project.check().code == .pass)

    project.measurer.hold(4)
    let improved = try project.check()
    #expect(improved.code == .pass && improved.output.contains("improved"))
  }

  @Test("Approving the same result again changes neither the file nor its modification time")
  func idempotent() throws {
    let project = try UseCaseProject(holding: 8)
    try project.checkAndApprove()
    let file = try project.url(project.baseline())
    let before = try Data(contentsOf: file)
    let old = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
    let again = try project.approve { $0.request.reason = "another one" }
    #expect(again.code == .pass && again.output.contains("unchanged"), "\(again.text)")
    #expect(try Data(contentsOf: file) == before)
    #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date == old)
    #expect(before.last == 0x0a)
  }

  @Test("`approve --from` accepts a result of another machine, also with another environment name")
  func fromElsewhere() throws {
    let otherMachine = try UseCaseProject(holding: 8)
    _ = try otherMachine.check { $0.options.json = "out.json" }
    let project = try UseCaseProject(holding: 8)
    try project.write(otherMachine.read("out.json"), to: "artifact.json")
    let first = try project.approve { $0.from = "artifact.json" }
    #expect(first.code == .pass && !first.text.contains("no profile came"), "a first check takes none: \(first.text)")
    #expect(try project.check().code == .pass)

    #expect(try otherMachine.approve().code == .pass)
    otherMachine.measurer.hold(12)
    #expect(try otherMachine.check { $0.options.json = "out.json" }.code == .regression)
    try project.write(otherMachine.read("out.json"), to: "risen.json")
    let risen = try project.approve { $0.from = "risen.json" }
    #expect(risen.text.contains("no profile came with the result of 1 scenario"), "\(risen.text)")

    let named = try project.approve {
      ($0.from, $0.request.options.environment, $0.request.forces) = ("artifact.json", "runner", true)
    }
    #expect(named.code == .pass, "\(named.text)")
    #expect(try project.baselines().keys.contains("load/runner.json"))
    #expect(try project.check { $0.options.environment = "runner" }.code == .pass)
    let other = try project.check { $0.options.environment = "unheard-of" }
    #expect(other.code == .noBaseline)
    #expect(other.text.contains("the nearest baseline is from the environment"))
  }

  @Test(
    "A baseline with other hard fields is not compared, and the differing field is named",
    arguments: [
      ("cpus", 64 as any Sendable, "cpus 64 → 2"), ("architecture", "s390x", "architecture s390x → x86_64"),
      ("pageSize", 65536, "pageSize 64KiB → 4KiB"), ("aslr", "on", "aslr on → off"),
      ("measurement", "guessed", "measurement guessed → traced"),
      ("memoryLimit", 1_048_576, "memoryLimit 1MiB → none"),
    ])
  func hardField(field: String, value: any Sendable, expected: String) throws {
    let project = try UseCaseProject(holding: 8)
    try project.checkAndApprove()
    try project.editFingerprint(field, value)
    let check = try project.check()
    #expect(check.code == .noBaseline)
    #expect(check.text.contains(expected), "\(check.output)")
  }

  @Test(
    "A baseline with other soft fields is compared, with a note",
    arguments: [("kernel", "5.4.0-x"), ("libc", "musl 1.2"), ("swap", "elsewhere")])
  func softField(field: String, value: String) throws {
    let project = try UseCaseProject(holding: 8)
    try project.checkAndApprove()
    try project.editFingerprint(field, value)
    let same = try project.check(.verbose)
    #expect(same.code == .pass)
    #expect(same.text.contains("\(field) \(value) → "), "\(same.output)")
    project.measurer.hold(12)
    let regressed = try project.check()
    #expect(regressed.code == .regression)
    #expect(regressed.text.contains("\(field) \(value) → "), "\(regressed.output)")
  }

  @Test("An environment rule can name a class of machines and ignore the number of CPUs")
  func environmentRule() throws {
    let project = try UseCaseProject(holding: 8, keys: "environment: {name: ci, ignore: [cpus]}\nhistory: off")
    try project.checkAndApprove()
    #expect(try project.baselines().keys.sorted() == ["load/ci.json"])
    project.measurer.fingerprint.cpus = 64
    let check = try project.check(.verbose)
    #expect(check.code == .pass, "\(check.output)")
    #expect(check.text.contains("cpus 2 → 64"))
    project.measurer.fingerprint.pageSize = 65536
    #expect(try project.check().code == .noBaseline)
  }

  @Test("Approving a failed scenario exits with 3 and leaves the baseline unchanged")
  func failedScenario() throws {
    let project = try UseCaseProject(holding: 8)
    try project.checkAndApprove()
    let before = try project.baselines()
    project.measurer.follow { _, _ in .holding(8, end: End(.exited, code: 2)) }
    #expect(try project.check().code == .failed)
    let approval = try project.approve()
    #expect(approval.code == .failed)
    #expect(approval.output.contains("it failed"), "\(approval.output)")
    #expect(try project.baselines() == before)
  }

  @Test("`approve NAME` approves these scenarios only; an unknown name is an error")
  func names() throws {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      defaults: {repetitions: 1, warmup: 0, gate: {peak_rss: 50%}}
      scenarios:
        - {name: one, tags: [x], target: {command: [a]}}
        - {name: two, target: {command: [a]}, matrix: {n: [1, 2]}}
      """, holding: 8)
    #expect(try project.check().code == .noBaseline)
    #expect(try project.approve { $0.request.selection = ["tag:x"] }.code == .pass)
    #expect(try project.baselines().count == 1)
    let unknown = try project.approve { $0.request.selection = ["one", "three"] }
    #expect(unknown.code == .usage)
    #expect(unknown.errors.contains("the result has no scenario `three`"))
    #expect(unknown.errors.contains("one, two[n=1], two[n=2]"))
    #expect(try project.baselines().count == 1)
    #expect(try project.approve { $0.request.selection = ["two"] }.code == .pass)
    #expect(try project.baselines().count == 3)
    #expect(try project.check().code == .pass)
    #expect(try project.check { $0.selection = ["two"] }.code == .pass)
  }

  @Test("Without a result there is nothing to approve")
  func nothingToApprove() throws {
    let approval = try UseCaseProject(holding: 8).approve()
    #expect(approval.code == .usage)
    #expect(approval.errors.contains("no result to approve") && approval.errors.contains("highwater check"))
  }

  @Test("A limit is judged without a baseline", arguments: [("6MiB", ExitCode.regression), ("60MiB", .pass)])
  func limit(limit: String, code: ExitCode) throws {
    let check = try UseCaseProject(holding: 8, scenarioKeys: "gate: {peak_rss: {limit: \(limit)}}").check()
    #expect(check.code == code, "\(check.output)")
  }

  @Test(
    "The gate rule decides whether a rise is tolerated, a warning, ignored, or a regression",
    arguments: [
      ("{peak_rss: [90%, 1KiB]}", ExitCode.pass), ("{peak_rss: {tolerance: 3%, on: warn}}", .pass),
      ("{peak_rss: {tolerance: 3%, on: off}, tree_peak: 99%}", .pass),
      ("{peak_rss: {tolerance: 3%, on: fail}}", .regression), ("{peak_rss: 8MiB}", .pass),
      ("{peak_rss: 1MiB}", .regression), ("{peak_rss: auto}", .regression),
    ])
  func severities(gate: String, code: ExitCode) throws {
    let project = try UseCaseProject(holding: 8, scenarioKeys: "gate: \(gate)")
    try project.checkAndApprove()
    project.measurer.hold(10)
    let check = try project.check()
    #expect(check.code == code, "\(check.output)")
    #expect(check.output.contains("rose") == (gate.contains("warn") || code == .regression), "\(check.output)")
  }

  @Test("`--allow-missing-baseline` lets only new scenarios pass")
  func allowMissing() throws {
    let project = try UseCaseProject(holding: 8)
    #expect(try project.check { $0.allowsMissingBaseline = true }.code == .pass)
    #expect(try project.result()["verdict"] as? String == "skipped")
    try project.checkAndApprove()
    project.measurer.hold(12)
    #expect(try project.check { $0.allowsMissingBaseline = true }.code == .regression)
    // On a new kind of machine the gate would be off without an end.
    project.measurer.fingerprint.cpus = 64
    #expect(try project.check { $0.allowsMissingBaseline = true }.code == .noBaseline)
  }

  @Test("On GitHub a skipped scenario has a warning of its own")
  func skippedOnGitHub() throws {
    let project = try UseCaseProject(holding: 8)
    let check = try project.check(variables: ["GITHUB_ACTIONS": "true"]) { $0.allowsMissingBaseline = true }
    #expect(
      check.code == .pass && check.text.contains("::warning file=highwater.yml,line=4,title=load%3A warning::"),
      "\(check.text)")
  }

  @Test("A scenario removed from the project file can only be approved by name")
  func removedFromProject() throws {
    let project = try UseCaseProject(holding: 8)
    try #require(try project.check().code == .noBaseline)
    try project.write(project.read("highwater.yml").replacing("name: load", with: "name: other"), to: "highwater.yml")
    let unnamed = try project.approve()
    #expect(unnamed.code == .usage)
    #expect(unnamed.errors.contains("skipped load: it is not in the project file"))
    #expect(try project.baselines().isEmpty)
    #expect(try project.approve { $0.request.selection = ["load"] }.code == .pass)
    #expect(try project.baselines().count == 1)
  }

  @Test("A broken baseline of a removed scenario is ignored")
  func removedScenario() throws {
    let project = try UseCaseProject(holding: 8)
    try project.checkAndApprove()
    try project.write("{", to: "baselines/gone/linux.json")
    #expect(try project.check().code == .pass)
    #expect(try project.baselines().keys.contains("gone/linux.json"))
  }

  @Test("`approve --ratchet` approves improvements only")
  func ratchet() throws {
    let project = try UseCaseProject(holding: 24, repetitions: "5")
    try project.checkAndApprove()
    let before = try project.baselines()
    project.measurer.hold(26)
    #expect(try project.check().code == .regression)
    #expect(try project.approve { $0.ratchets = true }.output.contains("unchanged"))
    #expect(try project.baselines() == before)
    project.measurer.hold(20)
    #expect(try project.check().code == .pass)
    #expect(try project.approve { $0.ratchets = true }.output.contains("changed"))
    #expect(try project.check().verdict == "pass")
  }

  @Test("Approvals in small steps are reported as creep, with the original level")
  func creep() throws {
    let project = try UseCaseProject(holding: 40, repetitions: "5")
    try project.checkAndApprove()
    for mebibytes in [40.9, 41.8] {
      project.measurer.hold(mebibytes)
      #expect(try project.check().code == .pass)
      let approval = try project.approve { $0.request.forces = true }
      #expect(approval.text.contains("peak_rss has crept up by") == (mebibytes > 41), "\(approval.output)")
    }
    #expect(try project.check().text.contains("peak_rss has crept up by"))
  }

  @Test("The summary has the age of the baselines in days and commits")
  func age() throws {
    let project = try UseCaseProject(holding: 24, repetitions: "5")
    try project.commit()
    try project.checkAndApprove()
    try project.commit()
    try project.commit()
    #expect(try project.check(.verbose).text.contains("baselines approved today, 2 commits since"))
    try project.edit(project.baseline()) { baseline in
      var approved = try #require(baseline["approved"] as? [String: Any])
      approved["at"] = "2020-01-01T00:00:00.000Z"
      approved["commit"] = "--output=pwned"
      baseline["approved"] = approved
    }
    let old = try project.check().text
    #expect(old.contains("days ago; approve a current result (`--force`)"), "\(old)")
    #expect(!project.exists("pwned"))
  }

  @Test(
    "`--allow-missing-baseline` ends 14 days after the scenario was committed",
    arguments: [
      (13, ExitCode.pass, "load: not judged: it has no baseline; --allow-missing-baseline allows that until 20"),
      (15, .noBaseline, "it has had no baseline since 20"),
      (-400, .noBaseline, "this checkout does not show since when the scenario exists"),
    ])
  func term(days: Int, code: ExitCode, note: String) throws {
    let project = try UseCaseProject(holding: 8)
    let date = Int(Date().timeIntervalSince1970) - days * 86_400
    try project.shell(
      "git init -q . && git add highwater.yml && GIT_COMMITTER_DATE='@\(date) +0000' git -c user.name=A -c user.email=a@x "
        + "commit -q -m x")
    let files = ["r.md", "r.xml"]
    let check = try project.check {
      $0.allowsMissingBaseline = true
      $0.options.reports = [ReportFile(.markdown, path: files[0]), ReportFile(.junit, path: files[1])]
    }
    #expect(check.code == code && check.text.contains(note), "\(check.text)")
    for file in files { #expect(try project.read(file).contains("no baseline"), "\(file)") }
    #expect(try project.check().code == .noBaseline)
  }
}
