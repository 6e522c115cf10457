import GateCore

extension SamplerState {
  /// Processes the trace events since the last call.
  mutating func takeTraceEvents() {
    guard processTree.isTraced else { return }
    for event in processTree.takeTraceEvents() {
      take(event, at: max(0, (event.time - processTree.startedAt).nanoseconds))
    }
    guard !missing.isEmpty else { return }
    for process in missing where known[process.pid] === process && !process.isFollowed { retire(process) }
    missing = []
  }

  /// Other events of a process may precede the one that names its parent.
  private mutating func take(_ event: TraceEvent, at time: Int64) {
    switch event.kind {
    case .forked(let parent, let borrowsMemory):
      process(event.pid, parent: parent, at: time)
        .wasForked(by: parent, known[parent], borrowsMemory: borrowsMemory)
    case .executed(let program):
      process(event.pid, parent: 0, at: time).executed(program, at: time)
    case .exiting(let program):
      let process = process(event.pid, parent: 0, at: time)
      let isFirst = !process.isExact
      if process.isExiting(program, at: time), let memory = program.memory {
        appendEnd(of: process, memory, isFirst: isFirst, at: time)
      }
    case .ended(let status):
      guard let process = known[event.pid] else { return }
      process.ended(status, at: time)
      retire(process)
    case .madeManyThreads(let count):
      reportsAll = false
      add(.threadsNotFollowed(command: known[event.pid]?.command, count: count))
    }
  }

  private mutating func process(_ pid: Int32, parent: Int32, at time: Int64) -> TrackedProcess {
    known[pid] ?? add(pid, parent: parent, at: time, isFollowed: true)
  }
}
