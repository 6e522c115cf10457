import Foundation
import Testing

/// How often runs are killed: `HIGHWATER_KILLS`, else few enough for every day.
private let kills = ProcessInfo.processInfo.environment["HIGHWATER_KILLS"].flatMap(Int.init)

@Suite("A runner that is killed leaves no process, and every file whole", .timeLimit(.minutes(30)))
struct SurvivorTests {
  /// Targets that are hard to get rid of; some end by themselves, so that ends and reports are killed, too.
  static let targets = [
    "sleep 0.15",
    "sleep 1000",
    "trap '' TERM INT HUP; while :; do sleep 0.1; done",
    "setsid sh -c 'sleep 1000' & sleep 0.1",
    "(trap '' HUP TERM INT; setsid sh -c \\\"(sleep 1000 &); while :; do sleep 1; done\\\" &); sleep 0.2",
    "i=0; while [ $i -lt 30 ]; do (sleep 1000 &); i=$((i+1)); done; sleep 0.1",
    "exec python3 -c 'import os, time; [os.fork() for _ in range(3)]; os.fork() or os.setsid(); time.sleep(0.2)'",
    "sh -c 'kill -STOP $$' & (trap '' TERM; sh -c 'kill -STOP $$' &); sleep 0.2; kill -STOP $$",
    "ENDER thread-takes 2",
    "ENDER thread-execs",
    "ENDER leader-ends & ENDER vforks & ENDER daemon-takes 8 & exec ENDER takes 4",
    "ENDER presses",
    "ENDER kills-its-parent",
  ]

  /// How the targets are measured, in turn; memory can be limited only in a cgroup.
  static let measurings = [
    "", "isolation: {tracer: off}\n", Ballast.hasMemoryCgroup ? "memory-limit: 16MiB\n" : "",
    "steps: [{phase: a}, {wait: 60ms}, {phase: b}, {wait: 60ms}, {phase: c}]\nuntil: exit\n",
  ]

  @Test("SIGKILL at any instant of a check")
  func killCheck() throws {
    var random = SeededNumbers(seed: 4)
    let scene = try Scene("target: {command: [sleep, \"0.2\"]}")
    try scene.approve()
    let before = try scene.keptFiles()
    var slowest = 0.0
    var ended = 0
    for round in 0..<(kills ?? 52) {
      let target = Self.targets[round % Self.targets.count].replacingOccurrences(of: "ENDER", with: try Ender.program)
      let measuring = Self.measurings[round / Self.targets.count % Self.measurings.count]
      try scene.write(
        "\(measuring)target: {shell: \"\(target)\"}\nsetup: [sleep 0.05]\nteardown: ['true']", repetitions: 2)
      let running = try scene.start("check")
      usleep(.random(in: 0..<700_000, using: &random))
      running.send(SIGKILL)
      if try running.wait().code != -SIGKILL { ended += 1 }
      slowest = max(slowest, try scene.secondsUntilGone(atMost: 20))
      #expect(try scene.project.survivors() + scene.project.cgroups() == [], "round \(round): \(measuring)\(target)")
      var after = try scene.keptFiles()
      #expect(try scene.project.result()["schema"] as? String == "highwater.result/1", "round \(round)")
      after["result.json"] = before["result.json"]
      #expect(after == before, "round \(round)")
    }
    if kills != nil { print("checks: \(ended) ended before the kill; the slowest clean-up took \(slowest) s") }
    try scene.write("target: {command: [sleep, \"0.2\"]}")
    #expect([0, 1, 4].contains(try scene.run(["check"]).code), "killed runs must not be in the way of the next one")
  }

  @Test(
    "Where somebody kills the process that watches over a target, nothing is left, and nothing is concluded",
    arguments: ["", "ready: {file: at}\nsteps: [{wait: 1000s}]\n", "ready: {file: at}\nsteps: [{run: sleep 1000}]\n"]
  )
  func killShepherd(script: String) throws {
    let scene = try Scene(
      script + "target: {shell: (setsid sleep 1000 &); touch at; sleep 1000}\nteardown: [touch torn]")
    let running = try scene.start("check", "--allow-missing-baseline")
    try scene.wait(for: "at", in: running)
    let shepherd = try #require(Self.children(of: running.process.processIdentifier).min())
    kill(shepherd, SIGKILL)
    let outcome = try running.wait()
    #expect(outcome.code == 4, "\(outcome.output)")
    #expect(try scene.end() == "killed KILL")
    #expect(outcome.words.contains("killed by an unknown hand"), "\(outcome.output)")
    #expect(scene.has("torn"))
    #expect(try scene.leftovers() == [])
  }

