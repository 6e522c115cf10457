import GateCore
import Testing

@testable import GateApplication

@Suite("Regressions that a check explains")
struct ExplainedChecksTests {
  private let stored = "baselines/load/profiles/linux-x86_64-2cpu.json"
  private let kept = ".highwater/approved-profiles/load/linux-x86_64-2cpu.json"
  private let finding = "by function: +4.0 MiB held by remember() (server) ← main, all of the rise"

  /// A project whose target holds 8 MiB, of which `remember` holds as much as told.
  private func project(keys: String = "history: off", scenarioKeys: String = "") throws -> UseCaseProject {
    let project = try UseCaseProject(
      holding: 8, keys: keys, scenarioKeys: "gate: {peak_rss: [3%, 512KiB]}\n\(scenarioKeys)")
    project.measurer.profile { _, _ in [.server(held: .mebibytes(1))] }
    return project
  }

  /// The profiles beside the baseline: that of an approved change has the name of the change.
  private func storedProfiles(_ project: UseCaseProject) throws -> Int {
    try project.shell("ls baselines/load/profiles 2>/dev/null || true").split(separator: "\n").count
  }

  /// Approves the first values, and takes the profile of the approved build by a check that passes.
  private func approveAndProfile(_ project: UseCaseProject) throws {
    try project.checkAndApprove()
    #expect(try project.check().code == .pass)
  }

