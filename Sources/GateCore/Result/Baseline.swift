package import FoundationEssentials
import Statistics

/// Who approved a baseline, when, and why.
package struct Approval: Sendable, Hashable, Codable {
  package var at: Date
  package var by: String
  package var commit: String?
  /// Whether the values were measured with uncommitted changes to the commit (``RunInfo/isDirty``).
  package var isDirty: Bool
  package var reason: String?
  /// The ID of the run with these values.
  package var run: String

  package init(at: Date, by: String, commit: String?, isDirty: Bool = false, reason: String?, run: String) {
    self.at = at
    self.by = by
    self.commit = commit
    self.isDirty = isDirty
    self.reason = reason
    self.run = run
  }
}

/// The level from which creep is measured: the sum of small rises that were each within the tolerance.
package struct Anchor: Sendable, Hashable, Codable {
  package var level: Double
  /// The time and commit at which the level was approved or measured.
  package var at: Date
  package var commit: String?

  package init(level: Double, at: Date, commit: String?) {
    self.level = level
    self.at = at
    self.commit = commit
  }
}

/// The approved values of one scenario in one environment, with which later values are compared.
package struct Baseline: Sendable, Equatable, Codable {
  package var scenario: ScenarioName
  package var environment: String
  package var fingerprint: Fingerprint
  /// The scenario that was measured; nil if it is unknown.
  package var definition: ScenarioDefinition?
  /// One value for each repetition, in order of measurement.
  package var metrics: [MetricName: [Double]]
  /// The units of growth and of reported values (``MetricName/value(_:)``).
  package var units: [MetricName: String]
  /// The command of the main process; nil if it is unknown.
  package var program: String?
  package var composition: Composition?
  /// The memory curve of the median repetition, in a file of its own; nil if there is none.
  package var curve: MemorySeries?
  /// How the memory of the process tree was counted.
  package var treeMethod: TreeMethod
  /// The levels from which metrics have crept up (``continueAnchors(of:gate:)``).
  package var anchors: [MetricName: Anchor]
  /// nil for the values of a result that was not approved.
  package var approval: Approval?
  /// How many approved changes the values include that are in files of their own (``BaselineChange``).
  package var changeCount = 0
  /// How far the sum of several such changes may be from the true level, as a standard deviation of each metric.
  package var uncertainties: [MetricName: Double] = [:]

  package init(
    scenario: ScenarioName,
    environment: String,
    fingerprint: Fingerprint,
    definition: ScenarioDefinition? = nil,
    metrics: [MetricName: [Double]],
    units: [MetricName: String] = [:],
    program: String? = nil,
    composition: Composition? = nil,
    curve: MemorySeries? = nil,
    treeMethod: TreeMethod = .upperBound,
    anchors: [MetricName: Anchor] = [:],
    approval: Approval? = nil
  ) {
    self.scenario = scenario
    self.environment = environment
    self.fingerprint = fingerprint
    self.definition = definition
    self.metrics = metrics
    self.units = units
    self.program = program
    self.composition = composition
    self.curve = curve
    self.treeMethod = treeMethod
    self.anchors = anchors
    self.approval = approval
  }

  /// The values of a result, without those of process trees if repetitions counted them with different methods.
  package init(of result: ScenarioResult, approval: Approval? = nil) {
    let method = result.repetitions.first?.treeMethod ?? .upperBound
    let hasOneMethod = result.repetitions.allSatisfy { $0.treeMethod.isComparable(to: method) }
    let values = result.repetitions.map(\.allMetrics)
    let names = Set(values.flatMap(\.keys)).filter { !$0.isOfTree || hasOneMethod }
    let columns = names.compactMap { name -> (MetricName, [Double])? in
      let column = result.valuesForBaseline(of: name, in: values)
      return column.isEmpty ? nil : (name, column)
    }
    let instances = result.instances?.metrics.map { ($0, $1) } ?? []
    let units = names.compactMap { name -> (MetricName, String)? in
      name.kind == .slope ? (name, result.unit(of: name)) : result.reportedUnit(of: name).map { (name, $0) }
    }
    let middle = result.middleRepetition.flatMap { result.repetitions[$0].curve }
    self.init(
      scenario: result.name,
      environment: result.environment.name,
      fingerprint: result.environment.fingerprint,
      definition: result.definition,
      metrics: Dictionary(uniqueKeysWithValues: columns + instances),
      units: Dictionary(uniqueKeysWithValues: units),
      program: result.program,
      composition: result.composition,
      curve: middle?.main.downsampled(to: MemorySeries.mostSecondaryPoints),
      treeMethod: method,
      approval: approval
    )
  }
}

