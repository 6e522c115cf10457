import GateCore

extension SamplerState {
  /// Adds the processes of a target that runs already, and lets the peaks of those that are not its own begin now.
  mutating func attach(to attached: AttachedProcesses) {
    for (pid, parent) in attached.all() where known[pid] == nil {
      add(pid, parent: parent, at: 0, isOlder: true)
    }
    for process in tracked { process.wasAttached(to: attached, isTraced: processTree.isTraced, buffer: buffer) }
    // Copies that were forked before share memory with their parents; no later reading would tell how much.
    guard tracked.count > 1 else { return }
    for (pid, folder) in processesToSum {
      if let totals = MappingTotals(inFolder: folder) { note(totals, of: pid, at: 0) }
    }
  }

  /// Reads the marks of processes that are not ended, but let go of.
  mutating func readLastPeaks(at time: Int64) {
    for process in tracked where process.isAlive {
      process.isLetGo(at: time, isTraced: processTree.isTraced, buffer: buffer)
    }
    let wasReset = main?.isMarkReset ?? tracked.allSatisfy(\.isMarkReset)
    add(.attached(isReset: wasReset))
  }

  /// A process of the target that cannot be traced is found by search, and so are its children.
  mutating func noteUntraced(_ pid: Int32, code: Int32) {
    reportsAll = false
    known[pid]?.createsUntracedThreads()
    add(.notTraced(command: known[pid]?.command ?? "\(pid)", code: code))
  }
}
