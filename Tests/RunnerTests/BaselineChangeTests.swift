import Foundation
import GateCore
import Testing

@testable import GateApplication

/// A repository whose branches approve rises and falls of the same scenario.
@Suite("Approved changes of a baseline")
struct BaselineChangeTests {
  /// A project with the approved level of 100 MiB on `main`, measured with 10 repetitions.
  private func project() throws -> UseCaseProject {
    let project = try UseCaseProject(
      holding: 100, repetitions: "{min: 5, max: 20}", scenarioKeys: "gate: {peak_rss: auto}")
    try project.write("0\n", to: "levels/main")
    try project.commit("levels")
    try project.shell("git branch -m main; printf '.highwater\\n' >.git/info/exclude")
    try project.checkAndApprove()
    try project.commit("baselines")
    return project
  }

  /// What the target of this checkout holds: each branch adds a file with its part.
  private func hold(_ project: UseCaseProject) throws {
    project.measurer.hold(100 + (Double(try project.shell("cat levels/* | awk '{s += $1} END {print s}'")) ?? 0))
  }

  private func branch(_ name: String, from start: String = "main", adding mebibytes: Double, in project: UseCaseProject)
    throws -> UseCaseProject.Outcome
  {
    try project.shell("git checkout -q -b \(name) \(start)")
    try project.write("\(mebibytes)\n", to: "levels/\(name)")
    try project.commit("levels")
    try hold(project)
    #expect(try [.regression, .pass].contains(project.check().code))
    let approval = try project.approve { $0.request.reason = "part of \(name)" }
    try project.commit("baselines")
    return approval
  }

  private func merge(_ name: String, in project: UseCaseProject) throws {
    try project.shell("git -c user.name=A -c user.email=a@x merge -q -m merge \(name)")
  }

  @Test("What a check measured is approved as a file of its own, with the repetitions that the check took")
  func change() throws {
    let project = try project()
    let before = try project.read(project.baseline())
    let approval = try branch("topic", adding: 5, in: project)
    #expect(approval.code == .pass)
    #expect(approval.text.contains("changed load metric from to change peak_rss 100.0 MiB → 105.0 MiB +5.0 MiB +5.0 %"))
    #expect(approval.text.contains("medians of 5 repetitions (before: 10)"), "\(approval.output)")
    #expect(try project.read(project.baseline()) == before)
    let file = try #require(try project.baselines().keys.first { $0.contains("/changes/") })
    let text = try project.read("baselines/\(file)")
    #expect(text.hasPrefix("{\n  \"summary\" : {\n    \"peak_rss\" : \"100.0 MiB → 105.0 MiB (+5.0 %)\""), "\(text)")
    #expect(text.contains("\"peak_rss\" : [104857600, 110100480]") && text.contains("part of topic"), "\(text)")
    let check = try project.check()
    #expect(check.code == .pass, "\(check.text)")
    #expect(try project.scenario()["verdict"] as? String == "pass")
    project.measurer.hold(107)
    #expect(try project.check().code == .regression)
    // Reverting the approval reverts the expectation.
    try project.shell("git -c user.name=A -c user.email=a@x revert --no-edit HEAD HEAD~1 >/dev/null")
    try hold(project)
    #expect(try project.check().code == .pass)
    project.measurer.hold(105)
    #expect(try project.check().code == .regression)
  }

