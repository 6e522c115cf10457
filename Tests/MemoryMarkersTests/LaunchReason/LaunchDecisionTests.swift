import LaunchRecords
import Testing

@testable import MemoryMarkers

/// The record of an active run on the same machine, edited for the test.
private func prior(_ edit: (inout LaunchRecord) -> Void = { _ in }) -> LaunchRecord {
  var record = LaunchRecord()
  record.run = current()
  record.run.pid = 100
  record.activity = .active
  record.last.oomKills = 5
  record.last.limit = 100 << 20
  record.last.resident = 10 << 20
  edit(&record)
  return record
}

private func current(_ edit: (inout LaunchRecord.Run) -> Void = { _ in }) -> LaunchRecord.Run {
  var current = LaunchRecord.Run()
  current.pid = 200
  current.bootID = "boot"
  current.kernelRelease = "6.1"
  current.osRelease = "Debian"
  current.appVersion = "1.0"
  current.buildID = "ab"
  current.cgroup = "/sys/fs/cgroup/a"
  current.cgroupInode = 42
  edit(&current)
  return current
}

private func evidence(_ edit: (inout LaunchEvidence) -> Void = { _ in }) -> LaunchEvidence {
  var evidence = LaunchEvidence(current: current(), oomKills: 5)
  edit(&evidence)
  return evidence
}

/// One row of the table.
private struct Case: CustomTestStringConvertible {
  let title: String
  var record = prior()
  var evidence = MemoryMarkersTests.evidence()
  var policy = LaunchReason.Policy.evidence
  let startup: StartupReason
  let end: RunEnd?

  var testDescription: String { title }
}

@Suite("Startup reasons")
struct LaunchDecisionTests {
  @Test(
    "Rows 0 to 3: without a record, or while the previous run is alive, its end is not reported",
    arguments: [
      (.notLoaded(.disabled), .notEvaluated), (.missing, .firstLaunch), (.locked, .concurrentInstance),
      (.unreadable("the record is damaged"), .unknown("the record is damaged")),
    ] as [(PriorRecord, StartupReason)]
  )
  func withoutRecord(prior: PriorRecord, startup: StartupReason) {
    for policy in [LaunchReason.Policy.evidence, .elimination] {
      let decision = LaunchDecision(prior, evidence { $0.crashWasDetected = true }, policy)
      #expect(decision.startup == startup)
      #expect(decision.previous == nil)
      #expect(decision.consecutiveLaunchFailures == 0)
    }
  }

