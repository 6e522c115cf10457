import Foundation
import Testing

@Suite("The measurement method with restricted permissions", .endsHangs)
struct MeasurementMethodTests {
  private static let needsFilter: Comment = "cannot install a seccomp filter"
  private static let needsPrivileges: Comment = "needs root, to drop privileges"

  private static let ptraceMessage = "ptrace is not permitted here"
  private static let cgroupMessage = "cannot create a memory cgroup here"

  /// Long enough for a steady state.
  private static let target = "target: {shell: 'sleep 1; exit 0'}\n"

  /// The best method on this machine, within the permissions that the test leaves.
  private func method(traced: Bool, cgroup: Bool) -> String {
    (traced && Ballast.mayTrace ? "traced" : "sampled") + (cgroup && Ballast.hasMemoryCgroup ? "+cgroup" : "")
  }

  @Test("With all permissions the best method is used, without a note")
  func best() throws {
    let harness = try ScenarioHarness(Self.target)
    let outcome = try harness.check()
    #expect(outcome.code == 0)
    #expect(try harness.method() == method(traced: true, cgroup: true))
    #expect(outcome.text.contains(Self.ptraceMessage) == !Ballast.mayTrace)
    #expect(outcome.text.contains(Self.cgroupMessage) == !Ballast.hasMemoryCgroup)
  }

  @Test("`tracer: off` samples, without a note")
  func tracerOff() throws {
    let harness = try ScenarioHarness(Self.target + "isolation: {tracer: off}")
    let outcome = try harness.check()
    #expect(outcome.code == 0)
    #expect(try harness.method() == method(traced: false, cgroup: true))
    #expect(!outcome.text.contains(Self.ptraceMessage))
    #expect(try harness.mainIsExact() == false)
  }

  @Test(
    "An unprivileged user's targets are traced, and the report names what a cgroup needs",
    .enabled(if: Confinement.canDropPrivileges, needsPrivileges)
  )
  func unprivileged() throws {
    var harness = try ScenarioHarness(Self.target)
    try harness.confine(without: [.privileges])
    let outcome = try harness.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(try harness.end() == "exited 0")
    #expect(try harness.method() == method(traced: true, cgroup: false))
    #expect(try harness.mainIsExact() == Ballast.mayTrace)
    #expect(outcome.text.contains(Self.cgroupMessage) && outcome.text.contains("run as the owner of that folder"))
    #expect(!outcome.text.contains(Self.ptraceMessage))
    try harness.expectNothingLeft()
  }

  @Test(
    "If a seccomp filter rejects ptrace, peaks are sampled, and the report names cause and remedy",
    .enabled(if: Confinement.canFilter, needsFilter), arguments: [Confinement.ptrace, .ptraceByKill]
  )
  func filtered(by filter: Confinement) throws {
    var harness = try ScenarioHarness(Self.target)
    try harness.confine(without: [filter])
    let outcome = try harness.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(try harness.end() == "exited 0")
    #expect(try harness.method() == method(traced: false, cgroup: true))
    #expect(try harness.mainIsExact() == false)
    #expect(outcome.text.contains("\(Self.ptraceMessage) (a seccomp filter is in force)"), "\(outcome.output)")
    #expect(outcome.text.contains("grant CAP_SYS_PTRACE (`--cap-add SYS_PTRACE`), or use a profile"))
    try harness.expectNothingLeft()
  }

  @Test(
    "Without ptrace and cgroup the exit code still reflects the target's end",
    .enabled(if: Confinement.canDropPrivileges && Confinement.canFilter, needsPrivileges),
    arguments: [
      ("exit 0", 0, "exited 0"), ("exit 3", 3, "exited 3"), ("kill -KILL $$", 4, "killed KILL"),
      ("ulimit -c 0; kill -SEGV $$", 3, "crash SEGV"), ("(setsid sleep 1000 &); exit 0", 0, "exited 0"),
    ] as [(String, Int32, String)]
  )
  func neither(script: String, code: Int32, end: String) throws {
    var harness = try ScenarioHarness("target: {shell: 'sleep 1; \(script)'}")
    try harness.confine(without: [.privileges, .ptrace])
    let outcome = try harness.check()
    #expect(outcome.code == code, "\(outcome.output)\(outcome.errors)")
    #expect(try harness.end() == end)
    #expect(try harness.method() == "sampled")
    try harness.expectNothingLeft()
  }

