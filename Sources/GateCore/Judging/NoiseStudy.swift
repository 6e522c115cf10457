import Statistics

/// How one metric behaves in runs of one and the same program.
package struct MetricNoise: Sendable, Equatable {
  /// The smallest rise that a check of so many repetitions sees beside a baseline of 10.
  package struct Detectable: Sendable, Equatable {
    package let repetitions: Int
    package let size: Double
  }

  package let metric: MetricName
  package let unit: String
  /// In the order of measurement.
  package let values: [Double]
  package let median: Double
  /// As ``Statistics/Spread/noise(_:)`` has it, which one outlier does not move.
  package let deviation: Double
  package let range: ClosedRange<Double>
  /// For 5, 10 and 20 repetitions, which are the looks of the standard plan.
  package let detectable: [Detectable]
  package let shape: NoiseShape
  /// How the scenario's gate judges it; nil where it does not.
  package let rule: GateRule?

  /// nil where there are no values.
  init?(_ metric: MetricName, unit: String, values: [Double], rule: GateRule?) {
    guard let median = Spread.median(values), let lowest = values.min(), let highest = values.max() else { return nil }
    let shape = metric.isWholeBytes ? NoiseShape(of: values) : NoiseShape(of: [])
    // What jumps between two levels is compared level by level.
    let within = shape.levels == nil ? values : Modes(of: values)?.distances(of: values) ?? values
    let deviation = Spread.noise(within)
    detectable = [5, 10, 20].map { count in
      let size = Resolution.of(deviation: deviation, repetitions: count, isWholeBytes: metric.isWholeBytes)
      return Detectable(repetitions: count, size: size)
    }
    (self.metric, self.unit, self.values, self.rule) = (metric, unit, values, rule)
    (self.median, self.deviation, self.range, self.shape) = (median, Spread.noise(values), lowest...highest, shape)
  }

  /// A part of the median in percent; nil where that is zero, or a rate.
  package func percent(_ part: Double) -> Double? {
    !metric.isRate && median > 0 ? part / median * 100 : nil
  }
}

/// What runs of one and the same program tell of a scenario: how noisy it is, what a check of it can see, and what would
/// make it quieter.
package struct NoiseStudy: Sendable, Equatable {
  /// The scenario as it was run, judged without any baseline: its figures, its failure and its notes.
  package var result: ScenarioResult
  /// How many repetitions went before the first that counts.
  package let warmup: Int
  /// In the order of ``MetricName/wholeRun``, those of phases last.
  package let metrics: [MetricNoise]
  /// The later half of the repetitions judged by the earlier half, by the scenario's own tolerances; nil where there are
  /// fewer than two repetitions.
  package let selfComparison: ScenarioResult?
  package var variants: [NoiseVariant]

  /// - Parameters:
  ///   - measurements: The scenario as it is.
  ///   - warmup: How many repetitions of it went before these.
  ///   - variants: The same scenario with one setting of its isolation changed.
  package init(
    of measurements: ScenarioResult,
    warmup: Int,
    variants: [(change: IsolationChange, measurements: ScenarioResult)] = []
  ) {
    let result = measurements.judged(against: .missing, allowsMissingBaseline: true)
    let hasFigures = result.failure == nil
    let metrics = hasFigures ? Self.metrics(of: result) : []
    (self.result, self.warmup, self.metrics) = (result, warmup, metrics)
    selfComparison = hasFigures ? Self.selfComparison(of: measurements) : nil
    self.variants = hasFigures ? variants.map { NoiseVariant($0.change, $0.measurements, beside: metrics) } : []
  }

  package var name: ScenarioName { result.name }
  package var repetitions: Int { result.repetitions.count }

  /// `pass` where there are figures: how noisy they are is an answer, no fault.
  package var verdict: Verdict {
    if result.failure != nil { return result.verdict }
    return metrics.isEmpty ? .inconclusive : .pass
  }

  /// The metric's figures; nil where it could not be had.
  package subscript(metric: MetricName) -> MetricNoise? {
    metrics.first { $0.metric == metric }
  }
}

extension NoiseStudy {
  /// What most repetitions have.
  ///
  /// Of a single process the tree is no metric of its own unless it is gated, and ``MetricName/faultRate`` depends on the
  /// machine's speed.
  private static func metrics(of result: ScenarioResult) -> [MetricNoise] {
    let isTree = result.repetitions.contains { $0.processes > 1 }
    let showsTree = isTree || result.gate.rules.contains { $0.metric.isOfTree }
    let others = Set(result.repetitions.flatMap { $0.allMetrics.keys }).subtracting(MetricName.wholeRun).sorted()
    let names = MetricName.wholeRun.filter { $0 != .faultRate && (showsTree || !$0.isOfTree) } + others
    return names.compactMap { name in
      let values = result.repetitions.compactMap { $0.allMetrics[name] }.filter(\.isFinite)
      guard values.count * 2 > result.repetitions.count else { return nil }
      let rule = result.gate.rules.first { $0.metric == name && $0.tolerance != nil && $0.severity != .off }
      return MetricNoise(name, unit: result.unit(of: name), values: values, rule: rule)
    }
  }

  /// Judges the later half by the earlier one; limits say nothing of noise and are left out.
  private static func selfComparison(of measurements: ScenarioResult) -> ScenarioResult? {
    let middle = measurements.repetitions.count / 2
    guard middle > 0 else { return nil }
    var (earlier, later) = (measurements, measurements)
    earlier.repetitions = Array(measurements.repetitions[..<middle])
    later.repetitions = Array(measurements.repetitions[middle...])
    later.gate.rules = measurements.gate.rules.compactMap { rule in
      rule.tolerance == nil ? nil : GateRule(metric: rule.metric, tolerance: rule.tolerance, severity: rule.severity)
    }
    if later.gate.rules.isEmpty { later.gate = .standard }
    let base = earlier.judged(against: .missing, allowsMissingBaseline: true)
    return later.judged(against: .baseline(Baseline(of: base)))
  }
}

/// The studies of one run.
package struct NoiseResult: Sendable, Equatable {
  package let run: RunInfo
  package var studies: [NoiseStudy]

  package init(run: RunInfo, studies: [NoiseStudy]) {
    self.run = run
    self.studies = studies
  }

  package var verdict: Verdict { Verdict.combined(studies.map(\.verdict)) }
}
