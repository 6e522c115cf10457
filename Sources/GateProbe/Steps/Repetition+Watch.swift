import GateCore

extension Repetition {
  /// The pause between two looks where no descriptor signals a change.
  static let tick = Duration.milliseconds(20)

  /// What a wait does when the target ends.
  enum AtTargetEnd {
    /// Looks a last time, at all that the target has left behind, and aborts.
    case abort
    /// Continues, unless a signal of another sender ended it: what is waited for can come all the same.
    case proceed
  }

  /// Looks again and again until there is a value, and aborts at whatever ends the script.
  ///
  /// It looks whenever one of the readers or writers is ready, when the supervisor has reported an event, and after each
  /// `pause` at the latest. The result is nil when the deadline has passed.
  func watch<Value>(
    until deadline: MonotonicTime,
    pause: Duration = .seconds(1),
    on readers: [Int32] = [],
    toWrite writers: [Int32] = [],
    of run: TargetRun?,
    atTargetEnd: AtTargetEnd = .abort,
    _ look: () throws(StepAborted) -> Value?
  ) throws(StepAborted) -> Value? {
    while true {
      let deadline = try shortened(deadline)
      run?.refresh()
      let mustAbort = run?.hasEnded == true && (atTargetEnd == .abort || run?.wasKilledByOthers == true)
      if mustAbort { listener.catchUp() }
      if let value = try look() { return value }
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

  /// Aborts at an interruption; what cannot be cancelled gets 10 s more in all.
  private func shortened(_ deadline: MonotonicTime) throws(StepAborted) -> MonotonicTime {
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

  /// The end of a main process that is no child of the supervisor is not reported.
  private func pauseForTarget(_ run: TargetRun?) -> Duration {
    guard let run else { return .seconds(1) }
    let untilTimeout = isCancellable ? run.deadline.remaining : .seconds(1)
    return min(scenario.target.main == nil ? .seconds(1) : .milliseconds(50), untilTimeout)
  }
}