  @Test(
    "If address randomization cannot be turned off, the report names cause and remedy",
    .enabled(if: Confinement.canFilter, needsFilter)
  )
  func randomAddresses() throws {
    var harness = try ScenarioHarness(Self.target)
    try harness.confine(without: [.personality])
    let outcome = try harness.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(try harness.fingerprint()["aslr"] as? String == "on")
    #expect(outcome.text.contains("addresses cannot be fixed here"), "\(outcome.output)")
    #expect(outcome.text.contains("allow it in the container's profile, or write `isolation: {aslr: on}`"))
    #expect(try harness.method() == method(traced: true, cgroup: true))
  }
}

// MARK: - Required methods

extension MeasurementMethodTests {
  @Test(
    "`tracer: on` is an error without ptrace, before anything is started",
    .enabled(if: Confinement.canFilter, needsFilter)
  )
  func tracerOn() throws {
    var harness = try ScenarioHarness(
      "target: {shell: touch started}\nsetup: ['touch prepared']\nisolation: {tracer: on}")
    try harness.confine(without: [.ptrace])
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(try harness.end() == "start-failed")
    #expect(outcome.text.contains("`tracer: on` is unavailable: ptrace is not permitted here"), "\(outcome.output)")
    #expect(outcome.text.contains("or write `tracer: auto`"))
    #expect(!harness.has("started") && !harness.has("prepared"))
  }

  @Test(
    "`tracer: on` equals the best method if ptrace is permitted",
    .enabled(if: Ballast.mayTrace, "needs ptrace")
  )
  func tracerOnAllowed() throws {
    let harness = try ScenarioHarness(Self.target + "isolation: {tracer: on}")
    #expect(try harness.check().code == 0)
    #expect(try harness.method() == method(traced: true, cgroup: true))
    #expect(try harness.mainIsExact())
  }

