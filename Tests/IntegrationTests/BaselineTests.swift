import Foundation
import Testing

@Suite("Baselines, from the first check to the next approval")
struct BaselineTests {
  @Test("The first check has no baseline, an approval makes one, and from then on a rise is a regression")
  func life() throws {
    let project = try TemporaryProject.holding(8)
    let first = try Gate.run("check", in: project)
    #expect(first.code == 5)
    #expect(first.verdict == "no-baseline")
    #expect(first.output.contains("highwater approve"))
    #expect(try project.baselines().isEmpty, "a check approves nothing")

    let approval = try Gate.run(
      "approve", "--reason", "agreed in #7", in: project, variables: ["HIGHWATER_APPROVER": "ada"])
    #expect(approval.code == 0, "\(approval.errors)")
    let baseline = try object(in: String(contentsOf: project.baselineFile(), encoding: .utf8))
    let approved = try #require(baseline["approved"] as? [String: Any])
    #expect(approved["reason"] as? String == "agreed in #7")
    #expect(approved["by"] as? String == "ada")

    let second = try Gate.run("check", in: project)
    #expect(second.code == 0, "\(second.output)\(second.errors)")
    #expect(second.verdict == "pass")

    try project.hold(12)
    let third = try Gate.run("check", in: project)
    #expect(third.code == 1)
    #expect(third.verdict == "regression")
    #expect(third.output.contains("peak_rss"))

    #expect(try Gate.run("approve", in: project).code == 0)
    #expect(try Gate.run("check", in: project).code == 0)

    try project.hold(4)
    let improved = try Gate.run("check", in: project)
    #expect(improved.code == 0)
    #expect(improved.output.contains("improved"))
  }

