import FoundationEssentials
import Statistics

/// What the history keeps of a run: all that a trend is drawn from, without the repetitions themselves.
package struct RunRecord: Sendable, Equatable {
  package var run: RunInfo
  package var environment: EnvironmentInfo
  /// In the order of the project file.
  package var scenarios: [ScenarioRecord]

  package init(run: RunInfo, environment: EnvironmentInfo, scenarios: [ScenarioRecord]) {
    self.run = run
    self.environment = environment
    self.scenarios = scenarios
  }

  package init(_ result: RunResult) {
    self.init(
      run: result.run, environment: result.environment, scenarios: result.scenarios.map(ScenarioRecord.init)
    )
  }

  package var verdict: Verdict {
    Verdict.combined(scenarios.map(\.verdict))
  }
}

/// What the history keeps of one scenario of a run.
package struct ScenarioRecord: Sendable, Equatable {
  /// How one repetition ended that did not end well.
  package struct Trouble: Sendable, Equatable {
    /// Counts from 1.
    package var repetition: Int
    package var end: End

    package init(repetition: Int, end: End) {
      self.repetition = repetition
      self.end = end
    }
  }

  package var name: ScenarioName
  package var tags: [String]
  package var verdict: Verdict
  package var environment: EnvironmentInfo
  package var repetitions: Int
  package var growthIsPerIteration: Bool
  /// The whole run's in the order in which they are shown, then the phases' in the order of their names.
  package var metrics: [MetricRecord]
  package var troubles: [Trouble]
  /// What memory consisted of at the end; without the libraries one by one, which are in the result file.
  package var composition: Composition?
  /// Who approved the baseline that the figures were held against; nil where there was none.
  package var approval: Baseline.Approval?

  package init(
    name: ScenarioName,
    tags: [String] = [],
    verdict: Verdict,
    environment: EnvironmentInfo,
    repetitions: Int,
    growthIsPerIteration: Bool = false,
    metrics: [MetricRecord] = [],
    troubles: [Trouble] = [],
    composition: Composition? = nil,
    approval: Baseline.Approval? = nil
  ) {
    self.name = name
    self.tags = tags
    self.verdict = verdict
    self.environment = environment
    self.repetitions = repetitions
    self.growthIsPerIteration = growthIsPerIteration
    self.metrics = metrics
    self.troubles = troubles
    self.composition = composition
    self.approval = approval
  }

  package init(_ result: ScenarioResult) {
    let values = result.repetitions.reduce(into: [MetricName: [Double]]()) { values, repetition in
      for (metric, value) in repetition.allMetrics where value.isFinite { values[metric, default: []].append(value) }
    }
    let judged = Dictionary(result.metrics.map { ($0.rule.metric, $0) }, uniquingKeysWith: { first, _ in first })
    self.init(
      name: result.name,
      tags: result.tags,
      verdict: result.verdict,
      environment: result.environment,
      repetitions: result.repetitions.count,
      growthIsPerIteration: result.growthIsPerIteration,
      metrics: result.metricNames.map { metric in
        MetricRecord(
          metric: metric, reported: result.reportedUnit(of: metric), values: values[metric] ?? [], judged: judged[metric])
      },
      troubles: result.troubles,
      composition: result.currentComposition?.withoutLibraries,
      approval: result.approval
    )
  }
}

extension ScenarioResult {
  /// The repetitions that did not end well.
  ///
  /// A target that exits with another code or by another signal than expected makes its scenario fail; the result does
  /// not say what was expected, so that an exit or a signal is trouble where the scenario failed. A loop is trouble, too,
  /// however the target ended.
  fileprivate var troubles: [ScenarioRecord.Trouble] {
    zip(1..., repetitions).compactMap { number, repetition in
      let isClean =
        switch repetition.end.kind {
        case .stopped: true
        case .exited, .signaled: verdict != .failed || (repetition.end.code == 0 && repetition.end.signal == nil)
        default: false
        }
      let loop = repetition.events.first(where: \.isLoop)
      guard !isClean || repetition.end.oomKills > 0 || loop != nil else { return nil }
      var end = repetition.end
      if let loop { end.cause = .loop(loop) }
      return ScenarioRecord.Trouble(repetition: number, end: end)
    }
  }
}

extension Composition {
  fileprivate var withoutLibraries: Composition {
    var parts = self
    parts.libraries = []
    return parts
  }
}

/// One metric of one scenario of a run: its values in short, and how it was judged.
package struct MetricRecord: Sendable, Equatable {
  /// The values of the repetitions; all amounts in the metric's unit.
  package struct Figures: Sendable, Equatable {
    package var median: Double
    package var low: Double
    package var high: Double
    package var count: Int

    package init(median: Double, low: Double, high: Double, count: Int) {
      self.median = median
      self.low = low
      self.high = high
      self.count = count
    }

    /// nil where there are no values.
    package init?(_ values: [Double]) {
      guard let median = Spread.median(values), let low = values.min(), let high = values.max() else { return nil }
      self.init(median: median, low: low, high: high, count: values.count)
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

  package var metric: MetricName
  /// The unit of a figure of the target's own; nil for all else, whose metric tells it.
  package var reported: String?
  /// nil where no repetition had it.
  package var figures: Figures?
  /// nil where nothing judged it.
  package var judgement: Judgement?

  package init(metric: MetricName, reported: String? = nil, figures: Figures?, judgement: Judgement? = nil) {
    self.metric = metric
    self.reported = reported
    self.figures = figures
    self.judgement = judgement
  }

  /// - Parameters:
  ///   - metric: Its name.
  ///   - reported: The unit of a figure of the target's own.
  ///   - values: One of each repetition that has it, finite ones.
  ///   - judged: How it was judged; nil where it was not.
  package init(metric: MetricName, reported: String? = nil, values: [Double], judged: MetricResult?) {
    self.init(metric: metric, reported: reported, figures: Figures(values), judgement: judged.map(Judgement.init))
  }

  /// The order in which metrics are shown, then that of their names.
  package static func isShownBefore(_ lhs: MetricName, _ rhs: MetricName) -> Bool {
    let order = MetricName.wholeRun
    let (left, right) = (order.firstIndex(of: lhs) ?? order.count, order.firstIndex(of: rhs) ?? order.count)
    return (left, lhs) < (right, rhs)
  }
}

extension MetricRecord.Judgement {
  fileprivate init(_ result: MetricResult) {
    self.init(
      verdict: result.verdict,
      baseline: Self.finite(result.baseline?.median),
      change: Self.finite(result.change?.absolute),
      allowed: Self.finite(result.allowed),
      limit: result.rule.limit?.value
    )
  }

  private static func finite(_ value: Double?) -> Double? {
    value.flatMap { $0.isFinite ? $0 : nil }
  }
}

/// What one run says of one metric of one scenario.
package struct SeriesPoint: Sendable, Equatable {
  package var run: RunInfo
  /// The scenario's.
  package var verdict: Verdict
  package var record: MetricRecord
  package var approval: Baseline.Approval?

  package init(run: RunInfo, verdict: Verdict, record: MetricRecord, approval: Baseline.Approval? = nil) {
    self.run = run
    self.verdict = verdict
    self.record = record
    self.approval = approval
  }
}
