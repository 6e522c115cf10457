import GateCore
import Testing

@testable import GateApplication

@Suite("Texts of failures")
struct FailureTextTests {
  private static let step = Failure.Part(
    .step, at: [.step(number: 3, of: 7), .turn(number: 2, of: 5), .step(number: 1, of: 2)], text: "run: redis-cli ping")

  @Test("A failure is named by the attempt, the part and its text")
  func subject() {
    var failure = Failure(
      attempt: .init(number: 2, of: 5), part: Self.step,
      problem: .commandEnded(status: .exited(code: 1), expected: [0, 2]))
    let step = "step 3 of 7, turn 2 of 5, step 1 of 2 `run: redis-cli ping`"
    #expect(failure.displayText == "repetition 2 of 5, \(step): exited with code 1 (expected 0 or 2)")
    failure.attempt = .init(number: 1, of: 1, isWarmup: true, isComparison: true)
    #expect(failure.subjectText == "the comparison build, warm-up 1, \(step)")
    failure.part = .init(.setup, text: "exit 1")
    failure.attempt = nil
    #expect(failure.subjectText == "setup `exit 1`")
    failure.part = nil
    #expect(failure.subjectText == "the repetition")
  }

  @Test("A failure gives the expected end, then the target's activity")
  func end() {
    let failure = Failure(
      problem: .unexpectedEnd(expected: ExpectedEnd(exits: [0, 3], signals: [.term])), end: End(.crash, signal: .segv),
      activity: "idle")
    #expect(
      failure.problemText
        == "the target ended: crash (SIGSEGV) (expected exit code 0 or exit code 3 or SIGTERM); "
        + "the target reported that it was idle")
  }

  @Test(
    "A failure states whether the target ended before or during the step",
    arguments: [(true, "before the step"), (false, "during the step")])
  func when(isBefore: Bool, text: String) {
    let problem = Failure.Problem.targetEnded(status: .exited(code: 5), isBefore: isBefore)
    #expect(Failure(part: Self.step, problem: problem).problemText == "the target ended (exited with code 5) \(text)")
    let early = Failure(
      part: .init(.ready), problem: .targetEnded(status: .signaled(signal: .term, coreDumped: false), isBefore: false))
    #expect(early.problemText == "the target ended (killed by SIGTERM) before it was ready")
  }

  @Test(
    "Texts of problems",
    arguments: [
      (.timeout(kind: .notEnded(within: .seconds(5))), "the target did not end within the scenario's timeout of 5.0 s"),
      (.timeout(kind: .notReady(within: .seconds(5))), "not ready within 5.0 s"),
      (
        .timeout(kind: .noMainProcess(rule: .name(pattern: "^d"), within: .seconds(5))),
        "the main process did not appear within 5.0 s: name `^d`"
      ),
      (.outOfTime(after: .seconds(5)), "was running when the scenario's timeout of 5.0 s expired"),
      (
        .noMainProcess(rule: .pidfile(path: "/d.pid")),
        "the main process did not appear, and no process of the target is left: pidfile `/d.pid`"
      ),
      (.signalNotSent, "the target has ended, so no signal can be sent to it"),
      (.stdinNotPiped, "the target has no `stdin: pipe` to send to"),
      (.stdinClosed, "the target has closed its standard input"),
      (
        .outputMissing(within: .seconds(5), onlyLatestSearched: true),
        "no such output within 5.0 s (only the latest output was searched)"
      ),
      (
        .tooFewSamples(within: .seconds(1)),
        "too few samples within 1.0 s to see resident memory settle: it takes 20 samples, and 1 s"
      ),
      (
        .notSettled(within: .seconds(5), moved: .mebibytes(2)),
        "resident memory did not settle within 5.0 s (moved 2.0 MiB in the last second)"
      ),
      (
        .http(url: "http://x/", problem: .status(code: 500, expected: nil), request: 3, of: 10),
        "`http://x/`: answered with status 500 (expected 200 to 299) at request 3 of 10"
      ),
      (.http(url: "http://x/", problem: .noAnswer(reason: "refused"), request: 1, of: 1), "`http://x/`: refused"),
      (
        .http(url: "http://x/", problem: .notListening(reason: "refused"), request: 1, of: 1),
        "`http://x/`: refused (a target that takes time to start needs a `ready:`, such as `ready: {tcp: 7001}`)"
      ),
      (.commandTimeout(after: .seconds(5)), "did not end within 5.0 s and was killed"),
      (.alreadyInUse(resource: .port(number: 80)), "port 80 is already in use by another process"),
      (.alreadyInUse(resource: .socket(path: "/s")), "the socket `/s` is already in use by another process"),
      (.alreadyInUse(resource: .file(path: "/f")), "the file `/f` exists before the start; remove it in `setup`"),
      (.noInputWriter(within: .seconds(2)), "no program opened this FIFO for writing within 2.0 s"),
      (
        .system(failure: SystemFailure(.connect, path: "/s", code: 36)),
        "cannot connect to `/s`: file name too long (the file name of a socket has at most 107 bytes)"
      ),
      (.system(failure: SystemFailure(.open, path: "/f", code: 2)), "cannot open `/f`: no such file or directory"),
      (
        .system(failure: SystemFailure(.mkdtemp, path: "/t", code: 13)),
        "cannot create a temporary folder in `/t`: permission denied"
      ),
      (
        .tracerUnavailable(barrier: .seccomp),
        "`tracer: on` is unavailable: ptrace is not permitted here (a seccomp filter is in force) "
          + "(grant CAP_SYS_PTRACE (`--cap-add SYS_PTRACE`), or use a profile that allows ptrace, or write `tracer: auto`)"
      ),
      (
        .memoryLimitUnavailable(error: .readOnly(folder: "/x")),
        "`memory-limit` is unavailable: cannot create a memory cgroup here: `/x` is mounted read-only "
          + "(mount it writable, as a privileged container does, or write `gate: {peak_rss: {limit: …}}` instead)"
      ),
      (
        .limitUnavailable(error: .readOnly(folder: "/x")),
        "`limit` is unavailable: cannot create a memory cgroup here: `/x` is mounted read-only "
          + "(mount it writable, as a privileged container does, or remove `limit`)"
      ),
      (.interrupted, "was interrupted"),
    ] as [(Failure.Problem, String)]
  )
  func problems(problem: Failure.Problem, text: String) {
    #expect(Failure(problem: problem).problemText == text)
  }

  @Test("A loop is named before the failure that it caused")
  func loop() {
    let loop = TargetEvent(.loop(name: "Model.update", calls: 130, turns: 2), at: .zero)
    let text =
      "the target reported a loop: `Model.update` was called 130 times in one turn, and in 1 more"
    #expect(Failure(problem: .loop(event: loop, other: nil)).problemText == text)
    let other = Failure(part: .init(.stop), problem: .interrupted)
    #expect(Failure(problem: .loop(event: loop, other: other)).problemText == "\(text); and stop: was interrupted")
  }

  @Test(
    "Texts of launch errors",
    arguments: [
      (
        LaunchError(.execution, .system(code: 2), program: "./foo"),
        "cannot execute `./foo`: no such file or directory", nil
      ),
      (
        LaunchError(.supervisor, .system(code: 5), program: "foo", hint: .memoryLimit(limit: .kibibytes(16))),
        "cannot create a process for `foo`: input/output error",
        "`memory-limit: 16 KiB` may be too little to start a program"
      ),
      (
        LaunchError(.execution, .system(code: 2), program: "./foo", hint: .missingInterpreter),
        "cannot execute `./foo`: no such file or directory",
        "the file exists, but its interpreter (#! line) or dynamic loader does not"
      ),
      (
        LaunchError(.search, .notInPath(path: "/bin"), program: "foo"), "cannot execute `foo`: no such program in PATH",
        "PATH is `/bin`"
      ),
      (
        LaunchError(.search, .notExecutable(path: "/bin/foo"), program: "foo"),
        "cannot execute `foo`: permission denied",
        "`/bin/foo` is not executable (chmod +x)"
      ),
      (LaunchError(.arguments, .emptyCommand, program: ""), "the command is empty", nil),
      (
        LaunchError(.arguments, .invalidVariable(name: "A=B"), program: "foo"),
        "cannot execute `foo`: `A=B` is not a valid name of a variable", nil
      ),
      (
        LaunchError(.directory, .system(code: 2), program: "foo", folder: "/none"),
        "cannot enter the folder `/none`: no such file or directory", nil
      ),
      (
        LaunchError(.cpus, .system(code: 22), program: "foo", cpus: [7, 8], hint: .usableCPUs(cpus: [0, 1])),
        "cannot run `foo` on the CPUs 7, 8: invalid argument", "Highwater itself may use the CPUs 0, 1"
      ),
    ] as [(LaunchError, String, String?)]
  )
  func launch(error: LaunchError, text: String, hint: String?) {
    #expect(error.displayText == text && error.hintText == hint)
  }
}
