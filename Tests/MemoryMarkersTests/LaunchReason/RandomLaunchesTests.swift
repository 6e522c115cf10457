import Glibc
import LaunchRecords
import Testing

@testable import MemoryMarkers

private typealias Report = LaunchFixture.Report

/// How a run ends in `RandomLaunchesTests`.
private enum TrueEnd: String, CaseIterable, CustomStringConvertible {
  case clean, crash, killedByHand, killedBeforeSibling, siblingBeforeKill, outOfMemory, childOutOfMemory, upgrade,
    reboot
  // A new instance starts, the old one ends, the new one is killed by hand.
  case rolling, rollingKill, rollingOutOfMemory

  var description: String { rawValue }
}

/// A program that is started again and again in one cgroup, and ends each time in another way.
private final class LaunchSequence {
  let fixture: LaunchFixture
  let sibling: LaunchFixture
  private let cgroup: LimitedCgroup
  private var version = 1
  private var boot = 1
  /// Whether each start reads the kernel's log.
  let readsLog: Bool

  init(in cgroup: LimitedCgroup, readsLog: Bool) throws {
    self.readsLog = readsLog
    self.cgroup = cgroup
    fixture = try LaunchFixture()
    sibling = try LaunchFixture()
    fixture.launcher = cgroup.launcher
    sibling.launcher = cgroup.launcher
    fixture.variables["FIXTURE_PROC"] = fixture.folder.path
    if !readsLog { fixture.variables["FIXTURE_LOG"] = "/dev/null" }
    try fixture.folder.write("6.1.0\n", to: "sys/kernel/osrelease")
    try fixture.folder.write("boot-1\n", to: "sys/kernel/random/boot_id")
  }

  func start(_ mode: String) throws -> (Program, Report?) {
    let program = try fixture.start(mode, version: "\(version)", activity: "active")
    return (program, Report(program))
  }

  /// Starts the program, lets it end in this way, and returns what the start reported.
  func run(_ end: TrueEnd) throws -> Report? {
    let mode =
      switch end {
      case .clean: "return"
      case .crash: "fault"
      case .outOfMemory: "eat"
      case .childOutOfMemory: "child-eats"
      case .upgrade, .rolling: "request"
      case .rollingOutOfMemory: "eat-later"
      default: "wait"
      }
    let (program, report) = try start(mode)
    if ["wait", "request", "eat-later"].contains(mode) { _ = program.lines(upTo: "ready") }
    if end == .siblingBeforeKill { try sibling.run("eat") }
    switch end {
    case .upgrade:
      version += 1
      program.send(SIGTERM)
    case .rolling: try replace(program, by: SIGTERM)
    case .rollingKill: try replace(program, by: SIGKILL)
    case .rollingOutOfMemory: try replace(program, by: SIGUSR1)
    default: if mode == "wait" { program.send(SIGKILL) }
    }
    _ = program.lines()
    program.end()
    if end == .killedBeforeSibling { try sibling.run("eat") }
    if end == .reboot {
      boot += 1
      try fixture.folder.write("boot-\(boot)\n", to: "sys/kernel/random/boot_id")
    }
    return report
  }

  /// Starts a new instance, ends the old one by a signal, and kills the new one by hand.
  private func replace(_ program: Program, by signal: CInt) throws {
    let (new, report) = try start("wait")
    #expect(report == Report(.concurrentInstance, nil))
    _ = new.lines(upTo: "ready")
    program.send(signal)
    _ = program.lines()
    new.send(SIGKILL)
    new.end()
  }

  /// What the next start must report.
  func expected(after end: TrueEnd?) -> Report {
    let killed = Report(.killedUnknown(.active), .killed(by: .unknown))
    let inferred = Report(.outOfMemory(.active, .inferred), .outOfMemory(.ownLimit, .inferred))
    let proven = Report(.outOfMemory(.active, .kernelLogPid), .outOfMemory(.ownLimit, .kernelLogPid))
    let requested = RunEnd.requested(signal: SIGTERM, sender: .process(getpid()))
    func ended(_ report: Report, _ end: String) -> Report {
      var report = report
      report.ended = ["\(version) active \(end)"]
      return report
    }
    switch end {
    case nil: return Report(.firstLaunch, nil)
    case .clean, .childOutOfMemory: return Report(.cleanExit, .exited(code: 0))
    case .crash: return Report(.crash, .crashed(signal: SIGSEGV, coreDumped: false))
    case .killedByHand: return killed
    case .killedBeforeSibling, .siblingBeforeKill: return readsLog ? killed : inferred
    case .outOfMemory: return readsLog ? proven : inferred
    case .rolling: return ended(killed, "\(requested)")
    case .rollingKill: return ended(killed, killed.previous)
    // To the new one, the old one is a sibling.
    case .rollingOutOfMemory:
      return readsLog ? ended(killed, proven.previous) : ended(inferred, inferred.previous)
    case .upgrade: return Report(.appUpgrade, requested)
    case .reboot: return Report(.restartOfMachine, .unknown("the machine was restarted"))
    }
  }
}

@Suite(
  "Launches in random order", .enabled(if: LimitedCgroup.isAvailable, "cannot create a memory cgroup here"),
  .timeLimit(.minutes(60)))
struct RandomLaunchesTests {
  @Test("Each start reports how the run before it truly ended", arguments: canReadKernelLog ? [true, false] : [false])
  func launches(readsLog: Bool) throws {
    let count = getenv("HIGHWATER_LAUNCHES").flatMap { Int(String(cString: $0)) } ?? 20
    let sequence = try LaunchSequence(in: try #require(LimitedCgroup()), readsLog: readsLog)
    var ends = TrueEnd.allCases.shuffled()
    while ends.count < count { ends.append(TrueEnd.allCases.randomElement() ?? .clean) }
    var told: [String: Int] = [:]
    var last: TrueEnd?
    for end in ends + [.clean] {
      let expected = sequence.expected(after: last)
      let report = try sequence.run(end)
      #expect(report == expected, "after \(last?.rawValue ?? "nothing"), in \(ends)")
      // Without the version of the old instance.
      let old = report?.ended.map { $0.split(separator: " ").dropFirst().joined(separator: " ") } ?? []
      let reported = [report?.startup ?? "nothing"] + old
      told["\(last?.rawValue ?? "no run") → \(reported.joined(separator: ", old instance: "))", default: 0] += 1
      last = end
    }
    for row in told.sorted(by: { $0.key < $1.key }) {
      print("\(readsLog ? "with" : "without") the log: \(row.key): \(row.value)")
    }
  }
}
