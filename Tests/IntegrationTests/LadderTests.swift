import Foundation
import Testing

@Suite("What the machine does not allow lowers the method, and is told", .timeLimit(.minutes(10)))
struct LadderTests {
  private static let needsFilter: Comment = "no seccomp filter can be put upon a program here"
  private static let needsPrivileges: Comment = "only root can give up privileges"

  private static let aboutPtrace = "ptrace is not permitted here"
  private static let aboutCgroup = "no memory cgroup can be made here"

  /// Long enough for a steady state.
  private static let target = "target: {shell: 'sleep 0.2; exit 0'}\n"

  /// What the machine allows beside what is taken away.
  private func method(traced: Bool, cgroup: Bool) -> String {
    (traced && Ballast.mayTrace ? "traced" : "sampled") + (cgroup && Ballast.hasMemoryCgroup ? "+cgroup" : "")
  }

  @Test("With all rights the best method is taken, with no word on it")
  func best() throws {
    let scene = try Scene(Self.target)
    let outcome = try scene.check()
    #expect(outcome.code == 0)
    #expect(try scene.method() == method(traced: true, cgroup: true))
    #expect(outcome.words.contains(Self.aboutPtrace) == !Ballast.mayTrace)
    #expect(outcome.words.contains(Self.aboutCgroup) == !Ballast.hasMemoryCgroup)
  }

  @Test("`tracer: off` samples, which is no lack")
  func tracerOff() throws {
    let scene = try Scene(Self.target + "isolation: {tracer: off}")
    let outcome = try scene.check()
    #expect(outcome.code == 0)
    #expect(try scene.method() == method(traced: false, cgroup: true))
    #expect(!outcome.words.contains(Self.aboutPtrace))
    #expect(try scene.mainIsExact() == false)
  }

  @Test(
    "A user without privileges has his programs traced, and is told what no cgroup means",
    .enabled(if: Confinement.canDropPrivileges, needsPrivileges)
  )
  func unprivileged() throws {
    var scene = try Scene(Self.target)
    try scene.confine(without: [.privileges])
    let outcome = try scene.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(try scene.end() == "exited 0")
    #expect(try scene.method() == method(traced: true, cgroup: false))
    #expect(try scene.mainIsExact() == Ballast.mayTrace)
    #expect(outcome.words.contains(Self.aboutCgroup) && outcome.words.contains("run as root, or in a delegated cgroup"))
    #expect(!outcome.words.contains(Self.aboutPtrace))
    #expect(try scene.leftovers() == [])
  }

  @Test(
    "Where a filter refuses ptrace, peaks are sampled, and cause and remedy are told",
    .enabled(if: Confinement.canFilter, needsFilter)
  )
  func filtered() throws {
    var scene = try Scene(Self.target)
    try scene.confine(without: [.ptrace])
    let outcome = try scene.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(try scene.end() == "exited 0")
    #expect(try scene.method() == method(traced: false, cgroup: true))
    #expect(try scene.mainIsExact() == false)
    #expect(outcome.words.contains("\(Self.aboutPtrace) (a seccomp filter is in force)"), "\(outcome.output)")
    #expect(outcome.words.contains("grant CAP_SYS_PTRACE (`--cap-add SYS_PTRACE`), or a profile that allows ptrace"))
    #expect(try scene.leftovers() == [])
  }

  @Test(
    "Without either, what is left of the ladder still has the exit code of the target's end",
    .enabled(if: Confinement.canDropPrivileges && Confinement.canFilter, needsPrivileges),
    arguments: [
      ("exit 0", 0, "exited 0"), ("exit 3", 3, "exited 3"), ("kill -KILL $$", 4, "killed KILL"),
      ("ulimit -c 0; kill -SEGV $$", 3, "crash SEGV"), ("(setsid sleep 1000 &); exit 0", 0, "exited 0"),
    ] as [(String, Int32, String)]
  )
  func neither(script: String, code: Int32, end: String) throws {
    var scene = try Scene("target: {shell: 'sleep 0.2; \(script)'}")
    try scene.confine(without: [.privileges, .ptrace])
    let outcome = try scene.check()
    #expect(outcome.code == code, "\(outcome.output)\(outcome.errors)")
    #expect(try scene.end() == end)
    #expect(try scene.method() == "sampled")
    #expect(try scene.leftovers() == [])
  }

