import Foundation
import Testing

/// A way for a repetition to end, and its result.
struct EndCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The scenario's keys, in YAML.
  let scenario: String
  let code: Int32
  /// The end's kind in the result file, with its exit code or signal.
  let end: String
  /// A text that the report must contain.
  let message: String

  init(
    _ condition: String, _ scenario: String, _ code: Int32, _ end: String, report message: String = "highwater: pass"
  ) {
    testDescription = condition
    self.scenario = scenario
    self.code = code
    self.end = end
    self.message = message
  }

  /// A target that kills itself with a signal.
  static func killsItself(_ signal: String, as kind: String, _ code: Int32 = 3) -> EndCase {
    EndCase(
      "ended by its own SIG\(signal)", "target: {shell: 'ulimit -c 0; kill -s \(signal) $$; sleep 1000'}",
      code, "\(kind) \(signal)", report: "SIG\(signal)"
    )
  }
}

@Suite("Ends of repetitions, and their exit codes", .endsHangs)
struct RepetitionEndTests {
  static let up = "ready: {file: up, within: 30s}\nsetup: [[rm, -f, up, go]]\n"

  /// Makes a target wait for a step that creates the file `go`, so that it ends shortly after that.
  static let untilGo = "touch up; while [ ! -e go ]; do sleep 0.02; done"

  static let briefly = "steps: [{wait: 100ms}]\n"

  static let daemon = "ready: {file: d.pid, within: 30s}\nsetup: [[rm, -f, d.pid, go]]\n"

  static let exits: [EndCase] = [
    EndCase("exit code 0", "target: {shell: sleep 0.2; exit 0}", 0, "exited 0"),
    EndCase(
      "exit code 3", "target: {shell: echo gone wrong; exit 3}", 3, "exited 3",
      report: "the target ended: exited with code 3 (expected exit code 0)"),
    EndCase("exit code 3, as expected", "target: {shell: sleep 0.2; exit 3}\nexpect: {exit: 3}", 0, "exited 3"),
    EndCase(
      "exit code 0 where 3 is expected", "target: {shell: exit 0}\nexpect: {exit: 3}", 3, "exited 0",
      report: "the target ended: exited with code 0 (expected exit code 3)"),
    EndCase(
      "exit code 137 of a shell", "target: {shell: \"sh -c 'kill -KILL $$'; exit $?\"}", 3, "exited 137",
      report: "a child was killed by SIGKILL"),
    EndCase(
      "ended by USR1, as expected", "target: {shell: 'sleep 0.2; kill -USR1 $$; sleep 1000'}\nexpect: {signal: USR1}",
      0, "signaled USR1"),
    EndCase(
      "ended by KILL, as expected", "target: {shell: 'sleep 0.2; kill -KILL $$; sleep 1000'}\nexpect: {signal: KILL}",
      0, "killed KILL"),
  ]

  static let signals: [EndCase] = [
    .killsItself("HUP", as: "signaled"), .killsItself("INT", as: "signaled"), .killsItself("QUIT", as: "signaled"),
    .killsItself("ILL", as: "trap"), .killsItself("TRAP", as: "trap"), .killsItself("ABRT", as: "abort"),
    .killsItself("BUS", as: "crash"), .killsItself("FPE", as: "crash"), .killsItself("KILL", as: "killed", 4),
    .killsItself("USR1", as: "signaled"), .killsItself("SEGV", as: "crash"), .killsItself("USR2", as: "signaled"),
    .killsItself("PIPE", as: "signaled"), .killsItself("ALRM", as: "signaled"), .killsItself("TERM", as: "signaled"),
    .killsItself("XCPU", as: "signaled"), .killsItself("SYS", as: "crash"),
    EndCase(
      "a read of address 0", "target: {shell: \"ulimit -c 0; exec python3 -c 'import ctypes; ctypes.string_at(0)'\"}",
      3, "crash SEGV", report: "crash (SIGSEGV)"),
    EndCase(
      "abort()", "target: {shell: \"ulimit -c 0; exec python3 -c 'import os; os.abort()'\"}", 3, "abort ABRT",
      report: "abort (SIGABRT)"),
    EndCase(
      "abort() after a refused allocation",
      "target: {shell: \"ulimit -c 0; echo 'Fatal error: failed to allocate 99 bytes of memory'; kill -ABRT $$\"}", 3,
      "allocation-failure ABRT", report: "failed to allocate 99 bytes"),
  ]

