import Glibc
import LaunchRecords
import MarkerProtocol
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite("Startup reasons of real processes", .timeLimit(.minutes(60)))
struct LaunchReasonTests {
  private let fixture: LaunchFixture

  init() throws {
    fixture = try LaunchFixture()
  }

  @Test("Without a record, the reason is the first launch")
  func first() throws {
    #expect(try fixture.next() == Report(.firstLaunch, nil))
  }

  @Test("The handler is called before the initializer returns, with the same result")
  func handler() throws {
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    let program = try fixture.start("handler")
    #expect(
      program.lines() == [
        "handler: \(StartupReason.killedUnknown(.active)), \(RunEnd.killed(by: .unknown))",
        "startup=\(StartupReason.killedUnknown(.active))",
      ])
  }

  /// How a run ends, and what the next one reports.
  struct Ending: CustomTestStringConvertible {
    let mode: String
    var activity = "active"
    var detail = ""
    let end: Program.End
    let startup: StartupReason
    let previous: RunEnd
    var failures = 0

    var testDescription: String { mode + " " + detail }
  }

  @Test(
    "Each way to exit or crash is reported",
    arguments: [
      Ending(mode: "return", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      // Without noteExit.
      Ending(mode: "exit", detail: "0", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      Ending(mode: "exit", detail: "3", end: .exited(3), startup: .cleanExit, previous: .exited(code: 3)),
      Ending(
        mode: "exit", activity: "", detail: "3", end: .exited(3), startup: .cleanExit, previous: .exited(code: 3),
        failures: 1),
      Ending(mode: "quick-exit", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      Ending(mode: "note-exit", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      // Not detected, as documented.
      Ending(mode: "_exit", end: .exited(0), startup: .killedUnknown(.active), previous: .killed(by: .unknown)),
      Ending(mode: "abort", end: .signaled(SIGABRT), startup: .crash, previous: .aborted),
      Ending(
        mode: "trap", activity: "", end: .signaled(SIGILL), startup: .crash,
        previous: .swiftTrap(signal: SIGILL, message: nil), failures: 1),
      Ending(
        mode: "fault", end: .signaled(SIGSEGV), startup: .crash, previous: .crashed(signal: SIGSEGV, coreDumped: false)
      ),
      Ending(
        mode: "thread-overflow", detail: "prepared", end: .signaled(SIGSEGV), startup: .crash,
        previous: .crashed(signal: SIGSEGV, coreDumped: false)),
      // Not detected, as documented.
      Ending(
        mode: "thread-overflow", end: .signaled(SIGSEGV), startup: .killedUnknown(.active),
        previous: .killed(by: .unknown)),
      Ending(
        mode: "overflow", activity: "idle", end: .signaled(SIGSEGV), startup: .crash,
        previous: .crashed(signal: SIGSEGV, coreDumped: false)),
    ]
  )
  func ends(ending: Ending) throws {
    #expect(try fixture.run(ending.mode, activity: ending.activity, detail: ending.detail) == ending.end)
    #expect(try fixture.next() == Report(ending.startup, ending.previous, failures: ending.failures))
    #expect(try fixture.next() == Report(.cleanExit, .exited(code: 0)))
  }

  @Test(
    "Signals that terminate a program without being a crash are reported",
    arguments: [SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR])
  func otherSignals(signal: CInt) throws {
    #expect(try fixture.run("signal", activity: "active", detail: "\(signal)") == .signaled(signal))
    #expect(try fixture.next() == Report(.crash, .crashed(signal: signal, coreDumped: false)))
  }

  @Test("A SIGTERM that the program survives does not count, from the moment at which it has survived it")
  func survived() throws {
    for stop in ["60000", "0"] {
      fixture.variables["FIXTURE_STOP"] = stop
      let program = try fixture.start("survives", activity: "active")
      _ = program.lines(upTo: "ready")
      program.send(SIGTERM)
      _ = program.lines(upTo: "survived")
      if stop != "0" { while fixture.entry?.record.request?.hasReturned != true { usleep(1000) } }
      while stop == "0", fixture.entry?.record.request != nil { usleep(50_000) }
      program.send(SIGKILL)
      program.end()
      #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
    }
  }

  @Test(
    "A plain SIGKILL has an unknown sender, and is reported with the activity",
    arguments: ["", "active", "idle", "stopping"])
  func plainKill(activity: String) throws {
    #expect(try fixture.kill("wait", activity: activity) == .signaled(SIGKILL))
    let reported: LaunchReason.Activity =
      ["": .starting, "active": .active, "idle": .idle, "stopping": .stopping][activity] ?? .active
    #expect(
      try fixture.next()
        == Report(.killedUnknown(reported), .killed(by: .unknown), failures: reported == .starting ? 1 : 0))
  }

  @Test("By elimination the same kill is inferred to be out of memory")
  func elimination() throws {
    fixture.variables["FIXTURE_POLICY"] = "elimination"
    #expect(try fixture.kill("wait", activity: "idle") == .signaled(SIGKILL))
    #expect(
      try fixture.next() == Report(.outOfMemory(.idle, .inferred), .outOfMemory(.systemPressure, .inferred)))
  }

  @Test("If the process is killed before its first record is complete, the next start is the first launch")
  func killedBeforeFirstStore() throws {
    try fixture.folder.write([UInt8](repeating: 0, count: LaunchPage.size), to: "fixture.launch")
    #expect(try fixture.next() == Report(.firstLaunch, nil))
  }

  @Test("A termination request is reported with its sender", arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
  func request(signal: CInt) throws {
    #expect(try fixture.kill("request", activity: "idle", by: signal) == .signaled(signal))
    #expect(
      try fixture.next() == Report(.requested, .requested(signal: signal, sender: .process(getpid()))))
  }

  @Test("A program that exits in a signal handler that it installed later has exited cleanly")
  func graceful() throws {
    #expect(try fixture.kill("restarts", activity: "active", by: SIGTERM) == .exited(0))
    #expect(try fixture.next() == Report(.cleanExit, .exited(code: 0)))
  }

  @Test("A signal that the program ignores stays ignored")
  func ignored() throws {
    let program = try fixture.start("ignored", activity: "active")
    _ = program.lines(upTo: "ready")
    program.send(SIGHUP)
    program.send(SIGKILL)
    #expect(program.end() == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("An earlier handler is called, and a fault that it recovers from leaves no mark")
  func recovered() throws {
    let program = try fixture.start("recovered", activity: "active")
    let lines = program.lines(upTo: "ready")
    #expect(lines.last == "recovered")
    program.send(SIGKILL)
    program.end()
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("Swift's backtracer, an earlier handler, still prints a backtrace, and the crash is marked")
  func backtracer() throws {
    fixture.variables["SWIFT_BACKTRACE"] = "enable=yes,color=no,symbolicate=off,output-to=stdout"
    let program = try fixture.start("trap", activity: "active")
    let printed = program.lines()
    #expect(program.end() == .signaled(SIGILL))
    #expect(printed.contains { $0.contains("Thread 0") })
    fixture.variables["SWIFT_BACKTRACE"] = nil
    #expect(try fixture.next() == Report(.crash, .swiftTrap(signal: SIGILL, message: nil)))
  }

  @Test("Another version of the app is an upgrade, however the previous run ended")
  func upgrade() throws {
    #expect(try fixture.kill("request", activity: "idle", by: SIGTERM) == .signaled(SIGTERM))
    #expect(
      try fixture.next(version: "1.1")
        == Report(.appUpgrade, .requested(signal: SIGTERM, sender: .process(getpid()))))
    #expect(try fixture.next(version: "1.1") == Report(.cleanExit, .exited(code: 0)))
  }

  @Test("Another boot ID is a restart of the machine, also while active")
  func reboot() throws {
    fixture.variables["FIXTURE_PROC"] = fixture.folder.path
    try fixture.folder.write("6.1.0\n", to: "sys/kernel/osrelease")
    try fixture.folder.write("first\n", to: "sys/kernel/random/boot_id")
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    try fixture.folder.write("second\n", to: "sys/kernel/random/boot_id")
    #expect(try fixture.next() == Report(.restartOfMachine, .unknown("the machine was restarted")))
    try fixture.folder.write("6.2.0\n", to: "sys/kernel/osrelease")
    #expect(try fixture.next() == Report(.osUpgrade, .exited(code: 0)))
  }

  @Test("A hang mark followed by SIGKILL is a hang, unless the hang had ended")
  func hang() throws {
    #expect(try fixture.kill("hang", activity: "active") == .signaled(SIGKILL))
    let report = try #require(try fixture.next())
    #expect(report.startup == "\(StartupReason.hang)")
    #expect(report.previous.hasPrefix("hung("))
    #expect(try fixture.kill("hung-once", activity: "active") == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("A run that is killed while a debugger is attached is reported as debugged")
  func debugger() throws {
    let program = try fixture.start("wait", activity: "active", detail: "thread")
    _ = program.lines(upTo: "ready")
    // Looked up at run time, because ptrace(2) is variadic in C; a parent may trace its child.
    typealias Trace = @convention(c) (Int, pid_t, Int, Int) -> Int
    let symbol = try #require(dlsym(nil, "ptrace"))
    let seize = 0x4206
    try #require(unsafeBitCast(symbol, to: Trace.self)(seize, program.processID, 0, 0) == 0)
    while fixture.entry?.record.last.tracer == 0 { usleep(50_000) }
    program.send(SIGKILL)
    #expect(program.end() == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.debug, .unknown("a debugger was attached")))
  }

  @Test("After stop nothing is recorded, and the next start reports that")
  func stopped() throws {
    #expect(try fixture.kill("stop", activity: "idle") == .signaled(SIGKILL))
    #expect(fixture.entry?.record.activity == .idle)
    #expect(try fixture.next() == Report(.notMonitored, .unknown("launch recording was stopped")))
  }

  @Test("If it is disabled, nothing is read or written")
  func off() throws {
    fixture.variables["FIXTURE_POLICY"] = "off"
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.notEvaluated, nil))
    #expect(fixture.folder.bytes(of: "fixture.launch").isEmpty)
  }

  @Test("In a unit test host, such as this one, nothing is evaluated")
  func testHost() {
    let launch = LaunchReason(store: FileRunStore(folder: fixture.folder.path), appVersion: "1")
    #expect(launch.startup == .notEvaluated)
    launch.set(.active)
    #expect(fixture.entry == nil)
  }

  @Test("Under Highwater the reason is sent as a mark, and failed launches as a value")
  func gate() throws {
    let fifo = try Fifo(in: fixture.folder)
    #expect(try fixture.kill("wait") == .signaled(SIGKILL))
    fixture.variables = fifo.variables
    #expect(try fixture.next()?.failures == 1)
    fifo.readToEnd()
    #expect(
      fifo.messages == [
        .mark("activity.starting"), .mark("launch.killed-unknown.starting"),
        .value(name: "launch.failures", number: 1, unit: "launches"),
      ])
  }

  @Test("Under Highwater each change of activity is sent as a mark")
  func activities() throws {
    let fifo = try Fifo(in: fixture.folder)
    fixture.variables = fifo.variables
    for activity in ["", "active", "idle", "stopping"] {
      let before = fifo.messages.count
      #expect(try fixture.kill("wait", activity: activity) == .signaled(SIGKILL))
      fifo.readToEnd()
      let names = fifo.messages.dropFirst(before).compactMap { if case .mark(let name) = $0 { name } else { nil } }
      let activities = names.filter { $0.hasPrefix("activity.") }
      #expect(activities == ["activity.starting"] + (activity.isEmpty ? [] : ["activity.\(activity)"]))
    }
  }
}