extension ScenarioResult {
  /// All values, or only those that are steady by the narrow band, if many repetitions are not.
  fileprivate func valuesForBaseline(of metric: MetricName, in all: [[MetricName: Double]]) -> [Double] {
    let values = all.compactMap { $0[metric] }
    let steady = zip(repetitions, all).compactMap { $0.nearlySteady.contains(metric) ? nil : $1[metric] }
    return values.count == repetitions.count && steady.count * 2 >= values.count ? values : steady
  }
}

extension Baseline {
  /// The median of each metric's values.
  package var medians: [MetricName: Double] {
    metrics.compactMapValues(Spread.median)
  }

  /// The unit of a metric, as the result file names it.
  package func unit(of metric: MetricName) -> String {
    units[metric] ?? metric.unit(perIteration: false)
  }

  /// The instances of the approved run; nil if none were counted.
  package var instances: InstanceCounts? {
    let counted = metrics.filter(\.key.isCounted)
    return counted.isEmpty ? nil : InstanceCounts(metrics: counted)
  }

  /// The number of measured repetitions; a metric may be missing in some.
  package var repetitionCount: Int { metrics.lazy.filter { !$0.key.isCounted }.map(\.value.count).max() ?? 0 }

  /// Whether it has a steady level in so few repetitions that the default gate does not judge it.
  func isSeldomSteady(in metric: MetricName) -> Bool {
    guard metric.row?.kind == .steadyLevel else { return false }
    let (steady, all) = (metrics[metric]?.count ?? 0, repetitionCount)
    return steady == 0 || (all - steady) * 10 > all
  }

  /// Whether values from this environment can be compared with the baseline's.
  package func isComparable(to environment: EnvironmentInfo) -> Bool {
    differencesThatCount(in: environment).isEmpty
  }

  /// The differences across which values are never compared.
  func differencesThatCount(in environment: EnvironmentInfo) -> [Fingerprint.Difference] {
    environment.fingerprint.differences(fromBaseline: fingerprint)
      .filter { $0.isHard && !environment.ignoredFields.contains($0.field) }
  }
}

/// What a scenario's values are compared with.
package enum Reference: Sendable, Equatable {
  case baseline(Baseline)
  /// No baseline is stored in any environment.
  case missing
  /// The same, and `--allow-missing-baseline` allows it until then; nil for a scenario that is not committed yet.
  case missingOfNew(until: Date?)
  /// The same, for longer than that allows; nil if the checkout does not show since when.
  case missingTooLong(since: Date?)
  /// The nearest stored baseline is of another environment.
  case otherEnvironment(name: String, differences: [Fingerprint.Difference])
  /// The stored baseline cannot be compared with.
  case unusable(BaselineDefect)
}

extension ScenarioMeasurement {
  /// The approved measurement, with the default gate.
  package init(of baseline: Baseline) {
    let repetitions = (0..<baseline.repetitionCount).map { index in
      var repetition = RepetitionResult(
        end: End(.exited, code: 0),
        duration: .zero,
        processes: 0,
        metrics: baseline.metrics.filter { !$0.key.isCounted }
          .compactMapValues { index < $0.count ? $0[index] : nil },
        treeMethod: baseline.treeMethod
      )
      repetition.units = baseline.units.filter { $0.key.isValue && repetition.metrics[$0.key] != nil }
      return repetition
    }
    self.init(
      name: baseline.scenario,
      environment: EnvironmentInfo(name: baseline.environment, fingerprint: baseline.fingerprint),
      repetitions: repetitions,
      composition: baseline.composition,
      growthIsPerIteration: baseline.unit(of: .growth) == MetricName.growth.unit(perIteration: true)
    )
    instances = baseline.instances
  }
}