  @Test("A later rise is compared with what the run of the last change consisted of, unless other branches changed it")
  func details() throws {
    let project = try project()
    _ = try branch("topic", adding: 20, in: project)
    let details = try #require(
      try project.shell("git show --name-only --format= | grep details").split(separator: "/").last)
    #expect(details.hasPrefix("linux-x86_64-2cpu.") && details.hasSuffix(".json"))
    project.measurer.hold(150)
    let rise = try project.check()
    #expect(rise.text.contains("by kind at the end: anonymous +30.0 MiB"), "\(rise.text)")
    _ = try branch("other", adding: 10, in: project)
    try merge("topic", in: project)
    project.measurer.hold(150)
    let merged = try project.check()
    #expect(merged.code == .regression && !merged.text.contains("by kind"), "\(merged.text)")
    // A new baseline has details of its own.
    #expect(try project.approve { $0.request.forces = true }.code == .pass)
    try project.commit("baselines")
    #expect(try project.shell("git ls-files baselines | grep -c details") == "1")
  }

  @Test("Branches that approve rises and falls of one scenario merge without hands, and every merge passes")
  func branches() throws {
    let project = try project()
    let parts = [5.0, -3, 2, 4, -5, 3.5, 1.5, -2, 3, 2.5]
    for (index, part) in parts.enumerated() {
      #expect(try branch("b\(index)", adding: part, in: project).code == .pass)
    }
    // A second approval follows the first of its branch.
    #expect(try branch("b10", from: "b0", adding: 4, in: project).code == .pass)
    try project.shell("git checkout -q main")
    var random = SystemRandomNumberGenerator()
    for index in (0...10).shuffled(using: &random) {
      try merge("b\(index)", in: project)
      try hold(project)
      let check = try project.check()
      #expect(check.code == .pass && !check.text.contains("improved"), "after \(index): \(check.text)")
    }
    let level = 100 + parts.reduce(4, +)
    #expect(try project.scenario()["verdict"] as? String == "pass")
    let early = try project.baselines()
    #expect(early.keys.count { $0.contains("/changes/") } == parts.count + 1)

    // Folding gives a baseline of what is measured, and a branch from before it still adds its own change.
    #expect(try branch("late", adding: 6, in: project).code == .pass)
    try project.shell("git checkout -q main")
    try hold(project)
    _ = try project.check()
    let fold = try project.approve { ($0.folds, $0.request.reason) = (true, "weekly") }
    #expect(fold.code == .pass && fold.text.contains("baselines: 1 folded"), "\(fold.text)")
    #expect(try project.baselines().count == 1)
    let values = try #require(try project.object(project.baseline())["metrics"] as? [String: [Double]])["peak_rss"]
    #expect(values == Array(repeating: level * 1_048_576, count: 10), "as many values as before")
    #expect(try project.check().code == .pass)
    try project.commit("baselines")
    try merge("late", in: project)
    try hold(project)
    #expect(try project.check().code == .pass)
    project.measurer.hold(level)
    #expect(try project.scenario()["verdict"] as? String == "pass")
    #expect(try project.check().text.contains("improved"), "the expectation includes the late branch")
  }

  @Test("Nothing is folded that rose since, nor where no change was approved")
  func foldGuards() throws {
    let project = try project()
    _ = try project.check()
    let none = try project.approve { $0.folds = true }
    #expect(none.code == .pass && none.text.contains("no change was approved since its baseline"), "\(none.text)")
    _ = try branch("topic", adding: 5, in: project)
    project.measurer.hold(120)
    _ = try project.check()
    let risen = try project.approve { $0.folds = true }
    #expect(risen.text.contains("unchanged load it rose above its baseline and the approved changes"), "\(risen.text)")
    #expect(try project.baselines().count == 2)
  }

  @Test("A change of the scenario itself is approved as a change, and a metric that is new needs a new baseline")
  func definition() throws {
    let project = try project()
    let text = try project.read("highwater.yml")
    try project.write(text.replacing("--port", with: "--other"), to: "highwater.yml")
    project.measurer.hold(106)
    #expect(try project.check().code == .regression)
    #expect(try project.approve().text.contains("changed load"))
    #expect(try !project.check().text.contains("the scenario has changed"))
    try project.write(text.replacing("peak_rss: auto", with: "peak_rss: auto, value.x: 3%"), to: "highwater.yml")
    project.measurer.follow { _, _ in
      .holding(106, marks: [Mark(time: .milliseconds(5), event: .value(name: "x", number: 7, unit: "items"))])
    }
    #expect(try project.check().code == .noBaseline)
    let approval = try project.approve()
    #expect(approval.text.contains("replaced load"), "\(approval.text)")
    #expect(try project.baselines().count == 1, "the new baseline includes the change")
  }

  @Test("A broken change is an error of `check` and `validate`, and `approve --force` repairs it")
  func broken() throws {
    let project = try project()
    _ = try branch("topic", adding: 5, in: project)
    let file = try #require(try project.baselines().keys.first { $0.contains("/changes/") })
    let good = try project.read("baselines/\(file)")
    for text in ["{", good.replacing("[104857600, ", with: "["), good.replacing("\"load\"", with: "\"other\"")] {
      try project.write(text, to: "baselines/\(file)")
      #expect(try project.check().code == .usage, "\(text)")
    }
    try project.write("{", to: "baselines/\(file)")
    #expect(try project.run { try Validate().run(in: $0) }.code == .usage)
    #expect(try project.approve { $0.request.forces = true }.code == .pass)
    #expect(try project.baselines().count == 1)
  }

  // MARK: Commits

  @Test("A result is approved after what was measured was committed, and has that commit", arguments: [false, true])
  func committedSince(isTracked: Bool) throws {
    let project = try project()
    try project.write("a\n", to: "source.c")
    if isTracked { try project.commit("source.c") }
    try project.write("b\n", to: "source.c")
    project.measurer.hold(110)
    _ = try project.check()
    let head = try project.commit("source.c")
    let approval = try project.approve()
    #expect(approval.code == .pass && !approval.text.contains("dirty"), "\(approval.text)")
    let file = try #require(try project.baselines().keys.first { $0.contains("/changes/") })
    let approved = try #require(try project.object("baselines/\(file)")["approved"] as? [String: Any])
    #expect(approved["commit"] as? String == head && approved["dirty"] == nil)
  }

  @Test("A result is refused if something else was committed than what was measured")
  func otherCommitted() throws {
    let project = try project()
    try project.write("b\n", to: "source.c")
    project.measurer.hold(110)
    _ = try project.check()
    try project.write("c\n", to: "source.c")
    try project.commit("source.c")
    #expect(try project.approve().code == .usage)
  }

  @Test(
    "A result whose commit is not a hash is refused, even if its files fit",
    arguments: ["HEAD", "main", "--all", #"HASH\ntouch x"#, "HASH^0"])
  func forgedCommit(name: String) throws {
    let project = try project()
    try project.write("b\n", to: "source.c")
    project.measurer.hold(110)
    _ = try project.check()
    let measured = try project.shell("git rev-parse HEAD")
    try project.commit("source.c")
    let text = try project.read(".highwater/result.json")
    let forged = text.replacing(measured, with: name.replacing("HASH", with: measured))
    try #require(forged != text)
    try project.write(forged, to: ".highwater/result.json")
    #expect(try project.approve().code == .usage)
  }

  // MARK: Environments

  @Test("A baseline whose environment was named on the command line is not replaced from another kind of machine")
  func namedByOption() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try project.check { $0.options.environment = "fleet" }
    #expect(try project.approve().code == .pass)
    project.measurer.fingerprint.aslr = "on"
    let check = try project.check { $0.options.environment = "fleet" }
    #expect(check.code == .noBaseline)
    #expect(check.text.contains("if this kind of machine replaces that of the baseline, approve it with `--force`:"))
    #expect(!check.text.contains("first baseline"), "\(check.text)")
    let refused = try project.approve()
    #expect(refused.code == .usage)
    #expect(
      refused.text.contains("the baseline of `fleet` is from another kind of machine (baseline → now): aslr off → on"),
      "\(refused.text)")
    #expect(try project.approve { $0.request.forces = true }.code == .pass)
    #expect(try project.check { $0.options.environment = "fleet" }.code == .pass)
  }
}
