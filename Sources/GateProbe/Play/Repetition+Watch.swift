import GateCore

extension Repetition {
  /// The pause between two looks where nothing tells of news.
  static let tick = Duration.milliseconds(20)

  /// What a wait does when the target ends.
  enum AtTargetEnd {
    /// Looks a last time, at all that the target has left behind, and halts.
    case halt
    /// Goes on, unless a signal of somebody else ended it: what is waited for can come all the same.
    case goOn
  }

  /// Looks again and again until there is a value, halting at whatever ends the script.
  ///
  /// It looks whenever one of the readers or writers is ready, when there is news of the target, and after each
  /// `pause` at the latest. The result is nil when the deadline has passed.
  func watch<Value>(
    until deadline: MonotonicTime,
    pause: Duration = .seconds(1),
    on readers: [Int32] = [],
    toWrite writers: [Int32] = [],
    of run: TargetRun?,
    atTargetEnd: AtTargetEnd = .halt,
    _ look: () throws(Halt) -> Value?
  ) throws(Halt) -> Value? {
    while true {
      let deadline = try hurried(deadline)
      run?.refresh()
      let mustHalt = run?.hasEnded == true && (atTargetEnd == .halt || run?.wasCutDown == true)
      if mustHalt { listener.catchUp() }
      if let value = try look() { return value }
      if mustHalt { throw .targetEnded }
      if heedsInterruption, run?.deadline.hasPassed == true { throw .outOfTime }
      if deadline.hasPassed { return nil }
      Polling.wait(
        toRead: readers + ownDescriptors(run),
        toWrite: writers,
        atMost: min(pause, deadline.remaining, pauseForTarget(run))
      )
    }
  }

  /// Halts at an interruption; where it is not heeded, what is under way gets 10 s more in all.
  private func hurried(_ deadline: MonotonicTime) throws(Halt) -> MonotonicTime {
    guard interruption.signal != nil else { return deadline }
    if heedsInterruption { throw .interrupted }
    let hurry = hurryDeadline ?? .after(.seconds(10))
    hurryDeadline = hurry
    return min(deadline, hurry)
  }

  private func ownDescriptors(_ run: TargetRun?) -> [Int32] {
    var list: [Int32] = []
    if interruption.signal == nil { list.append(interrupted.descriptor) }
    if let run, !run.hasEnded { list.append(run.family.reportDescriptor) }
    return list
  }

  /// A main process that is not a child of the shepherd ends without news.
  private func pauseForTarget(_ run: TargetRun?) -> Duration {
    guard let run else { return .seconds(1) }
    let untilTimeout = heedsInterruption ? run.deadline.remaining : .seconds(1)
    return min(scenario.target.main == nil ? .seconds(1) : .milliseconds(50), untilTimeout)
  }
}
