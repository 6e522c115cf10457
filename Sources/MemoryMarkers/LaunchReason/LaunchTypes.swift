#if LaunchReason

/// How the previous run ended.
///
/// Highwater, the parent of the program, reports the same cases. Some of them only a parent can know: they are marked
/// below, and ``LaunchReason`` never reports them.
public enum RunEnd: Sendable, Hashable {
  /// It returned from `main` or called exit(3); the code is 0 if it is unknown (`quick_exit`, `noteExit`).
  case exited(code: Int32)
  /// It received a termination signal.
  case requested(signal: Int32, sender: LaunchReason.Sender)
  /// A trap of the Swift runtime: SIGILL or SIGTRAP. The runtime only prints the message, so only Highwater knows it.
  case swiftTrap(signal: Int32, message: String?)
  /// An allocation failed; known to Highwater only.
  case allocationFailure(bytes: UInt64?)
  /// abort(3).
  case aborted
  /// Another crash signal. Only Highwater knows whether a core was dumped: the kernel reports that to the parent (WCOREDUMP
  /// in wait(2)), after the last handler has run.
  case crashed(signal: Int32, coreDumped: Bool)
  /// It was killed because memory ran out.
  case outOfMemory(LaunchReason.OOMKind, LaunchReason.Proof)
  /// It was killed for another reason.
  case killed(by: LaunchReason.Killer)
  /// It had hung for that long at the last heartbeat.
  case hung(seconds: Double)
  /// It could not be started; known to Highwater only.
  case startFailed(errno: Int32)
  /// None of the above, or unknown; the text says what is known.
  case unknown(String)
}

/// Why this run of a program was started, according to the previous run's record and the machine.
public enum StartupReason: Sendable, Hashable {
  /// Not evaluated: disabled, a second start in one process, or a unit test host.
  case notEvaluated
  /// There is no record of an earlier run.
  case firstLaunch
  /// The previous run is still alive.
  case concurrentInstance
  /// The previous run crashed.
  case crash
  /// A debugger was attached to the previous run.
  case debug
  /// The kernel or the operating system has changed.
  case osUpgrade
  /// The program has changed.
  case appUpgrade
  /// The previous run received a termination signal.
  case requested
  /// The previous run exited by itself.
  case cleanExit
  /// The machine was restarted in between.
  case restartOfMachine
  /// The previous run had stopped recording.
  case notMonitored
  /// The previous run hung at its last heartbeat.
  case hang
  /// The previous run was killed because memory ran out, during this activity.
  case outOfMemory(LaunchReason.Activity, LaunchReason.Proof)
  /// The previous run was killed for an unknown reason, during this activity.
  case killedUnknown(LaunchReason.Activity)
  /// It cannot be determined; the text says why.
  case unknown(String)
}

extension LaunchReason {
  /// The sender of a signal.
  public enum Sender: Sendable, Hashable {
    /// A process, by its pid.
    case process(Int32)
    /// The kernel, as for Ctrl-C at a terminal.
    case kernel
    /// Not reported.
    case unknown
  }

  /// What ran out of memory.
  public enum OOMKind: String, Sendable, Hashable {
    /// The process's cgroup, or an ancestor of it, reached its limit.
    case ownLimit = "own-limit"
    /// The machine ran out of memory.
    case systemPressure = "system-pressure"
    /// A daemon such as systemd-oomd acted before the kernel; known to Highwater only.
    ///
    /// systemd-oomd kills a whole cgroup and counts that in its attribute `user.oomd_kill` (systemd's oomd-util.c); systemd
    /// removes the cgroup of a service that has ended, and with it the count, before it starts the next run.
    case userspaceDaemon = "userspace-daemon"
  }

  /// The evidence for an out-of-memory kill, the strongest first.
  public enum Proof: String, Sendable, Hashable {
    /// The kernel's log names the process.
    case kernelLogPid = "kernel-log"
    /// The `oom_kill` counter of a cgroup that only this run used rose; known to Highwater only. In a cgroup that others may
    /// use, the counter says nothing about a single process.
    case cgroupCounter = "cgroup-counter"
    /// A supervisor (systemd, Kubernetes, oomd) reported it; known to Highwater only.
    case supervisor
    /// Not proven: the run left no mark of another end, and the counter of its cgroup rose, memory was scarce at the last
    /// heartbeat, or all other causes are ruled out (``LaunchReason/Policy/elimination``).
    case inferred
  }

  /// What killed a run, other than the OOM killer.
  public enum Killer: String, Sendable, Hashable {
    /// Highwater's time limit; known to Highwater only.
    case runnerTimeout = "runner-timeout"
    /// A cancelled run of Highwater; known to Highwater only.
    case runnerCancel = "runner-cancel"
    /// The sender of the signal is unknown.
    case unknown
  }

  /// What a program is doing, as it reports itself: a kill while active affects its users, one while idle does not.
  public enum Activity: UInt8, Codable, Sendable {
    /// From the start until the program reports another activity; counts as active during the launch. A run that reports
    /// nothing is taken for active after a minute.
    case starting
    /// Serving users.
    case active
    /// Waiting for work.
    case idle
    /// Shutting down.
    case stopping
  }

  /// Why this run is not recorded.
  public enum NotRecording: Sendable, Hashable {
    /// The policy is ``Policy/off``.
    case disabled
    /// The program is the host of unit tests.
    case unitTestHost
    /// Another `LaunchReason` of this process records the run.
    case secondInProcess
    /// The store has one record only, which belongs to another process that is alive.
    case otherInstance
    /// ``LaunchReason/stop()`` was called.
    case stopped
    /// This process was forked from the one that is recorded; a daemon creates its `LaunchReason` after daemon(3).
    case forkedChild
    /// The record cannot be written; the text says why.
    case failed(String)
    /// The library supports Linux only.
    case unsupported
  }

  /// How a run without any trace of its end is classified.
  public enum Policy: Sendable {
    /// As out of memory only with proof or signs of it, else as ``StartupReason/killedUnknown(_:)``.
    case evidence
    /// As out of memory, by elimination; a manual `kill -9` or an `_exit` becomes a false alarm.
    case elimination
    /// Nothing is read or written.
    case off
  }

  /// What a record must survive.
  public enum Durability: Sendable {
    /// The end of the process.
    case process
    /// A power cut.
    case power
  }

  /// Who updates the record.
  public enum Heartbeat: Sendable {
    /// A thread of the library, each second.
    case thread
    /// The program, by ``LaunchReason/tick()``.
    case manual
  }
}

#endif
