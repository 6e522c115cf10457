import Statistics

/// A change of one setting, whose effect on the values of a scenario is studied.
package enum SettingChange: Sendable, Equatable {
  case randomAddresses(Bool)
  case onlyCPU(Int)
  case noHugePages
  /// As many copies of the scenario run at the same time.
  case jobs(Int)

  /// The key in `isolation`, or of the project, and its new value, without quotes.
  package var setting: (key: String, value: String) {
    switch self {
    case .randomAddresses(let areRandom): ("aslr", areRandom ? "on" : "off")
    case .onlyCPU(let cpu): ("cpus", "\(cpu)")
    case .noHugePages: ("thp", "off")
    case .jobs(let count): ("jobs", "\(count)")
    }
  }

  /// As written in the project file: `aslr: on`.
  package var text: String {
    let (key, value) = setting
    // YAML reads a bare number as a number, but `cpus` is a string.
    return key == "cpus" ? "\(key): \"\(value)\"" : "\(key): \(value)"
  }

  /// Whether it is a key of the project, not of a scenario's `isolation`.
  package var isOfProject: Bool {
    if case .jobs = self { true } else { false }
  }

  package func applied(to isolation: Isolation) -> Isolation {
    var changed = isolation
    switch self {
    case .randomAddresses(let areRandom): changed.randomAddresses = areRandom
    case .onlyCPU(let cpu): changed.cpus = [cpu]
    case .noHugePages: changed.hugePages = .off
    case .jobs: break
    }
    return changed
  }

  /// The changes that may reduce noise: toggling address randomisation, one CPU instead of several, and no huge pages
  /// where there may be some; and running beside others, which may add noise, if the project's `jobs` do.
  ///
  /// `fingerprint` is that of the scenario's environment; `usableCPUs` are those that a target can use.
  package static func candidates(
    for isolation: Isolation,
    in fingerprint: Fingerprint,
    usableCPUs: [Int],
    jobs: Int = 1
  ) -> [SettingChange] {
    let cpus = isolation.cpus.map { wanted in usableCPUs.filter(wanted.contains) } ?? usableCPUs
    let oneCPU = cpus.count > 1 ? cpus.first.map { [SettingChange.onlyCPU($0)] } ?? [] : []
    let hugePages: [SettingChange] = ["never", "off"].contains(fingerprint.thp) ? [] : [.noHugePages]
    let sideBySide = jobs > 1 ? [SettingChange.jobs(jobs)] : []
    return [.randomAddresses(!isolation.randomAddresses)] + oneCPU + hugePages + sideBySide
  }
}

/// The noise of a scenario with one setting changed.
package struct NoiseVariant: Sendable, Equatable {
  /// The noise of one metric with the change, compared with the unchanged scenario.
  package struct Metric: Sendable, Equatable {
    package let metric: MetricName
    package let values: [Double]
    package let median: Double
    package let deviation: Double
    /// The shift of the level (Hodges and Lehmann).
    package let moved: Double
    /// Whether it is less noisy.
    package let gain: Quietness
    /// Whether it is noisier, or at another level by more than a check can miss.
    package let isDisturbed: Bool
  }

  package let change: SettingChange
  package let repetitions: Int
  /// The scenario's metrics that are available with the change.
  package let metrics: [Metric]
  /// The failure of the scenario with the change, if any.
  package var failure: Failure?

  init(_ change: SettingChange, _ measurements: ScenarioMeasurement, comparedWith metrics: [MetricNoise]) {
    self.change = change
    repetitions = measurements.repetitions.count
    failure = measurements.failure
    guard measurements.failure == nil else {
      self.metrics = []
      return
    }
    self.metrics = metrics.compactMap { usual in
      let values = measurements.repetitions.compactMap { $0.value(of: usual.metric) }
      guard values.count * 2 > measurements.repetitions.count, let median = Spread.median(values),
        let shift = Shift(from: usual.values, to: values)
      else { return nil }
      func gain(_ values: [Double], _ others: [Double]) -> Quietness {
        usual.metric.isWholeBytes
          ? Quietness(of: values, comparedWith: others, minimum: MetricJudgement.leastDeviation) : .same
      }
      let hasMoved = abs(shift.estimate) > usual.detectable[0].size && Self.differ(usual.values, values)
      return Metric(
        metric: usual.metric, values: values, median: median, deviation: Spread.noise(values), moved: shift.estimate,
        gain: gain(values, usual.values), isDisturbed: hasMoved || gain(usual.values, values) == .quieter
      )
    }
  }

  /// Whether one set lies above the other, by the exact rank test in both directions.
  private static func differ(_ left: [Double], _ right: [Double]) -> Bool {
    let chances = [RankTest.pValue(ofRiseFrom: left, to: right), RankTest.pValue(ofRiseFrom: right, to: left)]
    return 2 * min(chances[0], chances[1]) <= RepetitionPlan.falseAlarms
  }

  package subscript(metric: MetricName) -> Metric? {
    metrics.first { $0.metric == metric }
  }
}

/// Whether one set of values has a much smaller spread than another.
package enum Quietness: String, Sendable, CaseIterable {
  case quieter, perhaps, same

  /// Compares the deviations, and the distances from the median with the exact rank test.
  ///
  /// `quieter` is a deviation of at most half the other, with distances that are smaller at 0.01; at 0.1 it is
  /// `perhaps`. Deviations below `minimum` count as `minimum`.
  ///
  /// Half, since the deviation of 10 values is uncertain by a third: of 4,000 pairs of equally noisy sets, 10 values
  /// against 20, one deviation was at most half the other in 8 % (5 against 10: 22 %), and with the test in 0.8 %
  /// (0.9 %; for bimodal values, 3 %). A deviation that is truly a quarter is found in 80 % (26 %). Simulated, 2026-11.
  init(of values: [Double], comparedWith others: [Double], minimum: Double) {
    guard 2 * max(Spread.noise(values), minimum) <= Spread.noise(others) else {
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
