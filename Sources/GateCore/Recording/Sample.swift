/// The memory of a process at one point in time, from `/proc/<pid>/status`.
package struct MemoryReading: Sendable, Equatable {
  /// `VmRSS`.
  package var resident: Bytes
  /// `VmHWM`.
  package var peak: Bytes
  /// `RssAnon`.
  package var anonymous: Bytes
  /// `RssFile`.
  package var file: Bytes
  /// `RssShmem`.
  package var shared: Bytes

  package init(resident: Bytes, peak: Bytes, anonymous: Bytes, file: Bytes, shared: Bytes) {
    self.resident = resident
    self.peak = peak
    self.anonymous = anonymous
    self.file = file
    self.shared = shared
  }
}

/// A sample of the process tree.
package struct Sample: Sendable, Equatable {
  /// Time since the target's exec.
  package var time: Duration
  /// The ID of the main process at this time; 0 if it is unknown.
  package var process: Int32
  /// The main process; nil before it is known, after its exit, and if only another process of the tree was read.
  package var main: MemoryReading?
  /// The memory of the tree, counted according to the recording's ``TreeMethod``.
  package var tree: Bytes
  package var processes: Int
  /// The main process's activity so far; nil if it was not read.
  package var activity: Activity?

  package init(
    time: Duration,
    process: Int32 = 0,
    main: MemoryReading?,
    tree: Bytes,
    processes: Int,
    activity: Activity? = nil
  ) {
    self.time = time
    self.process = process
    self.main = main
    self.tree = tree
    self.processes = processes
    self.activity = activity
  }
}

/// The activity of a process since its start, from `/proc/<pid>/stat`.
package struct Activity: Sendable, Equatable {
  /// Page faults without disk I/O (`minflt`): each made one more page resident.
  package var minorFaults: Int64
  /// CPU time (`utime` and `stime`), in steps of the kernel's clock tick, usually 10 ms.
  package var cpuTime: Duration

  package init(minorFaults: Int64, cpuTime: Duration) {
    self.minorFaults = minorFaults
    self.cpuTime = cpuTime
  }
}
