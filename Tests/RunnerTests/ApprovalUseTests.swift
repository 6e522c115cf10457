import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Results that are refused as baselines")
struct ApprovalUseTests {
  /// Expects that only `--force` approves the last result.
  private func expectRefusal(
    of project: UseCaseProject,
    with text: String,
    hint: String,
    approve configure: (inout Approve) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = try project.baselines()
    let refused = try project.approve(configure)
    #expect(refused.code == .usage, sourceLocation: sourceLocation)
    let words = "skipped load \(text) hint: \(hint) hint: `--force` approves it anyway"
    #expect(refused.text.contains(words), "\(refused.output)", sourceLocation: sourceLocation)
    #expect(try project.baselines() == before, sourceLocation: sourceLocation)
    let forced = try project.approve {
      configure(&$0)
      $0.request.forces = true
    }
    #expect(forced.code == .pass, "\(forced.output)", sourceLocation: sourceLocation)
    #expect(try project.baselines() != before, sourceLocation: sourceLocation)
  }

  /// Replaces a text of the project file.
  private func edit(_ project: UseCaseProject, _ old: String, _ new: String) throws {
    let text = try project.read("highwater.yml")
    try #require(text.contains(old))
    try project.write(text.replacing(old, with: new), to: "highwater.yml")
  }

  // MARK: The commit

  @Test("A result of another commit is refused, and both commits are named")
  func otherCommit() throws {
    let project = try UseCaseProject(holding: 8)
    let measured = try project.commit()
    _ = try project.check()
    try project.write("one", to: "source.c")
    let head = try project.commit("source.c")
    try expectRefusal(
      of: project, with: "it was measured at commit \(measured.prefix(9)), but the checkout is at \(head.prefix(9))",
      hint: "run `highwater check` again, or check out \(measured.prefix(9))")
  }

  @Test("A result of the checkout's commit is approved, also if a variable abbreviates it")
  func sameCommit() throws {
    let project = try UseCaseProject(holding: 8)
    let head = try project.commit()
    _ = try project.check(variables: ["HIGHWATER_COMMIT": String(head.prefix(7))])
    #expect(try project.approve().code == .pass)
  }

  @Test("A baseline that git ignores is written, with a warning that names the pattern")
  func ignoredByGit() throws {
    for (pattern, isIgnored) in [("load", true), ("load\n!baselines/*/", false)] {
      let project = try UseCaseProject(holding: 8)
      try project.commit()
      try project.write(pattern, to: ".gitignore")
      _ = try project.check()
      let approval = try project.approve()
      #expect(approval.code == .pass)
      let warning = "warning: git ignores baselines/load/"
      #expect(approval.text.contains(warning) == isIgnored, "\(approval.errors)")
      #expect(approval.text.contains("(.gitignore:1: load), so no other machine") == isIgnored, "\(approval.errors)")
    }
  }

  @Test("A result with uncommitted changes is approved, and its baseline is marked")
  func dirty() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("one", to: "source.c")
    let head = try project.commit("source.c")
    try project.write("untracked", to: "notes.txt")
    func run() throws -> [String: Any] { try #require(try project.result()["run"] as? [String: Any]) }
    _ = try project.check()
    #expect(try run()["dirty"] == nil)

    try project.write("two", to: "source.c")
    _ = try project.check()
    #expect(try run()["dirty"] as? Bool == true)
    let approval = try project.approve()
    #expect(approval.code == .pass)
    #expect(
      approval.text.contains(
        "note: measured with uncommitted changes to commit \(head.prefix(9)); the baselines are marked `dirty`"),
      "\(approval.output)")
    let approved = try #require(try project.object(project.baseline())["approved"] as? [String: Any])
    #expect(approved["dirty"] as? Bool == true && approved["commit"] as? String == head)

