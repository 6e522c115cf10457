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
