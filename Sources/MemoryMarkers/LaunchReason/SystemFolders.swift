#if LaunchReason

import Glibc
import LaunchRecords

/// Where the present is read from; tests put their own folders in.
package struct SystemFolders: Sendable {
  package var proc = "/proc"
  /// The folder of the process in ``proc``.
  package var own = "/proc/self"
  package var osRelease = "/etc/os-release"
  /// Where it is if not there (os-release(5)).
  package var otherOSRelease = "/usr/lib/os-release"
  package var kernelLog = "/dev/kmsg"

  package init() {}

  // MARK: At the start

  /// What can be seen of the run that starts now.
  func surroundings(appVersion: String) -> LaunchRecord.Surroundings {
    var found = LaunchRecord.Surroundings()
    (found.pid, found.startTime) = LaunchRoom.identity(in: own) ?? (getpid(), 0)
    found.bootID = LaunchRoom.word(in: proc, "/sys/kernel/random/boot_id")
    found.kernelRelease = LaunchRoom.word(in: proc, "/sys/kernel/osrelease")
    found.osRelease = LaunchRoom.osRelease(in: osRelease) ?? LaunchRoom.osRelease(in: otherOSRelease) ?? ""
    found.appVersion = appVersion
    found.buildID = LaunchRoom.buildID
    found.cgroup = LaunchRoom.memoryCgroup(of: own)
    found.cgroupInode = Self.inode(of: found.cgroup)
    return found
  }

  /// Whether the process still lives; one that was given the same pid since has another start.
  func isAlive(_ run: LaunchRecord.Surroundings) -> Bool {
    LaunchRoom.lives(run.pid, since: run.startTime, in: proc)
  }

  /// Whose want of memory the process of a run was killed for, as the kernel's log tells.
  ///
  /// The log has the machine's pids, so it is asked only where ours are the same: in the first pid namespace, whose
  /// inode is fixed (PROC_PID_INIT_INO, include/linux/proc_ns.h).
  func loggedKill(of run: LaunchRecord.Surroundings) -> OOMKind? {
    guard Self.inode(of: own + "/ns/pid") == 0xefff_fffc else { return nil }
    let ticks = UInt64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    return LaunchRoom.kill(of: run.pid, since: run.startTime &* 1_000_000 / ticks, in: kernelLog)
  }

  private static func inode(of path: String) -> UInt64 {
    var status = stat()
    return !path.isEmpty && stat(path, &status) == 0 ? UInt64(status.st_ino) : 0
  }

  // MARK: Each second

  /// The figures that change.
  func reading(cgroup: String) -> LaunchRecord.Reading {
    var reading = LaunchRecord.Reading()
    reading.bootTime = Clock.sinceBoot()
    reading.wallTime = Clock.wall()
    reading.resident = (LaunchRoom.number(in: own, "/status", of: "VmRSS:", at: 1) ?? 0) * 1024
    reading.peakResident = (LaunchRoom.number(in: own, "/status", of: "VmHWM:", at: 1) ?? 0) * 1024
    reading.tracer = Int32(truncatingIfNeeded: LaunchRoom.number(in: own, "/status", of: "TracerPid:", at: 1) ?? 0)
    reading.limit = LaunchRoom.memoryLimit(of: cgroup)
    reading.oomKills = LaunchRoom.oomKills(of: cgroup)
    // The cgroup's own, where the kernel tells it (version 2), else the machine's.
    let pressure = cgroup.isEmpty ? nil : LaunchRoom.pressure(in: cgroup)
    reading.pressure = pressure ?? LaunchRoom.pressure(in: proc) ?? 0
    return reading
  }
}

#endif
