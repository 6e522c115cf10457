/// The state of a program's run, from which its next start determines how the run ended.
package struct LaunchRecord: Sendable, Equatable {
  /// What the program was doing, as it reported itself.
  package enum Activity: UInt8, Sendable {
    case starting, active, idle, stopping
  }

  /// The run and its machine at its start.
  package struct Run: Sendable, Equatable {
    package var pid: Int32 = 0
    /// The start in clock ticks since boot, which distinguishes processes with the same pid (proc_pid_stat(5)).
    package var startTime: UInt64 = 0
    /// `/proc/sys/kernel/random/boot_id`, which changes with each boot.
    package var bootID = ""
    package var kernelRelease = ""
    /// The name in os-release(5) with a checksum of that file.
    package var osRelease = ""
    package var appVersion = ""
    /// The ELF build id of the program, in hexadecimal digits; empty if it has none.
    package var buildID = ""
    /// The folder of the memory cgroup; empty if there is none.
    package var cgroup = ""
    package var cgroupInode: UInt64 = 0
    /// The sequence number of the newest record in the kernel's log; nil if the log cannot be read.
    package var logEnd: UInt64?

    package init() {}
  }

  /// The values that are read each second.
  package struct Reading: Sendable, Equatable {
    /// Nanoseconds since boot, including suspended time.
    package var bootTime: UInt64 = 0
    /// Nanoseconds since 1970; the clock may be set back.
    package var wallTime: UInt64 = 0
    /// In bytes (`VmRSS`).
    package var resident: UInt64 = 0
    /// In bytes (`VmHWM`).
    package var peakResident: UInt64 = 0
    /// The pid of the tracer, or 0 (`TracerPid`).
    package var tracer: Int32 = 0
    /// In bytes: the lowest limit of the cgroup and its ancestors; nil if there is none.
    package var limit: UInt64?
    /// How many processes of the cgroup the OOM killer has killed so far (`oom_kill`); nil if they are not counted.
    package var oomKills: UInt64?
    /// The share of the last ten seconds in which all tasks waited for memory, in percent (PSI, `full avg10`).
    package var pressure = 0.0

    package init() {}
  }

  /// A termination signal that the program received.
  package struct Request: Sendable, Equatable {
    package let signal: Int32
    package let sender: Sender
    /// Whether the program's own handler has returned, so that the signal alone did not end the run.
    package let hasReturned: Bool

    package init(signal: Int32, sender: Sender, hasReturned: Bool = false) {
      self.signal = signal
      self.sender = sender
      self.hasReturned = hasReturned
    }
  }

  /// The sender of a signal (`si_code` in sigaction(2)).
  package enum Sender: Sendable, Equatable {
    case process(Int32), kernel, unknown
  }

  package var run = Run()
  /// Rises with each run of a program; the previous run is the one that was started last.
  package var order: UInt64 = 0
  package var oomKillsAtStart: UInt64?
  package var last = Reading()
  package var activity = Activity.starting
  /// How many consecutive runs before this one failed during their launch.
  package var launchFailures: UInt32 = 0
  /// Distinguishes the marks of this run from those of earlier ones, which may still be in the page.
  package var tag: UInt32 = 0
  package var isStopped = false
  /// When the program began to hang, in nanoseconds since boot.
  package var hangBegan: UInt64?

  // The marks, which handlers store outside the slots; see LaunchPage.

  /// The crash signal.
  package var crash: Int32?
  /// The program is about to exit.
  package var exit: Exit?
  package var request: Request?
  /// The child that was forked after the last heartbeat.
  package var forkedChild: Int32?

  /// An exit by `exit`, `quick_exit` or `noteExit`.
  package struct Exit: Sendable, Equatable {
    /// Nil if it is unknown: quick_exit(3) does not pass it to its handlers.
    package let code: Int32?

    package init(code: Int32?) {
      self.code = code
    }
  }

  package init() {}
}

extension LaunchRecord {
  /// The run as it is read again from a record, in which long strings are cut.
  package static func stored(_ run: Run) -> Run {
    var (written, read) = (run, Run())
    // Without arrays, whose code a small program would load for this alone.
    withUnsafeTemporaryAllocation(byteCount: LaunchPage.size, alignment: 8) { bytes in
      var writer = FieldWriter(bytes)
      written.code(with: &writer)
      var reader = FieldReader(UnsafeRawBufferPointer(rebasing: bytes[..<writer.count]))
      read.code(with: &reader)
    }
    return read
  }

  /// All fields but the marks, in the order of the bytes; a change of the list needs a new ``LaunchPage/version``.
  ///
  /// The longest record has 1184 bytes of strings and 32 numbers: 1440 bytes.
  mutating func code(with coder: inout some FieldCoder) {
    run.code(with: &coder)
    coder.field(&order)
    coder.field(&oomKillsAtStart)
    last.code(with: &coder)
    var activityCode = UInt32(activity.rawValue)
    coder.field(&activityCode)
    activity = Activity(rawValue: UInt8(truncatingIfNeeded: activityCode)) ?? .active
    coder.field(&launchFailures)
    coder.field(&tag)
    coder.field(&isStopped)
    coder.field(&hangBegan)
  }
}

extension LaunchRecord.Run {
  fileprivate mutating func code(with coder: inout some FieldCoder) {
    coder.field(&pid)
    coder.field(&startTime)
    coder.field(&bootID, limit: 64)
    coder.field(&kernelRelease, limit: 128)
    coder.field(&osRelease, limit: 160)
    coder.field(&appVersion, limit: 256)
    coder.field(&buildID, limit: 64)
    coder.field(&cgroup, limit: 512)
    coder.field(&cgroupInode)
    coder.field(&logEnd)
  }
}

extension LaunchRecord.Reading {
  fileprivate mutating func code(with coder: inout some FieldCoder) {
    coder.field(&bootTime)
    coder.field(&wallTime)
    coder.field(&resident)
    coder.field(&peakResident)
    coder.field(&tracer)
    coder.field(&limit)
    coder.field(&oomKills)
    coder.field(&pressure)
  }
}

// MARK: - Marks in 32 bits

extension LaunchRecord.Exit {
  // Bits 0 to 7: the code. Bit 8: whether it is known.

  init(payload: UInt32) {
    code = payload & 0x100 != 0 ? Int32(payload & 0xff) : nil
  }

  var payload: UInt32 {
    code.map { UInt32(truncatingIfNeeded: $0) & 0xff | 0x100 } ?? 0
  }
}

extension LaunchRecord.Request {
  // Bits 0 to 6: the signal. 7: whether the program's handler has returned. 8 and 9: 1 if a process sent it, 2 if the kernel did. From 10: the sender's pid, which has
  // at most 22 bits (PID_MAX_LIMIT, include/linux/threads.h).

  init(payload: UInt32) {
    signal = Int32(payload & 0x7f)
    hasReturned = payload & 0x80 != 0
    switch payload >> 8 & 3 {
    case 1: sender = .process(Int32(payload >> 10))
    case 2: sender = .kernel
    default: sender = .unknown
    }
  }

  var payload: UInt32 {
    let kind: UInt32 =
      switch sender {
      case .process(let pid): 1 | UInt32(truncatingIfNeeded: pid) << 2
      case .kernel: 2
      case .unknown: 0
      }
    return UInt32(truncatingIfNeeded: signal) & 0x7f | (hasReturned ? 0x80 : 0) | kind << 8
  }
}
