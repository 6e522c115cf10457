/// What an approval did to one baseline.
package struct ApprovalChange: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case created, replaced, unchanged
    /// The baseline was left as it is.
    case skipped(SkipReason)
  }

  /// Why a result must not become a baseline.
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
  /// The medians of the previous baseline; empty where there was none.
  package var before: [MetricName: Double]
  /// The medians of the new baseline.
  package var after: [MetricName: Double]
  /// The units of the values that the target reports.
  package var units: [MetricName: String] = [:]
  /// Whether the new baseline has growth per iteration, else per second.
  package var growthIsPerIteration = false
  /// The metrics that have risen slowly over several approvals.
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
