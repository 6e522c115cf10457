/// The effect of an approval on one baseline.
package struct ApprovalChange: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case created, replaced
    /// The change was written beside the baseline (``BaselineChange``).
    case changed
    /// The changes since the baseline became a part of it.
    case folded(changes: Int)
    /// Measured here at the commit that has what was approved in another environment, which differs in these fields.
    case moved(from: String, commit: String, differences: [Fingerprint.Difference])
    /// There was nothing to change.
    case unchanged(KeepReason)
    /// The result was refused; never empty.
    case skipped([SkipReason])
  }

  /// Why a baseline stays although the result could replace it.
  package enum KeepReason: Sendable, Equatable {
    case equalValues
    /// The result passes against it.
    case passes
    /// Only improvements were to be approved.
    case notImproved
    /// Only changes were to be folded, and there are none.
    case nothingToFold
    /// Only changes were to be folded, and the result is not what they say.
    case differsFromChanges
    /// Only what lacks a baseline here was to be measured, and it has one.
    case hasBaseline
    /// Only what was approved elsewhere was to be measured, and nothing was.
    case nothingApproved
  }

  /// Why a result does not become a baseline.
  package enum SkipReason: Sendable, Equatable {
    case failed(Failure)
    case noRepetitions
    /// No repetition has a `peak_rss`.
    case noPeak
    /// At least half of the repetitions lack a metric that the gate names.
    case unavailable(metric: MetricName, cause: Unavailability)
    /// git does not know the commit that has what was approved in another environment.
    case unknownApprovedCommit(environment: String)

    // The others can be overridden.
    /// The baseline became unusable, as by a merge, after the measurement.
    case measuredBeforeDefect
    case otherCommit(measured: String, isDirty: Bool, head: String)
    /// The result does not say which commit was measured, and so may be of any.
    case unknownCommit(head: String)
    /// The project file has changed since the measurement.
    case otherDefinition(measured: ScenarioDefinition, current: ScenarioDefinition)
    /// Fewer repetitions than the project file asks for.
    case fewerThanPlanned(count: Int, least: Int)
    case comparedWithBuild(build: String)
    /// It was measured in another environment than the project or the user names.
    case otherEnvironment(measured: String, named: String)
    /// The baseline of the named environment was measured on another kind of machine.
    case otherMachine(environment: String, differences: [Fingerprint.Difference])

    /// Whether the user may approve the result all the same.
    package var canBeOverridden: Bool {
      switch self {
      case .failed, .noRepetitions, .noPeak, .unavailable, .unknownApprovedCommit: false
      case .measuredBeforeDefect, .otherCommit, .unknownCommit, .otherDefinition, .fewerThanPlanned,
        .comparedWithBuild, .otherEnvironment, .otherMachine:
        true
      }
    }
  }

  /// Why the result was refused; empty if it was not.
  package var skipReasons: [SkipReason] {
    if case .skipped(let reasons) = outcome { reasons } else { [] }
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
  /// The number of repetitions of the previous baseline; 0 if there was none.
  package var countBefore = 0
  /// The number of repetitions of the new baseline.
  package var countAfter = 0
  /// The number of values of the metrics that some repetitions of the new baseline lack.
  package var fewerValues: [MetricName: Int] = [:]
  /// What changed in the baseline of a suite; nil for a program.
  package var tests: SuiteBaselineChange?
  /// The approval of the new baseline; nil if it was not written.
  package var approval: Approval?
  /// Whether the result came from elsewhere without the profile that explains a later rise.
  package var lacksProfile = false
  /// The units of reported values.
  package var units: [MetricName: String] = [:]
  /// Whether the new baseline has growth per iteration rather than per second.
  package var growthIsPerIteration = false
  /// The growth that checks against the new baseline would not notice; nil if it is as little as one would expect.
  package var hiddenGrowth: HiddenGrowth?
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