  private static func children(of parent: Int32) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { id in
      let stat = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ""
      return stat.split(separator: ")").last?.split(separator: " ").dropFirst().first.flatMap { Int32($0) } == parent
    }
  }

  @Test(
    "SIGKILL the moment that a cgroup appears, of which the first ones are made to see whether they can be",
    .enabled(if: Ballast.hasMemoryCgroup, "no memory cgroup can be made here")
  )
  func killAtCgroup() throws {
    let scene = try Scene("target: {command: [sleep, \"1000\"]}")
    for _ in 0..<(kills ?? 20) {
      let running = try scene.start("check")
      while scene.project.cgroups().isEmpty { try #require(running.process.isRunning) }
      running.send(SIGKILL)
      #expect(try running.wait().code == -SIGKILL)
      _ = try scene.secondsUntilGone(atMost: 20)
      try #require(try scene.project.survivors() + scene.project.cgroups() == [])
    }
  }

  @Test("A runner that is killed while its target runs leaves no temporary folder either")
  func killedFolder() throws {
    let scene = try Scene("target: {shell: \"touch up; exec sleep 1000\"}")
    let running = try scene.start("check")
    try scene.wait(for: "up", in: running)
    #expect(try scene.temporaryFiles() != [])
    running.send(SIGKILL)
    #expect(try running.wait().code == -SIGKILL)
    _ = try scene.secondsUntilGone(atMost: 20)
    let deadline = Date(timeIntervalSinceNow: 20)
    while try scene.temporaryFiles() != [], Date() < deadline { usleep(10_000) }
    #expect(try scene.leftovers() == [])
  }

  @Test("SIGKILL at any instant of an approval: each baseline is the old one or the new one")
  func killApproval() throws {
    var random = SeededNumbers(seed: 9)
    let scene = try Scene("target: {command: [sleep, \"0.2\"]}")
    try #require(try scene.check().code == 0)
    let results = ["a.json", "b.json"]
    for (index, name) in results.enumerated() {
      try scene.writeResult(ofScenarios: 40, peak: 1_000_000 * (index + 1), to: name)
    }
    var wanted: [[String: String]] = []
    var duration = Double.infinity
    for name in results {
      let begin = Date()
      try #require(try scene.run(["approve", "*", "--from", name]).code == 0)
      duration = min(duration, Date().timeIntervalSince(begin))
      wanted.append(try scene.baselinesWithoutTime())
    }
    try #require(wanted[0].count == 40 && wanted[0] != wanted[1])
    var (cut, ended) = (0, 0)
    for round in 0..<(kills.map { $0 / 2 } ?? 20) {
      let before = try scene.baselinesWithoutTime()
      let new = wanted[round % 2]
      let running = try scene.start("approve", "*", "--from", results[round % 2])
      usleep(UInt32(Double.random(in: 0..<duration, using: &random) * 1_000_000))
      running.send(SIGKILL)
      if try running.wait().code != -SIGKILL { ended += 1 }
      let after = try scene.baselinesWithoutTime()
      #expect(after.keys.sorted() == new.keys.sorted())
      #expect(after.allSatisfy { $0.value == before[$0.key] || $0.value == new[$0.key] }, "round \(round)")
      if after != before, after != new { cut += 1 }
    }
    if kills != nil { print("approvals: \(cut) cut in the middle, \(ended) ended before the kill") }
    #expect(try scene.run(["approve", "*", "--from", results[0]]).code == 0)
    #expect(try scene.baselinesWithoutTime() == wanted[0])
  }
}

extension Scene {
  /// Waits until no process and no cgroup is left, and says how long it took.
  func secondsUntilGone(atMost limit: Double) throws -> Double {
    let begin = Date()
    while try !(project.survivors() + project.cgroups()).isEmpty, Date().timeIntervalSince(begin) < limit {
      usleep(10_000)
    }
    return Date().timeIntervalSince(begin)
  }

  /// Writes a result file of many scenarios after the model of the last check's only one.
  fileprivate func writeResult(ofScenarios count: Int, peak: Int, to name: String) throws {
    var result = try project.result()
    let model = try #require((result["scenarios"] as? [[String: Any]])?.first)
    var repetition = try #require(try repetitions().first)
    result["scenarios"] = (0..<count).map { number in
      var scenario = model
      scenario["name"] = "it-\(number)"
      repetition["metrics"] = ["peak_rss": peak + number * 4096]
      scenario["repetitions"] = [repetition]
      return scenario
    }
    try JSONSerialization.data(withJSONObject: result).write(to: project.url(name))
  }

  /// All baselines without the line that says when they were approved.
  fileprivate func baselinesWithoutTime() throws -> [String: String] {
    try project.baselines().mapValues { text in
      text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.contains("\"at\"") }.joined(
        separator: "\n")
    }
  }
}
