/// Whether a scenario is bad in this run, and whether it was before.
///
/// A regression or a failure is bad. An undecided verdict (inconclusive, no baseline, skipped) changes nothing: a
/// scenario that was bad before still is.
package enum ScenarioState: String, Sendable, CaseIterable {
  /// Bad now, but not before.
  case new
  /// Bad before, and not good now.
  case still
  /// Good now, but bad before.
  case recovered
  /// Bad neither now nor before.
  case ok

  /// Compares a verdict with the verdicts of earlier runs.
  ///
  /// - Parameters:
  ///   - current: The verdict of this run.
  ///   - earlier: The verdicts of earlier runs, oldest first; the last decided one counts.
  package init(_ current: Verdict, after earlier: some BidirectionalCollection<Verdict>) {
    let wasBad = earlier.last { $0.standing != .undecided }?.standing == .bad
    switch (wasBad, current.standing) {
    case (false, .bad): self = .new
    case (true, .bad), (true, .undecided): self = .still
    case (true, .good): self = .recovered
    case (false, .good), (false, .undecided): self = .ok
    }
  }

  /// Compares a verdict with that of the previous run, if any.
  package init(_ current: Verdict, after previous: Verdict?) {
    self.init(current, after: previous.map { [$0] } ?? [])
  }
}

extension Verdict {
  fileprivate enum Standing {
    case good, bad, undecided
  }

  fileprivate var standing: Standing {
    switch self {
    case .pass, .improved: .good
    case .regression, .failed: .bad
    case .inconclusive, .noBaseline, .skipped: .undecided
    }
  }
}

extension Webhook.Occasion {
  /// Whether a run is sent to a webhook of this kind: for `failure` with every exit code except 0, for `change` if a
  /// scenario became bad or good, or if the history has a new event.
  package func shouldNotify(exitCode: ExitCode, states: some Sequence<ScenarioState>, hasNews: Bool) -> Bool {
    switch self {
    case .always: true
    case .failure: exitCode != .pass
    case .change: hasNews || states.contains { $0 == .new || $0 == .recovered }
    }
  }
}