  private static let rows: [Case] = [
    Case(
      title: "3: the recorded pid with its start time is still alive", evidence: evidence { $0.priorIsAlive = true },
      startup: .concurrentInstance, end: nil),
    Case(
      title: "4: a crash mark", record: prior { $0.crash = 11 }, startup: .crash,
      end: .crashed(signal: 11, coreDumped: false)),
    Case(
      title: "4: a trap of the Swift runtime", record: prior { $0.crash = 4 }, startup: .crash,
      end: .swiftTrap(signal: 4, message: nil)),
    Case(title: "4: an abort mark", record: prior { $0.crash = 6 }, startup: .crash, end: .aborted),
    Case(
      title: "4: crashDetector says true", evidence: evidence { $0.crashWasDetected = true }, startup: .crash,
      end: .unknown("a crash, reported by the program's crash detector")),
    Case(
      title: "5: a debugger was attached", record: prior { $0.last.tracer = 7 }, startup: .debug,
      end: .unknown("a debugger was attached")),
    Case(
      title: "6: another kernel", record: prior { $0.run.kernelRelease = "6.0" }, startup: .osUpgrade,
      end: .killed(by: .unknown)),
    Case(
      title: "6: another os-release", record: prior { $0.run.osRelease = "Debian 11" }, startup: .osUpgrade,
      end: .killed(by: .unknown)),
    Case(
      title: "7: an earlier app version", record: prior { $0.run.appVersion = "0.9" }, startup: .appUpgrade,
      end: .killed(by: .unknown)),
    Case(
      title: "7: a build id on one side only", record: prior { $0.run.buildID = "" }, startup: .appUpgrade,
      end: .killed(by: .unknown)),
    Case(
      title: "7: an upgrade is SIGTERM and a start",
      record: prior {
        $0.run.appVersion = "0.9"
        $0.request = LaunchRecord.Request(signal: 15, sender: .process(1))
      }, startup: .appUpgrade, end: .requested(signal: 15, sender: .process(1))),
    Case(
      title: "8: terminate, idle",
      record: prior {
        $0.activity = .idle
        $0.request = LaunchRecord.Request(signal: 15, sender: .kernel)
      }, startup: .requested, end: .requested(signal: 15, sender: .kernel)),
    Case(
      title: "8: an exit mark, idle",
      record: prior {
        $0.activity = .idle
        $0.exit = LaunchRecord.Exit(code: 3)
      }, startup: .cleanExit, end: .exited(code: 3)),
    Case(
      title: "8: it received a request, and exited",
      record: prior {
        $0.request = LaunchRecord.Request(signal: 15, sender: .unknown)
        $0.exit = LaunchRecord.Exit(code: 0)
      }, startup: .requested, end: .requested(signal: 15, sender: .unknown)),
    Case(
      title: "8: it replaced itself with exec: the same process",
      record: prior { $0.run.pid = 200 }, evidence: evidence { $0.priorIsAlive = true }, startup: .cleanExit,
      end: .unknown("it replaced itself with exec")),
    Case(
      title: "9: another boot id, active", record: prior { $0.run.bootID = "earlier" },
      startup: .restartOfMachine, end: .unknown("the machine was restarted")),
    Case(
      title: "9: the counter and the log of another boot prove nothing",
      record: prior { $0.run.bootID = "earlier" },
      evidence: evidence {
        $0.oomKills = 9
        $0.logged = .named(.ownLimit)
      }, startup: .restartOfMachine, end: .unknown("the machine was restarted")),
    Case(
      title: "10: recording was stopped", record: prior { $0.isStopped = true }, startup: .notMonitored,
      end: .unknown("launch recording was stopped")),
    Case(
      title: "11: a hang mark and SIGKILL",
      record: prior {
        $0.hangBegan = 2_000_000_000
        $0.last.bootTime = 5_500_000_000
      }, startup: .hang, end: .hung(seconds: 3.5)),
    Case(
      title: "13: the counter of the same cgroup rose, which counts other processes, too",
      evidence: evidence { $0.oomKills = 6 }, startup: .outOfMemory(.active, .inferred),
      end: .outOfMemory(.ownLimit, .inferred)),
    Case(
      title: "13: it rose without a limit", record: prior { $0.last.limit = nil },
      evidence: evidence { $0.oomKills = 6 }, startup: .outOfMemory(.active, .inferred),
      end: .outOfMemory(.systemPressure, .inferred)),
    Case(
      title: "12: a complete log without the pid refutes the counter and the limit",
      record: prior { $0.last.resident = 99 << 20 },
      evidence: evidence {
        $0.oomKills = 6
        $0.logged = .none
      }, startup: .killedUnknown(.active), end: .killed(by: .unknown)),
    Case(
      title: "8: a request that the program's handler survived, until it exits or says that it stops",
      record: prior { $0.request = LaunchRecord.Request(signal: 15, sender: .kernel, hasReturned: true) },
      evidence: evidence { $0.oomKills = 6 }, startup: .killedUnknown(.active), end: .killed(by: .unknown)),
    Case(
      title: "8: the same while stopping",
      record: prior {
        $0.activity = .stopping
        $0.request = LaunchRecord.Request(signal: 15, sender: .kernel, hasReturned: true)
      }, startup: .requested, end: .requested(signal: 15, sender: .kernel)),
    Case(
      title: "a daemon: its child lives", record: prior { $0.forkedChild = 300 },
      evidence: evidence { $0.daemonIsAlive = true }, startup: .concurrentInstance, end: nil),
    Case(
      title: "it forked after its last heartbeat", record: prior { $0.forkedChild = 300 },
      evidence: evidence { $0.oomKills = 6 },
      startup: .unknown("it forked, and ended without a mark: a daemon creates LaunchReason after daemon(3)"),
      end: .unknown("it forked, and ended without a mark: a daemon creates LaunchReason after daemon(3)")),
    Case(
      title: "a run that never reported its activity was active after a minute",
      record: prior {
        $0.activity = .starting
        $0.last.bootTime = 60_000_000_001
      }, startup: .killedUnknown(.active), end: .killed(by: .unknown)),
    Case(
      title: "12: the log names the pid, idle", record: prior { $0.activity = .idle },
      evidence: evidence { $0.logged = .named(.systemPressure) }, startup: .outOfMemory(.idle, .kernelLogPid),
      end: .outOfMemory(.systemPressure, .kernelLogPid)),
    Case(
      title: "12: another cgroup's counter proves nothing",
      evidence: evidence {
        $0.current.cgroupInode = 43
        $0.oomKills = 6
      }, startup: .killedUnknown(.active), end: .killed(by: .unknown)),
    Case(
      title: "12: a counter that did not rise proves nothing", startup: .killedUnknown(.active),
      end: .killed(by: .unknown)),
    Case(
      title: "13: at 90 % of the limit at the last heartbeat", record: prior { $0.last.resident = 90 << 20 },
      startup: .outOfMemory(.active, .inferred), end: .outOfMemory(.ownLimit, .inferred)),
    Case(
      title: "13: just below 90 %", record: prior { $0.last.resident = 90 << 20 - 1 },
      startup: .killedUnknown(.active), end: .killed(by: .unknown)),
    Case(
      title: "13: all tasks waited for memory", record: prior { $0.last.pressure = 10 },
      startup: .outOfMemory(.active, .inferred), end: .outOfMemory(.systemPressure, .inferred)),
    Case(
      title: "14: all equal, without evidence, policy evidence", startup: .killedUnknown(.active),
      end: .killed(by: .unknown)),
    Case(
      title: "14: elimination, active: FOOM", policy: .elimination, startup: .outOfMemory(.active, .inferred),
      end: .outOfMemory(.systemPressure, .inferred)),
    Case(
      title: "14: elimination, idle: BOOM", record: prior { $0.activity = .idle }, policy: .elimination,
      startup: .outOfMemory(.idle, .inferred), end: .outOfMemory(.systemPressure, .inferred)),
    Case(
      title: "the clock was set back by an hour: the same answer",
      record: prior {
        $0.last.wallTime = .max
        $0.last.resident = 95 << 20
      }, startup: .outOfMemory(.active, .inferred), end: .outOfMemory(.ownLimit, .inferred)),
  ]