  @Test(
    "Where addresses cannot be made fixed, they are random, and cause and remedy are told",
    .enabled(if: Confinement.canFilter, needsFilter)
  )
  func randomAddresses() throws {
    var scene = try Scene(Self.target)
    try scene.confine(without: [.personality])
    let outcome = try scene.check()
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    #expect(try scene.fingerprint()["aslr"] as? String == "on")
    #expect(outcome.words.contains("addresses cannot be made fixed here"), "\(outcome.output)")
    #expect(outcome.words.contains("allow it in the container's profile, or write `isolation: {aslr: on}`"))
    #expect(try scene.method() == method(traced: true, cgroup: true))
  }
}

// MARK: - What is demanded

extension LadderTests {
  @Test(
    "`tracer: on` is refused where ptrace is, before anything is started",
    .enabled(if: Confinement.canFilter, needsFilter)
  )
  func tracerOn() throws {
    var scene = try Scene(
      "target: {shell: touch started}\nsetup: ['touch prepared']\nisolation: {tracer: on}")
    try scene.confine(without: [.ptrace])
    let outcome = try scene.check()
    #expect(outcome.code == 3)
    #expect(try scene.end() == "start-failed")
    #expect(outcome.words.contains("`tracer: on` cannot be had: ptrace is not permitted here"), "\(outcome.output)")
    #expect(outcome.words.contains("or write `tracer: auto`"))
    #expect(!scene.has("started") && !scene.has("prepared"))
  }

  @Test(
    "`tracer: on` is the same as the best method where ptrace is allowed",
    .enabled(if: Ballast.mayTrace, "ptrace is refused here")
  )
  func tracerOnAllowed() throws {
    let scene = try Scene(Self.target + "isolation: {tracer: on}")
    #expect(try scene.check().code == 0)
    #expect(try scene.method() == method(traced: true, cgroup: true))
    #expect(try scene.mainIsExact())
  }

  @Test(
    "`memory-limit` is refused where no cgroup can be made, before anything is started",
    .enabled(if: Confinement.canDropPrivileges, needsPrivileges)
  )
  func memoryLimit() throws {
    var scene = try Scene("target: {shell: touch started}\nsetup: ['touch prepared']\nmemory-limit: 64MiB")
    try scene.confine(without: [.privileges])
    let outcome = try scene.check()
    #expect(outcome.code == 3)
    #expect(try scene.end() == "start-failed")
    #expect(
      outcome.words.contains("`memory-limit` needs a memory cgroup, which cannot be made here: no permission"),
      "\(outcome.output)")
    #expect(outcome.words.contains("write `gate: {peak_rss: {limit: …}}` instead"))
    #expect(!scene.has("started") && !scene.has("prepared"))
  }

  @Test("Figures of another method are not compared, and the field that differs is named")
  func otherMethod() throws {
    var scene = try Scene(Self.target)
    try scene.approve()
    try #require(try scene.run(["check"]).code != 5, "the same method is compared")
    try scene.write(Self.target + "isolation: {tracer: off}")
    try expectNoBaseline(scene)
    guard Confinement.canFilter else { return }
    try scene.write(Self.target)
    try scene.confine(without: [.ptrace])
    try expectNoBaseline(scene)
    scene.launcher = []
    #expect(try scene.run(["check"]).code != 5)
  }

  private func expectNoBaseline(_ scene: Scene) throws {
    guard Ballast.mayTrace else { return }
    let outcome = try scene.run(["check"])
    #expect(outcome.code == 5, "\(outcome.output)")
    #expect(outcome.verdict == "no-baseline")
    #expect(outcome.words.contains("measurement"), "\(outcome.output)")
    for isTraced in [true, false] { #expect(outcome.words.contains(method(traced: isTraced, cgroup: true))) }
  }
}

// MARK: - Targets that tracing is in the way of

