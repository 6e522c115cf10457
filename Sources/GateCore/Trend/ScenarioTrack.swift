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
    package var failedRepetitions: [FailedRepetition]
    package var composition: Composition?

    package init(
      run: Int,
      environment: Int,
      verdict: Verdict,
      growthIsPerIteration: Bool = false,
      tags: [String] = [],
      approval: Int? = nil,
      failedRepetitions: [FailedRepetition] = [],
      composition: Composition? = nil
    ) {
      self.run = run
      self.environment = environment
      self.verdict = verdict
      self.growthIsPerIteration = growthIsPerIteration
      self.tags = tags
      self.approval = approval
      self.failedRepetitions = failedRepetitions
      self.composition = composition
    }
  }

  /// One metric of all runs, at 16 bytes for each, and 24 more where a gate judges it: histories have millions of them.
  package struct Column: Sendable {
    /// A figure; its ends as distances, which are exact to 16 MiB and to a ten-millionth beyond.
    private struct Figure {
      var median = Double.nan
      var below: Float = 0
      var above: Float = 0
    }

    private struct Judged {
      var baseline = Double.nan
      var limit = Double.nan
      var allowed = Float.nan
      var verdict: Verdict?
    }

    package let metric: MetricName
    /// The unit of a figure of the target's own.
    package let reported: String?
    private var figures: [Figure]
    /// Empty where no run was judged.
    private var judged: [Judged] = []

    /// A column without figures, for so many rows.
    package init(metric: MetricName, reported: String? = nil, rows: Int) {
      (self.metric, self.reported) = (metric, reported)
      figures = Array(repeating: Figure(), count: rows)
    }

    /// What one row says; nil where that run does not have the metric.
    package subscript(row: Int) -> MetricCourse.Point? {
      get {
        let figure = figures[row]
        guard !figure.median.isNaN else { return nil }
        return MetricCourse.Point(
          median: figure.median, low: figure.median - Double(figure.below), high: figure.median + Double(figure.above),
          judgement: judged.isEmpty ? nil : judgement(at: row)
        )
      }
      set {
        guard let point = newValue else { return figures[row] = Figure() }
        figures[row] = Figure(
          median: point.median, below: Float(point.median - point.low), above: Float(point.high - point.median))
        guard let judgement = point.judgement else { return }
        if judged.isEmpty { judged = Array(repeating: Judged(), count: figures.count) }
        judged[row] = Judged(
          baseline: judgement.baseline ?? .nan, limit: judgement.limit ?? .nan,
          allowed: Float(judgement.allowed ?? .nan), verdict: judgement.verdict)
      }
    }

    private func judgement(at row: Int) -> MetricCourse.Judgement? {
      let judged = judged[row]
      guard let verdict = judged.verdict else { return nil }
      let baseline = judged.baseline.isNaN ? nil : judged.baseline
      return MetricCourse.Judgement(
        verdict: verdict, baseline: baseline, change: baseline.map { figures[row].median - $0 },
        allowed: judged.allowed.isNaN ? nil : Double(judged.allowed),
        limit: judged.limit.isNaN ? nil : judged.limit
      )
    }

    package var isJudged: Bool { !judged.isEmpty }
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
  package var approvals: [Approval]

  package init(runs: [RunInfo], environments: [EnvironmentInfo] = [], approvals: [Approval] = []) {
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
  private static let others = 6

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
