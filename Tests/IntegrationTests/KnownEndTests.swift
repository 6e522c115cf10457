import Foundation
import Testing

/// A way for a target to end, and what the gate must report about it.
struct KnownEnd: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The scenario's keys in YAML; `PROGRAM` is replaced by the path of ``EndingProgram``.
  let scenario: String
  let code: Int32
  /// The end's kind in the result file, with its exit code or signal.
  let end: String
  /// The number of the tree's processes that the OOM killer killed, in the result file.
  var kills = 0
  /// Texts that the end's `detail` must contain.
  var detail: [String] = []
  /// The end's `proof` must contain one of these; empty if there must be no proof.
  var proof: [String] = []
  /// Texts that the report must contain.
  var report: [String] = []

  init(
    _ condition: String, _ scenario: String, _ code: Int32, _ end: String, kills: Int = 0, detail: [String] = [],
    proof: [String] = [], report: [String] = []
  ) {
    testDescription = condition
    self.scenario = scenario
    (self.code, self.end, self.kills) = (code, end, kills)
    (self.detail, self.proof, self.report) = (detail, proof, report)
  }

  /// A target that runs ``EndingProgram``.
  static func endingProgram(
    _ condition: String, _ words: String, more: String = "", _ code: Int32, _ end: String, kills: Int = 0,
    detail: [String] = [], proof: [String] = [], report: [String] = []
  ) -> KnownEnd {
    let command = (["PROGRAM"] + words.split(separator: " ").map { "\"\($0)\"" }).joined(separator: ", ")
    let scenario = "target: {command: [\(command)]}\n\(more)"
    return KnownEnd(condition, scenario, code, end, kills: kills, detail: detail, proof: proof, report: report)
  }

  /// A target that gets a signal from a step of the scenario.
  static func signaledFromOutside(_ signal: String, _ code: Int32, _ end: String) -> KnownEnd {
    KnownEnd(
      "SIG\(signal) from outside",
      "target: {shell: 'echo $$ > pid; touch up; exec sleep 1000'}\nsetup: [[rm, -f, up]]\n"
        + "ready: {file: up, within: 60s}\nsteps: [{run: 'kill -s \(signal) $(cat pid)'}, {wait: 60s}, {run: 'true'}]",
      code, end, report: ["the target ended (killed by SIG\(signal)) "])
  }
}

@Suite("Ends of targets, with their evidence", .endsHangs)
struct KnownEndTests {
  /// Ready once a target that wrote its process ID to `pid` is stopped.
  ///
  /// A single look is not enough: a tracer also stops its targets briefly at other times.
  private static let untilStopped =
    "ready: {command: \"for look in 1 2 3; do grep -q '^State:.[Tt]' /proc/$(cat pid)/status || exit 1; "
    + "sleep 0.1; done\", within: 60s}\nsetup: [[rm, -f, pid]]\n"

  private static let waitsForReady = "ready: {log: ready, within: 60s}\nsteps: [{wait: 100ms}]\n"

  /// The signal that `__builtin_trap` raises.
  #if arch(arm64)
  private static let trap = "trap TRAP"
  #else
  private static let trap = "trap ILL"
  #endif

  static let exits: [KnownEnd] = [
    KnownEnd(
      "exit code 137", "target: {shell: exit 137}", 3, "exited 137",
      detail: ["a child was killed by SIGKILL"]),
    KnownEnd(
      "exit code 143", "target: {shell: exit 143}", 3, "exited 143", detail: ["a child was killed by SIGTERM"]),
    KnownEnd(
      "exit code 139 of a wrapper", "target: {shell: \"ulimit -c 0; sh -c 'kill -SEGV $$'; exit $?\"}", 3,
      "exited 139", detail: ["a child was killed by SIGSEGV"]),
    KnownEnd("exit code 255", "target: {shell: exit 255}", 3, "exited 255"),
    KnownEnd(
      "a shell that finds no program", "target: {shell: no-such-program}", 3, "exited 127", report: ["not found"]),
    KnownEnd(
      "three calls of exec in one process",
      "target: {shell: \"exec sh -c 'exec sh -c \\\"sleep 0.1; exit 4\\\"'\"}", 3, "exited 4"),
    KnownEnd(
      "a child that crashes while its parent exits with 0",
      "target: {shell: \"ulimit -c 0; sh -c 'kill -SEGV $$'; sleep 0.1; exit 0\"}", 0, "exited 0"),
    KnownEnd(
      "a child that is killed while its parent exits with 0",
      "target: {shell: \"sh -c 'kill -KILL $$'; sleep 0.1; exit 0\"}", 0, "exited 0"),
    KnownEnd(
      "stopped children that outlive it", "target: {shell: \"sh -c 'kill -STOP $$' & sleep 0.3\"}", 0, "exited 0",
      report: ["1 process outlived the target and was killed: sh"]),
    .endingProgram("the first thread ends before the others", "leader-ends", 3, "exited 7"),
    .endingProgram("a thread other than the first calls exec", "thread-execs", 3, "exited 6"),
    .endingProgram("a shell started by vfork", "vforks", 3, "exited 5"),
  ]

