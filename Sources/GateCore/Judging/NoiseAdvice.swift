import Statistics

extension MetricNoise {
  /// The tolerance for the metric's noise: what `auto` allows, rounded up; nil for rates, which are judged by limits.
  package var advisedTolerance: Tolerance? {
    guard !metric.isRate else { return nil }
    let parts = Tolerance.automaticParts(above: values, of: metric)
    if metric.isValue {
      return percent(parts.relative).map { .bounds(relative: Self.readable(percent: $0), absolute: nil) }
    }
    guard let percent = percent(parts.relative), percent <= Self.mostRelative else {
      return .bounds(relative: nil, absolute: .size(Self.readable(max(parts.relative, parts.absolute))))
    }
    return .bounds(relative: Self.readable(percent: percent), absolute: .size(Self.readable(parts.absolute)))
  }

  /// Whether a tolerance is large enough for the metric's noise.
  package func isQuietEnough(for tolerance: Tolerance) -> Bool {
    tolerance.allowed(above: values, of: metric) >= Tolerance.automatic.allowed(above: values, of: metric)
  }

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
