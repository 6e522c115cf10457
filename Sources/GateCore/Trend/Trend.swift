package import FoundationEssentials
import Statistics

/// The changes of each scenario's memory over runs: everything that the trend page shows.
package struct Trend: Sendable, Equatable {
  package var createdAt: Date
  package var links = BuildLinks()
  /// The runs of all series, in order of time.
  package var runs: [RunInfo]
  /// The number of runs in the history.
  package var runCount: Int
  /// By name, environment and branch; the main branch comes first.
  package var series: [ScenarioSeries]
  /// The number of branches that are not shown because others have newer runs.
  package var hiddenBranches = 0
  /// The number of runs of the shown branches that are not in the series because they have too many newer ones.
  package var olderRuns = 0
  /// The indices of runs in which so many scenarios are outliers that no step is dated there.
  package var setAside: [Int] = []
  /// The newest first.
  package var events: [TrendEvent] = []

  /// The number of latest runs of each branch that are shown unless told otherwise: a page of so many takes less than a
  /// second, whatever the length of the history.
  package static let latestRuns = 2000
}

/// One scenario's runs in one environment on one branch, in order of time.
package struct ScenarioSeries: Sendable, Equatable {
  package var name: ScenarioName
  /// The tags of the latest run.
  package var tags: [String] = []
  /// The environment's name.
  package var environment: String
  /// nil if the branch is unknown.
  package var branch: String?
  package var growthIsPerIteration = false
  /// The number of runs, including those omitted by downsampling.
  package var runCount: Int
  package var runs: [Run]
  /// In report order.
  package var metrics: [MetricSeries]
  package var approvals: [ApprovedBaseline] = []
  package var environmentChanges: [EnvironmentChange] = []

  /// One run of the scenario.
  package struct Run: Sendable, Equatable {
    /// Its index in ``Trend/runs``.
    package var index: Int
    package var verdict: Verdict
    package var failedRepetitions: [FailedRepetition] = []
    /// What explained its rise.
    package var explanation: RiseExplanation?
    package var composition: Composition?
    /// The number of omitted runs directly before this run; their extremes are in the ranges of its points.
    package var omitted = 0
    /// Whether it is one of ``Trend/setAside``.
    package var isSetAside = false
  }

  /// A baseline, from the first run that was compared with it.
  package struct ApprovedBaseline: Sendable, Equatable {
    /// The index of that run in ``ScenarioSeries/runs``.
    package var index: Int
    package var approval: Approval
  }

  /// The differences between the environment and the previous run's.
  package struct EnvironmentChange: Sendable, Equatable {
    /// The index of the first run in the new environment in ``ScenarioSeries/runs``.
    package var index: Int
    package var differences: [Fingerprint.Difference]
  }
}

/// One metric of a scenario over runs.
package struct MetricSeries: Sendable, Equatable {
  package var metric: MetricName
  /// The unit as in the result file, for example `bytes` or `bytes/iteration`.
  package var unit: String
  /// One for each of the scenario's runs; nil if the run lacks the metric.
  package var points: [Point?]
  /// In order of time.
  package var shifts: [LevelShift] = []
  package var creep: Creep?
  /// The indices of single bad runs, ascending: values far from those before and after them, which are alike.
  package var outliers: [Int] = []
  /// The two levels that the program has alternated between since the last shift, ascending; empty if it has one.
  package var levels: [Double] = []

  /// The levels between the shifts, each from the index of its first run; none without values.
  ///
  /// A level that drifts is the one beside its shift.
  package var segments: [(start: Int, median: Double)] {
    guard let start = points.firstIndex(where: { $0 != nil }) else { return [] }
    let first = shifts.first?.before ?? Spread.median(points.compactMap { $0?.median }) ?? 0
    return [(start, first)] + shifts.map { ($0.index, $0.after) }
  }

  /// The values of one run.
  package struct Point: Sendable, Equatable {
    /// Over the repetitions of this run.
    package var median: Double
    /// The lowest and the highest value in any repetition of this run and of the omitted runs before it.
    package var low: Double
    package var high: Double
    /// nil if the metric is not gated.
    package var judgement: Judgement?

    package init(median: Double, low: Double, high: Double, judgement: Judgement? = nil) {
      (self.median, self.low, self.high, self.judgement) = (median, low, high, judgement)
    }

    /// The median minus the baseline's; nil without a baseline.
    package var change: Double? { judgement?.baseline.map { median - $0 } }

    /// The change in percent of the baseline; nil if the baseline is zero.
    package var percent: Double? {
      guard let change, let baseline = judgement?.baseline, baseline > 0 else { return nil }
      return change / baseline * 100
    }
  }

  /// The judgement of one run's values.
  package struct Judgement: Sendable, Equatable {
    package var verdict: Verdict
    /// The baseline's median; nil if there is none.
    package var baseline: Double?
    /// The largest rise that the tolerance allows.
    package var allowed: Double?
    package var limit: Double?

    package init(verdict: Verdict, baseline: Double? = nil, allowed: Double? = nil, limit: Double? = nil) {
      (self.verdict, self.baseline, self.allowed, self.limit) = (verdict, baseline, allowed, limit)
    }
  }
}

/// A lasting change from one level to another.
package struct LevelShift: Sendable, Equatable {
  package enum Explanation: Sendable, Equatable {
    /// A baseline of the new level was approved.
    case approval(Approval)
    /// The machine or its software changed in the same run.
    case environment([Fingerprint.Difference])
    /// Somebody decided that the event needs no attention.
    case acknowledgement(Acknowledgement)
  }

  /// The index in ``ScenarioSeries/runs`` of the first run at the new level, just after the last one at the old level.
  package var index: Int
  /// The indices of the runs at which it can have happened, as far as noise allows to tell; nil if that is unknown.
  package var dates: ClosedRange<Int>?
  /// The levels just before and after it, in the metric's unit.
  package var before: Double
  package var after: Double
  /// The probability of such a shift for an unchanged program.
  package var chance: Double
  package var explanation: Explanation?
  /// Whether the level has not returned to its previous value since.
  package var persists: Bool

  /// Whether it needs attention.
  package var isUnexplainedRise: Bool { persists && explanation == nil && after > before }
}