    project.measurer.hold(12)
    _ = try project.check()
    try project.write("three", to: "source.c")
    let next = try project.commit("source.c")
    try expectRefusal(
      of: project,
      with: "it was measured at commit \(head.prefix(9))-dirty, but the checkout is at \(next.prefix(9))",
      hint: "run `highwater check` again, or check out \(head.prefix(9))")
  }

  @Test("A commit with the same files, such as an amended one, is what was measured")
  func amendedCommit() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("one", to: "source.c")
    try project.commit("source.c")
    _ = try project.check()
    let amended = try project.commit()
    #expect(try project.approve().code == .pass)
    let approved = try #require(try project.object(project.baseline())["approved"] as? [String: Any])
    #expect(approved["commit"] as? String == amended && approved["dirty"] == nil)
  }

  @Test("A commit that a variable names is not marked, unless it is the checkout's", arguments: [true, false])
  func dirtyByVariable(isHead: Bool) throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("one", to: "source.c")
    let head = try project.commit("source.c")
    try project.write("two", to: "source.c")
    let commit = isHead ? head : String(repeating: "a", count: 40)
    _ = try project.check(variables: ["GITHUB_SHA": commit])
    #expect((try project.result()["run"] as? [String: Any])?["dirty"] as? Bool == (isHead ? true : nil))
  }

  // MARK: The scenario

  @Test("A result of another command is refused, and both commands are named")
  func otherCommand() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try project.check()
    try edit(project, "server, --port", "server-next, --port")
    try expectRefusal(
      of: project,
      with: "the scenario has changed in the project file since it was measured: `target`; "
        + "measured: `server --port 7`, project file: `server-next --port 7`",
      hint: "run `highwater check` again")
  }

  @Test("A result of other steps or settings is refused, and the changed keys are named")
  func otherSteps() throws {
    let project = try UseCaseProject(holding: 8, scenarioKeys: "steps: [{phase: load}, {wait: 1s}]")
    _ = try project.check()
    try edit(project, "wait: 1s", "wait: 2s")
    try edit(project, "    warmup: 0", "    warmup: 0\n    isolation: {aslr: on}\n    setup: [make]")
    try expectRefusal(
      of: project,
      with: "the scenario has changed in the project file since it was measured: `setup`, `steps`, `isolation`",
      hint: "run `highwater check` again")
  }

  @Test("Other gates, tags, timeouts and repetitions do not matter; a result without a definition is not compared")
  func sameDefinition() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try project.check()
    try edit(
      project, "gate: {peak_rss: [3%, 512KiB]}",
      "gate: {peak_rss: 9%}\n    tags: [x]\n    description: y\n    timeout: 9s\n    stop: {signal: TERM, within: 1s}")
    try edit(project, "repetitions: 2", "repetitions: {min: 1, max: 9}")
    #expect(try project.approve().code == .pass)

    project.measurer.hold(12)
    _ = try project.check { $0.repetitions = 2 }
    try edit(project, "--port", "--other")
    try project.edit(".highwater/result.json") { result in
      var scenarios = try #require(result["scenarios"] as? [[String: Any]])
      #expect(scenarios[0].removeValue(forKey: "definition") != nil)
      result["scenarios"] = scenarios
    }
    #expect(try project.approve().code == .pass)
  }

  // MARK: Repetitions

  @Test("Fewer repetitions than the project file asks for are refused")
  func fewerThanPlanned() throws {
    let project = try UseCaseProject(holding: 8, repetitions: "{min: 5, max: 20}")
    _ = try project.check { $0.repetitions = 3 }
    try expectRefusal(
      of: project, with: "it has 3 repetitions, but the project file asks for at least 5",
      hint: "run `highwater check` without `--repetitions`")
  }

  // MARK: Comparisons and environments

  @Test("A result of `check --against` is refused")
  func comparedWithBuild() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try project.check { $0.against = .command("BUILD=main") }
    try expectRefusal(
      of: project, with: "it was compared with another build, `BUILD=main`, not with a baseline",
      hint: "run `highwater check` without another build")
  }

  @Test("A result of another environment than the named one is refused")
  func otherEnvironment() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try project.check()
    try expectRefusal(
      of: project,
      with: "it was measured in the environment `linux-x86_64-2cpu`, but would become the baseline of `runner`",
      hint: "run `highwater check --environment runner`", approve: { $0.request.options.environment = "runner" })
  }

  @Test("A result of another kind of machine than its baseline is refused, unless the project ignores the difference")
  func otherMachine() throws {
    for isIgnored in [false, true] {
      let rule = "environment: {name: ci\(isIgnored ? ", ignore: [cpus]" : "")}"
      let project = try UseCaseProject(holding: 8, keys: "\(rule)\nhistory: off")
      try project.checkAndApprove()
      project.measurer.hold(12)
      project.measurer.fingerprint.cpus = 64
      _ = try project.check()
      guard !isIgnored else {
        #expect(try project.approve().code == .pass)
        continue
      }
      try expectRefusal(
        of: project, with: "the baseline of `ci` is from another kind of machine (baseline → now): cpus 2 → 64",
        hint: "use another environment name for each kind of machine, or write `environment: {ignore: [cpus]}`")
    }
  }

  @Test("All reasons are given at once, and the other scenarios are approved")
  func several() throws {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      defaults: {repetitions: 2, warmup: 0, gate: {peak_rss: 3%}}
      scenarios:
        - {name: one, target: {command: [a]}}
        - {name: two, target: {command: [b]}}
      """, holding: 8)
    _ = try project.check { ($0.repetitions, $0.options.json) = (1, "one.json") }
    try edit(project, "command: [b]", "command: [c]")
    try edit(project, "name: one,", "name: one, repetitions: 1,")
    let approval = try project.approve()
    #expect(approval.code == .usage)
    #expect(approval.text.contains("created one") && approval.text.contains("baselines: 1 created, 1 skipped"))
    #expect(approval.text.contains("measured: `b`, project file: `c`"), "\(approval.output)")
    #expect(approval.text.contains("it has 1 repetition, but the project file asks for at least 2"))
    #expect(try project.baselines().keys.map { $0.prefix(4) } == ["one/"])
  }

  // MARK: Never approved

  @Test("A metric of the gate that half of the repetitions lack is refused even with `--force`, with the check's words")
  func unavailable() throws {
    let project = try UseCaseProject(holding: 8, scenarioKeys: "gate: {peak_rss: 3%, value.cache.entires: 3%}")
    project.measurer.follow { _, _ in
      .holding(
        8,
        marks: [Mark(time: .milliseconds(5), event: .value(name: "cache.entries", number: 7, unit: "items"))])
    }
    let cause =
      "value.cache.entires is unavailable: the target did not report `cache.entires`, only `cache.entries`; did you "
      + "mean `cache.entries`?"
    let check = try project.check()
    #expect(check.text.contains(cause), "\(check.output)")
    for forces in [false, true] {
      let approval = try project.approve { $0.request.forces = forces }
      #expect(approval.code == .failed)
      #expect(
        approval.text.contains(
          "skipped load \(cause) hint: remove `value.cache.entires` from the `gate`, or change the scenario so that it "
            + "has a value"), "\(approval.output)")
      #expect(!approval.text.contains("--force"))
    }
    #expect(try project.baselines().isEmpty)

    try edit(project, "value.cache.entires", "value.cache.entries")
    #expect(try project.approve().code == .pass, "the gate of the project file counts")
  }

  @Test("Without a written gate, a missing metric does not prevent an approval")
  func standardGate() throws {
    let project = try UseCaseProject(holding: 8, scenarioKeys: "interval: 10ms")
    project.measurer.follow { _, _ in
      var recording = Recording.holding(8)
      recording.samples = Array(recording.samples.prefix(6))
      return recording
    }
    _ = try project.check()
    let approval = try project.approve()
    #expect(approval.code == .pass, "\(approval.output)")
  }

  // MARK: Results that pass

  @Test("A pass of a scenario that has changed since its baseline says so, until it is approved")
  func changedScenario() throws {
    let project = try UseCaseProject(holding: 8)
    _ = try project.check()
    #expect(try project.approve().code == .pass)
    try edit(project, "server, --port", "server-next, --port")
    let note = "the scenario has changed since the baseline was measured: `target`"
    #expect(try project.check().text.contains(note))
    let approval = try project.approve()
    #expect(approval.code == .pass && !approval.text.contains("unchanged"), "\(approval.output)")
    #expect(try !project.check().text.contains(note))
    let compared = try project.check { $0.against = .command("BUILD=main") }.text
    #expect(compared.contains("other build") && !compared.contains(note), "\(compared)")
  }

  @Test("A result that passes leaves the baseline as it is, unless forced")
  func pass() throws {
    let project = try UseCaseProject(holding: 24, repetitions: "{min: 5, max: 20}")
    try project.checkAndApprove()
    let before = try project.baselines()
    project.measurer.hold(24.1)
    #expect(try project.check().code == .pass)
    let unchanged = try project.approve()
    #expect(unchanged.code == .pass)
    #expect(
      unchanged.text.contains("unchanged load it passes against its baseline, which stays; `--force` replaces it"),
      "\(unchanged.output)")
    #expect(try project.baselines() == before)
    #expect(try project.check { $0.repetitions = 10 }.code == .pass)
    let forced = try project.approve { ($0.request.forces, $0.request.reason) = (true, "yearly renewal") }
    #expect(forced.text.contains("replaced load metric from to change peak_rss 24.0 MiB → 24.1 MiB +102.4 KiB +0.4 %"))
    #expect(forced.text.contains("medians of 10 repetitions"), "\(forced.output)")
    #expect(forced.text.contains(": yearly renewal commit the changed files"), "\(forced.output)")
    #expect(try project.baselines() != before)
  }

  @Test("`--ratchet` leaves a scenario that did not improve, whatever is wrong with its result")
  func ratchet() throws {
    let project = try UseCaseProject(holding: 24)
    try project.commit()
    try project.checkAndApprove()
    try project.commit()
    let approval = try project.approve { $0.ratchets = true }
    #expect(approval.code == .pass)
    #expect(approval.text.contains("unchanged load it did not improve (`--ratchet`)"), "\(approval.output)")
  }
}
