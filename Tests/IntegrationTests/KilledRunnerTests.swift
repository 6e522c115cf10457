import Foundation
import Testing

/// The number of runs to kill, set by `HIGHWATER_KILLS`; a few by default.
private let kills = ProcessInfo.processInfo.environment["HIGHWATER_KILLS"].flatMap(Int.init)

@Suite("Highwater killed by SIGKILL leaves no process and no partial file", .endsHangs)
struct KilledRunnerTests {
  /// Targets that are hard to kill; some end by themselves, so that Highwater may also be killed after their end.
  static let targets = [
    "sleep 0.15",
    "sleep 1000",
    "trap '' TERM INT HUP; while :; do sleep 0.1; done",
    "setsid sh -c 'sleep 1000' & sleep 0.1",
    "(trap '' HUP TERM INT; setsid sh -c \\\"(sleep 1000 &); while :; do sleep 1; done\\\" &); sleep 0.2",
    "i=0; while [ $i -lt 30 ]; do (sleep 1000 &); i=$((i+1)); done; sleep 0.1",
    "exec python3 -c 'import os, time; [os.fork() for _ in range(3)]; os.fork() or os.setsid(); time.sleep(0.2)'",
    "sh -c 'kill -STOP $$' & (trap '' TERM; sh -c 'kill -STOP $$' &); sleep 0.2; kill -STOP $$",
    "PROGRAM thread-takes 2",
    "PROGRAM thread-execs",
    "PROGRAM leader-ends & PROGRAM vforks & PROGRAM daemon-takes 8 & exec PROGRAM takes 4",
    "PROGRAM presses",
    "PROGRAM kills-its-parent",
  ]

  /// The methods of measuring, used in turn; a memory limit needs a cgroup.
  static let methods = [
    "", "isolation: {tracer: off}\n", Ballast.hasMemoryCgroup ? "memory-limit: 16MiB\n" : "",
    "steps: [{phase: a}, {wait: 60ms}, {phase: b}, {wait: 60ms}, {phase: c}]\nuntil: exit\n",
  ]

  @Test("SIGKILL at any moment of a check leaves no process and no changed file")
  func killCheck() throws {
    var random = SeededNumbers(seed: 4)
    let harness = try ScenarioHarness("target: {command: [sleep, \"0.2\"]}")
    try harness.approve()
    let before = try harness.keptFiles()
    var slowest = 0.0
    var ended = 0
    for round in 0..<(kills ?? 52) {
      let target = Self.targets[round % Self.targets.count].replacingOccurrences(
        of: "PROGRAM", with: try EndingProgram.program)
      let method = Self.methods[round / Self.targets.count % Self.methods.count]
      try harness.write(
        "\(method)target: {shell: \"\(target)\"}\nsetup: [sleep 0.05]\nteardown: ['true']", repetitions: 2)
      let running = try harness.start("check")
      usleep(.random(in: 0..<700_000, using: &random))
      running.send(SIGKILL)
      if try running.wait().code != -SIGKILL { ended += 1 }
      slowest = max(slowest, try harness.secondsUntilGone(atMost: 20))
      #expect(try harness.project.survivors() + harness.project.cgroups() == [], "round \(round): \(method)\(target)")
      var after = try harness.keptFiles()
      #expect(try harness.project.result()["schema"] as? String == "highwater.result/1", "round \(round)")
      after["result.json"] = before["result.json"]
      #expect(after == before, "round \(round)")
    }
    if kills != nil { print("checks: \(ended) ended before the kill; the slowest cleanup took \(slowest) s") }
    try harness.write("target: {command: [sleep, \"0.2\"]}")
    #expect([0, 1, 4].contains(try harness.run(["check"]).code), "killed runs must not block the next one")
  }

  private static let strace = ["/usr/bin/strace", "-o", "/dev/null"]