extension LadderTests {
  /// Commands that trace another program, of which not all are on every machine.
  static let debuggers = [
    ["strace", "-o", "/dev/null", "sleep", "0.2"], ["strace", "-f", "-o", "/dev/null", "sh", "-c", "true; sleep 0.2"],
    ["gdb", "-batch", "-ex", "run", "--args", "true"],
  ].filter { command in
    ["/usr/bin", "/bin", "/usr/local/bin"].contains { folder in
      FileManager.default.isExecutableFile(atPath: "\(folder)/\(command[0])")
    }
  }

  @Test(
    "A debugger fails where it is traced itself, with the advice of `tracer: off`, and works with that",
    .enabled(if: Ballast.mayTrace, "ptrace is refused here"), arguments: debuggers
  )
  func debugger(command: [String]) throws {
    try expectAdvice("target: {command: [\(command.map { "\"\($0)\"" }.joined(separator: ", "))]}\n")
  }

  @Test(
    "A program that asks to be traced is told the same",
    .enabled(if: Ballast.mayTrace, "ptrace is refused here")
  )
  func traceMe() throws {
    try expectAdvice("target: {command: [\(try Ender.program), is-debugger]}\n")
  }

  private static let leakChecked = CompiledProgram(
    "leak-checked", flags: ["-fsanitize=leak"], "#include <unistd.h>\nint main(void) { return usleep(200000); }")

  @Test(
    "LeakSanitizer is told the same",
    .enabled(
      if: Ballast.mayTrace && (try? leakChecked.words) != nil, "ptrace is refused here, or there is no LeakSanitizer")
  )
  func leakSanitizer() throws {
    try expectAdvice("target: {command: \(try Self.leakChecked.words)}\n")
  }

  private func expectAdvice(_ target: String) throws {
    let scene = try Scene(target)
    let traced = try scene.check()
    #expect(traced.code == 3, "\(traced.output)")
    #expect(traced.words.contains("could not use ptrace, since the gate itself traces its targets"), "\(traced.output)")
    #expect(try scene.leftovers() == [])
    try scene.write(target + "isolation: {tracer: off}")
    let sampled = try scene.check()
    #expect(sampled.code == 0, "\(sampled.output)")
    #expect(!sampled.words.contains("could not use ptrace"))
    #expect(try scene.leftovers() == [])
  }

  /// A program that says for whom it works, when it belongs to root and may act for him.
  private static let whoAmI = CompiledProgram(
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
    "A set-user-ID program lacks its privileges where an unprivileged user traces it (execve(2)), and else has them",
    .enabled(if: Confinement.canDropPrivileges && Ballast.mayTrace, needsPrivileges)
  )
  func setUserID() throws {
    var scene = try Scene()
    let program = scene.project.url("who").path
    try FileManager.default.copyItem(atPath: try Self.whoAmI.words[0], toPath: program)
    for (tracer, user) in [("auto", Confinement.user), ("off", 0)] {
      try scene.write("target: {command: [./who]}\nisolation: {tracer: \(tracer)}")
      try scene.confine(without: [.privileges])
      try #require(chown(program, 0, 0) == 0 && chmod(program, 0o4755) == 0)
      let outcome = try scene.check()
      #expect(outcome.code == 0, "\(outcome.output)")
      #expect(try scene.project.read(".highwater/output/it/1.log") == "I am \(user)\n")
      #expect(try scene.leftovers() == [])
    }
  }
}

extension Scene {
  /// The fields of the last check's fingerprint.
  func fingerprint() throws -> [String: Any] {
    let environment = try #require(try project.result()["environment"] as? [String: Any])
    return try #require(environment["fingerprint"] as? [String: Any])
  }

  /// The method that the last check was measured on.
  func method() throws -> String {
    try #require(try fingerprint()["measurement"] as? String)
  }

  /// Whether the main process's peak was read at its end.
  func mainIsExact() throws -> Bool {
    let table = try #require(try repetitions().last?["processTable"] as? [[String: Any]])
    return try #require(table.first { $0["main"] as? Bool == true }?["exact"] as? Bool)
  }
}
