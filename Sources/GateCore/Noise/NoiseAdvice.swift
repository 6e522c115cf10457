import Statistics

extension MetricNoise {
  /// The tightest tolerance for the metric's noise, rounded up; nil for rates, which are judged by limits.
  ///
  /// It is less than `auto` for quiet programs, since it has no room for drift.
  package var advisedTolerance: Tolerance? {
    guard !metric.isRate else { return nil }
    let needed = max(Tolerance.noise(of: values), Self.leastShare * abs(median))
    if metric.isValue {
      return percent(needed).map { .bounds(relative: Self.readable(percent: $0), absolute: nil) }
    }
    guard let percent = percent(needed), percent <= Self.mostRelative else {
      return .bounds(relative: nil, absolute: .size(Self.readable(max(needed, Self.leastAmount))))
    }
    return .bounds(relative: Self.readable(percent: percent), absolute: .size(Self.readable(Self.leastAmount)))
  }

  /// Whether a tolerance is large enough for the metric's noise: at least 1.5 standard deviations.
  ///
  /// Then 1.8 % of checks of an unchanged program against 10 values are inconclusive; with one deviation, 17 %
  /// (ci/calibrate.d/RESULTS.md, A: normal noise of 2 % and of 3 % at a tolerance of 3 %).
  package func isQuietEnough(for tolerance: Tolerance) -> Bool {
    tolerance.allowed(above: values, of: metric) >= 0.6 * Tolerance.noise(of: values)
  }

  /// In equal runs of 40 programs, the highest peak was 146 KiB above the lowest (median).
  private static let leastAmount = Double(Bytes.kibibytes(128).count)
  private static let leastShare = 0.005

  /// A larger percentage, such as that of a spike of one page, is given in bytes.
  private static let mostRelative = 100.0

  /// Rounds up to tenths up to 2 %, to halves up to 10 %, then to whole percents, ignoring rounding errors.
  private static func readable(percent: Double) -> Percent {
    let parts = percent <= 2 ? 10.0 : percent <= 10 ? 2 : 1
    return Percent((percent * parts - 1e-9).rounded(.up) / parts)
  }

  /// Rounds up to steps of 64 KiB up to 1 MiB, of 256 KiB up to 8 MiB, then of 1 MiB.
  private static func readable(_ size: Double) -> Bytes {
    let step: Double = size <= 1_048_576 ? 65_536 : size <= 8_388_608 ? 262_144 : 1_048_576
    return Bytes(clampedFrom: (size / step).rounded(.up) * step)
  }
}

extension NoiseStudy {
  /// The available metrics that the gate compares with a baseline.
  package var gated: [MetricNoise] {
    metrics.filter { $0.rule != nil && !$0.metric.isRate }
  }

  /// The gated metrics that are too noisy for their tolerance.
  package var tooNoisy: [MetricNoise] {
    gated.filter { noise in noise.rule?.tolerance.map { !noise.isQuietEnough(for: $0) } ?? false }
  }

  /// Whether noise widens the tolerance of a gated metric beyond 3 % of its level, if that is `auto`.
  package var isWidened: Bool {
    gated.contains { Tolerance.noise(of: $0.values) > 0.03 * abs($0.median) }
  }

  /// Whether the default tolerance is large enough for all gated metrics.
  package var standardSuffices: Bool {
    gated.allSatisfy { $0.isQuietEnough(for: .standard(of: $0.metric)) }
  }

  /// The scenario's gate with the suggested tolerances, otherwise unchanged.
  package var advisedGate: Gate {
    let rules = result.gate.rules.compactMap { rule -> GateRule? in
      guard rule.tolerance != nil, let noise = self[rule.metric], noise.rule != nil else {
        return result.gate.isStandard ? nil : rule
      }
      var advised = rule
      advised.tolerance = noise.advisedTolerance ?? rule.tolerance
      return advised
    }
    return Gate(rules: rules)
  }

  /// The suggested number of warm-ups; nil if the scenario has enough.
  package var advisedWarmup: Int? {
    let unsettled = metrics.map(\.shape.unsettled).max() ?? 0
    return unsettled > 0 ? warmup + unsettled : nil
  }

  /// Which of the two default metrics is much less noisy than the other, relative to its level, if any.
  package var quieterMetric: (quiet: MetricNoise, noisy: MetricNoise)? {
    guard let peak = self[.peakRSS], let steady = self[.steadyRSS], peak.median > 0, steady.median > 0 else {
      return nil
    }
    func isQuieter(_ one: MetricNoise, _ other: MetricNoise) -> Bool {
      let least = MetricJudgement.leastDeviation / one.median
      let (own, others) = (one.values.map { $0 / one.median }, other.values.map { $0 / other.median })
      return Quietness(of: own, comparedWith: others, minimum: least) == .quieter
    }
    if isQuieter(steady, peak) { return (steady, peak) }
    return isQuieter(peak, steady) ? (peak, steady) : nil
  }
}
