/// All that the history has of one scenario, in columns: what its courses are made from.
package struct ScenarioTrack: Sendable {
  package var name: ScenarioName
  /// One for each run, in the order of time.
  package var rows: [Row]
  package var columns: [Column]

  /// One run of the scenario.
  package struct Row: Sendable {
    /// Its place in ``TrendInventory/runs``.
    package var run: Int
    /// The place of its environment in ``TrendInventory/environments``.
    package var environment: Int
    package var verdict: Verdict
    package var growthIsPerIteration: Bool
    package var tags: [String]
    /// The place of its baseline's approval in ``TrendInventory/approvals``.
    package var approval: Int?
    package var troubles: [ScenarioRecord.Trouble]
    package var composition: Composition?

    package init(
      run: Int,
      environment: Int,
      verdict: Verdict,
      growthIsPerIteration: Bool = false,
      tags: [String] = [],
      approval: Int? = nil,
      troubles: [ScenarioRecord.Trouble] = [],
      composition: Composition? = nil
    ) {
      self.run = run
      self.environment = environment
      self.verdict = verdict
      self.growthIsPerIteration = growthIsPerIteration
      self.tags = tags
      self.approval = approval
      self.troubles = troubles
      self.composition = composition
    }
  }

  /// One metric of all runs.
  package struct Column: Sendable {
    package var metric: MetricName
    /// One for each row; nil where that run does not have it.
    package var points: [MetricCourse.Point?]

    package init(metric: MetricName, points: [MetricCourse.Point?]) {
      self.metric = metric
      self.points = points
    }
  }

  package init(name: ScenarioName, rows: [Row], columns: [Column]) {
    self.name = name
    self.rows = rows
    self.columns = columns
  }
}

/// What the scenarios of a history share.
package struct TrendInventory: Sendable {
  /// In the order of time.
  package var runs: [RunInfo]
  package var environments: [EnvironmentInfo]
  package var approvals: [Baseline.Approval]

  package init(runs: [RunInfo], environments: [EnvironmentInfo] = [], approvals: [Baseline.Approval] = []) {
    self.runs = runs
    self.environments = environments
    self.approvals = approvals
  }
}

/// Which branches a trend shows: the main one, and those that are being worked on.
package struct ShownBranches: Sendable, Equatable {
  /// The main one first, then the one with the newest run.
  package let names: [String?]
  package let hiddenCount: Int

  /// The main branch and so many others: a review looks at what is open, and a closed branch comes back into the main one.
  private static let others = 12

  /// What main branches are called, the likeliest first.
  private static let mainNames = ["main", "master", "trunk", "develop"]

  package init(of runs: [RunInfo]) {
    var counts: [String?: (count: Int, last: Int)] = [:]
    for (place, run) in runs.enumerated() { counts[run.branch] = ((counts[run.branch]?.count ?? 0) + 1, place) }
    let named = Self.mainNames.first { counts[$0] != nil }
    // Ties go to the branch with the newer run, so that the answer does not hang on the order of a dictionary.
    let busiest = counts.max { ($0.value.count, $0.value.last) < ($1.value.count, $1.value.last) }?.key
    let main: String? = named ?? busiest ?? nil
    let newest = counts.filter { $0.key != main }.sorted { $0.value.last > $1.value.last }.map(\.key)
    names = counts.isEmpty ? [] : [main] + newest.prefix(Self.others)
    hiddenCount = max(0, newest.count - Self.others)
  }
}