  static let signals: [KnownEnd] = [
    .signaledFromOutside("TERM", 3, "signaled TERM"),
    .signaledFromOutside("INT", 3, "signaled INT"),
    .signaledFromOutside("HUP", 3, "signaled HUP"),
    .signaledFromOutside("USR1", 3, "signaled USR1"),
    .signaledFromOutside("KILL", 4, "killed KILL"),
    .signaledFromOutside("ABRT", 3, "abort ABRT"),
    KnownEnd(
      "a signal to its whole process group", "target: {shell: 'sleep 1000 & sleep 0.1; kill -TERM 0; sleep 1000'}", 3,
      "signaled TERM"),
    KnownEnd(
      "a real-time signal", "target: {shell: 'sleep 0.1; kill -37 $$; sleep 1000'}", 3, "signaled RTMIN+3",
      report: ["(SIGRTMIN+3)"]),
    .endingProgram(
      "it kills its parent, the supervisor", "kills-its-parent", 4, "killed KILL",
      detail: ["killed by SIGKILL; sender unknown"]),
    .endingProgram(
      "the soft limit of CPU time", "computes", 3, "signaled XCPU", report: ["(SIGXCPU)"]),
    .endingProgram(
      "the hard limit of CPU time", "computes hard", 4, "killed KILL", detail: ["killed by SIGKILL; sender unknown"]),
    .endingProgram("the limit of file size", "writes-too-much", 3, "signaled XFSZ", report: ["(SIGXFSZ)"]),
  ]

  static let faults: [KnownEnd] = [
    .endingProgram("a stack overflow", "overflows", 3, "crash SEGV"),
    .endingProgram("a division by zero", "divides", 3, "crash FPE"),
    .endingProgram("a read beyond the end of a mapped file", "reads-beyond-file", 3, "crash BUS"),
    .endingProgram("a forbidden system call", "calls-forbidden", 3, "crash SYS"),
    .endingProgram(
      "a failed check of the Swift runtime", "traps", 3, trap, detail: ["Fatal error: Index out of range"]),
    .endingProgram("a breakpoint", "breaks", 3, "trap TRAP"),
    .endingProgram(
      "a failed allocation of the Swift runtime", "allocation-fails", 3, "allocation-failure ABRT",
      proof: ["failed to allocate 10485792 bytes of memory with alignment 16"],
      report: ["evidence: main.swift: Fatal error: failed to allocate 10485792 bytes"]),
  ]

  static let times: [KnownEnd] = [
    .endingProgram(
      "it stops itself", "stops-itself", more: "timeout: 500ms", 3, "timeout", detail: ["did not end within 500 ms"]),
    KnownEnd(
      "children that ignore SIGTERM at the timeout",
      "target: {shell: \"(trap '' TERM HUP INT; setsid sleep 1000 & sleep 1000) & sleep 1000\"}\ntimeout: 500ms",
      3, "timeout", detail: ["did not end within 500 ms"]),
    KnownEnd(
      "SIGTERM while it is stopped",
      "target: {shell: 'echo $$ > pid; exec PROGRAM stops-itself'}\n\(untilStopped)stop: {within: 300ms}\nuntil: steps",
      0, "stopped KILL",
      report: ["did not end within 300 ms of SIGTERM and was killed"]),
  ]

  @Test("Every end is reported with its exit code, its kind and its cause", arguments: exits + signals + faults + times)
  func end(_ known: KnownEnd) throws {
    try check(known)
  }

  private func check(_ known: KnownEnd) throws {
    let harness = try ScenarioHarness(
      known.scenario.replacingOccurrences(of: "PROGRAM", with: try EndingProgram.program))
    let outcome = try harness.check()
    #expect(outcome.code == known.code, "\(outcome.output)\(outcome.errors)")
    #expect(try harness.end() == known.end)
    let (detail, proof, kills) = try harness.endDetails()
    #expect(kills == known.kills)
    #expect(known.detail.allSatisfy(detail.contains), "\(detail)")
    #expect(proof.isEmpty == known.proof.isEmpty, "\(proof)")
    #expect(proof.isEmpty || known.proof.contains(where: proof.contains), "\(proof)")
    #expect(known.report.allSatisfy(outcome.text.contains), "\(outcome.output)")
    try harness.expectNothingLeft()
  }
}

// MARK: - At a memory limit

extension KnownEndTests {
  private static let limit = "memory-limit: 64MiB\n"

