import Statistics

/// Steps of many scenarios at one commit, or creep of many over the same runs: one line of a project's history.
package struct TrendEvent: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable, Codable {
    case rise, fall
    /// Some scenarios rose and others fell.
    case mixed
    case creep
    /// The machine or its software changed between the runs before and after.
    case environment
  }

  /// The change of one metric of one scenario.
  package struct Change: Sendable, Equatable {
    /// The index of the scenario's series in ``Trend/series``.
    package var series: Int
    package var scenario: ScenarioName
    package var environment: String
    package var metric: MetricName
    package var unit: String
    package var before: Double
    package var after: Double
    /// The probability of such a step for an unchanged program; nil for creep.
    package var chance: Double?
    /// The index of the first run at the new level in ``ScenarioSeries/runs``; nil for creep.
    package var run: Int?
    /// The approval of a baseline of the new level.
    package var approval: Approval?
    /// Whether the level has not returned to its previous value since.
    package var persists: Bool

    package var size: Double { after - before }
    /// nil if the level was zero.
    package var percent: Double? { before > 0 ? size / before * 100 : nil }
  }

  /// What is known to have caused it.
  package struct Cause: Sendable, Equatable {
    /// How the environment differs from that of the runs before.
    package var environment: [Fingerprint.Difference] = []
    /// What explained the rise of most of the scenarios; nil if no profile did.
    package var explanation: RiseExplanation?
  }

  /// Short and unique in a trend: the commit after the event, as in `4f2a91c0d`.
  package var id: String
  package var kind: Kind
  package var branch: String?
  /// The last run that is surely before the event, or the one since which memory creeps up; nil if unknown.
  package var before: RunInfo?
  /// The first run that is surely after it; of creep the latest.
  package var after: RunInfo
  /// The largest first.
  package var changes: [Change]
  /// The number of scenarios that were measured before and after.
  package var measured: Int
  package var cause: Cause
  /// Who decided that it needs no attention, and why.
  package var acknowledgement: Acknowledgement?
}

extension TrendEvent {
  /// One step of one metric.
  package struct Step: Hashable {
    /// As in ``Change``.
    package var series: Int
    package var metric: MetricName
    package var run: Int

    package init(series: Int, metric: MetricName, run: Int) {
      (self.series, self.metric, self.run) = (series, metric, run)
    }
  }

  /// The run to which it is dated: the first at the new levels, or that since which memory creeps up.
  package var start: RunInfo { kind == .creep ? before ?? after : after }

  /// The change of each scenario's main metric, the largest first.
  ///
  /// The main metric is the first in report order; of a scenario in several environments each counts.
  package var mainChanges: [Change] {
    let bySeries = Dictionary(grouping: changes, by: \.series)
    return bySeries.values.compactMap { changes in
      changes.min { MetricName.isListedBefore($0.metric, $1.metric) }
    }
    .sorted(by: Change.isListedBefore)
  }

  /// The scenarios, that with the largest change first.
  package var scenarios: [ScenarioName] {
    var seen: Set<ScenarioName> = []
    return mainChanges.map(\.scenario).filter { seen.insert($0).inserted }
  }

  /// The median of the changes in percent; nil if all levels were zero.
  package var medianPercent: Double? { Spread.median(mainChanges.compactMap(\.percent)) }

  /// The median of the changes; nil if their units differ.
  package var medianSize: Double? {
    let changes = mainChanges
    return Set(changes.map(\.unit)).count == 1 ? Spread.median(changes.map(\.size)) : nil
  }

  /// Whether the levels have returned to their previous values.
  package var isResolved: Bool { changes.allSatisfy { !$0.persists } }

  /// Whether somebody should look: memory of a scenario rose, has not come back, and neither an approval, the environment
  /// nor an acknowledgement explains it.
  package var needsAttention: Bool {
    acknowledgement == nil && cause.environment.isEmpty
      && changes.contains { $0.persists && $0.size > 0 && $0.approval == nil }
  }

  package enum State: String, Sendable {
    case new, acknowledged
    /// The environment or approvals explain all of it.
    case explained
    /// All levels have returned.
    case resolved
  }

  package var state: State {
    if isResolved { return .resolved }
    if acknowledgement != nil { return .acknowledged }
    let isExplained = !cause.environment.isEmpty || changes.allSatisfy { $0.approval != nil }
    return isExplained ? .explained : .new
  }

  /// The approvals of the new levels, each once.
  package var approvals: [Approval] {
    var seen: Set<Approval> = []
    return changes.compactMap(\.approval).filter { seen.insert($0).inserted }
  }

  /// The number of scenarios whose new level was approved.
  package var approvedCount: Int { Set(changes.filter { $0.approval != nil }.map(\.scenario)).count }
}

extension Trend {
  /// The index of the event to which each step belongs.
  package var eventsOfSteps: [TrendEvent.Step: Int] {
    events.enumerated().reduce(into: [:]) { indices, event in
      for change in event.element.changes {
        guard let run = change.run else { continue }
        indices[TrendEvent.Step(series: change.series, metric: change.metric, run: run)] = event.offset
      }
    }
  }
}

extension TrendEvent.Change {
  /// The largest part of its level first; then by name.
  static func isListedBefore(_ left: Self, _ right: Self) -> Bool {
    let (first, second) = (left.relativeSize, right.relativeSize)
    guard first == second else { return first > second }
    return (left.scenario, left.environment, left.metric.text) < (right.scenario, right.environment, right.metric.text)
  }

  private var relativeSize: Double { abs(percent ?? .infinity) }
}
