/// What was measured of one scenario, before it is judged: only ``judged(against:allowsMissingBaseline:)`` gives it a
/// verdict.
package struct ScenarioMeasurement: Sendable, Equatable {
  package var name: ScenarioName
  package var tags: [String] = []
  package var environment: EnvironmentInfo
  package var definition: ScenarioDefinition?
  package var gate: Gate
  /// The counted repetitions, in order.
  package var repetitions: [RepetitionResult]
  /// Whether growth is per iteration rather than per second.
  package var growthIsPerIteration: Bool
  package var composition: Composition?
  package var compositionAtPeak: Composition?
  package var instances: InstanceCounts?
  package var limitedRun: LimitedRun?
  package var failure: Failure?
  package var notes: [Note]
  package var plan: RepetitionPlan?
  package var times = TimeUse()

  package init(
    name: ScenarioName,
    environment: EnvironmentInfo,
    gate: Gate = .standard,
    repetitions: [RepetitionResult] = [],
    composition: Composition? = nil,
    failure: Failure? = nil,
    notes: [Note] = [],
    growthIsPerIteration: Bool = false
  ) {
    (self.name, self.environment, self.gate, self.repetitions) = (name, environment, gate, repetitions)
    (self.composition, self.failure, self.notes) = (composition, failure, notes)
    self.growthIsPerIteration = growthIsPerIteration
  }
}

extension ScenarioResult {
  /// A measurement with its verdict.
  init(_ measurement: ScenarioMeasurement, verdict: Verdict) {
    self.init(
      name: measurement.name, verdict: verdict, environment: measurement.environment, gate: measurement.gate,
      repetitions: measurement.repetitions, composition: measurement.composition,
      compositionAtPeak: measurement.compositionAtPeak, failure: measurement.failure, notes: measurement.notes,
      growthIsPerIteration: measurement.growthIsPerIteration, plan: measurement.plan)
    summary.tags = measurement.tags
    (definition, instances) = (measurement.definition, measurement.instances)
    (limitedRun, times) = (measurement.limitedRun, measurement.times)
  }
}

extension ScenarioMeasurement {
  /// The unit of a metric as in the result file; for a reported value, the unit of its first report.
  func unit(of metric: MetricName) -> String {
    metric.unit(perIteration: growthIsPerIteration, reported: repetitions.reportedUnit(of: metric))
  }
}

extension [RepetitionResult] {
  /// The index of the repetition with the median peak; of an even number, the upper one.
  package var middle: Int? {
    let peaks = map { $0.metrics[.peakRSS] ?? 0 }
    return peaks.indices.sorted { (peaks[$0], $0) < (peaks[$1], $1) }.dropFirst(peaks.count / 2).first
  }

  /// The unit in which the target first reported the metric.
  func reportedUnit(of metric: MetricName) -> String? {
    lazy.compactMap { $0.units[metric] }.first
  }
}
