/// What is known of a commit that was built or tried.
package enum CommitAnswer: Sendable, Equatable, Codable {
  case measured(values: MeasuredCommit)
  /// The scenario ran out of memory: the rise itself.
  case outOfMemory(failure: Failure)
  case notBuilt(failure: Failure)
  /// The scenario failed for another reason.
  case failed(failure: Failure)
}

/// The values of one commit, and those of the good end, which ran alternately with it on the same machine.
package struct MeasuredCommit: Sendable, Equatable, Codable {
  package var repetitions: Int
  /// The value of each repetition, in order, for the metrics that most repetitions have.
  package var values: [MetricName: [Double]]
  /// The same for the good end.
  package var reference: [MetricName: [Double]]
  /// The units of growth and of reported values.
  package var units: [MetricName: String]

  package init(
    repetitions: Int,
    values: [MetricName: [Double]],
    reference: [MetricName: [Double]],
    units: [MetricName: String] = [:]
  ) {
    (self.repetitions, self.values, self.reference, self.units) = (repetitions, values, reference, units)
  }

  /// The values of the gated metrics that both builds have.
  package init(of measurement: ScenarioMeasurement, alternatingWith reference: ScenarioMeasurement) {
    let metrics = measurement.metricsToBisect.filter { reference.unit(of: $0) == measurement.unit(of: $0) }
    let shared = metrics.filter { measurement.hasMostly($0) && reference.hasMostly($0) }
    func values(_ measurement: ScenarioMeasurement) -> [MetricName: [Double]] {
      Dictionary(uniqueKeysWithValues: shared.map { ($0, measurement.values(of: $0)) })
    }
    self.init(
      repetitions: measurement.repetitions.count, values: values(measurement), reference: values(reference),
      units: Dictionary(
        uniqueKeysWithValues: shared.filter(\.kind.hasStoredUnit).map { ($0, measurement.unit(of: $0)) }))
  }
}

extension ScenarioMeasurement {
  /// The gated metrics that can be searched: not numbers of instances, which other repetitions count; and of the default
  /// gate those that the scenario can have.
  fileprivate var metricsToBisect: [MetricName] {
    let hasTreeMemory = repetitions.haveTreeMemory
    return gate.rules.filter { $0.severity != .off && !$0.metric.isCounted }.map(\.metric).filter { metric in
      !gate.isStandard
        || metric.isInDefaultGate(hasTreeMemory: hasTreeMemory, growthIsPerIteration: growthIsPerIteration)
    }
  }

  fileprivate func values(of metric: MetricName) -> [Double] { repetitions.compactMap { $0.value(of: metric) } }

  fileprivate func hasMostly(_ metric: MetricName) -> Bool { values(of: metric).count * 2 > repetitions.count }
}

extension Failure {
  /// Whether the target was ended for lack of memory, or could not get more.
  package var isOutOfMemory: Bool {
    guard let end else { return false }
    return end.kind == .oom || end.kind == .allocationFailure || end.oomKills > 0
  }
}
