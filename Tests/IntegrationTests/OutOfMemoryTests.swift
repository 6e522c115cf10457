import Foundation
import Testing

/// The number of kills of each kind, set by `HIGHWATER_OOM_KILLS`; a few by default.
private let kills = ProcessInfo.processInfo.environment["HIGHWATER_OOM_KILLS"].flatMap(Int.init)

@Suite(
  "OOM kills and other kills",
  .enabled(if: Ballast.hasMemoryCgroup, "cannot create a memory cgroup to limit memory"),
  .endsHangs
)
struct OutOfMemoryTests {
  /// Targets that need more than 64 MiB.
  static let greedy = [
    "takes 200", "thread-takes 200", "shares 200", "takes 65", "daemon-takes 200", "child-takes 200 137",
  ]

  /// Targets that are killed by SIGKILL, most of them near 64 MiB, but not by the OOM killer.
  static let killed = [
    "holds-and-is-killed 62", "holds-and-is-killed 60", "holds-and-child-is-killed 60", "holds-and-is-killed 1",
    "kills-its-parent",
  ]

  /// Both targets run at once, so that an OOM kill of one changes the machine's counter while the other is killed.
  @Test("Exactly the OOM kills are reported as OOM kills")
  func kinds() throws {
    var (recognized, mistaken) = (0, 0)
    let rounds = kills ?? 5
    for round in 0..<rounds {
      let (greedy, killed) = (try harness(of: Self.greedy, round), try harness(of: Self.killed, round))
      let running = try [greedy, killed].map { try $0.start("check", "--allow-missing-baseline") }
      let codes = try running.map { try $0.wait().code }
      if try reportsOutOfMemory(greedy) { recognized += 1 }
      if try reportsOutOfMemory(killed) { mistaken += 1 }
      #expect(codes[0] == 3, "round \(round)")
      #expect(try greedy.leftovers() + killed.leftovers() == [], "round \(round)")
    }
    if kills != nil {
      print("reported as out of memory: \(recognized) of \(rounds) OOM kills, \(mistaken) of \(rounds) kill -9")
    }
    #expect(recognized == rounds)
    #expect(mistaken == 0)
  }

  @Test(
    "An OOM kill in step 3 fails the run with the step, the activity and the peak",
    arguments: ["active", "idle"])
  func inStep(activity: String) throws {
    let harness = try ScenarioHarness(
      """
      target:
        shell: |
          touch up
          while [ ! -e go ]; do sleep 0.02; done
          for word in idle \(activity); do echo "mark activity.$word" > "$HIGHWATER_MARKS"; done
          exec \(EndingProgram.program) takes 200
      ready: {file: up, within: 60s}
      steps: [{mark: connected}, {wait: 10ms}, {run: "touch go; exec sleep 1000"}]
      memory-limit: 64MiB
      """)
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(outcome.text.contains("step 3"), "\(outcome.output)")
    #expect(outcome.text.contains("at its memory-limit of 64.0 MiB"), "\(outcome.output)")
    #expect(outcome.text.contains("the target reported that it was \(activity)"), "\(outcome.output)")
    let repetition = try #require(harness.repetitions().first)
    let peak = try #require((repetition["metrics"] as? [String: Double])?["peak_rss"])
    // The limit also counts the cgroup's kernel memory, and omits some of the program's file pages.
    #expect((0.95...1.06).contains(peak / Double(64 << 20)), "\(peak)")
    let events = try #require(repetition["targetEvents"] as? [[String: Any]])
    let kinds = events.compactMap { ($0["kind"] as? [String: Any])?["activity"] as? [String: Any] }
    #expect(kinds.map { $0["name"] as? String } == [activity])
  }

  private func harness(of words: [String], _ round: Int) throws -> ScenarioHarness {
    let command = ([try EndingProgram.program] + words[round % words.count].split(separator: " ").map { "\"\($0)\"" })
    return try ScenarioHarness("target: {command: [\(command.joined(separator: ", "))]}\nmemory-limit: 64MiB")
  }

  /// Whether the end reports an OOM kill in the process tree.
  private func reportsOutOfMemory(_ harness: ScenarioHarness) throws -> Bool {
    let (end, words) = (try harness.end(), try harness.endDetails())
    let expected = end == "oom KILL" ? "memory-limit of 64.0 MiB" : "killed by the OOM killer"
    #expect(words.detail.contains(expected) == (words.kills > 0), "\(end): \(words)")
    return end == "oom KILL" || words.kills > 0
  }
}
