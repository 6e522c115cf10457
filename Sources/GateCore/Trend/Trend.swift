package import FoundationEssentials

/// The history as people review it: how each scenario's memory moved from run to run.
package struct Trend: Sendable, Equatable {
  package var madeAt: Date
  package var links: BuildLinks
  /// The runs that any course shows, in the order of time.
  package var runs: [RunInfo]
  /// How many runs the history has.
  package var runCount: Int
  /// By name, environment and branch; courses of one name and environment follow each other, the main branch first.
  package var courses: [ScenarioCourse]
  /// Branches whose runs are not shown, because others have newer ones.
  package var hiddenBranches: Int

  package init(
    madeAt: Date,
    links: BuildLinks = BuildLinks(),
    runs: [RunInfo],
    runCount: Int,
    courses: [ScenarioCourse],
    hiddenBranches: Int = 0
  ) {
    self.madeAt = madeAt
    self.links = links
    self.runs = runs
    self.runCount = runCount
    self.courses = courses
    self.hiddenBranches = hiddenBranches
  }
}

/// One scenario's runs in one environment on one branch, in the order of time.
package struct ScenarioCourse: Sendable, Equatable {
  package var name: ScenarioName
  /// As in the latest run.
  package var tags: [String]
  /// The environment's name.
  package var environment: String
  /// nil: no run knew its branch.
  package var branch: String?
  package var growthIsPerIteration: Bool
  /// How many runs there are; where they are more than can be shown, some stand for their neighbours too.
  package var runCount: Int
  package var entries: [Entry]
  /// In the order in which they are shown.
  package var metrics: [MetricCourse]
  /// Baselines as they came into force.
  package var approvals: [Approved]
  /// Changes of the machine or its software from one run to the next.
  package var environmentChanges: [EnvironmentChange]

  /// One run of the scenario.
  package struct Entry: Sendable, Equatable {
    /// Its place in ``Trend/runs``.
    package var run: Int
    package var verdict: Verdict
    /// Repetitions that did not end well.
    package var failedRepetitions: [FailedRepetition]
    package var composition: Composition?
    /// How many runs before it are not shown; their extremes are in its points' ranges.
    package var folded: Int

    package init(
      run: Int,
      verdict: Verdict,
      failedRepetitions: [FailedRepetition] = [],
      composition: Composition? = nil,
      folded: Int = 0
    ) {
      self.run = run
      self.verdict = verdict
      self.failedRepetitions = failedRepetitions
      self.composition = composition
      self.folded = folded
    }
  }

  /// A baseline, and the first run that was held against it.
  package struct Approved: Sendable, Equatable {
    /// The place of that run in ``entries``.
    package var entry: Int
    package var approval: Approval

    package init(entry: Int, approval: Approval) {
      self.entry = entry
      self.approval = approval
    }
  }

  /// What was another than in the run before.
  package struct EnvironmentChange: Sendable, Equatable {
    /// The place of the first run with it in ``entries``.
    package var entry: Int
    package var differences: [Fingerprint.Difference]

    package init(entry: Int, differences: [Fingerprint.Difference]) {
      self.entry = entry
      self.differences = differences
    }
  }

  package init(
    name: ScenarioName,
    tags: [String] = [],
    environment: String,
    branch: String?,
    growthIsPerIteration: Bool = false,
    runCount: Int,
    entries: [Entry],
    metrics: [MetricCourse],
    approvals: [Approved] = [],
    environmentChanges: [EnvironmentChange] = []
  ) {
    self.name = name
    self.tags = tags
    self.environment = environment
    self.branch = branch
    self.growthIsPerIteration = growthIsPerIteration
    self.runCount = runCount
    self.entries = entries
    self.metrics = metrics
    self.approvals = approvals
    self.environmentChanges = environmentChanges
  }
}

/// One metric of a scenario from run to run.
package struct MetricCourse: Sendable, Equatable {
  package var metric: MetricName
  /// The unit's name as in the result file, such as `bytes` or `bytes/iteration`.
  package var unit: String
  /// One for each of the scenario's entries; nil where that run does not have the metric.
  package var points: [Point?]
  /// Lasting steps, in the order of time.
  package var steps: [Step]
  /// nil where it has not crept up.
  package var creep: Creep?

  /// What one run says.
  package struct Point: Sendable, Equatable {
    /// Over the repetitions of this run.
    package var median: Double
    /// The least and the most of any repetition of this run and of those that are folded into it.
    package var low: Double
    package var high: Double
    package var judgement: Judgement?

    package init(median: Double, low: Double, high: Double, judgement: Judgement? = nil) {
      self.median = median
      self.low = low
      self.high = high
      self.judgement = judgement
    }
  }

  /// What a gate said of it.
  package struct Judgement: Sendable, Equatable {
    package var verdict: Verdict
    /// The baseline's median; nil where there is none.
    package var baseline: Double?
    /// Current less baseline.
    package var change: Double?
    /// What the tolerance came to.
    package var allowed: Double?
    package var limit: Double?

    package init(
      verdict: Verdict,
      baseline: Double? = nil,
      change: Double? = nil,
      allowed: Double? = nil,
      limit: Double? = nil
    ) {
      self.verdict = verdict
      self.baseline = baseline
      self.change = change
      self.allowed = allowed
      self.limit = limit
    }

    /// The change in percent of the baseline; nil where that is not above zero or unknown.
    package var percent: Double? {
      guard let change, let baseline, baseline > 0 else { return nil }
      return change / baseline * 100
    }
  }

  /// A step from one level to another that has lasted.
  package struct Step: Sendable, Equatable {
    /// Why it is no surprise.
    package enum Cause: Sendable, Equatable {
      /// Somebody approved a baseline of the new level.
      case approval(Approval)
      /// The machine or its software changed with it.
      case environment([Fingerprint.Difference])
    }

    /// The place of the first run at the new level in the scenario's entries; the one before it is the last at the old.
    package var entry: Int
    package var before: Double
    package var after: Double
    /// The chance of such a step where nothing has changed.
    package var chance: Double
    package var cause: Cause?
    /// Whether the latest level still is above what it was before the step.
    package var stands: Bool

    package init(entry: Int, before: Double, after: Double, chance: Double, cause: Cause? = nil, stands: Bool) {
      self.entry = entry
      self.before = before
      self.after = after
      self.chance = chance
      self.cause = cause
      self.stands = stands
    }

    /// Whether somebody should look at it: a rise that still stands and that nothing explains.
    package var isOpen: Bool { stands && cause == nil && after > before }
  }

  package init(
    metric: MetricName,
    unit: String,
    points: [Point?],
    steps: [Step] = [],
    creep: Creep? = nil
  ) {
    self.metric = metric
    self.unit = unit
    self.points = points
    self.steps = steps
    self.creep = creep
  }
}