  @Test(
    "`memory-limit` is an error without a cgroup, before anything is started",
    .enabled(if: Confinement.canDropPrivileges, needsPrivileges)
  )
  func memoryLimit() throws {
    var harness = try ScenarioHarness("target: {shell: touch started}\nsetup: ['touch prepared']\nmemory-limit: 64MiB")
    try harness.confine(without: [.privileges])
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(try harness.end() == "start-failed")
    #expect(
      outcome.text.contains("`memory-limit` is unavailable: cannot create a memory cgroup here: no permission"),
      "\(outcome.output)")
    #expect(outcome.text.contains("write `gate: {peak_rss: {limit: …}}` instead"))
    #expect(!harness.has("started") && !harness.has("prepared"))
  }

  @Test(
    "A `memory-limit` too small to start a program is named, and no cgroup is left",
    .enabled(if: Ballast.hasMemoryCgroup, "needs a memory cgroup"))
  func tinyMemoryLimit() throws {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios:
      - {name: load, memory-limit: 16KiB, target: {command: [sleep, "0.1"]}}
      """)
    let outcome = try Highwater.run("check", in: project)
    #expect(outcome.code == 3, "\(outcome.output)")
    #expect(outcome.text.contains("16.0 KiB") || outcome.text.contains("16 KiB"), "\(outcome.output)")
    #expect(project.cgroups().isEmpty)
  }

  @Test("Measurements of another method are not compared, and the differing field is named")
  func otherMethod() throws {
    var harness = try ScenarioHarness(Self.target)
    try harness.approve()
    try #require(try harness.run(["check"]).code != 5, "the same method is compared")
    try harness.write(Self.target + "isolation: {tracer: off}")
    try expectNoBaseline(harness)
    guard Confinement.canFilter else { return }
    try harness.write(Self.target)
    try harness.confine(without: [.ptrace])
    try expectNoBaseline(harness)
    harness.launcher = []
    #expect(try harness.run(["check"]).code != 5)
  }

  private func expectNoBaseline(_ harness: ScenarioHarness) throws {
    guard Ballast.mayTrace else { return }
    let outcome = try harness.run(["check"])
    #expect(outcome.code == 5, "\(outcome.output)")
    #expect(outcome.verdict == "no-baseline")
    #expect(outcome.text.contains("measurement"), "\(outcome.output)")
    for isTraced in [true, false] { #expect(outcome.text.contains(method(traced: isTraced, cgroup: true))) }
  }
}

// MARK: - Targets that use ptrace themselves

extension MeasurementMethodTests {
  /// Installed commands that trace another program.
  static let debuggers = [
    ["strace", "-o", "/dev/null", "sleep", "0.2"], ["strace", "-f", "-o", "/dev/null", "sh", "-c", "true; sleep 0.2"],
    ["gdb", "-batch", "-ex", "run", "--args", "true"],
  ].filter { command in
    ["/usr/bin", "/bin", "/usr/local/bin"].contains { folder in
      FileManager.default.isExecutableFile(atPath: "\(folder)/\(command[0])")
    }
  }

  @Test(
    "A traced debugger fails with a hint to use `tracer: off`, which makes it work",
    .enabled(if: Ballast.mayTrace, "needs ptrace"), arguments: debuggers
  )
  func debugger(command: [String]) throws {
    try expectHint("target: {command: [\(command.map { "\"\($0)\"" }.joined(separator: ", "))]}\n")
  }

  @Test(
    "A program that asks to be traced gets the same hint",
    .enabled(if: Ballast.mayTrace, "needs ptrace")
  )
  func traceMe() throws {
    try expectHint("target: {command: [\(try EndingProgram.program), is-debugger]}\n")
  }

  private static let leakChecked = CompiledProgram(
    "leak-checked", flags: ["-fsanitize=leak"], "#include <unistd.h>\nint main(void) { return usleep(200000); }")

  @Test(
    "LeakSanitizer gets the same hint",
    .enabled(
      if: Ballast.mayTrace && (try? leakChecked.command) != nil, "needs ptrace and LeakSanitizer")
  )
  func leakSanitizer() throws {
    try expectHint("target: {command: \(try Self.leakChecked.command)}\n")
  }

  private func expectHint(_ target: String) throws {
    let harness = try ScenarioHarness(target)
    let traced = try harness.check()
    #expect(traced.code == 3, "\(traced.output)")
    #expect(traced.text.contains("it cannot use ptrace while Highwater traces it"), "\(traced.output)")
    try harness.expectNothingLeft()
    try harness.write(target + "isolation: {tracer: off}")
    let sampled = try harness.check()
    #expect(sampled.code == 0, "\(sampled.output)")
    #expect(!sampled.text.contains("cannot use ptrace"))
    try harness.expectNothingLeft()
  }

  /// Prints the effective user ID.
  private static let effectiveUser = CompiledProgram(
    "who-am-i",
    """
    #include <stdio.h>
    #include <unistd.h>
    int main(void) {
      usleep(200000);
      return printf("I am %d\\n", geteuid()) < 0;
    }
    """
  )

  @Test(
    "A set-user-ID program keeps its privileges unless an unprivileged user traces it (execve(2))",
    .enabled(if: Confinement.canDropPrivileges && Ballast.mayTrace, needsPrivileges)
  )
  func setUserID() throws {
    var harness = try ScenarioHarness()
    let program = harness.project.url("who").path
    try FileManager.default.copyItem(atPath: try Self.effectiveUser.command[0], toPath: program)
    for (tracer, user) in [("auto", Confinement.user), ("off", 0)] {
      try harness.write("target: {command: [./who]}\nisolation: {tracer: \(tracer)}")
      try harness.confine(without: [.privileges])
      try #require(chown(program, 0, 0) == 0 && chmod(program, 0o4755) == 0)
      let outcome = try harness.check()
      #expect(outcome.code == 0, "\(outcome.output)")
      #expect(try harness.project.read(".highwater/output/it/1.log") == "I am \(user)\n")
      try harness.expectNothingLeft()
    }
  }
}

extension ScenarioHarness {
  /// The fingerprint of the last check.
  func fingerprint() throws -> [String: Any] {
    let environment = try #require(try project.result()["environment"] as? [String: Any])
    return try #require(environment["fingerprint"] as? [String: Any])
  }

  /// The method of the last check.
  func method() throws -> String {
    try #require(try fingerprint()["measurement"] as? String)
  }

  /// Whether the peak of the main process was read when it exited.
  func mainIsExact() throws -> Bool {
    let table = try #require(try repetitions().last?["processTable"] as? [[String: Any]])
    return try #require(table.first { $0["main"] as? Bool == true }?["exact"] as? Bool)
  }
}