  @Test("Rows 3 to 14: the first that applies", arguments: rows)
  fileprivate func row(row: Case) {
    let decision = LaunchDecision(.found(row.record), row.evidence, row.policy)
    #expect(decision.startup == row.startup)
    #expect(decision.previous == row.end)
  }

  @Test("If the evidence of several rows is present, the first one applies")
  func order() {
    var record = prior {
      $0.crash = 11
      $0.last.tracer = 7
      $0.run.kernelRelease = "6.0"
      $0.run.appVersion = "0.9"
      $0.request = LaunchRecord.Request(signal: 15, sender: .unknown)
      $0.exit = LaunchRecord.Exit(code: 0)
      $0.run.bootID = "earlier"
      $0.isStopped = true
      $0.hangBegan = 1
      $0.last.resident = 99 << 20
    }
    var found = evidence {
      $0.priorIsAlive = true
      $0.oomKills = 6
    }
    func startup() -> StartupReason { LaunchDecision(.found(record), found, .elimination).startup }
    #expect(startup() == .concurrentInstance)
    found.priorIsAlive = false
    #expect(startup() == .crash)
    record.crash = nil
    #expect(startup() == .debug)
    record.last.tracer = 0
    #expect(startup() == .osUpgrade)
    record.run.kernelRelease = "6.1"
    #expect(startup() == .appUpgrade)
    record.run.appVersion = "1.0"
    #expect(startup() == .requested)
    record.request = nil
    #expect(startup() == .cleanExit)
    record.exit = nil
    #expect(startup() == .restartOfMachine)
    record.run.bootID = "boot"
    #expect(startup() == .notMonitored)
    record.isStopped = false
    #expect(startup() == .hang)
    record.hangBegan = nil
    #expect(startup() == .outOfMemory(.active, .inferred))
    found.logged = .named(.ownLimit)
    #expect(startup() == .outOfMemory(.active, .kernelLogPid))
  }

  @Test("An OOM kill that the log proves is the previous end, whatever the startup reason")
  func provenEnd() {
    let proven = evidence { $0.logged = .named(.ownLimit) }
    for record in Self.marked + [prior { $0.crash = 6 }] {
      #expect(LaunchDecision(.found(record), proven, .evidence).previous == .outOfMemory(.ownLimit, .kernelLogPid))
    }
  }

  @Test("A counter that rose never beats a mark of another end")
  func counterIsNoProof() {
    for record in Self.marked + [prior { $0.crash = 6 }] {
      let decision = LaunchDecision(.found(record), evidence { $0.oomKills = 6 }, .evidence)
      if case .outOfMemory = decision.startup { Issue.record("\(record)") }
      if record.crash != nil { #expect(decision.previous == .aborted) }
      if record.exit != nil { #expect(decision.previous == .exited(code: 0)) }
      if record.request != nil { #expect(decision.previous == .requested(signal: 15, sender: .unknown)) }
    }
  }

  private static let marked: [LaunchRecord] = [
    prior { $0.last.tracer = 7 }, prior { $0.run.kernelRelease = "6.0" },
    prior { $0.run.appVersion = "0.9" }, prior { $0.exit = LaunchRecord.Exit(code: 0) },
    prior { $0.request = LaunchRecord.Request(signal: 15, sender: .unknown) }, prior { $0.isStopped = true },
    prior { $0.hangBegan = 1 },
  ]

  @Test(
    "A run that failed during its launch counts as a failed launch, and any other resets the count",
    arguments: [
      (prior { $0.crash = 11 }, 4), (prior(), 4), (prior { $0.exit = LaunchRecord.Exit(code: 1) }, 4),
      (prior { $0.exit = LaunchRecord.Exit(code: 0) }, 0), (prior { $0.run.appVersion = "0.9" }, 0),
      (prior { $0.request = LaunchRecord.Request(signal: 15, sender: .unknown) }, 0),
    ]
  )
  func launchFailures(record: LaunchRecord, count: Int) {
    var record = record
    record.launchFailures = 3
    #expect(LaunchDecision(.found(record), evidence(), .evidence).consecutiveLaunchFailures == 0)
    record.activity = .starting
    #expect(LaunchDecision(.found(record), evidence(), .evidence).consecutiveLaunchFailures == count)
  }
}
