import Foundation
import Testing

@Suite("A machine where nothing can be measured: exit code 2 and a hint, before a target is started", .endsHangs)
struct RestrictedMachineTests {
  /// Runs Highwater, as `"$@"`, under a restriction that shells can set.
  private func run(_ script: String, _ arguments: String...) throws -> (outcome: Highwater.Outcome, isStarted: Bool) {
    var harness = try ScenarioHarness("target: {command: [touch, started]}")
    harness.launcher = ["/bin/bash", "-c", script, "bash"]
    let outcome = try harness.run(arguments.isEmpty ? ["check", "--allow-missing-baseline"] : arguments)
    try harness.expectNothingLeft()
    return (outcome, harness.has("started"))
  }

  @Test(
    "A limit that is too low is named",
    arguments: [
      ("ulimit -n 16; exec \"$@\"", "open files", "ulimit -n"),
      ("ulimit -f 64; exec \"$@\"", "file sizes", "ulimit -f"),
      ("export TMPDIR=/no/such; exec \"$@\"", "/no/such", "TMPDIR"),
    ])
  func limits(script: String, problem: String, hint: String) throws {
    let (outcome, isStarted) = try run(script)
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("error:") && outcome.errors.contains(problem), "\(outcome.errors)")
    #expect(outcome.errors.contains("hint:") && outcome.errors.contains(hint), "\(outcome.errors)")
    #expect(!isStarted)
  }

  @Test(
    "With little address space there is an error, or the target is measured",
    arguments: Array(stride(from: 140, through: 400, by: 10)))
  func addressSpace(mebibytes: Int) throws {
    let (outcome, _) = try run("ulimit -v \(mebibytes * 1024); exec \"$@\"")
    // 127: the dynamic loader could not map the libraries.
    #expect([0, 2, 127].contains(outcome.code), "\(outcome.code) \(outcome.errors)")
    #expect(outcome.code != 2 || outcome.errors.contains("ulimit -v"), "\(outcome.errors)")
  }

  @Test(
    "Without `TMPDIR` and `HOME` the defaults are taken", arguments: ["env -u HOME TMPDIR= \"$@\"", "env -i \"$@\""])
  func unset(script: String) throws {
    #expect(try run(script).outcome.code == 0)
  }
}

@Suite("Other views of /proc", .enabled(if: Highwater.isRoot, "needs root"), .endsHangs)
struct ProcViewTests {
  private static let withoutProc =
    "unshare --mount --propagation private sh -c 'umount -l /proc; exec \"$@\"' sh \"$@\""
  private static let otherProc = "exec unshare --pid --fork \"$@\""

  @Test("Without the /proc of this namespace measuring is an error", arguments: [withoutProc, otherProc])
  func noProc(script: String) throws {
    for command in [["check"], ["record", "--", "touch", "started"]] {
      var harness = try ScenarioHarness("target: {command: [touch, started]}")
      harness.launcher = ["/bin/sh", "-c", script, "sh"]
      let outcome = try harness.run(command)
      #expect(outcome.code == 2)
      #expect(outcome.errors.contains("/proc: error:") && outcome.errors.contains("hint:"), "\(outcome.errors)")
      #expect(!harness.has("started"))
    }
  }

  @Test("Arguments do not need /proc")
  func arguments() throws {
    var harness = try ScenarioHarness()
    harness.launcher = ["/bin/sh", "-c", Self.withoutProc, "sh"]
    #expect(try harness.run(["--version"]).output.hasPrefix("highwater "))
    #expect(try harness.run(["validate"]).code == 0)
    #expect(try harness.run(["bogus"]).code == 2)
  }

  @Test(
    "Few processes: an error before the start",
    arguments: ["prlimit --nproc=4", "prlimit --nproc=12"])
  func processes(limit: String) throws {
    var harness = try ScenarioHarness("target: {command: [touch, started]}")
    // A user without other processes and without a name.
    harness.launcher = [
      "/bin/sh", "-c", "exec setpriv --reuid 54321 --regid 54321 --clear-groups \(limit) \"$@\"", "sh",
    ]
    chmod(harness.project.path, 0o777)
    let outcome = try harness.run(["check"])
    #expect(outcome.code == 2)
    #expect(outcome.errors.contains("process limit"), "\(outcome.errors)")
    #expect(!harness.has("started"))
  }
}
