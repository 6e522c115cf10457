package import FoundationEssentials

/// How each scenario's memory changed from run to run: everything that the trend page shows.
package struct Trend: Sendable, Equatable {
  package var createdAt: Date
  package var links = BuildLinks()
  /// The runs of all series, in the order of time.
  package var runs: [RunInfo]
  /// How many runs the history has.
  package var runCount: Int
  /// By name, environment and branch; series of one name and environment follow each other, the main branch first.
  package var series: [ScenarioSeries]
  /// How many branches are not shown because others have newer runs.
  package var hiddenBranches = 0
}

/// One scenario's runs in one environment on one branch, in the order of time.
package struct ScenarioSeries: Sendable, Equatable {
  package var name: ScenarioName
  /// Those of the latest run.
  package var tags: [String] = []
  /// The environment's name.
  package var environment: String
  /// nil where the runs' branch is not known.
  package var branch: String?
  package var growthIsPerIteration = false
  /// How many runs there are, with those that downsampling has left out.
  package var runCount: Int
  package var runs: [Run]
  /// In the order in which reports list them.
  package var metrics: [MetricSeries]
  package var approvals: [ApprovedBaseline] = []
  package var environmentChanges: [EnvironmentChange] = []

  /// One run of the scenario.
  package struct Run: Sendable, Equatable {
    /// Its index in ``Trend/runs``.
    package var index: Int
    package var verdict: Verdict
    package var failedRepetitions: [FailedRepetition] = []
    package var composition: Composition?
    /// How many runs right before it are left out; their extremes are in the ranges of its points.
    package var omitted = 0
  }

  /// A baseline, from the first run that was compared with it.
  package struct ApprovedBaseline: Sendable, Equatable {
    /// The index of that run in ``ScenarioSeries/runs``.
    package var index: Int
    package var approval: Approval
  }

  /// What differs in the environment from that of the run before.
  package struct EnvironmentChange: Sendable, Equatable {
    /// The index of the first run in the new environment in ``ScenarioSeries/runs``.
    package var index: Int
    package var differences: [Fingerprint.Difference]
  }
}

/// One metric of a scenario from run to run.
package struct MetricSeries: Sendable, Equatable {
  package var metric: MetricName
  /// As the result file names it, for example `bytes` or `bytes/iteration`.
  package var unit: String
  /// One for each of the scenario's runs; nil where that run does not have the metric.
  package var points: [Point?]
  /// In the order of time.
  package var shifts: [LevelShift] = []
  package var creep: Creep?

  /// The values of one run.
  package struct Point: Sendable, Equatable {
    /// Over the repetitions of this run.
    package var median: Double
    /// The lowest and the highest value of any repetition, of this run and of those that are left out before it.
    package var low: Double
    package var high: Double
    /// nil where no gate asks for the metric.
    package var judgement: Judgement?

    package init(median: Double, low: Double, high: Double, judgement: Judgement? = nil) {
      (self.median, self.low, self.high, self.judgement) = (median, low, high, judgement)
    }

    /// Current less baseline; nil where there is no baseline.
    package var change: Double? { judgement?.baseline.map { median - $0 } }

    /// The change in percent of the baseline; nil where the baseline is zero.
    package var percent: Double? {
      guard let change, let baseline = judgement?.baseline, baseline > 0 else { return nil }
      return change / baseline * 100
    }
  }

  /// The judgement of one run's values.
  package struct Judgement: Sendable, Equatable {
    package var verdict: Verdict
    /// The baseline's median; nil where there is none.
    package var baseline: Double?
    /// The largest rise that the tolerance allows.
    package var allowed: Double?
    package var limit: Double?

    package init(verdict: Verdict, baseline: Double? = nil, allowed: Double? = nil, limit: Double? = nil) {
      (self.verdict, self.baseline, self.allowed, self.limit) = (verdict, baseline, allowed, limit)
    }
  }
}

/// A change from one level to another that lasted.
package struct LevelShift: Sendable, Equatable {
  package enum Explanation: Sendable, Equatable {
    /// Somebody approved a baseline of the new level.
    case approval(Approval)
    /// The machine or its software changed in the same run.
    case environment([Fingerprint.Difference])
  }

  /// The index in ``ScenarioSeries/runs`` of the first run at the new level; the run before is the last at the old one.
  package var index: Int
  package var before: Double
  package var after: Double
  /// The probability of such a shift among runs of an unchanged program.
  package var chance: Double
  package var explanation: Explanation?
  /// Whether the level has not returned since to what it was before.
  package var persists: Bool

  /// Whether somebody should look at it.
  package var isUnexplainedRise: Bool { persists && explanation == nil && after > before }
}
