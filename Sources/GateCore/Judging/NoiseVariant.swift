import Statistics

/// One setting of a scenario's isolation, other than it is.
package enum IsolationChange: Sendable, Equatable {
  case randomAddresses(Bool)
  case onlyCPU(Int)
  case noHugePages

  /// The key of `isolation` in the project file, and its new value without quotes.
  package var setting: (key: String, value: String) {
    switch self {
    case .randomAddresses(let areRandom): ("aslr", areRandom ? "on" : "off")
    case .onlyCPU(let cpu): ("cpus", "\(cpu)")
    case .noHugePages: ("thp", "off")
    }
  }

  /// As it stands in the project file, as in `aslr: on`.
  package var text: String {
    let (key, value) = setting
    // A list of CPUs is a text, and a number alone is none.
    return key == "cpus" ? "\(key): \"\(value)\"" : "\(key): \(value)"
  }

  package func applied(to isolation: Isolation) -> Isolation {
    var changed = isolation
    switch self {
    case .randomAddresses(let areRandom): changed.randomAddresses = areRandom
    case .onlyCPU(let cpu): changed.cpus = [cpu]
    case .noHugePages: changed.hugePages = .off
    }
    return changed
  }

  /// The changes that may make a scenario quieter: addresses the other way, one CPU where it has several, and no huge
  /// pages where it could get some.
  ///
  /// `fingerprint` is of the scenario's environment as it is, and `usableCPUs` are those that a target may be given.
  package static func candidates(
    for isolation: Isolation,
    in fingerprint: Fingerprint,
    usableCPUs: [Int]
  ) -> [IsolationChange] {
    let cpus = isolation.cpus.map { wanted in usableCPUs.filter(wanted.contains) } ?? usableCPUs
    let oneCPU = cpus.count > 1 ? cpus.first.map { [IsolationChange.onlyCPU($0)] } ?? [] : []
    let hugePages: [IsolationChange] = ["never", "off"].contains(fingerprint.thp) ? [] : [.noHugePages]
    return [.randomAddresses(!isolation.randomAddresses)] + oneCPU + hugePages
  }
}

/// How noisy a scenario is with one setting changed.
package struct NoiseVariant: Sendable, Equatable {
  /// One metric with the change, beside the scenario as it is.
  package struct Metric: Sendable, Equatable {
    package let metric: MetricName
    package let values: [Double]
    package let median: Double
    package let deviation: Double
    /// By how much the level is another one: the shift between both (Hodges and Lehmann).
    package let moved: Double
    /// Whether it is much quieter so.
    package let gain: Quietness
  }

  package let change: IsolationChange
  package let repetitions: Int
  /// Of the scenario's metrics those that could be had here.
  package let metrics: [Metric]
  /// Why the scenario does not run so; nil where it does.
  package var failure: Failure?

  init(_ change: IsolationChange, _ measurements: ScenarioResult, beside metrics: [MetricNoise]) {
    self.change = change
    repetitions = measurements.repetitions.count
    failure = measurements.failure
    guard measurements.failure == nil else {
      self.metrics = []
      return
    }
    self.metrics = metrics.compactMap { usual in
      let values = measurements.repetitions.compactMap { $0.allMetrics[usual.metric] }
      guard values.count * 2 > measurements.repetitions.count, let median = Spread.median(values),
        let shift = Shift(from: usual.values, to: values)
      else { return nil }
      return Metric(
        metric: usual.metric, values: values, median: median, deviation: Spread.noise(values), moved: shift.estimate,
        gain: usual.metric.isWholeBytes
          ? Quietness(of: values, beside: usual.values, least: MetricJudgement.leastDeviation) : .same
      )
    }
  }

  package subscript(metric: MetricName) -> Metric? {
    metrics.first { $0.metric == metric }
  }
}

/// Whether one set of values lies much closer together than another.
package enum Quietness: String, Sendable, CaseIterable {
  case quieter, perhaps, same

  /// Much quieter is a deviation of at most half of the other one, and values that lie nearer to their median by the
  /// exact rank test of the distances at 0.01; perhaps quieter it is up to 0.1.
  ///
  /// Half, since the deviation of 10 values is itself uncertain by a third: of 4,000 pairs of equally noisy sets, 10
  /// values against 20, the one deviation was at most half of the other in 8 % (5 against 10: 22 %), and the test
  /// agreed in 0.8 % (0.9 %; of values that jump between two levels 3 %). A deviation that is truly a quarter is found
  /// in 80 % (26 %). By simulation, 2026-11. A deviation of `least` is as good as none.
  init(of values: [Double], beside others: [Double], least: Double) {
    guard 2 * max(Spread.noise(values), least) <= Spread.noise(others) else {
      self = .same
      return
    }
    let chance = RankTest.pValue(ofRiseFrom: Self.distances(values), to: Self.distances(others))
    self = chance <= RepetitionPlan.falseAlarms ? .quieter : chance <= 0.1 ? .perhaps : .same
  }

  private static func distances(_ values: [Double]) -> [Double] {
    let center = Spread.median(values) ?? 0
    return values.map { abs($0 - center) }
  }
}