  static let starts: [EndCase] = [
    EndCase(
      "the program is missing", "target: {command: [no-such-program]}", 3, "start-failed",
      report: "cannot execute `no-such-program`: no such program"),
    EndCase(
      "the program is not executable", "target: {command: [./highwater.yml]}", 3, "start-failed",
      report: "is it executable"),
    EndCase(
      "the interpreter is missing", "setup: ['printf \"#!/no/such\\n\" > s; chmod +x s']\ntarget: {command: [./s]}", 3,
      "start-failed", report: "its interpreter (#! line)"),
    EndCase(
      "the folder is missing", "target: {command: [\"true\"], cwd: nowhere}", 3, "start-failed",
      report: "nowhere`: no such file or directory"),
    EndCase(
      "the input file is missing", "target: {command: [cat], stdin: {file: nothing}}", 3, "start-failed",
      report: "nothing`: no such file or directory"),
    EndCase(
      "the setup fails", "setup: ['echo no disk; exit 9']\ntarget: {shell: touch started}", 3, "start-failed",
      report: "setup `echo no disk; exit 9`: exited with code 9 (expected 0)"),
  ]

  static let times: [EndCase] = [
    EndCase(
      "too slow", "target: {command: [sleep, 1000]}\ntimeout: 300ms", 3, "timeout",
      report: "the target did not end within the scenario's timeout of 300 ms"),
    EndCase(
      "not ready in time", "target: {command: [sleep, 1000]}\nready: {file: never, within: 300ms}", 3, "timeout",
      report: "/never`: not ready within 300 ms"),
    EndCase(
      "ends before it is ready", "target: {shell: echo no licence; exit 2}\nready: {log: listening, within: 60s}", 3,
      "exited 2", report: "the target ended (exited with code 2) before it was ready"),
    EndCase(
      "no main process in time",
      "target: {command: [sleep, 1000], main: {pidfile: never.pid}}\nready: {delay: 10ms, within: 300ms}", 3, "timeout",
      report: "the main process did not appear within 300 ms: pidfile"),
    EndCase(
      "TERM ignored",
      up + "target: {shell: \"trap '' TERM; touch up; while :; do sleep 0.1; done\"}\nstop: {within: 300ms}", 0,
      "stopped KILL", report: "did not end within 300 ms of SIGTERM and was killed"),
  ]

  static let scripts: [EndCase] = [
    EndCase("stopped", up + briefly + "target: {shell: 'touch up; exec sleep 1000'}", 0, "stopped TERM"),
    EndCase(
      "stopped by INT",
      up + briefly
        + "target: {shell: \"trap 'exit 0' INT; touch up; while :; do sleep 0.1; done\"}\nstop: {signal: INT}", 0,
      "stopped 0"),
    EndCase(
      "stopped with exit code 5", up + "target: {shell: \"trap 'exit 5' TERM; touch up; while :; do sleep 0.1; done\"}",
      3, "stopped 5", report: "stopped (exit code 5)"),
    EndCase(
      "crashes while being stopped",
      up + "target: {shell: \"ulimit -c 0; trap 'kill -SEGV $$' TERM; touch up; while :; do sleep 0.1; done\"}", 3,
      "crash SEGV", report: "crash (SIGSEGV)"),
    EndCase(
      "a step fails", up + "target: {shell: 'touch up; exec sleep 1000'}\nsteps: [{run: 'echo refused; exit 7'}]", 3,
      "stopped TERM", report: "step 1 of 1 `run: echo refused; exit 7`: exited with code 7 (expected 0)"),
    EndCase(
      "a client is missing", up + "target: {shell: 'touch up; exec sleep 1000'}\nsteps: [{run: [no-such-client]}]", 3,
      "stopped TERM", report: "cannot execute `no-such-client`: no such program"),
    EndCase(
      "a client is too slow",
      up + "target: {shell: 'touch up; exec sleep 1000'}\nsteps: [{run: {command: sleep 1000, within: 300ms}}]", 3,
      "stopped TERM", report: "did not end within 300 ms and was killed"),
    EndCase(
      "ends before the last step",
      up + "target: {shell: '\(untilGo); exit 0'}\nsteps: [{run: touch go}, {wait: 60s}, {run: 'true'}]", 3,
      // On a busy machine it may end before the client of the first step has, or between two steps.
      "exited 0", report: "the target ended (exited with code 0)"),
    EndCase(
      "killed by an unknown sender during a step",
      up + "target: {shell: '\(untilGo); kill -KILL $$'}\nsteps: [{run: touch go}, {wait: 60s}, {run: 'true'}]", 4,
      "killed KILL", report: "killed by SIGKILL; sender unknown"),
    EndCase(
      "crashes during the last step, whose client hangs",
      up + "target: {shell: 'ulimit -c 0; \(untilGo); kill -SEGV $$'}\nsteps: [{run: touch go; sleep 1000}]",
      3, "crash SEGV", report: "the target ended (killed by SIGSEGV) during the step"),
    EndCase(
      "ends during the last step, whose client hangs",
      up + "target: {shell: '\(untilGo)'}\nsteps: [{run: {command: touch go; sleep 1000, within: 3s}}]",
      3, "exited 0", report: "did not end within 3.0 s and was killed"),
    EndCase(
      "ends during the last step, whose client outlives the timeout",
      up + "target: {shell: '\(untilGo)'}\nsteps: [{run: touch go; sleep 1000}]\ntimeout: 3s",
      3, "exited 0", report: "was running when the scenario's timeout of 3.0 s expired"),
    EndCase(
      "the teardown fails", "target: {command: [\"true\"]}\nteardown: ['echo still there; exit 4', 'touch torn']", 3,
      "exited 0", report: "teardown `echo still there; exit 4`: exited with code 4 (expected 0)"),
  ]

