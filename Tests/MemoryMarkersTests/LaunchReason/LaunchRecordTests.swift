import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

@Suite("The record while the program runs", .timeLimit(.minutes(60)))
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

  @Test("An instance that starts beside another is recorded on its own, and is the previous run of the next one")
  func rolling() throws {
    let old = try fixture.start("request", activity: "active")
    _ = old.lines(upTo: "ready")
    let before = fixture.folder.bytes(of: "fixture.launch")
    let new = try fixture.start("wait", version: "2.0", activity: "idle")
    #expect(Report(new) == Report(.concurrentInstance, nil))
    _ = new.lines(upTo: "ready")
    #expect(fixture.folder.bytes(of: "fixture.launch") == before)
    old.send(SIGTERM)
    old.end()
    // The old one has ended, but the last start is alive.
    let third = try fixture.start("wait", version: "2.0", activity: "active")
    let requested = RunEnd.requested(signal: SIGTERM, sender: .process(getpid()))
    #expect(Report(third) == Report(.concurrentInstance, nil, ended: [requested]))
    _ = third.lines(upTo: "ready")
    for program in [new, third] {
      program.send(SIGKILL)
      program.end()
    }
    let killed = RunEnd.killed(by: .unknown)
    var report = Report(.killedUnknown(.active), killed)
    report.ended = ["2.0 idle \(killed)"]
    #expect(try fixture.next(version: "2.0") == report)
    #expect(try fixture.next(version: "2.0") == Report(.cleanExit, .exited(code: 0)))
  }

  @Test("Of starts at the same time one reports each ended instance, unless another version of the library wrote it")
  func endedOnce() throws {
    let others = try (0..<12).map { try fixture.start("wait", version: "\($0)") }
    for other in others {
      // Not for a damaged record: none sees the file of another before it is locked.
      let startup = try #require(Report(other)).startup
      #expect([StartupReason.firstLaunch, .concurrentInstance].contains { "\($0)" == startup })
      _ = other.lines(upTo: "ready")
    }
    let newest = try fixture.start("wait")
    _ = newest.lines(upTo: "ready")
    for other in others {
      other.send(SIGKILL)
      other.end()
    }
    let unread = try #require(try LaunchPage.load(fixture.folder.bytes(of: "fixture+7.launch"))).record.run.appVersion
    var foreign = fixture.folder.bytes(of: "fixture+7.launch")
    foreign[8] ^= 0xff
    try fixture.folder.write(foreign, to: "fixture+7.launch")
    let starts = try (0..<6).map { _ in try fixture.start("wait") }
    let reports = try starts.map { try #require(Report($0)) }
    let versions = reports.flatMap(\.ended).compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    #expect(versions.sorted() == (0..<12).filter { "\($0)" != unread })
  }

  @Test("A new instance that fails beside the old one is reported to the next, and its failures are counted")
  func failingBesideAnother() throws {
    let old = try fixture.start("wait", activity: "active")
    _ = old.lines(upTo: "ready")
    #expect(try fixture.run("fault") == .signaled(SIGSEGV))
    for failures in 1...2 {
      let program = try fixture.start("fault")
      #expect(
        Report(program) == Report(.crash, .crashed(signal: SIGSEGV, coreDumped: false), failures: failures))
      program.end()
    }
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
    let forked = "it forked, and ended without a mark: a daemon creates LaunchReason after daemon(3)"
    #expect(try fixture.next() == Report(.unknown(forked), .unknown(forked)))
  }

  @Test("A program that becomes a daemon after its launch is not recorded any more, which both sides report")
  func daemon() throws {
    let program = try fixture.start("daemon")
    let line = try #require(program.lines(upTo: "ready").last)
    let child = try #require(line.hasPrefix("daemon=") ? pid_t(line.dropFirst(7).prefix { $0 != " " }) : nil)
    defer { kill(child, SIGKILL) }
    #expect(line.hasSuffix("recording=false"))
    #expect(program.end() == .exited(0))
    #expect(try fixture.next() == Report(.concurrentInstance, nil))
  }

  @Test("What the previous run knew is readable, and whether this run is recorded")
  func priorRun() throws {
    let first = try fixture.start("knows")
    #expect(first.lines().suffix(4).prefix(2) == ["recording=true ", "prior=none"])
    #expect(try fixture.kill("wait", activity: "idle") == .signaled(SIGKILL))
    let last = try #require(fixture.entry?.record)
    let lines = try fixture.start("knows", version: "1.1").lines().suffix(4)
    #expect(
      lines == [
        "recording=true ", "prior=1.0 \(last.run.pid) idle",
        "memory=\(last.last.resident) \(last.last.peakResident) \(last.last.limit ?? 0)",
        "seen=\(Double(last.last.wallTime) / 1e9)",
      ])
    fixture.variables["FIXTURE_POLICY"] = "off"
    #expect(try fixture.start("knows").lines().suffix(4).first == "recording=false disabled")
  }

  @Test("A run is recorded after the object was released")
  func released() throws {
    let program = try fixture.start("released")
    _ = program.lines(upTo: "ready")
    let first = try #require(fixture.entry?.record.last.bootTime)
    while fixture.entry?.record.last.bootTime == first { usleep(50_000) }
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

  @Test("A file that is empty or longer than a record is a damaged record, and is replaced", arguments: [0, 5000])
  func length(length: Int) throws {
    try fixture.run("return")
    var bytes = fixture.folder.bytes(of: "fixture.launch")
    bytes += [UInt8](repeating: 1, count: 1000)
    try fixture.folder.write(Array(bytes.prefix(length)), to: "fixture.launch")
    #expect(try fixture.next() == Report(.unknown("the record is damaged"), nil))
    #expect(fixture.folder.bytes(of: "fixture.launch").count == LaunchPage.size)
    #expect(try fixture.next() == Report(.cleanExit, .exited(code: 0)))
  }

  @Test("A version of any length is compared, in its first 256 bytes")
  func longVersion() throws {
    let version = String(repeating: "é", count: 200)
    #expect(try fixture.next(version: version) == Report(.firstLaunch, nil))
    #expect(try fixture.next(version: version) == Report(.cleanExit, .exited(code: 0)))
    #expect(try fixture.next(version: "2" + version)?.startup == "\(StartupReason.appUpgrade)")
  }

  @Test(
    "A damaged record, or one of another version, is reported as unknown; the next record is valid again",
    arguments: [(0, "the record is damaged"), (8, "the record has the unknown version 253")]
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
