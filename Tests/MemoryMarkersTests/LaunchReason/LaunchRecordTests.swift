import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite("The record while the program runs", .timeLimit(.minutes(5)))
struct LaunchRecordTests {
  private let fixture: LaunchFixture

  init() throws {
    fixture = try LaunchFixture()
  }

  @Test("A change of activity is at once readable from another process")
  func readable() throws {
    let program = try fixture.start("wait", version: "1.4", activity: "idle")
    _ = program.lines(upTo: "ready")
    let record = try #require(fixture.entry?.record)
    #expect(record.activity == .idle)
    #expect(record.run.pid == program.processID)
    #expect(record.run.appVersion == "1.4")
    #expect(record.run.buildID.utf8.count >= 16)
    #expect(record.run.buildID.allSatisfy { "0123456789abcdef".contains($0) })
    #expect(record.last.resident > 1 << 20)
    #expect(record.last.peakResident >= record.last.resident)
    #expect(!record.run.bootID.isEmpty && !record.run.kernelRelease.isEmpty)
  }

  @Test("The heartbeat thread updates the values without the program")
  func thread() throws {
    let program = try fixture.start("wait", activity: "active", detail: "thread")
    _ = program.lines(upTo: "ready")
    let first = try #require(fixture.entry?.record.last.bootTime)
    while fixture.entry?.record.last.bootTime == first { usleep(50_000) }
    #expect(fixture.entry?.record.activity == .active)
  }

  @Test("While the previous run is alive, another instance reports that and does not change the record")
  func concurrent() throws {
    let program = try fixture.start("wait", activity: "active")
    _ = program.lines(upTo: "ready")
    let before = fixture.folder.bytes(of: "fixture.launch")
    #expect(try fixture.next() == Report(.concurrentInstance, nil))
    #expect(fixture.folder.bytes(of: "fixture.launch") == before)
    program.send(SIGKILL)
    program.end()
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("A second start in one process is not evaluated, and does not change the record")
  func second() throws {
    let program = try fixture.start("second", activity: "active")
    #expect(program.lines(upTo: "ready").last == "second=\(StartupReason.notEvaluated)")
    #expect(fixture.entry?.record.activity == .active)
    #expect(fixture.entry?.record.run.appVersion == "1.0")
  }

  @Test("Changes, stop and exit of a forked child do not affect the record of the parent")
  func fork() throws {
    let program = try fixture.start("fork", activity: "active")
    #expect(program.lines(upTo: "ready").last == "child=7")
    let record = try #require(fixture.entry?.record)
    #expect(record.activity == .active)
    #expect(record.exit == nil)
    #expect(!record.isStopped)
  }

  @Test("A child that outlives its parent is not taken for the previous run")
  func orphan() throws {
    let program = try fixture.start("orphan", activity: "active")
    let line = try #require(program.lines(upTo: "ready").last)
    let child = try #require(line.hasPrefix("child=") ? pid_t(line.dropFirst(6)) : nil)
    defer { kill(child, SIGKILL) }
    #expect(program.end() == .exited(0))
    #expect(try fixture.next() == Report(.killedUnknown(.active), .killed(by: .unknown)))
  }

  @Test("A program that replaces itself with exec is an upgrade if the version changed, else a clean exit")
  func replaced() throws {
    for (version, startup) in [("1.1", StartupReason.appUpgrade), ("1.0", .cleanExit)] {
      try fixture.run("return")
      let program = try fixture.start("replace", activity: "active", detail: version)
      #expect(
        program.lines().suffix(3) == [
          "startup=\(startup)", "previous=\(RunEnd.unknown("it replaced itself with exec"))", "failures=0",
        ])
    }
  }

  @Test("If the checksum of the newest slot is wrong, the older slot is read")
  func olderSlot() throws {
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    let sequence = try #require(fixture.entry?.sequence)
    var bytes = fixture.folder.bytes(of: "fixture.launch")
    bytes[(sequence & 1 == 0 ? 512 : 2304) + 20] ^= 0xff
    try fixture.folder.write(bytes, to: "fixture.launch")
    #expect(fixture.entry?.sequence == sequence - 1)
    #expect(
      try fixture.next() == Report(.killedUnknown(.starting), .killed(by: .unknown), failures: 1))
  }

  @Test(
    "A damaged record, or one of another version, is reported as unknown; the next record is valid again",
    arguments: [(0, "the record is damaged"), (8, "the record has the unknown version 254")]
  )
  func damaged(offset: Int, problem: String) throws {
    fixture.variables["FIXTURE_POLICY"] = "elimination"
    #expect(try fixture.kill("wait", activity: "active") == .signaled(SIGKILL))
    var bytes = fixture.folder.bytes(of: "fixture.launch")
    bytes[offset] ^= 0xff
    try fixture.folder.write(bytes, to: "fixture.launch")
    #expect(try fixture.next() == Report(.unknown(problem), nil))
    #expect(try fixture.next() == Report(.cleanExit, .exited(code: 0)))
  }

  @Test(
    "A program that is killed during its changes leaves a valid record of the last or the previous change"
  )
  func kills() throws {
    let turns = getenv("HIGHWATER_KILLS").flatMap { Int(String(cString: $0)) } ?? 60
    var last = 0
    for turn in 0..<turns {
      // Each run continues the sequence of the previous record, and makes one change at its start.
      let before = fixture.entry?.sequence ?? 0
      let program = try fixture.start("change", detail: fixture.folder.file("count"))
      _ = program.lines(upTo: "ready")
      usleep(UInt32.random(in: 0...3000))
      program.send(SIGKILL)
      #expect(program.end() == .signaled(SIGKILL))
      let count = fixture.folder.bytes(of: "count").reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let entry = try #require(try LaunchPage.load(fixture.folder.bytes(of: "fixture.launch")), "kill \(turn)")
      let changes = entry.sequence - before - 1
      #expect(
        changes == count || changes + 1 == count,
        "kill \(turn): \(changes) changes are recorded, \(count) were started"
      )
      let activities: [LaunchRecord.Activity] = [.active, .idle, .stopping, .starting]
      #expect(entry.record.activity == (changes == 0 ? .starting : activities[Int(changes % 4)]), "kill \(turn)")
      if changes + 1 == count { last += 1 }
    }
    print("\(turns) kills, \(last) of them during a change")
  }
}