  @Test("Approving the same result again changes not a byte, nor the time of the file")
  func idempotent() throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    let file = try project.baselineFile()
    let before = try Data(contentsOf: file)
    let old = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: file.path)
    let again = try Gate.run("approve", "--reason", "another one", in: project)
    #expect(again.code == 0)
    #expect(again.output.contains("unchanged"), "\(again.output)")
    #expect(try Data(contentsOf: file) == before)
    let date = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
    #expect(date == old)
    #expect(before.last == 0x0a)
  }

  @Test("`approve --from` takes a result that another machine measured, also under another name of its environment")
  func fromElsewhere() throws {
    let elsewhere = try TemporaryProject.holding(8)
    _ = try Gate.run("check", "--json", "out.json", in: elsewhere)
    let project = try TemporaryProject.holding(8)
    try project.write(elsewhere.read("out.json"), to: "artifact.json")
    #expect(try Gate.run("approve", "--from", "artifact.json", in: project).code == 0)
    #expect(try Gate.run("check", in: project).code == 0)

    #expect(try Gate.run("approve", "--from", "artifact.json", "--environment", "runner", in: project).code == 0)
    #expect(try project.baselines().keys.contains("load/runner.json"))
    #expect(try Gate.run("check", "--environment", "runner", in: project).code == 0)
    let other = try Gate.run("check", "--environment", "unheard-of", in: project)
    #expect(other.code == 5)
    #expect(other.words.contains("the nearest baseline is of the environment"))
  }

  @Test(
    "A baseline of other hard fields is not compared with, and the field that differs is named",
    arguments: [
      ("cpus", 64 as any Sendable, "cpus 64 → "), ("architecture", "s390x", "architecture s390x → "),
      ("pageSize", 65536, "pageSize 65536 → "), ("aslr", "on", "aslr on → off"),
      ("measurement", "guessed", "measurement guessed → "), ("memoryLimit", 1_048_576, "memoryLimit 1048576 → none"),
    ])
  func hardField(field: String, value: any Sendable, expected: String) throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    try project.editFingerprint(field, value)
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == 5)
    #expect(outcome.words.contains(expected), "\(outcome.output)")
  }

  @Test(
    "Other soft fields are compared across, with a note",
    arguments: [
      ("kernel", "5.4.0-x"), ("libc", "musl 1.2"), ("swap", "elsewhere"),
    ])
  func softField(field: String, value: String) throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    try project.editFingerprint(field, value)
    let same = try Gate.run("check", "--verbose", in: project)
    #expect(same.code == 0)
    #expect(same.words.contains("\(field) \(value) → "), "\(same.output)")
    try project.hold(12)
    let risen = try Gate.run("check", in: project)
    #expect(risen.code == 1)
    #expect(risen.words.contains("\(field) \(value) → "), "\(risen.output)")
  }

  @Test("A team can call its machines one class, and ignore the number of their CPUs")
  func environmentRule() throws {
    let project = try TemporaryProject.holding(8, keys: "environment: {name: ci, ignore: [cpus]}")
    try project.approveOnce()
    #expect(try project.baselines().keys.sorted() == ["load/ci.json"])
    try project.editFingerprint("cpus", 64)
    let outcome = try Gate.run("check", "--verbose", in: project)
    #expect(outcome.code == 0, "\(outcome.output)")
    #expect(outcome.words.contains("cpus 64 → "))
    try project.editFingerprint("pageSize", 65536)
    #expect(try Gate.run("check", in: project).code == 5)
  }

  @Test("What failed is not approved: 3, and the baseline stays as it is")
  func failedScenario() throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    let before = try project.baselines()
    try project.write("die 'on purpose'", to: "hold.pl")
    #expect(try Gate.run("check", in: project).code == 3)
    let approval = try Gate.run("approve", in: project)
    #expect(approval.code == 3)
    #expect(approval.output.contains("it failed"), "\(approval.output)")
    #expect(try project.baselines() == before)
  }

  @Test("`approve NAME` takes these only, and a name that the result does not have is an error")
  func names() throws {
    let project = try TemporaryProject(
      """
      version: 1
      defaults: {repetitions: 1, warmup: 0, gate: {peak_rss: 50%}}
      scenarios:
        - {name: one, tags: [x], target: {command: [sleep, "0.05"]}}
        - {name: two, target: {command: [sleep, "0.05"]}, matrix: {n: [1, 2]}}
      """)
    #expect(try Gate.run("check", in: project).code == 5)
    #expect(try Gate.run("approve", "tag:x", in: project).code == 0)
    #expect(try project.baselines().count == 1)
    let unknown = try Gate.run("approve", "one", "three", in: project)
    #expect(unknown.code == 2)
    #expect(unknown.errors.contains("the result has no scenario `three`"))
    #expect(unknown.errors.contains("one, two[n=1], two[n=2]"))
    #expect(try project.baselines().count == 1)
    #expect(try Gate.run("approve", "two", in: project).code == 0)
    #expect(try project.baselines().count == 3)
    #expect(try Gate.run("check", in: project).code == 0)
    #expect(try Gate.run("check", "two", in: project).code == 0)
  }

  @Test("Without a result there is nothing to approve")
  func nothingToApprove() throws {
    let outcome = try Gate.run("approve", in: TemporaryProject.holding(8))
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("there is no result to approve"))
    #expect(outcome.errors.contains("highwater check"))
  }

  @Test("A limit is judged without a baseline", arguments: [("6MiB", 1 as Int32), ("60MiB", 0)])
  func limit(limit: String, code: Int32) throws {
    let project = try TemporaryProject.holding(8, scenarioKeys: "gate: {peak_rss: {limit: \(limit)}}")
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == code, "\(outcome.output)")
  }

  @Test(
    "A rise is weighed by its rule: tolerated, warned of, or not looked at",
    arguments: [
      ("{peak_rss: [90%, 1KiB]}", 0 as Int32, "pass"), ("{peak_rss: {tolerance: 3%, on: warn}}", 0, "pass"),
      ("{peak_rss: {tolerance: 3%, on: off}, tree_peak: 99%}", 0, "pass"),
      ("{peak_rss: {tolerance: 3%, on: fail}}", 1, "regression"),
      ("{peak_rss: 8MiB}", 0, "pass"), ("{peak_rss: 1MiB}", 1, "regression"), ("{peak_rss: auto}", 1, "regression"),
    ])
  func severities(gate: String, code: Int32, verdict: String) throws {
    let project = try TemporaryProject.holding(8, scenarioKeys: "gate: \(gate)")
    try project.approveOnce()
    try project.hold(10)
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == code, "\(outcome.output)")
    #expect(outcome.verdict == verdict)
    #expect(outcome.output.contains("rose") == (gate.contains("warn") || code == 1), "\(outcome.output)")
  }

  @Test("`--allow-missing-baseline` lets new scenarios through, and only them")
  func allowMissing() throws {
    let project = try TemporaryProject.holding(8)
    let outcome = try Gate.run("check", "--allow-missing-baseline", in: project)
    #expect(outcome.code == 0)
    #expect(try project.result()["verdict"] as? String == "skipped")
    try project.approveOnce()
    try project.hold(12)
    #expect(try Gate.run("check", "--allow-missing-baseline", in: project).code == 1)
  }

  @Test("What the project file no longer has is approved by its name only")
  func approvingStranger() throws {
    let project = try TemporaryProject.holding(8)
    try #require(try Gate.run("check", in: project).code == 5)
    let file = try project.read("highwater.yml")
    try project.write(file.replacing("name: load", with: "name: other"), to: "highwater.yml")
    let unnamed = try Gate.run("approve", in: project)
    #expect(unnamed.code == 2)
    #expect(unnamed.errors.contains("left out: load, which the project file does not have"))
    #expect(try project.baselines().isEmpty)
    #expect(try Gate.run("approve", "load", in: project).code == 0)
    #expect(try project.baselines().count == 1)
  }

  @Test("The baseline of a scenario that the project no longer has troubles nobody")
  func removedScenario() throws {
    let project = try TemporaryProject.holding(8)
    try project.approveOnce()
    try project.write("{", to: "baselines/gone/linux.json")
    #expect(try Gate.run("check", in: project).code == 0)
    #expect(try project.baselines().keys.contains("gone/linux.json"))
  }
}
