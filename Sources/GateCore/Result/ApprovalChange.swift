/// The effect of an approval on one baseline.
package struct ApprovalChange: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case created, replaced, unchanged
    /// The baseline was left unchanged.
    case skipped(SkipReason)
  }

  /// Why a result cannot become a baseline.
  package enum SkipReason: Sendable, Equatable {
    case failed(Failure)
    case noRepetitions
    /// No repetition has a `peak_rss`.
    case noPeak
  }

  package var scenario: ScenarioName
  package var environment: String
  /// The path of the baseline's file.
  package var path: String
  package var outcome: Outcome
  /// The medians of the previous baseline; empty if there was none.
  package var before: [MetricName: Double]
  /// The medians of the new baseline.
  package var after: [MetricName: Double]
  /// The units of reported values.
  package var units: [MetricName: String] = [:]
  /// Whether the new baseline has growth per iteration rather than per second.
  package var growthIsPerIteration = false
  /// The metrics that rose slowly over several approvals.
  package var creeps: [Creep] = []

  package init(
    scenario: ScenarioName,
    environment: String,
    path: String,
    outcome: Outcome,
    before: [MetricName: Double] = [:],
    after: [MetricName: Double] = [:]
  ) {
    self.scenario = scenario
    self.environment = environment
    self.path = path
    self.outcome = outcome
    self.before = before
    self.after = after
  }
}
