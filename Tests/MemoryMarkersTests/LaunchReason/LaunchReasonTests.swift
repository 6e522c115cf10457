import Glibc
import LaunchRecords
import MarkerProtocol
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite("What a program learns of the run before", .timeLimit(.minutes(5)))
struct LaunchReasonTests {
  private let fixture: LaunchFixture

  init() throws {
    fixture = try LaunchFixture()
  }

  @Test("Without a record it is the first launch")
  func first() throws {
    #expect(try fixture.next() == Report(.firstLaunch, nil))
  }

  @Test("The handler is called before the start is over, with the same answer")
  func handler() throws {
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    let program = try fixture.start("handler")
    #expect(
      program.lines() == [
        "handler: \(StartupReason.killedUnknown(.active)), \(RunEnd.killed(by: .unknown))",
        "startup=\(StartupReason.killedUnknown(.active))",
      ])
  }

  /// How a run ends, and what the next one says.
  struct Ending: CustomTestStringConvertible {
    let words: String
    var activity = "active"
    var detail = ""
    let end: Program.End
    let startup: StartupReason
    let previous: RunEnd
    var failures = 0

    var testDescription: String { words + " " + detail }
  }

  @Test(
    "Each end that a program brings about itself is told",
    arguments: [
      Ending(words: "return", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      // Without noteExit.
      Ending(words: "exit", detail: "0", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      Ending(words: "exit", detail: "3", end: .exited(3), startup: .cleanExit, previous: .exited(code: 3)),
      Ending(
        words: "exit", activity: "", detail: "3", end: .exited(3), startup: .cleanExit, previous: .exited(code: 3),
        failures: 1),
      Ending(words: "quick-exit", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      Ending(words: "note-exit", end: .exited(0), startup: .cleanExit, previous: .exited(code: 0)),
      // Not seen, as documented.
      Ending(words: "_exit", end: .exited(0), startup: .killedUnknown(.active), previous: .killed(by: .unknown)),
      Ending(words: "abort", end: .signaled(SIGABRT), startup: .crash, previous: .aborted),
      Ending(
        words: "trap", activity: "", end: .signaled(SIGILL), startup: .crash,
        previous: .swiftTrap(signal: SIGILL, message: nil), failures: 1),
      Ending(
        words: "fault", end: .signaled(SIGSEGV), startup: .crash, previous: .crashed(signal: SIGSEGV, coreDumped: false)
      ),
      Ending(
        words: "overflow", activity: "idle", end: .signaled(SIGSEGV), startup: .crash,
        previous: .crashed(signal: SIGSEGV, coreDumped: false)),
    ]
  )
  func ends(ending: Ending) throws {
    #expect(try fixture.run(ending.words, activity: ending.activity, detail: ending.detail) == ending.end)
    #expect(try fixture.next() == Report(ending.startup, ending.previous, failures: ending.failures))
    #expect(try fixture.next() == Report(.cleanExit, .exited(code: 0)))
  }

  @Test("A plain kill is an unknown hand, with what the program did", arguments: ["", "active", "idle", "stopping"])
  func plainKill(activity: String) throws {
    #expect(try fixture.kill("wait", activity: activity) == .signaled(SIGKILL))
    let told: Activity = ["": .starting, "active": .active, "idle": .idle, "stopping": .stopping][activity] ?? .active
    #expect(
      try fixture.next()
        == Report(.killedUnknown(told), .killed(by: .unknown), failures: told == .starting ? 1 : 0))
  }

  @Test("By elimination the same kill is out of memory, inferred")
  func elimination() throws {
    fixture.variables["FIXTURE_POLICY"] = "elimination"
    #expect(try fixture.kill("wait", activity: "idle") == .signaled(SIGKILL))
    #expect(
      try fixture.next() == Report(.outOfMemory(.idle, .inferred), .outOfMemory(.systemPressure, .inferred)))
  }

  @Test("A kill that no record was ever finished before leaves the first launch")
  func killedBeforeFirstStore() throws {
    try fixture.folder.write([UInt8](repeating: 0, count: LaunchPage.size), to: "fixture.launch")
    #expect(try fixture.next() == Report(.firstLaunch, nil))
  }

  @Test("A request to end is told with its sender", arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
  func request(signal: CInt) throws {
    #expect(try fixture.kill("request", activity: "idle", by: signal) == .signaled(signal))
    #expect(
      try fixture.next() == Report(.requested, .requested(signal: signal, sender: .process(getpid()))))
  }

  @Test("A program that ends by itself when it is asked to, by a handler installed later, has ended cleanly")
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

  @Test("An earlier handler is called, and a fault that it healed leaves no mark")
  func healed() throws {
    let program = try fixture.start("healed", activity: "active")
    let lines = program.lines(upTo: "ready")
    #expect(lines.last == "healed")
    program.send(SIGKILL)
    program.end()
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("Swift's backtracer, an earlier handler, still prints, and the crash is marked")
  func backtracer() throws {
    fixture.variables["SWIFT_BACKTRACE"] = "enable=yes,color=no,symbolicate=off,output-to=stdout"
    let program = try fixture.start("trap", activity: "active")
    let printed = program.lines()
    #expect(program.end() == .signaled(SIGILL))
    #expect(printed.contains { $0.contains("Thread 0") })
    fixture.variables["SWIFT_BACKTRACE"] = nil
    #expect(try fixture.next() == Report(.crash, .swiftTrap(signal: SIGILL, message: nil)))
  }

  @Test("Another version of the app is an upgrade, however the run before ended")
  func upgrade() throws {
    #expect(try fixture.kill("request", activity: "idle", by: SIGTERM) == .signaled(SIGTERM))
    #expect(
      try fixture.next(version: "1.1")
        == Report(.appUpgrade, .requested(signal: SIGTERM, sender: .process(getpid()))))
    #expect(try fixture.next(version: "1.1") == Report(.cleanExit, .exited(code: 0)))
  }

  @Test("Another boot id is a restart of the machine, while active as well")
  func reboot() throws {
    fixture.variables["FIXTURE_PROC"] = fixture.folder.path
    try fixture.folder.write("6.1.0\n", to: "sys/kernel/osrelease")
    try fixture.folder.write("first\n", to: "sys/kernel/random/boot_id")
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    try fixture.folder.write("second\n", to: "sys/kernel/random/boot_id")
    #expect(try fixture.next() == Report(.restartOfMachine, .unknown("the machine was started anew")))
    try fixture.folder.write("6.2.0\n", to: "sys/kernel/osrelease")
    #expect(try fixture.next() == Report(.osUpgrade, .exited(code: 0)))
  }

  @Test("A hang mark and SIGKILL is a hang, and a hang that is over is none")
  func hang() throws {
    #expect(try fixture.kill("hang", activity: "active") == .signaled(SIGKILL))
    let report = try #require(try fixture.next())
    #expect(report.startup == "\(StartupReason.hang)")
    #expect(report.previous.hasPrefix("hung("))
    #expect(try fixture.kill("hung-once", activity: "active") == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("A run that a debugger holds, and that is killed, was debugged")
  func debugger() throws {
    let program = try fixture.start("wait", activity: "active", detail: "thread")
    _ = program.lines(upTo: "ready")
    // Bound at run time, since ptrace(2) is variadic in C; as its parent we may trace it.
    typealias Trace = @convention(c) (Int, pid_t, Int, Int) -> Int
    let symbol = try #require(dlsym(nil, "ptrace"))
    let seize = 0x4206
    try #require(unsafeBitCast(symbol, to: Trace.self)(seize, program.processID, 0, 0) == 0)
    while fixture.entry?.record.last.tracer == 0 { usleep(50_000) }
    program.send(SIGKILL)
    #expect(program.end() == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.debug, .unknown("it was under a debugger")))
  }

  @Test("After stop nothing is recorded, and the next start says so")
  func stopped() throws {
    #expect(try fixture.kill("stop", activity: "idle") == .signaled(SIGKILL))
    #expect(fixture.entry?.record.activity == .idle)
    #expect(try fixture.next() == Report(.notMonitored, .unknown("the library had been stopped")))
  }

  @Test("Switched off, nothing is looked at, opened or written")
  func off() throws {
    fixture.variables["FIXTURE_POLICY"] = "off"
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.notEvaluated, nil))
    #expect(fixture.folder.bytes(of: "fixture.launch").isEmpty)
  }

  @Test("In a host of unit tests, as this one, nothing is evaluated")
  func testHost() {
    let launch = LaunchReason(store: FileRunStore(folder: fixture.folder.path), appVersion: "1")
    #expect(launch.startup == .notEvaluated)
    launch.set(.active)
    #expect(fixture.entry == nil)
  }

  @Test("Under the gate the reason is sent as a mark, and failed launches as a value")
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

  @Test("Under the gate each change of activity is sent as a mark")
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
