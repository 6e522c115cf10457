import Glibc
import MarkerProtocol

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
    (found.pid, found.startTime) = Room.identity(in: own) ?? (getpid(), 0)
    found.bootID = Room.word(in: proc, "/sys/kernel/random/boot_id")
    found.kernelRelease = Room.word(in: proc, "/sys/kernel/osrelease")
    found.osRelease = Room.osRelease(in: osRelease) ?? Room.osRelease(in: otherOSRelease) ?? ""
    found.appVersion = appVersion
    found.buildID = Room.buildID
    found.cgroup = Room.memoryCgroup(of: own)
    found.cgroupInode = Self.inode(of: found.cgroup)
    return found
  }

  /// Whether the process still lives; one that was given the same pid since has another start.
  func isAlive(_ run: LaunchRecord.Surroundings) -> Bool {
    Room.lives(run.pid, since: run.startTime, in: proc)
  }

  /// Whose want of memory the process of a run was killed for, as the kernel's log tells.
  ///
  /// The log has the machine's pids, so it is asked only where ours are the same: in the first pid namespace, whose
  /// inode is fixed (PROC_PID_INIT_INO, include/linux/proc_ns.h).
  func loggedKill(of run: LaunchRecord.Surroundings) -> OOMKind? {
    guard Self.inode(of: own + "/ns/pid") == 0xefff_fffc else { return nil }
    let ticks = UInt64(max(1, sysconf(CInt(_SC_CLK_TCK))))
    return Room.kill(of: run.pid, since: run.startTime &* 1_000_000 / ticks, in: kernelLog)
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
    reading.resident = (Room.number(in: own, "/status", of: "VmRSS:", at: 1) ?? 0) * 1024
    reading.peakResident = (Room.number(in: own, "/status", of: "VmHWM:", at: 1) ?? 0) * 1024
    reading.tracer = Int32(truncatingIfNeeded: Room.number(in: own, "/status", of: "TracerPid:", at: 1) ?? 0)
    reading.limit = Room.memoryLimit(of: cgroup)
    reading.oomKills = Room.oomKills(of: cgroup)
    // The cgroup's own, where the kernel tells it (version 2), else the machine's.
    let pressure = cgroup.isEmpty ? nil : Room.pressure(in: cgroup)
    reading.pressure = pressure ?? Room.pressure(in: proc) ?? 0
    return reading
  }
}

/// Clocks, in nanoseconds.
enum Clock {
  /// Since boot, suspended time included.
  static func sinceBoot() -> UInt64 { read(CLOCK_BOOTTIME) }

  /// Since 1970.
  static func wall() -> UInt64 { read(CLOCK_REALTIME) }

  private static func read(_ clock: CInt) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(max(0, time.tv_sec)) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