  /// Whether strace(1) is installed, and may trace.
  private static let hasStrace: Bool = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: strace[0])
    process.arguments = strace.dropFirst() + ["true"]
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  @Test("SIGKILL before the temporary folder is locked leaves no folder", .enabled(if: hasStrace, "needs strace(1)"))
  func killAtFirst() throws {
    let harness = try ScenarioHarness("target: {command: ['true']}")
    try FileManager.default.createDirectory(at: harness.project.url("runs"), withIntermediateDirectories: false)
    let temporary = harness.project.url("runs").path
    let injection = ["-e", "trace=flock", "-e", "inject=flock:signal=KILL:when=1"]
    let running = try Highwater.start(
      ["check"], in: harness.project, variables: ["TMPDIR": temporary], launcher: Self.strace + injection)
    #expect(try running.wait().code == -SIGKILL)
    func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary) }
    // The process that cleans up may need long on a busy machine.
    for _ in 0..<30_000 where try !left().isEmpty { usleep(10_000) }
    #expect(try left() == [])
  }

  @Test(
    "If a target's supervisor is killed, no process is left, and the check is inconclusive",
    arguments: ["", "ready: {file: at}\nsteps: [{wait: 1000s}]\n", "ready: {file: at}\nsteps: [{run: sleep 1000}]\n"]
  )
  func killSupervisor(script: String) throws {
    let harness = try ScenarioHarness(
      script + "target: {shell: (setsid sleep 1000 &); touch at; sleep 1000}\nteardown: [touch torn]")
    let running = try harness.start("check", "--allow-missing-baseline")
    try harness.wait(for: "at", in: running)
    let supervisor = try #require(Self.supervisors(of: running.process.processIdentifier).min())
    kill(supervisor, SIGKILL)
    let outcome = try running.wait()
    #expect(outcome.code == 4, "\(outcome.output)")
    #expect(try harness.end() == "killed KILL")
    #expect(outcome.text.contains("sender unknown"), "\(outcome.output)")
    #expect(harness.has("torn"))
    try harness.expectNothingLeft()
  }

  private static func supervisors(of parent: Int32) throws -> [Int32] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { id in
      let stat = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ""
      return stat.contains("(hw-supervisor)")
        && stat.split(separator: ")").last?.split(separator: " ").dropFirst().first.flatMap { Int32($0) } == parent
    }
  }

  @Test(
    "SIGKILL as soon as a cgroup appears (the first is only a probe) leaves no process and no cgroup",
    .enabled(if: Ballast.hasMemoryCgroup, "cannot create a memory cgroup")
  )
  func killAtCgroup() throws {
    let harness = try ScenarioHarness("target: {command: [sleep, \"1000\"]}")
    for _ in 0..<(kills ?? 20) {
      let running = try harness.start("check")
      while harness.project.cgroups().isEmpty { try #require(running.process.isRunning) }
      running.send(SIGKILL)
      #expect(try running.wait().code == -SIGKILL)
      _ = try harness.secondsUntilGone(atMost: 20)
      try #require(try harness.project.survivors() + harness.project.cgroups() == [])
    }
  }

  /// Setup, target and step start daemons.
  private static let daemons = """
    setup: ["(setsid sleep 1000 &)"]
    target: {shell: "(setsid sleep 1000 &); touch at; sleep 1000"}
    ready: {file: at}
    steps: [{run: "(setsid sleep 1000 &); touch up; sleep 1000"}]
    """

  @Test("SIGKILL of all processes with the runner's command line leaves no process, cgroup and folder")
  func killByPattern() throws {
    let harness = try ScenarioHarness(Self.daemons)
    let running = try harness.start("check", "--config", harness.project.url("highwater.yml").path)
    try harness.wait(for: "up", in: running)
    let pattern = try harness.project.survivors().filter { $0.contains("highwater.yml") }
    #expect(pattern.count == 1, "\(pattern)")
    running.send(SIGKILL)
    _ = try running.wait()
    #expect(try harness.isCleanSoon())
  }

  @Test("What is left after SIGKILL of the runner and all its helpers is removed by the next run")
  func killAllHelpers() throws {
    let harness = try ScenarioHarness(Self.daemons)
    let running = try harness.start("check")
    try harness.wait(for: "up", in: running)
    // Stopped first, so that none of them can react to the end of another.
    let helpers = try harness.project.survivors().filter { !$0.contains("sleep") && !$0.contains("sh -c") }
      .compactMap { Int32($0.prefix { $0 != " " }) }
    #expect(helpers.count >= 4, "the runner, two supervisors and the cleaner: \(helpers)")
    for signal in [SIGSTOP, SIGKILL] { for id in helpers { kill(id, signal) } }
    _ = try running.wait()
    #expect(try harness.run(["record", "--", "true"]).code == 0)
    #expect(try harness.isCleanSoon())
  }

  @Test("SIGKILL while a target runs leaves no temporary folder")
  func killedFolder() throws {
    let harness = try ScenarioHarness("target: {shell: \"touch up; exec sleep 1000\"}")
    let running = try harness.start("check")
    try harness.wait(for: "up", in: running)
    #expect(try harness.temporaryFiles() != [])
    running.send(SIGKILL)
    #expect(try running.wait().code == -SIGKILL)
    _ = try harness.secondsUntilGone(atMost: 20)
    let deadline = Date(timeIntervalSinceNow: 20)
    while try harness.temporaryFiles() != [], Date() < deadline { usleep(10_000) }
    try harness.expectNothingLeft()
  }

  @Test("After SIGKILL at any moment of an approval, each baseline is the old or the new one")
  func killApproval() throws {
    var random = SeededNumbers(seed: 9)
    let harness = try ScenarioHarness("target: {command: [sleep, \"0.2\"]}")
    try #require(try harness.check().code == 0)
    let results = ["a.json", "b.json"]
    for (index, name) in results.enumerated() {
      try harness.writeResult(ofScenarios: 40, peak: 1_000_000 * (index + 1), to: name)
    }
    var expected: [[String: String]] = []
    var duration = Double.infinity
    for name in results {
      let begin = Date()
      try #require(try harness.run(["approve", "*", "--force", "--from", name]).code == 0)
      duration = min(duration, Date().timeIntervalSince(begin))
      expected.append(try harness.baselinesWithoutTime())
    }
    try #require(expected[0].count == 40 && expected[0] != expected[1])
    var (cut, ended) = (0, 0)
    for round in 0..<(kills.map { $0 / 2 } ?? 20) {
      let before = try harness.baselinesWithoutTime()
      let new = expected[round % 2]
      let running = try harness.start("approve", "*", "--force", "--from", results[round % 2])
      usleep(UInt32(Double.random(in: 0..<duration, using: &random) * 1_000_000))
      running.send(SIGKILL)
      if try running.wait().code != -SIGKILL { ended += 1 }
      let after = try harness.baselinesWithoutTime()
      #expect(after.keys.sorted() == new.keys.sorted())
      #expect(after.allSatisfy { $0.value == before[$0.key] || $0.value == new[$0.key] }, "round \(round)")
      if after != before, after != new { cut += 1 }
    }
    if kills != nil { print("approvals: \(cut) cut in the middle, \(ended) ended before the kill") }
    #expect(try harness.run(["approve", "*", "--force", "--from", results[0]]).code == 0)
    #expect(try harness.baselinesWithoutTime() == expected[0])
  }
}

