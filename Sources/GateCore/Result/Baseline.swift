package import FoundationEssentials
import Statistics

/// Who approved a baseline, when and why.
package struct Approval: Sendable, Hashable, Codable {
  package var at: Date
  package var by: String
  package var commit: String?
  package var reason: String?
  /// The id of the run that the values come from.
  package var run: String

  package init(at: Date, by: String, commit: String?, reason: String?, run: String) {
    self.at = at
    self.by = by
    self.commit = commit
    self.reason = reason
    self.run = run
  }
}

/// The level that small rises are counted from, each of which was within its tolerance.
package struct Anchor: Sendable, Hashable, Codable {
  package var level: Double
  /// When and at which commit the level was approved or measured.
  package var at: Date
  package var commit: String?

  package init(level: Double, at: Date, commit: String?) {
    self.level = level
    self.at = at
    self.commit = commit
  }
}

/// Measurements of one scenario in one environment, to compare later ones with.
package struct Baseline: Sendable, Equatable {
  package var scenario: ScenarioName
  package var environment: String
  package var fingerprint: Fingerprint
  /// One value for each repetition, in the order of measurement.
  package var metrics: [MetricName: [Double]]
  /// The units of the values that the target reports (``MetricName/value(_:)``).
  package var units: [MetricName: String]
  package var composition: Composition?
  /// The memory curve of the repetition in the middle; nil where a file does not have it.
  package var curve: MemorySeries?
  /// What the metrics of the process tree count.
  package var treeMethod: TreeMethod
  /// The levels that metrics have crept up from; see ``continueAnchors(of:gate:)``.
  package var anchors: [MetricName: Anchor]
  /// nil where the values are those of a plain result, which nobody has approved.
  package var approval: Approval?

  package init(
    scenario: ScenarioName,
    environment: String,
    fingerprint: Fingerprint,
    metrics: [MetricName: [Double]],
    units: [MetricName: String] = [:],
    composition: Composition? = nil,
    curve: MemorySeries? = nil,
    treeMethod: TreeMethod = .upperBound,
    anchors: [MetricName: Anchor] = [:],
    approval: Approval? = nil
  ) {
    self.scenario = scenario
    self.environment = environment
    self.fingerprint = fingerprint
    self.metrics = metrics
    self.units = units
    self.composition = composition
    self.curve = curve
    self.treeMethod = treeMethod
    self.anchors = anchors
    self.approval = approval
  }

  /// Takes the values of a result.
  ///
  /// Values of process trees are left out where the repetitions counted them by different methods.
  package init(of result: ScenarioResult, approval: Approval? = nil) {
    let treeMethods = Set(result.repetitions.map(\.treeMethod))
    let names = Set(result.repetitions.flatMap { $0.allMetrics.keys }).filter { !$0.isOfTree || treeMethods.count == 1 }
    let columns = names.map { name in (name, result.repetitions.compactMap { $0.allMetrics[name] }) }
    let units = names.compactMap { name in result.reportedUnit(of: name).map { (name, $0) } }
    let middle = result.middleRepetition.flatMap { result.repetitions[$0].curve }
    self.init(
      scenario: result.name,
      environment: result.environment.name,
      fingerprint: result.environment.fingerprint,
      metrics: Dictionary(uniqueKeysWithValues: columns),
      units: Dictionary(uniqueKeysWithValues: units),
      composition: result.composition,
      curve: middle?.main.thinned(to: MemorySeries.mostPointsBeside),
      treeMethod: result.repetitions.first?.treeMethod ?? .upperBound,
      approval: approval
    )
  }
}

extension Baseline {
  /// The median of each metric's values.
  package var medians: [MetricName: Double] {
    metrics.compactMapValues(Spread.median)
  }

  /// The unit of a metric other than growth, as the result file names it.
  package func unit(of metric: MetricName) -> String {
    metric.unit(perIteration: false, reported: units[metric])
  }

  /// Whether values of this environment may be compared with the baseline's.
  package func isComparable(to environment: EnvironmentInfo) -> Bool {
    environment.fingerprint.differences(fromBaseline: fingerprint)
      .allSatisfy { !$0.field.isHard || environment.ignoredFields.contains($0.field) }
  }
}

/// What a scenario's values are compared with.
package enum Reference: Sendable, Equatable {
  case baseline(Baseline)
  /// None is stored for this environment.
  case missing
  /// The nearest stored baseline is of another environment.
  case otherEnvironment(name: String, differences: [Fingerprint.Difference])
}

extension ScenarioResult {
  /// A baseline's values as a result that is not judged yet, with the default gate.
  package init(of baseline: Baseline) {
    let count = baseline.metrics.values.map(\.count).max() ?? 0
    let repetitions = (0..<count).map { index in
      var repetition = RepetitionResult(
        end: End(.exited, code: 0),
        duration: .zero,
        processes: 0,
        metrics: baseline.metrics.compactMapValues { index < $0.count ? $0[index] : nil },
        treeMethod: baseline.treeMethod
      )
      repetition.units = baseline.units.filter { repetition.metrics[$0.key] != nil }
      return repetition
    }
    self.init(
      name: baseline.scenario,
      environment: EnvironmentInfo(name: baseline.environment, fingerprint: baseline.fingerprint),
      repetitions: repetitions,
      composition: baseline.composition
    )
  }
}
