import Statistics

/// The noise of one metric in runs of an unchanged program.
package struct MetricNoise: Sendable, Equatable {
  /// The smallest rise above a baseline of 10 values that a check with this many repetitions detects.
  package struct Detectable: Sendable, Equatable {
    package let repetitions: Int
    package let size: Double
  }

  package let metric: MetricName
  package let unit: String
  /// In the order of measurement.
  package let values: [Double]
  package let median: Double
  /// By ``Statistics/Spread/noise(_:)``, which a single outlier does not change.
  package let deviation: Double
  package let range: ClosedRange<Double>
  /// For 5, 10 and 20 repetitions, the looks of the default plan.
  package let detectable: [Detectable]
  package let shape: NoiseShape
  /// The gate rule for the metric, if any.
  package let rule: GateRule?

  /// nil if there are no values.
  init?(_ metric: MetricName, unit: String, values: [Double], rule: GateRule?) {
    guard let median = Spread.median(values), let lowest = values.min(), let highest = values.max() else { return nil }
    let shape = metric.isWholeBytes ? NoiseShape(of: values) : NoiseShape(of: [])
    // Bimodal values are compared within their levels.
    let within = shape.levels == nil ? values : Modes(of: values)?.distances(of: values) ?? values
    let deviation = Spread.noise(within)
    detectable = [5, 10, 20].map { count in
      let size = Resolution.of(deviation: deviation, repetitions: count, isWholeBytes: metric.isWholeBytes)
      return Detectable(repetitions: count, size: size)
    }
    (self.metric, self.unit, self.values, self.rule) = (metric, unit, values, rule)
    (self.median, self.deviation, self.range, self.shape) = (median, Spread.noise(values), lowest...highest, shape)
  }

  /// An amount in percent of the median; nil for rates and for a median of zero.
  package func percent(_ part: Double) -> Double? {
    !metric.isRate && median > 0 ? part / median * 100 : nil
  }
}

/// A study of an unchanged program: how noisy it is, which changes a check can detect, and which settings reduce the
/// noise.
package struct NoiseStudy: Sendable, Equatable {
  /// The scenario with its own settings, judged without a baseline.
  package var result: ScenarioResult
  /// The number of warm-ups.
  package let warmup: Int
  /// In report order.
  package let metrics: [MetricNoise]
  /// The later half of the repetitions compared with the earlier half with the scenario's tolerances; nil for fewer
  /// than two repetitions.
  package let selfComparison: ScenarioResult?
  package var variants: [NoiseVariant]
  /// The garbage-collected runtime of the program, if it is known to have one.
  package var runtime: CollectedRuntime? { result.composition?.runtime }

  /// - Parameters:
  ///   - measurements: The scenario with its own settings.
  ///   - warmup: The number of warm-ups.
  ///   - variants: The scenario with one isolation setting changed in each.
  package init(
    of measurements: ScenarioMeasurement,
    warmup: Int,
    variants: [(change: SettingChange, measurements: ScenarioMeasurement)] = []
  ) {
    let result = measurements.judged(against: .missing, allowsMissingBaseline: true)
    let hasValues = result.failure == nil
    let metrics = hasValues ? Self.metrics(of: result) : []
    (self.result, self.warmup, self.metrics) = (result, warmup, metrics)
    selfComparison = hasValues ? Self.selfComparison(of: measurements) : nil
    self.variants = hasValues ? variants.map { NoiseVariant($0.change, $0.measurements, comparedWith: metrics) } : []
  }

  package var name: ScenarioName { result.name }
  package var repetitions: Int { result.repetitions.count }

  /// `pass` if there are values, however noisy.
  package var verdict: Verdict {
    if result.failure != nil { return result.verdict }
    return metrics.isEmpty ? .inconclusive : .pass
  }

  /// The metric's noise; nil if it is unavailable.
  package subscript(metric: MetricName) -> MetricNoise? {
    metrics.first { $0.metric == metric }
  }
}

extension NoiseStudy {
  /// The metrics that most repetitions have.
  ///
  /// Metrics of the tree are left out for single processes without a rule on them, and always those that depend on the
  /// speed of the machine.
  private static func metrics(of result: ScenarioResult) -> [MetricNoise] {
    let isTree = result.hasTreeMemory
    let judged = Set(result.metrics.map(\.metric))
    let showsTree = isTree || judged.contains { $0.isOfTree }
    let others = Set(result.repetitions.flatMap { $0.allMetrics.keys }).subtracting(MetricName.wholeRun).sorted()
    let names = MetricName.wholeRun.filter { $0.counts(.studied) && (showsTree || !$0.isOfTree) } + others
    return names.compactMap { name in
      let values = result.repetitions.compactMap { $0.value(of: name) }.filter(\.isFinite)
      guard values.count * 2 > result.repetitions.count else { return nil }
      let rule = result.gate.rules.first {
        $0.metric == name && judged.contains(name) && $0.tolerance != nil && $0.severity != .off
      }
      return MetricNoise(name, unit: result.unit(of: name), values: values, rule: rule)
    }
  }

  /// Compares the later half with the earlier half, without limits, which do not depend on noise.
  private static func selfComparison(of measurements: ScenarioMeasurement) -> ScenarioResult? {
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

/// The noise studies of one run.
package struct NoiseResult: Sendable, Equatable {
  package let run: RunInfo
  package var studies: [NoiseStudy]

  package init(run: RunInfo, studies: [NoiseStudy]) {
    self.run = run
    self.studies = studies
  }

  package var verdict: Verdict { Verdict.combined(studies.map(\.verdict)) ?? .inconclusive }
}
