import Statistics

extension Tolerance {
  /// What the tolerance allows beside these baseline values, in the metric's unit.
  ///
  /// `auto` is twice the spread of the baseline, and at least 64 KiB: what wanders from run to run must not fail.
  package func allowed(beside baseline: [Double]) -> Double {
    switch self {
    case .bounds(let relative, let absolute):
      let level = abs(Spread.median(baseline) ?? 0)
      return max((relative?.value ?? 0) / 100 * level, Double(absolute?.count ?? 0))
    case .automatic:
      return max(2 * (Spread.width(baseline) ?? 0), Double(Bytes.kibibytes(64).count))
    }
  }
}

/// How the values of one metric are judged: by medians, tolerance and spread.
///
/// A rise counts once the median has risen by more than the tolerance *and* by more than the values of either side
/// differ among themselves. Where they differ by more than the tolerance, a smaller rise cannot be told from none.
struct MetricJudgement {
  let rule: GateRule
  let unit: String
  /// One value for each repetition that had the metric; not empty.
  let current: [Double]
  /// nil where there is no baseline to compare with.
  let baseline: [Double]?
  let missingBaseline: Verdict

  private var metric: MetricName { rule.metric }

  var result: MetricResult {
    var result = MetricResult(rule: rule, unit: unit, verdict: .pass, current: summary(current))
    if let tolerance = rule.tolerance {
      compare(&result, tolerance)
    }
    if let limit = rule.limit, let level = result.current?.median, level > Double(limit.count) {
      result.verdict = .regression
      result.reason = "\(metric) is above its limit of \(text(Double(limit.count)))"
    }
    return result
  }

  private func compare(_ result: inout MetricResult, _ tolerance: Tolerance) {
    guard let baseline, let shift = Shift.interval(from: baseline, to: current) else {
      result.verdict = missingBaseline
      result.reason = "the baseline has no \(metric)"
      return
    }
    let change = (Spread.median(current) ?? 0) - (Spread.median(baseline) ?? 0)
    let base = Spread.median(baseline) ?? 0
    let allowed = tolerance.allowed(beside: baseline)
    let spread = max(Spread.width(baseline) ?? 0, Spread.width(current) ?? 0)
    result.baseline = summary(baseline)
    result.change = MetricResult.Change(
      absolute: change,
      percent: base > 0 ? change / base * 100 : nil,
      low: shift.lowerBound,
      high: shift.upperBound
    )
    result.allowed = allowed
    result.detectable = max(allowed, spread)
    (result.verdict, result.reason) = verdict(change: change, allowed: allowed, spread: spread)
  }

  private func verdict(change: Double, allowed: Double, spread: Double) -> (Verdict, String) {
    let visible = max(allowed, spread)
    if change > visible {
      return (.regression, "\(metric) rose by \(text(change)), and \(text(allowed)) are tolerated")
    }
    if change < -visible {
      return (.improved, "\(metric) fell by \(text(-change))")
    }
    guard spread <= allowed else {
      let reason = "the repetitions differ by \(text(spread)), and \(text(allowed)) are tolerated"
      return (.inconclusive, reason)
    }
    return (.pass, "")
  }

  private func summary(_ values: [Double]) -> MetricResult.Summary? {
    Spread.median(values).map { MetricResult.Summary(median: $0, count: values.count) }
  }

  private func text(_ value: Double) -> String {
    metric.text(of: value, unit: unit)
  }
}

extension MetricName {
  /// A value of this metric for a person, as in `23.1 MiB`, `1.3 KiB/iteration` or `30.0 MiB/s`.
  package func text(of value: Double, unit: String) -> String {
    let whole = Bytes(clampedFrom: value)
    guard !isWholeBytes else { return whole.description }
    let rate = abs(value) < 1024 ? "\(Decimals.text(value, places: 1)) B" : whole.description
    return rate + (unit == "bytes/second" ? "/s" : unit.dropFirst("bytes".count))
  }
}

extension Bytes {
  /// The nearest whole count of bytes; what lies beyond the range of a file's figures is cut there.
  package init(clampedFrom value: Double) {
    let limit = Double(Bytes.largest.count)
    self.init(value.isNaN ? 0 : Int64(min(max(value, -limit), limit).rounded()))
  }
}