extension ScenarioHarness {
  /// Waits until no process and no cgroup is left, and returns the time this took.
  func secondsUntilGone(atMost limit: Double) throws -> Double {
    let begin = Date()
    while try !(project.survivors() + project.cgroups()).isEmpty, Date().timeIntervalSince(begin) < limit {
      usleep(10_000)
    }
    return Date().timeIntervalSince(begin)
  }

  /// Whether nothing of ended runs is left, at the latest after 20 s.
  fileprivate func isCleanSoon() throws -> Bool {
    let deadline = Date(timeIntervalSinceNow: 20)
    while try leftovers() != [], Date() < deadline { usleep(10_000) }
    return try leftovers() == []
  }

  /// Writes a result file with many copies of the last check's only scenario.
  fileprivate func writeResult(ofScenarios count: Int, peak: Int, to name: String) throws {
    var result = try project.result()
    let template = try #require((result["scenarios"] as? [[String: Any]])?.first)
    var repetition = try #require(try repetitions().first)
    result["scenarios"] = (0..<count).map { number in
      var scenario = template
      scenario["name"] = "it-\(number)"
      repetition["metrics"] = ["peak_rss": peak + number * 4096]
      scenario["repetitions"] = [repetition]
      return scenario
    }
    try JSONSerialization.data(withJSONObject: result).write(to: project.url(name))
  }

  /// All baselines, without the time of approval.
  fileprivate func baselinesWithoutTime() throws -> [String: String] {
    try project.baselines().mapValues { text in
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      return lines.filter { !$0.contains("\"at\"") && !$0.contains("\"digest\"") }.joined(separator: "\n")
    }
  }
}