  /// The kernel log if it is readable, or else the cgroup's counter.
  private static let proofs = [
    "Memory cgroup out of memory: Killed process ", "memory cgroup oom_kill 0 → 1, limit 64.0 MiB",
  ]
  private static let byLimit = ["at its memory-limit of 64.0 MiB"]
  private static let oneOfTree = ["1 process of the tree was killed by the OOM killer"]

  static let limited: [KnownEnd] = [
    .endingProgram("enough memory", "takes 32", more: limit + "timeout: 60s", 0, "exited 0"),
    .endingProgram(
      "too little memory", "takes 200", more: limit, 3, "oom KILL", kills: 1, detail: byLimit, proof: proofs,
      report: ["killed by the OOM killer: at its memory-limit of 64.0 MiB", "evidence: "]),
    .endingProgram(
      "too little memory for a thread", "thread-takes 200", more: limit, 3, "oom KILL", kills: 1, detail: byLimit,
      proof: proofs),
    .endingProgram(
      "too little memory for an in-memory file", "shares 200", more: limit, 3, "oom KILL", kills: 1, detail: byLimit,
      proof: proofs),
    .endingProgram(
      "too little memory for a child, while its parent exits with 0", "child-takes 200", more: limit, 3, "exited 0",
      kills: 1, detail: oneOfTree, proof: proofs, report: oneOfTree),
    .endingProgram(
      "too little memory for a child, which its parent reports", "child-takes 200 137", more: limit, 3, "exited 137",
      kills: 1, detail: oneOfTree + ["a child was killed by SIGKILL"], proof: proofs),
    .endingProgram(
      "too little memory for a child, which the scenario expects to fail", "child-takes 200 9",
      more: limit + "expect: {exit: 9}", 3, "exited 9", kills: 1, detail: oneOfTree, proof: proofs),
    .endingProgram(
      "too little memory for each of two children", "children-take 200", more: limit, 3, "exited 0", kills: 2,
      detail: ["2 processes of the tree were killed by the OOM killer"],
      proof: proofs + ["memory cgroup oom_kill 0 → 2"]),
    .endingProgram(
      "too little memory for a daemon, while the process that started it exits with 0", "daemon-takes 200", more: limit,
      3, "exited 0",
      kills: 1, detail: oneOfTree, proof: proofs),
    KnownEnd(
      "too little memory for a daemon that is the main process",
      limit + "ready: {file: d.pid, within: 60s}\nsetup: [[rm, -f, d.pid]]\nsteps: [{wait: 60s}]\nuntil: exit\n"
        + "target: {shell: \"setsid sh -c 'echo $$ > d.pid; sleep 0.5; exec PROGRAM takes 200' &\", "
        + "main: {pidfile: d.pid}}",
      3, "oom KILL", kills: 1, detail: byLimit, proof: proofs),
    .endingProgram(
      "too little memory while it is being stopped", "takes-on-term 200", more: limit + waitsForReady, 3, "oom KILL",
      kills: 1, detail: byLimit, proof: proofs),
    .endingProgram(
      "killed by Highwater near its limit", "keeps-on-term 60", more: limit + waitsForReady + "stop: {within: 300ms}",
      0,
      "stopped KILL", report: ["did not end within 300 ms of SIGTERM and was killed"]),
    .endingProgram(
      "killed from outside near its limit", "holds-and-is-killed 62", more: limit, 4, "killed KILL",
      detail: [
        "killed by SIGKILL; sender unknown (not Highwater): ", "of the limit of 64.0 MiB",
        "but the kernel counted no OOM kill",
      ]),
    .endingProgram(
      "a child killed from outside near its limit", "holds-and-child-is-killed 60", more: limit, 0, "exited 0"),
    .endingProgram(
      "no end, at the limit", "presses", more: "memory-limit: 16MiB\ntimeout: 3s", 3, "timeout",
      detail: ["did not end within 3.0 s; at the memory limit of 16.0 MiB, which it hit "]),
    .endingProgram(
      "a failed allocation below a limit", "allocation-fails", more: limit, 3,
      "allocation-failure ABRT", proof: ["failed to allocate 10485792 bytes"]),
  ]

  @Test(
    "Every end at a memory limit is distinguished from all others",
    .enabled(if: Ballast.hasMemoryCgroup, "cannot create a memory cgroup to limit memory"),
    arguments: limited
  )
  func limitedEnd(_ known: KnownEnd) throws {
    try check(known)
  }
}

extension ScenarioHarness {
  /// The details, evidence and OOM kills of the last repetition's end in the result file; empty if there are none.
  func endDetails() throws -> (detail: String, proof: String, kills: Int) {
    let end = try #require(try repetitions().last?["end"] as? [String: Any])
    return (end["detail"] as? String ?? "", end["proof"] as? String ?? "", end["oomKills"] as? Int ?? 0)
  }
}
