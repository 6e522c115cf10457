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

  /// Other events of a process may precede the one that names its parent, even that of its end.
  mutating func take(_ event: TraceEvent, at time: Int64) {
    switch event.kind {
    case .forked(let parent, let copied):
      let process = process(event.pid, parent: parent, at: time)
      let lender = known[parent].flatMap { $0.borrowsMemory ? $0.lender : nil } ?? parent
      process.wasForked(by: parent, copying: copied?.count, lender: lender)
      if process.hasEnded { retire(process) }
    case .executed(let program, let inherited):
      let process = process(event.pid, parent: 0, at: time)
      handOnMemory(of: process)
      let before = process.executed(program, highest: event.highest.count, inherited: inherited.count, at: time)
      noteProgram(program.command, of: process)
      if process === main, var memory = program.memory, let before {
        memory.peak = Bytes(before)
        append(memory, at: time)
      }
    case .exiting(let program, let isLast):
      let process = process(event.pid, parent: 0, at: time)
      let isFirst = !process.isReadAtExit
      if process.isExiting(program, isLast: isLast, at: time), let memory = program.memory {
        appendEnd(of: process, memory, isFirst: isFirst, at: time)
      }
    case .ended(let status):
      guard let process = known[event.pid] else { return }
      noteKill(of: process, status, at: time)
      process.ended(status, highest: event.highest.count, at: time)
      noteEndOfChild(process, highest: event.highest.count)
      handOnMemory(of: process)
      if !process.awaitsFork { retire(process) }
    case .notTraced(let code): noteUntraced(event.pid, code: code)
    case .lacksBallast(let program, let code):
      add(.ballastMissing(command: program.command, code: code))
    case .madeManyThreads(let count):
      reportsAll = false
      known[event.pid]?.createsUntracedThreads()
      add(.threadsNotFollowed(command: known[event.pid]?.command, count: count))
    }
  }

  /// Of the processes that share the memory of one that leaves it (CLONE_VM, clone(2)), the first one counts it from now on.
  private func handOnMemory(of process: TrackedProcess) {
    guard !process.borrowsMemory else { return }
    let sharing = tracked.filter { $0.borrowsMemory && $0.lender == process.pid }
    guard let heir = sharing.first else { return }
    heir.keepBorrowedMemory()
    for other in sharing.dropFirst() { other.borrowMemory(of: heir.pid) }
  }

  /// Any process that adopts orphans may have waited for one whose parent has ended (PR_SET_CHILD_SUBREAPER, prctl(2)).
  private func noteEndOfChild(_ process: TrackedProcess, highest: Int64) {
    guard process.pid != processTree.leader else { return }
    if let parent = known[process.parent] { return parent.childEnded(highest: highest) }
    for other in tracked { other.childEnded(highest: highest) }
  }

  private mutating func process(_ pid: Int32, parent: Int32, at time: Int64) -> TrackedProcess {
    known[pid] ?? add(pid, parent: parent, at: time, isFollowed: true)
  }
}
