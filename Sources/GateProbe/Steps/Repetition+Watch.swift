import GateCore

extension Repetition {
  /// The polling interval if no descriptor signals a change.
  static let pollInterval = Duration.milliseconds(20)

  /// What a wait does when the target ends.
  enum AtTargetEnd {
    /// Checks a last time, with all of the target's output, and aborts.
    case abort
    /// Continues, unless a signal that the runner did not send ended the target: the awaited value may still come.
    case proceed
  }

  /// Polls until there is a value; throws if the script has to be aborted.
  ///
  /// Checks whenever one of the readers or writers is ready, or the supervisor has reported an event, and at least once
  /// per `pause`. Returns nil after the deadline.
  func watch<Value>(
    until deadline: MonotonicTime,
    pause: Duration = .seconds(1),
    on readers: [Int32] = [],
    toWrite writers: [Int32] = [],
    of run: TargetRun?,
    atTargetEnd: AtTargetEnd = .abort,
    _ check: () throws(StepAborted) -> Value?
  ) throws(StepAborted) -> Value? {
    while true {
      let deadline = try cancellationLimited(deadline)
      run?.refresh()
      let mustAbort = run?.hasEnded == true && (atTargetEnd == .abort || run?.wasKilledByOthers == true)
      if mustAbort { listener.catchUp() }
      if run?.isLost == true { throw .failed(.attach(error: .lost)) }
      if let value = try check() { return value }
      if mustAbort { throw .targetEnded }
      if isCancellable, run?.deadline.hasPassed == true { throw .outOfTime }
      if deadline.hasPassed { return nil }
      Polling.wait(
        toRead: readers + ownDescriptors(run),
        toWrite: writers,
        atMost: min(pause, deadline.remaining, pauseForTarget(run))
      )
    }
  }

  /// Aborts after an interruption; work that cannot be cancelled gets 10 s more in total.
  private func cancellationLimited(_ deadline: MonotonicTime) throws(StepAborted) -> MonotonicTime {
    guard isInterrupted else { return deadline }
    if isCancellable { throw .interrupted }
    let last = cancellationDeadline ?? .after(.seconds(10))
    cancellationDeadline = last
    return min(deadline, last)
  }

  private func ownDescriptors(_ run: TargetRun?) -> [Int32] {
    var list: [Int32] = []
    if !isInterrupted { list.append(interrupted.descriptor) }
    if let run, !run.hasEnded { list.append(run.processTree.reportDescriptor) }
    return list
  }

  /// The supervisor does not report the end of another main process than the started one, so that needs polling.
  private func pauseForTarget(_ run: TargetRun?) -> Duration {
    guard let run else { return .seconds(1) }
    let untilTimeout = isCancellable ? run.deadline.remaining : .seconds(1)
    return min(run.isMainReported ? .seconds(1) : .milliseconds(50), untilTimeout)
  }
}
