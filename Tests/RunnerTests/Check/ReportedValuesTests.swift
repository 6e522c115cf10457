import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Reported values, loops and launches in a check")
struct ReportedValuesTests {
  private func project(
    _ events: Mark.Event...,
    gate: String = "{peak_rss: 3%, value.cache.entries: {tolerance: 3%, limit: 1000}}",
    keys: String = "history: off"
  ) throws -> UseCaseProject {
    let project = try UseCaseProject(holding: 8, repetitions: "5", keys: keys, scenarioKeys: "gate: \(gate)")
    report(events, in: project)
    return project
  }

  /// Changes what the target reports.
  private func report(_ events: [Mark.Event], in project: UseCaseProject) {
    let marks = events.enumerated().map { Mark(time: .milliseconds(10 * ($0.offset + 1)), event: $0.element) }
    project.measurer.follow { _, _ in .holding(8, marks: marks) }
  }

  private func entries(_ number: Double, _ unit: String = "items") -> Mark.Event {
    .value(name: "cache.entries", number: number, unit: unit)
  }

  private func repetition(of project: UseCaseProject) throws -> [String: Any] {
    try #require((project.scenario()["repetitions"] as? [[String: Any]])?.first)
  }

  @Test("A value can be approved, pass, regress and exceed its limit; the history stores its unit")
  func values() throws {
    let project = try project(
      entries(17), entries(500), .value(name: "cache.bytes", number: 1.5, unit: "MiB"), keys: "")
    try project.checkAndApprove()
    let repetition = try repetition(of: project)
    let metrics = try #require(repetition["metrics"] as? [String: Any])
    #expect(metrics["value.cache.entries"] as? Int == 500 && metrics["value.cache.bytes"] as? Int == 1_572_864)
    #expect(repetition["units"] as? [String: String] == ["value.cache.entries": "items", "value.cache.bytes": "bytes"])
    #expect(try project.check().code == .pass)

    report([entries(700)], in: project)
    let worse = try project.check()
    #expect(worse.code == .regression)
    #expect(worse.output.contains("value.cache.entries rose by 200 items (+40.0 %); 15 items are allowed"))

    report([entries(1200)], in: project)
    let above = try project.check()
    #expect(above.code == .regression)
    #expect(above.output.contains("value.cache.entries is 1200 items, 200 items above its limit of 1000 items"))

    let exported = try project.run { try HistoryUse(.export, SharedOptions()).run(in: $0) }.output
    #expect(exported.split(separator: "\n").count == 4)
    try project.write(String(try #require(exported.split(separator: "\n").last)), to: "last.json")
    let stored = try #require(project.scenario(of: "last.json")["metrics"] as? [[String: Any]])
    let value = try #require(stored.first { $0["name"] as? String == "value.cache.entries" })
    #expect(value["unit"] as? String == "items")
    #expect((value["current"] as? [String: Any])?["median"] as? Int == 1200)
    #expect((value["tolerance"] as? [String: Any])?["limit"] as? Int == 1000)
  }

  @Test("A value with another unit than the baseline's is inconclusive until approved")
  func changedUnit() throws {
    let project = try project(entries(500))
    try project.checkAndApprove()
    report([entries(500, "pages")], in: project)
    let check = try project.check()
    #expect(check.code == .inconclusive)
    #expect(
      check.text.contains(
        "value.cache.entries is in items in the baseline, and in pages now; approve again"))
    #expect(try project.approve().code == .pass)
    #expect(try project.check().code == .pass)
  }

  @Test("A loop fails the scenario at once, with type, name and count, even if the target exits with 0")
  func loop() throws {
    let loop = Mark.Event.value(name: "loop.Catalog.didChange", number: 100, unit: "calls")
    let project = try project(.phase("serve"), loop, loop, keys: "")
    let check = try project.check { $0.options.html = "run.html" }
    #expect(check.code == .failed)
    let problem = "the target reported a loop: `Catalog.didChange` was called 100 times in one turn"
    #expect(check.text.contains("repetition 1 of 5: \(problem), and in 1 more"), "\(check.output)")
    #expect(try project.read("run.html").contains("`Catalog.didChange` was called 100 times"))
    #expect(try project.read(".highwater/trend.html").contains("reported a loop: `Catalog.didChange`"))
    let events = try #require(try repetition(of: project)["targetEvents"] as? [[String: Any]])
    #expect(events.count == 1)
    let caught = try #require((events[0]["kind"] as? [String: Any])?["loop"] as? [String: Any])
    #expect(caught["name"] as? String == "Catalog.didChange")
    #expect(caught["calls"] as? Int == 100 && caught["turns"] as? Int == 2)
  }

  @Test("A launch after a crash or kill is reported; a regular launch only with `--verbose`")
  func launch() throws {
    let project = try project(
      .mark("launch.out-of-memory.active.cgroup-counter"), .value(name: "launch.failures", number: 2, unit: "launches"),
      gate: "{peak_rss: 3%}")
    try project.checkAndApprove()
    let check = try project.check()
    #expect(check.code == .pass)
    #expect(check.output.contains("launch") && check.output.contains("out-of-memory.active.cgroup-counter"))
    let events = try #require(try repetition(of: project)["targetEvents"] as? [[String: Any]])
    let kinds = events.compactMap { $0["kind"] as? [String: Any] }
    #expect(kinds.map { $0.keys.first } == ["launch", "launchFailures"])
    let reason = try #require(kinds[0]["launch"] as? [String: Any])["reason"] as? String
    #expect(reason == "out-of-memory.active.cgroup-counter")

    report([.mark("launch.requested")], in: project)
    #expect(try !project.check().output.contains("requested"))
    let verbose = try project.check(.verbose) { $0.options.html = "run.html" }
    #expect(verbose.output.contains("event: the target reported why it was started: requested"))
    #expect(try project.read("run.html").contains("What the target reported"))
  }

  @Test("A gate amount of another kind than the value is inconclusive; amounts of two kinds are an error")
  func wrongAmounts() throws {
    let project = try project(entries(500), gate: "{value.cache.entries: {limit: 64KiB}}")
    let check = try project.check()
    #expect(check.code == .inconclusive)
    #expect(check.output.contains("the gate gives `64KiB`"))
    let mixed = try self.project(gate: "{value.cache.entries: {tolerance: 10, limit: 64KiB}}")
    let refused = try mixed.run { try Validate().run(in: $0) }
    #expect(refused.code == .usage)
    #expect(refused.errors.contains("the limit and the tolerance of `value.cache.entries` are in different units"))
  }
}
