/// The memory of this process.
enum ProcessMemory {
  /// What it holds in RAM now, in bytes (proc_pid_statm(5), second field); 0 where `/proc` cannot be read.
  ///
  /// Opened each time, since a descriptor that is kept would show the parent's memory to a forked child.
  static func resident() -> UInt64 {
    (Room.number(in: "/proc/self", "/statm", at: 1) ?? 0) * Room.pageSize
  }
}
