import Foundation
import Testing

@Suite("Targets that report figures, loops and launches", .timeLimit(.minutes(5)))
struct TargetReportTests {
  /// A target that writes the lines of the file `lines` to the gate, and then waits a moment.
  private func project(
    _ lines: String, gate: String = "{peak_rss: 3%, value.cache.entries: {tolerance: 3%, limit: 1000}}"
  )
    throws -> TemporaryProject
  {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
        - name: load
          target:
            shell: 'while read -r line; do echo "$line" > "$HIGHWATER_MARKS"; done < lines; sleep 0.2'
          repetitions: 5
          warmup: 0
          gate: \(gate)
      """)
    try project.write(lines, to: "lines")
    return project
  }

  private func repetition(_ project: TemporaryProject) throws -> [String: Any] {
    let result = try object(in: project.read(".highwater/result.json"))
    let scenario = try #require((result["scenarios"] as? [[String: Any]])?.first)
    return try #require((scenario["repetitions"] as? [[String: Any]])?.first)
  }

  @Test("A figure is approved, passes, regresses, and breaks its limit; the history keeps it with its unit")
  func figures() throws {
    let project = try project(
      "value cache.entries 17 items\nvalue cache.entries 500 items\nvalue cache.bytes 1.5 MiB\n")
    try project.approveOnce()
    let repetition = try repetition(project)
    let metrics = try #require(repetition["metrics"] as? [String: Any])
    #expect(metrics["value.cache.entries"] as? Int == 500 && metrics["value.cache.bytes"] as? Int == 1_572_864)
    #expect(
      repetition["units"] as? [String: String] == ["value.cache.entries": "items", "value.cache.bytes": "bytes"])
    #expect(try Gate.run("check", in: project).code == 0)

    try project.write("value cache.entries 700 items\n", to: "lines")
    let worse = try Gate.run("check", in: project)
    #expect(worse.code == 1)
    #expect(worse.output.contains("value.cache.entries rose by 200 items (+40.0 %), and 15 items is allowed"))

    try project.write("value cache.entries 1200 items\n", to: "lines")
    let above = try Gate.run("check", in: project)
    #expect(above.code == 1)
    #expect(above.output.contains("value.cache.entries is 1200 items, 200 items above its limit of 1000 items"))

    let exported = try Gate.run("history", "export", in: project).output.split(separator: "\n")
    #expect(exported.count == 4)
    let last = try object(in: String(try #require(exported.last)))
    let kept = try #require((last["scenarios"] as? [[String: Any]])?.first?["metrics"] as? [[String: Any]])
    let figure = try #require(kept.first { $0["name"] as? String == "value.cache.entries" })
    #expect(figure["unit"] as? String == "items" && figure["median"] as? Int == 1200 && figure["limit"] as? Int == 1000)
  }

  @Test("A figure in another unit than the baseline's is inconclusive until it is approved")
  func changedUnit() throws {
    let project = try project("value cache.entries 500 items\n")
    try project.approveOnce()
    try project.write("value cache.entries 500 pages\n", to: "lines")
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == 4)
    let words = outcome.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    #expect(words.contains("the baseline has it in items, and the target reports it in pages now; approve again"))
    #expect(try Gate.run("approve", in: project).code == 0)
    #expect(try Gate.run("check", in: project).code == 0)
  }

  @Test("A loop fails the scenario at once, with its type, name and count, though the target ended well")
  func loop() throws {
    let project = try project(
      "phase serve\nvalue loop.Catalog.didChange 100 calls\nvalue loop.Catalog.didChange 100 calls\n")
    let outcome = try Gate.run("check", "--html", "run.html", in: project)
    #expect(outcome.code == 3)
    let words = "the target was caught in a loop: `Catalog.didChange` was called 100 times in one turn of its work"
    let reported = outcome.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    #expect(reported.contains("repetition 1 of 5: \(words), and in 1 more"), "\(outcome.output)")
    #expect(try project.read("run.html").contains("`Catalog.didChange` was called 100 times"))
    #expect(try project.read(".highwater/trend.html").contains("caught in a loop: `Catalog.didChange`"))
    let events = try #require(try repetition(project)["events"] as? [[String: Any]])
    #expect(events.count == 1)
    #expect(events[0]["kind"] as? String == "loop" && events[0]["name"] as? String == "Catalog.didChange")
    #expect(events[0]["calls"] as? Int == 100 && events[0]["turns"] as? Int == 2)
  }

  @Test("A start after trouble is told of, a usual one only where it is asked for")
  func launch() throws {
    let project = try project(
      "mark launch.out-of-memory.active.cgroup-counter\nvalue launch.failures 2 launches\n", gate: "{peak_rss: 3%}")
    try project.approveOnce()
    let troubled = try Gate.run("check", in: project)
    #expect(troubled.code == 0)
    #expect(troubled.output.contains("launch") && troubled.output.contains("out-of-memory.active.cgroup-counter"))
    let events = try #require(try repetition(project)["events"] as? [[String: Any]])
    #expect(events.map { $0["kind"] as? String } == ["launch", "launch-failures"])
    #expect(
      events[0]["reason"] as? String == "out-of-memory.active.cgroup-counter" && events[1]["launches"] as? Int == 2)

    try project.write("mark launch.requested\n", to: "lines")
    #expect(try !Gate.run("check", in: project).output.contains("requested"))
    let verbose = try Gate.run("check", "--verbose", "--html", "run.html", in: project)
    #expect(verbose.output.contains("event: by its own account the target was started because: requested"))
    #expect(try project.read("run.html").contains("What the target told of itself"))
  }

  @Test("A gate's amounts of another kind are told of, and amounts of two kinds are refused")
  func wrongAmounts() throws {
    let project = try project("value cache.entries 500 items\n", gate: "{value.cache.entries: {limit: 64KiB}}")
    let outcome = try Gate.run("check", in: project)
    #expect(outcome.code == 4)
    #expect(outcome.output.contains("the gate names `64KiB`"))
    let mixed = try self.project("", gate: "{value.cache.entries: {tolerance: 10, limit: 64KiB}}")
    let refused = try Gate.run("validate", in: mixed)
    #expect(refused.code == 2)
    #expect(refused.errors.contains("the limit and the tolerance of `value.cache.entries` are in different units"))
  }
}
