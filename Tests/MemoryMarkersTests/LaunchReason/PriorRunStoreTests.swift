import Glibc
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite("Custom stores", .timeLimit(.minutes(60)))
struct PriorRunStoreTests {
  private let fixture: LaunchFixture

  init() throws {
    fixture = try LaunchFixture(variables: ["FIXTURE_STORE": "json", "FIXTURE_ERRORS": "stdout"])
  }

  @Test("The next start loads the record, and reports the activity when the program was killed")
  func loaded() throws {
    #expect(try fixture.next() == Report(.firstLaunch, nil))
    #expect(try fixture.kill("wait", activity: "idle") == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.killedUnknown(.idle), .killed(by: .unknown)))
    #expect(!fixture.folder.bytes(of: "record.json").isEmpty)
    #expect(fixture.entry == nil)
  }

  @Test("An exit is only recorded with noteExit, and a changed version is detected")
  func exits() throws {
    try fixture.run("return", activity: "active")
    #expect(try fixture.next()?.startup == "\(StartupReason.killedUnknown(.active))")
    try fixture.run("note-exit", activity: "active")
    #expect(try fixture.next(version: "1.1") == Report(.appUpgrade, .exited(code: 0)))
  }

  @Test("A forked child does not change the record of its parent")
  func fork() throws {
    let program = try fixture.start("fork", activity: "active")
    #expect(program.lines(upTo: "ready").last == "child=7")
    program.send(SIGKILL)
    program.end()
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("While the previous run is alive, another instance reports that, without a lock")
  func concurrent() throws {
    let program = try fixture.start("wait", activity: "active")
    _ = program.lines(upTo: "ready")
    #expect(try fixture.next() == Report(.concurrentInstance, nil))
  }

  @Test("If loading fails, the previous run is unknown, and this run is recorded")
  func failingLoad() throws {
    fixture.variables["FIXTURE_STORE"] = "load"
    #expect(try fixture.next() == Report(.unknown("StoreError(call: \"load\")"), nil))
    #expect(!fixture.folder.bytes(of: "record.json").isEmpty)
  }

  @Test("If saving fails, one warning is printed, and the program continues")
  func failingSave() throws {
    fixture.variables["FIXTURE_STORE"] = "save"
    let program = try fixture.start("return", activity: "active")
    let lines = program.lines()
    #expect(program.end() == .exited(0))
    #expect(lines.filter { $0.hasPrefix("highwater:") }.count == 1)
    #expect(lines.first?.hasSuffix("cannot record this launch: StoreError(call: \"save\")") == true)
    #expect(lines.contains("startup=\(StartupReason.firstLaunch)"))
  }

  @Test(
    "Stored data that is not a record is reported as unknown, not as the first launch or out of memory",
    arguments: ["{}", "[1]"]
  )
  func foreign(content: String) throws {
    fixture.variables["FIXTURE_POLICY"] = "elimination"
    try fixture.folder.write(content, to: "record.json")
    #expect(try fixture.next()?.startup.hasPrefix("unknown") == true)
  }
}
