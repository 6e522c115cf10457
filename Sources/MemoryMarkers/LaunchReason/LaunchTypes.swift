#if LaunchReason

/// How the previous run ended.
///
/// The gate, which is the parent of what it measures, has the same words, and some of them are known to a parent only:
/// they say so below, and ``LaunchReason`` never tells them.
public enum RunEnd: Sendable, Hashable {
  /// It returned from `main` or called exit(3); the code is 0 where it was not told (`quick_exit`, `noteExit`).
  case exited(code: Int32)
  /// It was asked to end by a signal.
  case requested(signal: Int32, sender: Sender)
  /// Swift's runtime found a broken rule: SIGILL or SIGTRAP. The message, which the runtime only prints, is known to the
  /// gate only.
  case swiftTrap(signal: Int32, message: String?)
  /// Memory was refused to it; known to the gate only.
  case allocationFailure(bytes: UInt64?)
  /// abort(3).
  case aborted
  /// A fault. Whether a core was dumped is known to the gate only: the kernel tells it to the parent (WCOREDUMP in wait(2)),
  /// after the last handler has run.
  case crashed(signal: Int32, coreDumped: Bool)
  /// It was killed for want of memory.
  case outOfMemory(OOMKind, Proof)
  /// It was killed for another reason.
  case killed(by: Killer)
  /// It had hung for that long when it was last seen.
  case hung(seconds: Double)
  /// It could not be started; known to the gate only.
  case startFailed(errno: Int32)
  /// Nothing of the above, or not known; the text says what is known.
  case unknown(String)
}

/// Whoever sent a signal.
public enum Sender: Sendable, Hashable {
  /// A process, by its pid.
  case process(Int32)
  /// The kernel, as for Ctrl-C at a terminal.
  case kernel
  /// Not told.
  case unknown
}

/// Whose want of memory it was.
public enum OOMKind: String, Sendable, Hashable {
  /// The limit of the process's cgroup, or of one above it.
  case ownLimit = "own-limit"
  /// The machine's memory.
  case systemPressure = "system-pressure"
  /// A daemon such as systemd-oomd acted before the kernel; known to the gate only.
  ///
  /// systemd-oomd kills a whole cgroup and counts that in its attribute `user.oomd_kill` (systemd's oomd-util.c); systemd
  /// removes the cgroup of a service that has ended, and with it the count, before it starts the next run.
  case userspaceDaemon = "userspace-daemon"
}

/// What an out-of-memory kill is known by, the surest first.
public enum Proof: String, Sendable, Hashable {
  /// The kernel's log names the process.
  case kernelLogPid = "kernel-log"
  /// The cgroup's `oom_kill` counter rose.
  case cgroupCounter = "cgroup-counter"
  /// A supervisor (systemd, Kubernetes, oomd) said so; known to the gate only, as the next run is not told.
  case supervisor
  /// Nothing proves it; it is what is left, or memory was scarce when the run was last seen.
  case inferred
}

/// Whoever killed a run that was not out of memory.
public enum Killer: String, Sendable, Hashable {
  /// The gate's time limit; known to the gate only.
  case runnerTimeout = "runner-timeout"
  /// A cancelled run of the gate; known to the gate only.
  case runnerCancel = "runner-cancel"
  /// An unknown hand.
  case unknown
}

/// What a program says that it is doing: a kill while active harms its users, one while idle does not.
public enum Activity: UInt8, Codable, Sendable {
  /// From the start until the program says otherwise; counts as active, during the launch.
  case starting
  /// Serving somebody.
  case active
  /// Waiting for work.
  case idle
  /// Shutting down.
  case stopping
}

/// Why this run of a program was started, as far as the previous run's record and the machine tell.
public enum StartupReason: Sendable, Hashable {
  /// Nothing was looked at: switched off, a second start in one process, or a host of unit tests.
  case notEvaluated
  /// There is no record of an earlier run.
  case firstLaunch
  /// The earlier run still lives.
  case concurrentInstance
  /// The earlier run crashed.
  case crash
  /// The earlier run was under a debugger.
  case debug
  /// The kernel or the operating system is another one.
  case osUpgrade
  /// The program is another one.
  case appUpgrade
  /// The earlier run was asked to end.
  case requested
  /// The earlier run ended by itself.
  case cleanExit
  /// The machine was started anew in between.
  case restartOfMachine
  /// The earlier run had stopped the library.
  case notMonitored
  /// The earlier run hung when it was last seen.
  case hang
  /// The earlier run was killed for want of memory, while it did that.
  case outOfMemory(Activity, Proof)
  /// The earlier run was killed by an unknown hand, while it did that.
  case killedUnknown(Activity)
  /// It cannot be told; the text says why.
  case unknown(String)
}

/// What is made of a run that left no trace of its end.
public enum Policy: Sendable {
  /// Out of memory only with proof or signs of it, else ``StartupReason/killedUnknown(_:)``.
  case evidence
  /// Out of memory, since all else is ruled out; what is not (somebody's `kill -9`, `_exit`) becomes a false alarm.
  case elimination
  /// Nothing is looked at, opened or written.
  case off
}

/// What a record must outlast.
public enum Durability: Sendable {
  /// The end of the process.
  case process
  /// A power cut.
  case power
}

/// Who keeps the record up to date.
public enum Heartbeat: Sendable {
  /// A thread of the library, each second.
  case thread
  /// The program, by ``LaunchReason/tick()``.
  case manual
}

#endif
