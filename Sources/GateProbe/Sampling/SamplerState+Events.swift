import GateCore

extension SamplerState {
  /// Takes in what a tracer has told since the last turn.
  mutating func takeTraceEvents() {
    guard family.isTraced else { return }
    for event in family.takeTraceEvents() {
      take(event, at: max(0, (event.time - family.startedAt).nanoseconds))
    }
  }

  /// Events of one process may come before the one that tells who made it.
  private mutating func take(_ event: TraceEvent, at time: Int64) {
    switch event.kind {
    case .forked(let parent, let borrowsMemory):
      process(event.pid, parent: parent, at: time).wasForked(by: parent, borrowsMemory: borrowsMemory)
    case .executed(let program):
      process(event.pid, parent: 0, at: time).executed(program, at: time)
    case .exiting(let program):
      let process = process(event.pid, parent: 0, at: time)
      let isFirst = !process.isExact
      if process.isExiting(program, at: time), let figures = program.figures {
        appendEnd(of: process, figures, isFirst: isFirst, at: time)
      }
    case .ended(let status):
      guard let process = known[event.pid] else { return }
      process.ended(status, at: time)
      retire(process)
    case .madeManyThreads(let count):
      isToldOfAll = false
      add(.threadsNotFollowed(command: known[event.pid]?.command, count: count))
    }
  }

  private mutating func process(_ pid: Int32, parent: Int32, at time: Int64) -> TrackedProcess {
    known[pid] ?? add(pid, parent: parent, at: time, isFollowed: true)
  }
}
