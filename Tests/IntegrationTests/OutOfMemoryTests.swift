import Foundation
import Testing

/// How many kills of either kind there are: `HIGHWATER_OOM_KILLS`, else few enough for every day.
private let kills = ProcessInfo.processInfo.environment["HIGHWATER_OOM_KILLS"].flatMap(Int.init)

@Suite(
  "Kills for want of memory, and kills by somebody",
  .enabled(if: Ballast.hasMemoryCgroup, "no memory cgroup can be made here, so memory cannot be limited"),
  .timeLimit(.minutes(30))
)
struct OutOfMemoryTests {
  /// Targets that want more than 64 MiB.
  static let greedy = [
    "takes 200", "thread-takes 200", "shares 200", "takes 65", "daemon-takes 200", "child-takes 200 137",
  ]

  /// Targets that are killed by SIGKILL, most of them near 64 MiB; the kernel has no part in it.
  static let killed = [
    "holds-and-is-killed 62", "holds-and-is-killed 60", "holds-and-child-is-killed 60", "holds-and-is-killed 1",
    "kills-its-parent",
  ]

  /// Both run at the same time, so that the one's kill is counted on the machine while the other is killed.
  @Test("Each kill for want of memory is told as one, and no other kill is")
  func kinds() throws {
    var (told, mistaken) = (0, 0)
    let rounds = kills ?? 5
    for round in 0..<rounds {
      let (greedy, killed) = (try scene(of: Self.greedy, round), try scene(of: Self.killed, round))
      let running = try [greedy, killed].map { try $0.start("check", "--allow-missing-baseline") }
      let codes = try running.map { try $0.wait().code }
      if try tellsOfWant(greedy) { told += 1 }
      if try tellsOfWant(killed) { mistaken += 1 }
      #expect(codes[0] == 3, "round \(round)")
      #expect(try greedy.leftovers() + killed.leftovers() == [], "round \(round)")
    }
    if kills != nil { print("told as out of memory: \(told) of \(rounds) OOM kills, \(mistaken) of \(rounds) kill -9") }
    #expect(told == rounds)
    #expect(mistaken == 0)
  }

  @Test(
    "Out of memory at a limit in step 3: failed, with the step, the activity and the peak",
    arguments: ["active", "idle"])
  func inStep(activity: String) throws {
    let scene = try Scene(
      """
      target:
        shell: |
          touch up
          while [ ! -e go ]; do sleep 0.02; done
          for word in idle \(activity); do echo "mark activity.$word" > "$HIGHWATER_MARKS"; done
          exec \(Ender.program) takes 200
      ready: {file: up, within: 60s}
      steps: [{mark: connected}, {wait: 10ms}, {run: "touch go; exec sleep 1000"}]
      memory-limit: 64MiB
      """)
    let outcome = try scene.check()
    #expect(outcome.code == 3)
    #expect(outcome.words.contains("step 3"), "\(outcome.output)")
    #expect(outcome.words.contains("at its memory-limit of 64.0 MiB"), "\(outcome.output)")
    #expect(outcome.words.contains("by its own account it was \(activity)"), "\(outcome.output)")
    let repetition = try #require(scene.repetitions().first)
    let peak = try #require((repetition["metrics"] as? [String: Double])?["peak_rss"])
    // The limit also counts what the kernel keeps for the cgroup, and some of the program's pages are the files' own.
    #expect((0.95...1.06).contains(peak / Double(64 << 20)), "\(peak)")
    let events = try #require(repetition["events"] as? [[String: Any]])
    #expect(events.map { $0["activity"] as? String } == [activity])
  }

  private func scene(of words: [String], _ round: Int) throws -> Scene {
    let command = ([try Ender.program] + words[round % words.count].split(separator: " ").map { "\"\($0)\"" })
    return try Scene("target: {command: [\(command.joined(separator: ", "))]}\nmemory-limit: 64MiB")
  }

  /// Whether the end says that the kernel killed a process of the tree for want of memory.
  private func tellsOfWant(_ scene: Scene) throws -> Bool {
    let (end, words) = (try scene.end(), try scene.endWords())
    let wanted = end == "oom KILL" ? "memory-limit of 64.0 MiB" : "killed for want of memory"
    #expect(words.detail.contains(wanted) == (words.kills > 0), "\(end): \(words)")
    return end == "oom KILL" || words.kills > 0
  }
}
