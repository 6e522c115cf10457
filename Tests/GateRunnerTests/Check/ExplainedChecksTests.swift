import GateCore
import GateRunner
import Testing

@Suite("Regressions that a check explains")
struct ExplainedChecksTests {
  private let stored = "baselines/load/profiles/linux-x86_64-2cpu.json"
  private let finding = "by function: +4.0 MiB held by remember() ← main (server), 100 % of the rise"

  /// A project whose target holds 8 MiB, of which `remember` holds as much as told.
  private func project(keys: String = "history: off", scenarioKeys: String = "") throws -> UseCaseProject {
    let project = try UseCaseProject(
      holding: 8, keys: keys, scenarioKeys: "gate: {peak_rss: [3%, 512KiB]}\n\(scenarioKeys)")
    project.measurer.profile { _, _ in [.server(held: .mebibytes(1))] }
    return project
  }

  private func regress(_ project: UseCaseProject) {
    project.measurer.hold(12)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(5))] }
  }

  @Test("The first check takes a profile, the approval stores it, and a regression is compared with it")
  func approvedProfile() throws {
    let project = try project()
    try project.checkAndApprove()
    #expect(project.measurer.profiled.count == 4, "a warm-up, and three repetitions")
    #expect(try project.read(stored).contains("server!remember"))

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

  @Test("A pass is not profiled, and neither is a scenario with `explain: off`")
  func unprofiled() throws {
    let passing = try project()
    try passing.checkAndApprove()
    passing.measurer.profile { _, _ in [.server(held: .mebibytes(1))] }
    #expect(try passing.check().code == .pass && passing.measurer.profiled.isEmpty)
    // The stored profile still fits.
    #expect(try passing.approve { $0.forces = true }.code == .pass && passing.exists(stored))

    let off = try project(scenarioKeys: "explain: off")
    try off.checkAndApprove()
    regress(off)
    let check = try off.check()
    #expect(check.code == .regression && off.measurer.profiled.isEmpty && !check.text.contains("explained"))
  }

  @Test("An approval without a new profile removes the old one; the next regression says why it is not explained")
  func outdatedProfile() throws {
    let project = try project()
    try project.checkAndApprove()
    regress(project)
    project.measurer.profile { _, _ in [] }
    let check = try project.check()
    #expect(check.text.contains("note: the rise is not explained: the profiler saw no memory"), "\(check.text)")
    #expect(try project.approve().code == .pass && !project.exists(stored))

    project.measurer.hold(16)
    project.measurer.profile { _, _ in [.server(held: .mebibytes(9))] }
    let next = try project.check()
    let reason = "the rise is not explained: no profile was stored when the baseline was approved"
    #expect(next.code == .regression && next.text.contains(reason), "\(next.text)")
  }

  @Test("Profiled repetitions of more than a minute need `explain: always`")
  func longRepetitions() throws {
    for (rule, count) in [("auto", 0), ("always", 4)] {
      let project = try project(scenarioKeys: "explain: \(rule)")
      try project.checkAndApprove()
      regress(project)
      project.measurer.follow { _, _ in
        var recording = Recording.holding(12)
        recording.duration = .seconds(20)
        return recording
      }
      let check = try project.check()
      #expect(project.measurer.profiled.count == count)
      let note = "and of the minute that `explain: auto` permits in each check 1 min is left"
      #expect(check.text.contains(note) == (rule == "auto"), "\(check.text)")
    }
  }

  @Test("Without ptrace nothing is profiled, and a regression says so")
  func untraced() throws {
    let project = try project()
    project.measurer.fingerprint.measurement = "sampled"
    try project.checkAndApprove()
    regress(project)
    let check = try project.check()
    #expect(check.text.contains("the rise is not explained: targets cannot be traced here"), "\(check.text)")
    #expect(project.measurer.profiled.isEmpty)
  }

  @Test("Two builds are profiled alternately, and nothing is stored for an approval")
  func builds() throws {
    let project = try project()
    project.measurer.follow { scenario, _ in .holding(scenario.isOld ? 8 : 12) }
    project.measurer.profile { scenario, _ in [.server(held: .mebibytes(scenario.isOld ? 1 : 5))] }
    let check = try project.check { $0.against = .command("BUILD=main") }
    #expect(check.code == .regression && check.text.contains(finding), "\(check.text)")
    #expect(project.measurer.profiled.map(\.isOld).filter(\.self).count == 4 && project.measurer.profiled.count == 8)
  }

  @Test("An interruption while profiling leaves the verdict, and ends profiling")
  func interrupted() throws {
    let project = try project()
    try project.checkAndApprove()
    regress(project)
    project.measurer.profile { _, _ in nil }
    let check = try project.check()
    #expect(check.verdict == "regression", "\(check.text)")
    #expect(check.text.contains("not explained: interrupted"), "\(check.text)")
  }

  @Test("The run that first named the function is told, until a new approval")
  func firstNamed() throws {
    let project = try project(keys: "")
    try project.checkAndApprove()
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
    _ = try project.check {
      ($0.shard, $0.options.json) = (.part(index: 1, of: 1), "1.json")
    }
    let merged = try project.run { try Merge(files: ["1.json"]).run(in: $0) }
    #expect(merged.code == .noBaseline)
    #expect(try project.approve().code == .pass && project.exists(stored))
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
