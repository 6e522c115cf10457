/// A limitation of measuring a scenario on this machine, or a property that may distort its values.
package enum MachineNote: Sendable, Hashable, Codable {
  case noTracing(barrier: TracingBarrier)
  case noMemoryCgroup(error: CgroupError)
  /// Transparent huge pages are on for every program.
  case hugePagesAlways
  case swapInUse(used: Bytes)
  /// The gate judges what is swapped out, and the machine has no swap.
  case noSwap
  /// The runner's own cgroup has a small limit, or one that is nearly exhausted.
  case smallLimit(limit: Bytes, used: Bytes)
  /// The limit of the runner's own cgroup is lower than the scenario's `memory-limit`.
  case hiddenLimit(limit: Bytes, wanted: Bytes)
  case fewerCPUs(usable: Int, online: Int)
  case addressesNotFixed
}

/// Why the runner cannot trace programs (ptrace(2)).
package enum TracingBarrier: Sendable, Hashable, Codable {
  /// `kernel.yama.ptrace_scope` is 2 or more (`Documentation/admin-guide/LSM/Yama.rst`).
  case yama(scope: Int)
  case seccomp
  case unknown
}

/// Why no cgroup can be created or used.
package enum CgroupError: Error, Sendable, Hashable, Codable {
  /// No hierarchy is mounted, or the mounted one does not contain the runner's own cgroup.
  case notMounted
  /// The controller is neither mounted (v1) nor enabled for the folder's cgroup (v2).
  case noMemoryController(folder: String)
  /// The kernel lacks the file, which was added in 5.2 (`cgroup.freeze`).
  case noFile(file: String, folder: String)
  case readOnly(folder: String)
  case notPermitted(folder: String)
  /// The same, for a user whose systemd manager can delegate another cgroup.
  case notDelegated(folder: String)
  /// A v2 cgroup that has processes cannot enable the memory controller for cgroups below it.
  case internalProcesses(folder: String)
  /// With the `errno` of the call.
  case failed(folder: String, code: Int32)
}