  static let trees: [EndCase] = [
    EndCase(
      "children outlive it", "target: {shell: 'sleep 1000 & sleep 1000 & sleep 0.2'}", 0, "exited 0",
      report: "2 processes outlived the target and were killed: sleep, sleep"),
    EndCase(
      "a double fork outlives it", "target: {shell: '(setsid sleep 1000 &) ; sleep 0.2'}", 0, "exited 0",
      report: "1 process outlived the target and was killed: sleep"),
    EndCase(
      "a daemon by its pidfile",
      daemon + briefly
        + "target: {shell: \"setsid sh -c 'echo $$ > d.pid; exec sleep 1000' &\", main: {pidfile: d.pid}}",
      0, "stopped TERM"),
    EndCase(
      "a daemon that crashes",
      daemon + "steps: [{run: touch go}, {wait: 60s}]\nuntil: exit\n"
        + "target: {shell: \"setsid sh -c 'ulimit -c 0; echo $$ > d.pid; \(untilGo); kill -SEGV $$' &\", "
        + "main: {pidfile: d.pid}}",
      3, "crash SEGV", report: "crash (SIGSEGV)"),
    EndCase(
      "a worker found by its name, whose untraced parent waits for it",
      "target: {shell: './worker; exit 3', main: {name: worker}}\nuntil: exit\nisolation: {tracer: off}\n"
        + "setup: [\"printf '#!/bin/sh\\\\n\(untilGo)\\\\n' > worker; chmod +x worker\", [rm, -f, go]]\n"
        + "steps: [{run: touch go}]", 3, "exited 3",
      report: "exited with code 3"),
  ]

  @Test(
    "Every end is reported with its exit code, kind and cause, and leaves no process and no file",
    arguments: exits + signals + starts + times + scripts + trees
  )
  func end(_ end: EndCase) throws {
    let harness = try ScenarioHarness(end.scenario)
    let outcome = try harness.check()
    #expect(outcome.code == end.code, "\(outcome.output)\(outcome.errors)")
    #expect(try harness.end() == end.end)
    #expect(outcome.text.contains(end.message), "\(outcome.output)")
    try harness.expectNothingLeft()
    #expect(!harness.has("started"), "the target must not have been started")
  }

  @Test(
    "A port in use is reported before the target is started",
    arguments: ["tcp: PORT", "http: \"http://127.0.0.1:PORT/\""])
  func portTaken(condition: String) throws {
    let port = try BoundPort()
    let ready = condition.replacingOccurrences(of: "PORT", with: "\(port.number)")
    let harness = try ScenarioHarness("target: {shell: touch started; sleep 1000}\nready: {\(ready)}")
    let outcome = try harness.check()
    #expect(outcome.code == 3)
    #expect(try harness.end() == "start-failed")
    #expect(outcome.text.contains("port \(port.number) is already in use by another process"), "\(outcome.output)")
    #expect(!harness.has("started"))
    try harness.expectNothingLeft()
  }
}