  private func regress(_ project: UseCaseProject) {
    project.measurer.hold(12)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(5))] }
  }

  @Test("The first check that passes takes the profile of the approved build, and a regression is compared with it")
  func approvedProfile() throws {
    let project = try project()
    try project.checkAndApprove()
    #expect(project.measurer.profiled.isEmpty && !project.exists(stored), "nothing was approved yet")
    let passing = try project.check()
    #expect(passing.code == .pass && project.measurer.profiled.count == 3, "no warm-up")
    #expect(passing.text.contains("note: profiled 1 passing scenario to explain a later rise"), "\(passing.text)")
    #expect(try project.read(kept).contains("server!remember") && !project.exists(stored))
    let next = try project.check()
    #expect(next.code == .pass && project.measurer.profiled.count == 3 && !next.text.contains("profiled"))

    regress(project)
    let check = try project.check { $0.options.html = "page.html" }
    #expect(check.code == .regression && check.text.contains(finding), "\(check.text)")
    #expect(!check.text.contains("the rise is not explained"))
    #expect(try project.read("page.html").contains("held by remember()"))
    #expect(project.exists(".highwater/explain.html"))
    let scenario = try #require((project.object(".highwater/result.json")["scenarios"] as? [[String: Any]])?.first)
    #expect(scenario["explanation"] != nil)
    let times = try #require(scenario["times"] as? [String: Double])
    #expect(times["explainingSeconds"].map { $0 > 0 } == true)
    #expect((scenario["repetitionCount"] as? Int) == 2, "profiled repetitions do not count")
  }

  @Test("A profiled run starts with a thousandth of the rise between samples, as a power of two")
  func samplingInterval() throws {
    let project = try project()
    try approveAndProfile(project)
    regress(project)
    project.measurer.hold(72)
    _ = try project.check()
    #expect(project.measurer.profiled.map(\.target.samplingInterval) == [Bytes](repeating: .kibibytes(64), count: 3))
  }

  @Test("What a scenario waits for may take longer in a profiled run")
  func longerTimes() throws {
    let script = "[{expect: {output: x, within: 3s}}, {repeat: {times: 2, steps: [{run: {command: [x], within: 4s}}]}}]"
    let project = try project(scenarioKeys: "ready: {log: x, within: 2s}\nsteps: \(script)\nexplain: always")
    try approveAndProfile(project)
    let scenario = try #require(project.measurer.profiled.first)
    #expect(scenario.timeout == .seconds(3000) && scenario.ready?.within == .seconds(20))
    let steps = scenario.allSteps.map(\.action)
    #expect(steps.first == .expectOutput(try Pattern(parsing: "x"), within: .seconds(30)))
    #expect(steps.last == .run(Step.Client(command: .arguments(["x"]), within: .seconds(40))))
  }

  @Test("If the profile of an approved build cannot be taken, a note says why, and nothing is kept")
  func noProfile() throws {
    let project = try project()
    project.measurer.profile { _, _ in [] }
    try project.checkAndApprove()
    let check = try project.check()
    let note = "note: a later rise of load cannot be explained yet: the profiler saw no memory; the next"
    #expect(check.code == .pass && check.text.contains(note), "\(check.text)")
    #expect(!project.exists(kept))
  }

  @Test("Approving a regression stores its profile, which wins over one that a check took")
  func approvedRegression() throws {
    let project = try project()
    try approveAndProfile(project)
    regress(project)
    #expect(try project.check().code == .regression)
    #expect(try project.approve().code == .pass && storedProfiles(project) == 1)
    project.measurer.hold(16)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(9))] }
    #expect(try project.check().text.contains(finding))
  }

  @Test("A profile does not fit a later approval")
  func outdatedProfile() throws {
    let project = try project()
    try approveAndProfile(project)
    project.measurer.hold(4)
    #expect(try project.check().verdict == "pass" && project.approve().code == .pass)
    project.measurer.hold(57)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(50))] }
    let check = try project.check()
    let reason =
      "by function: only this build was profiled, which does not show what rose; most memory is held by remember() (server) "
      + "← main: 50.0 MiB"
    let words = check.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(check.code == .regression && words.contains(reason), "\(check.text)")
    let note = "the rise is not explained: the approved build has no profile yet, which a check that passes takes if"
    #expect(project.measurer.profiled.count == 3 && words.contains(note), "it could not be compared")
    #expect(try project.approve().code == .pass && storedProfiles(project) == 1)
  }

  @Test("A job whose files are lost takes no profile of an approved build, and neither does `explain: off`")
  func unprofiled() throws {
    let lost = try project()
    try lost.checkAndApprove()
    try lost.shell("rm -r .highwater")
    #expect(try lost.check().code == .pass && lost.measurer.profiled.isEmpty)

    let off = try project(scenarioKeys: "explain: off")
    try off.checkAndApprove()
    regress(off)
    let check = try off.check()
    #expect(check.code == .regression && off.measurer.profiled.isEmpty && !check.text.contains("explained"))
  }

  @Test("A regression of which the profiler saw nothing says so")
  func unseen() throws {
    let project = try project()
    try approveAndProfile(project)
    regress(project)
    project.measurer.profile { _, _ in [] }
    let check = try project.check()
    #expect(check.text.contains("note: the rise is not explained: the profiler saw no memory"), "\(check.text)")
  }

  @Test("What does not fit in the time of the check's own repetitions is not begun, and says which command explains it")
  func longRepetitions() throws {
    for (rule, count) in [("auto", 0), ("40s", 1), ("always", 3)] {
      let project = try project(scenarioKeys: "explain: \(rule)")
      try approveAndProfile(project)
      regress(project)
      project.measurer.follow { _, _ in
        var recording = Recording.holding(12)
        recording.duration = .seconds(20)
        return recording
      }
      let check = try project.check()
      #expect(project.measurer.profiled.count == count)
      let note =
        "the rise is not explained: profiling needs about 30 s, and 10 s is left of the time that the check may take for "
        + "it; run `highwater explain load`, or set `explain: always`"
      #expect(check.text.contains(note) == (rule == "auto"), "\(check.text)")
    }
  }

  @Test("The largest rise is explained first, and of approved builds the shortest is profiled first")
  func order() throws {
    let names = ["small", "large", "middle"]
    let scenarios = names.map { name in
      "  - {name: \(name), target: {command: [\(name)]}, repetitions: 2, warmup: 0}\n"
    }
    let project = try UseCaseProject("version: 1\nhistory: off\nscenarios:\n\(scenarios.joined())", holding: 8)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(1))] }
    project.measurer.follow { scenario, _ in
      var recording = Recording.holding(8)
      recording.duration = .seconds(scenario.name.text == "small" ? 3 : scenario.name.text == "large" ? 2 : 1)
      return recording
    }
    try project.checkAndApprove()
    #expect(try project.check().code == .pass)
    func profiled() -> [String] {
      project.measurer.profiled.map(\.name.text).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
    #expect(profiled() == ["middle", "large", "small"])
    project.measurer.profile { _, _ in [.server(held: .mebibytes(5))] }
    project.measurer.follow { scenario, _ in
      .holding(scenario.name.text == "small" ? 10 : scenario.name.text == "large" ? 30 : 20)
    }
    #expect(try project.check().code == .regression)
    #expect(profiled() == ["large", "middle", "small"])
  }

  @Test("A rise of a mapped file is named without a profile")
  func mappedFile() throws {
    let project = try project()
    @Sendable func recording(_ mebibytes: Double, file: Int64) -> Recording {
      var recording = Recording.holding(mebibytes)
      recording.composition = Composition(
        anonymous: .mebibytes(7), file: .mebibytes(file), shared: .zero,
        libraries: [.init(name: "libmodel.so", resident: .mebibytes(file))])
      return recording
    }
    project.measurer.follow { _, _ in recording(8, file: 1) }
    try project.checkAndApprove()
    project.measurer.follow { _, _ in recording(12, file: 5) }
    let check = try project.check()
    #expect(check.text.contains("by mapping: +4.0 MiB of mapped files: libmodel.so +4.0 MiB"), "\(check.text)")
    #expect(project.measurer.profiled.isEmpty)
  }

  @Test("Without ptrace nothing is profiled, and a regression says so")
  func untraced() throws {
    let project = try project()
    project.measurer.fingerprint.measurement = "sampled"
    try approveAndProfile(project)
    regress(project)
    let check = try project.check()
    #expect(check.text.contains("the rise is not explained: targets cannot be traced here"), "\(check.text)")
    #expect(project.measurer.profiled.isEmpty)
  }

  @Test("A target that runs already is not profiled, and a regression says so")
  func running() throws {
    let project = try UseCaseProject(
      """
      version: 1
      history: off
      scenarios:
        - {name: load, target: {pid: 7}, steps: [wait: 1s], repetitions: 2, warmup: 0, gate: {peak_rss: [3%, 512KiB]}}
      """, holding: 8)
    try approveAndProfile(project)
    regress(project)
    let check = try project.check()
    let words = "the rise is not explained: only a target that Highwater starts can be profiled"
    #expect(check.text.contains(words), "\(check.text)")
    #expect(project.measurer.profiled.isEmpty)
  }

  @Test("Two builds are profiled alternately, and nothing is stored for an approval")
  func builds() throws {
    let project = try project()
    project.measurer.follow { scenario, _ in .holding(scenario.isOld ? 8 : 12) }
    project.measurer.profile { scenario, _ in [.server(held: .mebibytes(scenario.isOld ? 1 : 5))] }
    let check = try project.check { $0.against = .command("BUILD=main") }
    #expect(check.code == .regression && check.text.contains(finding), "\(check.text)")
    #expect(project.measurer.profiled.map(\.isOld).filter(\.self).count == 3 && project.measurer.profiled.count == 6)
  }

  @Test("An interruption while profiling leaves the verdict, and ends profiling")
  func interrupted() throws {
    let project = try project()
    try approveAndProfile(project)
    regress(project)
    project.measurer.profile { _, _ in nil }
    let check = try project.check()
    #expect(check.verdict == "regression", "\(check.text)")
    #expect(check.text.contains("not explained: interrupted"), "\(check.text)")
  }

  @Test("The run that first named the function is told, until a new approval")
  func firstNamed() throws {
    let project = try project(keys: "")
    try approveAndProfile(project)
    regress(project)
    let first = try project.check()
    #expect(!first.text.contains("first named"))
    let id = try #require((project.object(".highwater/result.json")["run"] as? [String: Any])?["id"] as? String)
    for _ in 1...2 { #expect(try project.check().text.contains("; first named in run \(id)")) }

    let export = try project.run { try HistoryUse(.export, SharedOptions()).run(in: $0) }.output
    #expect(export.contains("server!remember"))
    #expect(try project.read(".highwater/trend.html").contains("held by remember()"))
    #expect(try project.approve().code == .pass)
    project.measurer.hold(16)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(9))] }
    let next = try project.check()
    #expect(next.text.contains("held by remember()") && !next.text.contains("first named"), "\(next.text)")
  }

  @Test("Merged shards keep the profiles of their checks")
  func merged() throws {
    let project = try project()
    try approveAndProfile(project)
    regress(project)
    _ = try project.check {
      ($0.shard, $0.options.json) = (.part(index: 1, of: 1), "1.json")
    }
    let merged = try project.run { try Merge(files: ["1.json"]).run(in: $0) }
    #expect(merged.code == .regression)
    #expect(try project.approve().code == .pass && storedProfiles(project) == 1)
  }
}

extension Scenario {
  fileprivate var isOld: Bool { target.environment["BUILD"] == "main" }
}

extension MemoryProfile {
  /// A program whose function `remember` holds some of its memory, and `main` 7 MiB.
  fileprivate static func server(held: Bytes) -> MemoryProfile {
    let stack = ["main", "remember"].map { CallTree.Function(module: "server", name: $0) }
    let rest = Bytes.mebibytes(7)
    var calls = CallTree.Builder()
    calls.add(.init(live: rest.count), stack: stack.prefix(1))
    calls.add(.init(live: held.count), stack: stack)
    return MemoryProfile(
      process: "target", method: .stopsAndBlocks, peak: held + rest, anonymous: held + rest, calls: calls.tree)
  }
}
