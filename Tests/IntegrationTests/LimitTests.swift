import Foundation
import Testing

@Suite(
  "Memory limits of real programs",
  .enabled(if: Ballast.hasMemoryCgroup, "cannot create a memory cgroup to limit memory"),
  .endsHangs
)
struct LimitTests {
  /// The truth of a program that touches 24 MiB: these, its page tables, stack and libraries.
  @Test("The smallest limit of a program that touches 24 MiB is found, and it dies just below")
  func found() throws {
    let harness = try ScenarioHarness("target: {command: [\(EndingProgram.program), takes, \"24\"]}")
    let outcome = try harness.run(["limit", "--json", "limits.json"])
    #expect(outcome.code == 0, "\(outcome.text)")
    let study = try study(of: harness)
    let (need, death) = (try mebibytes("needs", of: study), try mebibytes("failsAt", of: study))
    #expect((24...25).contains(need) && (death..<death * 1.02).contains(need), "\(need) \(death)")
    try harness.expectNothingLeft()
  }

  @Test(
    "A check is red if the program does not survive its limit, and says how it ended",
    arguments: [
      ("takes 24", "killed by the kernel (out of memory)"),
      ("presses", "too slow, stopped after 1.0 s"),
    ])
  func gate(words: String, reason: String) throws {
    // The second one needs a limit to be at.
    let isEndless = words == "presses"
    let command = "exec \(try EndingProgram.program) \(words)"
    let shell = isEndless ? "[ $(cat n) -gt 0 ] && { echo 0 > n; exit 0; }; \(command)" : command
    let harness = try ScenarioHarness(
      "target: {shell: '\(shell)'}\nlimit: {survives: 16MiB}\ntimeout: \(isEndless ? "1s" : "1m")")
    try harness.project.write("1", to: "n")
    let outcome = try harness.check()
    #expect(outcome.code == 1, "\(outcome.text)")
    #expect(outcome.text.contains("does not survive 16.0 MiB: \(reason)"), "\(outcome.text)")
    try harness.expectNothingLeft()
  }

  @Test("An interrupted search tells what it knows, and leaves nothing behind")
  func interrupted() throws {
    let harness = try ScenarioHarness(
      "target: {shell: 'echo >> n; if [ $(wc -l < n) -gt 6 ]; then touch at; exec sleep 1000; fi'}")
    let running = try harness.start("limit")
    try harness.wait(for: "at", in: running)
    running.send(SIGINT)
    let outcome = try running.wait()
    // A level at which the shell was killed before is told, too.
    let known = #/needs (more than .* and )?at most \d+ KiB; the search did not end/#
    #expect(outcome.code == 130 && outcome.text.contains(known), "\(outcome.text)")
    try harness.expectNothingLeft()
  }

  private func study(of harness: ScenarioHarness) throws -> [String: Any] {
    let data = try Data(contentsOf: harness.project.url("limits.json"))
    let document = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    return try #require((document["scenarios"] as? [[String: Any]])?.first)
  }

  private func mebibytes(_ key: String, of study: [String: Any]) throws -> Double {
    try #require(study[key] as? Double) / 1_048_576
  }
}
