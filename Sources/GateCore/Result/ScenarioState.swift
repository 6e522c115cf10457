/// Whether a scenario's trouble began, lasts or ended with this run.
///
/// Trouble is a regression or a failure. A run that decides nothing (inconclusive, no baseline, skipped) neither opens
/// nor closes trouble: what was open before is still open.
package enum ScenarioState: String, Sendable, CaseIterable {
  /// In trouble now, and not before.
  case new
  /// In trouble before, and not out of it now.
  case still
  /// Good now, and in trouble before.
  case recovered
  /// Not in trouble now, nor before.
  case ok

  /// Compares a verdict with the verdicts of earlier runs.
  ///
  /// - Parameters:
  ///   - current: The verdict of this run.
  ///   - earlier: The verdicts of earlier runs, the oldest first; the last one that decided something counts.
  package init(_ current: Verdict, after earlier: some BidirectionalCollection<Verdict>) {
    let wasTrouble = earlier.last { $0.standing != .undecided }?.standing == .trouble
    switch (wasTrouble, current.standing) {
    case (false, .trouble): self = .new
    case (true, .trouble), (true, .undecided): self = .still
    case (true, .good): self = .recovered
    case (false, .good), (false, .undecided): self = .ok
    }
  }

  /// Compares a verdict with that of the run before; nil where there was none.
  package init(_ current: Verdict, after previous: Verdict?) {
    self.init(current, after: previous.map { [$0] } ?? [])
  }
}

extension Verdict {
  fileprivate enum Standing {
    case good, trouble, undecided
  }

  fileprivate var standing: Standing {
    switch self {
    case .pass, .improved: .good
    case .regression, .failed: .trouble
    case .inconclusive, .noBaseline, .skipped: .undecided
    }
  }
}

extension Webhook.Occasion {
  /// Whether a run is announced to a webhook of this kind: `failure` tells of every exit code that is not 0, `change`
  /// of trouble that began or ended.
  package func isWorthTelling(exitCode: ExitCode, states: some Sequence<ScenarioState>) -> Bool {
    switch self {
    case .always: true
    case .failure: exitCode != .pass
    case .change: states.contains { $0 == .new || $0 == .recovered }
    }
  }
}
