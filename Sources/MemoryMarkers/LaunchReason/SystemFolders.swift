#if LaunchReason && os(Linux)

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import LaunchRecords

/// The system files that are read; tests replace the folders.
package struct SystemFolders: Sendable {
  package var proc = "/proc"
  /// The folder of this process in ``proc``.
  package var own = "/proc/self"
  package var osRelease = "/etc/os-release"
  /// Used if the first file is missing (os-release(5)).
  package var fallbackOSRelease = "/usr/lib/os-release"
  package var kernelLog = "/dev/kmsg"

  package init() {}

  // MARK: At the start

  /// Describes the run that starts now.
  func currentRun(appVersion: String) -> LaunchRecord.Run {
    var found = LaunchRecord.Run()
    (found.pid, found.startTime) = ProcFile.processIdentity(in: own) ?? (getpid(), 0)
    found.bootID = ProcFile.word(in: proc, "/sys/kernel/random/boot_id")
    found.kernelRelease = ProcFile.word(in: proc, "/sys/kernel/osrelease")
    found.osRelease = ProcFile.osRelease(in: osRelease) ?? ProcFile.osRelease(in: fallbackOSRelease) ?? ""
    found.appVersion = appVersion
    found.buildID = CurrentProgram.buildID
    found.cgroup = MemoryCgroup.folder(of: own)
    found.cgroupInode = ProcFile.inode(of: found.cgroup)
    return found
  }

  /// Whether the process is still alive; another process with the same pid has another start time.
  func isAlive(_ run: LaunchRecord.Run) -> Bool {
    ProcFile.isAlive(run.pid, startTime: run.startTime, in: proc)
  }

  /// Whether the daemon that a run became by daemon(3) lives.
  func daemonLives(of record: LaunchRecord) -> Bool {
    record.forkedChild.map { ProcFile.sessionLeaderLives($0, since: record.run.startTime, in: proc) } ?? false
  }

  /// What the kernel's log says about an earlier run of this boot, and the number of its newest record.
  ///
  /// The log contains pids of the initial pid namespace, so it is read in that namespace only, whose inode is fixed
  /// (PROC_PID_INIT_INO, include/linux/proc_ns.h).
  func searchLog(for prior: LaunchRecord?) -> (kill: KernelLog.Kill, newest: UInt64?) {
    guard ProcFile.inode(of: own, "/ns/pid") == 0xefff_fffc else { return (.unknown, nil) }
    let alive = prior.map { Self.logTime(of: $0.last.bootTime) } ?? 0
    let found = KernelLog.search(kernelLog, pid: prior?.run.pid ?? 0, since: prior?.run.logEnd ?? 0, alive: alive)
    return (prior?.run.logEnd == nil ? .unknown : found.kill, found.newest)
  }

  /// A lower bound of the log's clock at a time since boot, in microseconds: that clock stops while the machine is
  /// suspended, and is not adjusted as the others are, by at most 0.05 % (adjtimex(2)).
  private static func logTime(of bootTime: UInt64) -> UInt64 {
    let now = Clock.sinceBoot()
    let error = 60_000_000_000 + now / 1000 + (now - min(now, Clock.running()))
    return (bootTime - min(bootTime, error)) / 1000
  }

  // MARK: Each second

  /// The values that change.
  func reading(cgroup: String) -> LaunchRecord.Reading {
    var reading = LaunchRecord.Reading()
    reading.bootTime = Clock.sinceBoot()
    reading.wallTime = Clock.wall()
    reading.resident = (ProcFile.number(in: own, "/status", of: "VmRSS:", at: 1) ?? 0) * 1024
    reading.peakResident = (ProcFile.number(in: own, "/status", of: "VmHWM:", at: 1) ?? 0) * 1024
    reading.tracer = Int32(truncatingIfNeeded: ProcFile.number(in: own, "/status", of: "TracerPid:", at: 1) ?? 0)
    reading.limit = MemoryCgroup.limit(of: cgroup)
    reading.oomKills = MemoryCgroup.oomKills(of: cgroup)
    // The cgroup's own, where the kernel reports it (version 2), else the machine's.
    let pressure = cgroup.isEmpty ? nil : ProcFile.memoryPressure(in: cgroup)
    reading.pressure = pressure ?? ProcFile.memoryPressure(in: proc) ?? 0
    return reading
  }
}

extension LaunchEvidence {
  /// Observes what can be known now about the end of a run.
  mutating func observe(_ record: LaunchRecord, in folders: SystemFolders) {
    priorIsAlive = record.run.bootID == current.bootID && folders.isAlive(record.run)
    daemonIsAlive = folders.daemonLives(of: record)
    oomKills = MemoryCgroup.oomKills(of: current.cgroup)
    (logged, current.logEnd) = folders.searchLog(for: record)
  }
}

#endif
