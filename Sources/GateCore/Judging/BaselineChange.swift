import Statistics

/// An approved change of a baseline, in a file of its own, so that branches that approve the same scenario merge without
/// a conflict.
///
/// What is expected is the measured baseline plus all changes since (``Baseline/expecting(_:)``). Each is the difference to
/// what its own branch expected, so that changes of one branch follow each other, and those of several branches add up.
package struct BaselineChange: Sendable, Hashable {
  /// The median of a metric before and after.
  package struct Move: Sendable, Hashable {
    package var from: Double
    package var to: Double

    package init(from: Double, to: Double) {
      (self.from, self.to) = (from, to)
    }
  }

  package var scenario: ScenarioName
  package var environment: String
  package var moves: [MetricName: Move]
  package var units: [MetricName: String]
  /// The scenario that was measured, if it is another than that of the baseline.
  package var definition: ScenarioDefinition?
  package var repetitions: Int
  package var approval: Approval

  package init(
    scenario: ScenarioName, environment: String, moves: [MetricName: Move], units: [MetricName: String] = [:],
    definition: ScenarioDefinition? = nil, repetitions: Int, approval: Approval
  ) {
    (self.scenario, self.environment, self.moves, self.units) = (scenario, environment, moves, units)
    (self.definition, self.repetitions, self.approval) = (definition, repetitions, approval)
  }

  /// The change from what is expected to what was measured; nil if only a new baseline can express it.
  ///
  /// A change keeps the number and the spread of the baseline's values. So it is not for a metric of the gate that one of
  /// both lacks, for values counted in another way, nor for values that are noisier than the gate tolerates now.
  package init?(from expected: Baseline, to measured: Baseline, gate: Gate) {
    guard let approval = measured.approval, expected.treeMethod.isComparable(to: measured.treeMethod) else {
      return nil
    }
    for rule in gate.rules where rule.severity != .off {
      let (before, now) = (expected.metrics[rule.metric] ?? [], measured.metrics[rule.metric] ?? [])
      let tolerance = gate.tolerance(of: rule.metric)
      guard before.isEmpty == now.isEmpty, expected.unit(of: rule.metric) == measured.unit(of: rule.metric),
        Modes(of: before) == nil, Modes(of: now) == nil,
        now.isEmpty || rule.metric.isInstances
          || Tolerance.noise(of: now) <= tolerance.allowed(above: before, of: rule.metric)
      else { return nil }
    }
    self.init(
      scenario: measured.scenario, environment: measured.environment, moves: [:], units: measured.units,
      repetitions: measured.repetitionCount, approval: approval)
    for (metric, values) in measured.metrics where expected.unit(of: metric) == measured.unit(of: metric) {
      guard let from = expected.metrics[metric].flatMap({ Self.level(of: metric, $0) }),
        let to = Self.level(of: metric, values), from != to
      else { continue }
      moves[metric] = Move(from: from, to: to)
    }
    units = units.filter { moves[$0.key] != nil }
    if measured.definition?.hashes != expected.definition?.hashes { definition = measured.definition }
  }

  /// The value with which a metric is judged: whole bytes, and of other units thousandths.
  private static func level(of metric: MetricName, _ values: [Double]) -> Double? {
    let value = metric.isInstances ? values.min() : Spread.median(values)
    return value.map { metric.isWholeBytes ? $0.rounded() : ($0 * 1000).rounded() / 1000 }
  }

  package func unit(of metric: MetricName) -> String { units[metric] ?? metric.unit(perIteration: false) }

  /// The file's name, which no other approval has.
  package var identifier: String { approval.run }
}

extension Baseline {
  /// The values that are expected after changes, which were approved in any order.
  package func expecting(_ changes: [BaselineChange]) -> Baseline {
    var expected = self
    for change in changes.sorted(by: { ($0.approval.at, $0.identifier) < ($1.approval.at, $1.identifier) }) {
      for (metric, move) in change.moves { expected.shift(metric, by: move.to - move.from) }
      expected.definition = change.definition ?? expected.definition
      expected.approval = change.approval
    }
    expected.changeCount = changes.count
    return expected
  }

  /// Takes the values of the previous baseline, moved to the level that was measured, if these are fewer.
  ///
  /// A baseline is compared with for weeks: its spread decides what later checks can detect.
  package mutating func keepSpread(of previous: Baseline, with change: BaselineChange?) {
    guard let change, repetitionCount < previous.repetitionCount else { return }
    let moved = previous.expecting([change]).metrics
    for metric in metrics.keys { metrics[metric] = moved[metric] ?? metrics[metric] }
  }

  private mutating func shift(_ metric: MetricName, by difference: Double) {
    guard let before = metrics[metric], !before.isEmpty else { return }
    metrics[metric] = before.map { metric.isRate ? $0 + difference : max(0, $0 + difference) }
    // As with a new baseline: a rise that was seen with its approval raises the level from which creep is measured.
    guard !metric.isRate, var anchor = anchors[metric] ?? anchor(at: Spread.median(before)) else { return }
    if difference > Tolerance.standard(of: metric).allowed(above: before, of: metric) { anchor.level += difference }
    let level = metrics[metric].flatMap(Spread.median) ?? 0
    anchors[metric] = anchor.level < level ? anchor : nil
  }
}
