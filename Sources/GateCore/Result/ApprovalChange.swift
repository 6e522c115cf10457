/// What an approval did to one baseline.
package struct ApprovalChange: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case created, replaced, unchanged
    /// The baseline was left as it is, for this reason.
    case skipped(reason: String)
  }

  package var scenario: ScenarioName
  package var environment: String
  /// The baseline's file.
  package var path: String
  package var outcome: Outcome
  /// The medians of the baseline that stood there before; empty where there was none.
  package var before: [MetricName: Double]
  /// The medians of the baseline that stands there now.
  package var after: [MetricName: Double]
  /// In which units the target reported its own figures.
  package var units: [MetricName: String] = [:]
  /// What the growth that stands there now is counted per: an iteration, else a second.
  package var growthIsPerIteration = false
  /// What a person should know of it, each a sentence.
  package var notes: [String] = []

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
