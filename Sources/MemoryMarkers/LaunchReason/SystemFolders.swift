#if LaunchReason

import Glibc
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
    found.cgroupInode = Self.inode(of: found.cgroup)
    return found
  }

  /// Whether the process is still alive; another process with the same pid has another start time.
  func isAlive(_ run: LaunchRecord.Run) -> Bool {
    ProcFile.isAlive(run.pid, startTime: run.startTime, in: proc)
  }

  /// The OOM kill of a run's process in the kernel's log.
  ///
  /// The log contains pids of the initial pid namespace, so it is read in that namespace only, whose inode is fixed
  /// (PROC_PID_INIT_INO, include/linux/proc_ns.h).
  func loggedKill(of run: LaunchRecord.Run) -> OOMKind? {
    guard Self.inode(of: own + "/ns/pid") == 0xefff_fffc else { return nil }
    let ticks = UInt64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    return KernelLog.oomKill(of: run.pid, since: run.startTime &* 1_000_000 / ticks, in: kernelLog)
  }

  private static func inode(of path: String) -> UInt64 {
    var status = stat()
    return !path.isEmpty && stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
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

#endif
