import Glibc
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite("A store of the program's own", .timeLimit(.minutes(5)))
struct PriorRunStoreTests {
  private let fixture: LaunchFixture

  init() throws {
    fixture = try LaunchFixture(variables: ["FIXTURE_STORE": "json", "FIXTURE_ERRORS": "stdout"])
  }

  @Test("It hands the record on, and the next start knows what the program did when it was killed")
  func handedOn() throws {
    #expect(try fixture.next() == Report(.firstLaunch, nil))
    #expect(try fixture.kill("wait", activity: "idle") == .signaled(SIGKILL))
    #expect(try fixture.next() == Report(.killedUnknown(.idle), .killed(by: .unknown)))
    #expect(!fixture.folder.bytes(of: "record.json").isEmpty)
    #expect(fixture.entry == nil)
  }

  @Test("It sees no exit by itself, but one that is announced, and a changed version")
  func exits() throws {
    try fixture.run("return", activity: "active")
    #expect(try fixture.next()?.startup == "\(StartupReason.killedUnknown(.active))")
    try fixture.run("note-exit", activity: "active")
    #expect(try fixture.next(version: "1.1") == Report(.appUpgrade, .exited(code: 0)))
  }

  @Test("While the run before lives, another instance is told so, without a lock")
  func concurrent() throws {
    let program = try fixture.start("wait", activity: "active")
    _ = program.lines(upTo: "ready")
    #expect(try fixture.next() == Report(.concurrentInstance, nil))
  }

  @Test("Where it cannot load, nothing is known of the run before, and this one goes on")
  func failingLoad() throws {
    fixture.variables["FIXTURE_STORE"] = "load"
    #expect(try fixture.next() == Report(.unknown("Refused(call: \"load\")"), nil))
    #expect(!fixture.folder.bytes(of: "record.json").isEmpty)
  }

  @Test("Where it cannot save, that is said once, and this run goes on")
  func failingSave() throws {
    fixture.variables["FIXTURE_STORE"] = "save"
    let program = try fixture.start("return", activity: "active")
    let lines = program.lines()
    #expect(program.end() == .exited(0))
    #expect(lines.filter { $0.hasPrefix("highwater:") }.count == 1)
    #expect(lines.first?.hasSuffix("will not be known: Refused(call: \"save\")") == true)
    #expect(lines.contains("startup=\(StartupReason.firstLaunch)"))
  }

  @Test(
    "What is stored but is no record is unknown, and never the first launch or out of memory",
    arguments: ["{}", "[1]"]
  )
  func foreign(content: String) throws {
    fixture.variables["FIXTURE_POLICY"] = "elimination"
    try fixture.folder.write(content, to: "record.json")
    #expect(try fixture.next()?.startup.hasPrefix("unknown") == true)
  }
}
