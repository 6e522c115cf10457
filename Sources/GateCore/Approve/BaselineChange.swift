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
  /// both lacks, for values counted in another way, nor for values that are far noisier than the gate tolerates.
  package init?(from expected: Baseline, to measured: Baseline, gate: Gate) {
    guard let approval = measured.approval, expected.treeMethod.isComparable(to: measured.treeMethod) else {
      return nil
    }
    for rule in gate.rules where rule.severity != .off {
      guard Self.canMove(rule.metric, from: expected, to: measured, gate: gate) else { return nil }
    }
    self.init(
      scenario: measured.scenario, environment: measured.environment, moves: [:], units: measured.units,
      repetitions: measured.repetitionCount, approval: approval)
    for (metric, values) in measured.metrics where expected.unit(of: metric) == measured.unit(of: metric) {
      guard let from = expected.metrics[metric].flatMap({ Self.level(of: metric, $0) }),
        let to = Self.level(of: metric, values), from != to
      else { continue }
      // It is compared with nothing unless the gate names it.
      if !metric.counts(.studied), !gate.rules.contains(where: { $0.metric == metric }) { continue }
      moves[metric] = Move(from: from, to: to)
    }
    units = units.filter { moves[$0.key] != nil }
    if measured.definition?.hashes != expected.definition?.hashes { definition = measured.definition }
  }

  private static func canMove(
    _ metric: MetricName, from expected: Baseline, to measured: Baseline, gate: Gate
  ) -> Bool {
    // Neither is judged without a written gate.
    if gate.isStandard, expected.isSeldomSteady(in: metric), measured.isSeldomSteady(in: metric) { return true }
    let (before, now) = (expected.metrics[metric] ?? [], measured.metrics[metric] ?? [])
    return before.isEmpty == now.isEmpty && expected.unit(of: metric) == measured.unit(of: metric)
      && Modes(of: before) == nil && Modes(of: now) == nil
      && (now.isEmpty || metric.isCounted
        || Tolerance.noise(of: now) <= mostNoise * gate.tolerance(of: metric).allowed(above: before, of: metric))
  }

  /// The noise of few values is often overestimated: that of 10 normal values by more than half in 1 of 20 cases.
  ///
  /// With this limit 15 to 20 % of the first approvals of programs with 0.5 to 2 % of noise are new baselines, since the
  /// noise of the first baseline may also be underestimated (ci/calibrate.d/RESULTS.md, K).
  private static let mostNoise = 1.5

  /// The value with which a metric is judged: whole bytes, and of other units thousandths.
  private static func level(of metric: MetricName, _ values: [Double]) -> Double? {
    let value = metric.isCounted ? values.min() : Spread.median(values)
    return value.map { metric.isWholeBytes ? $0.rounded() : ($0 * 1000).rounded() / 1000 }
  }

  /// Whether its run has measured what is expected: not if other branches have approved changes beside this one.
  package func isMeasured(in expected: Baseline) -> Bool {
    moves.allSatisfy { metric, move in
      Self.level(of: metric, expected.metrics[metric] ?? []).map { Self.isSame($0, move.to, of: metric) } ?? false
    }
  }

  /// Whether two levels are equal but for rounding.
  fileprivate static func isSame(_ one: Double, _ other: Double, of metric: MetricName) -> Bool {
    abs(one - other) <= (metric.isWholeBytes ? 1 : 0.002)
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
    for metric in metrics.keys { expected.uncertainties[metric] = uncertainty(of: metric, after: changes) }
    return expected
  }

  /// The standard deviation that the sum of changes adds to the error of one approval; nil for one after another.
  ///
  /// Branches that leave one commit each add the difference to the same measured level. So the error of that level counts
  /// once for each of them, beside their own errors: fifty branches add 49 times the error of the baseline's median.
  private func uncertainty(of metric: MetricName, after changes: [BaselineChange]) -> Double? {
    let moves = changes.compactMap { change in
      change.moves[metric].map { (from: $0.from, to: $0.to, share: 1 / Double(max(1, change.repetitions))) }
    }
    guard moves.count > 1, let values = metrics[metric], let level = Spread.median(values) else { return nil }
    func isSame(_ one: Double, _ other: Double) -> Bool { BaselineChange.isSame(one, other, of: metric) }
    // A change that follows another one replaces its level, and both begin from one baseline.
    let last = moves.filter { move in !moves.contains { isSame($0.from, move.to) } }
    let first = moves.filter { move in !moves.contains { isSame($0.to, move.from) } }
    let fromThis = Double(first.count { isSame($0.from, level) })
    let fromFolded = Double(first.count) - fromThis
    let base = 1 / Double(values.count)
    let own = last.reduce(0) { $0 + $1.share }
    let variance = base * ((1 - fromThis) * (1 - fromThis) + fromFolded * fromFolded) + own
    let usual = base + own / Double(max(1, last.count))
    return max(0, variance - usual).squareRoot() * Self.errorOfMedian * Spread.noise(values)
  }

  /// The standard error of a median of normal values, times the root of their number and by their deviation: √(π / 2).
  private static let errorOfMedian = 1.2533

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
    metrics[metric] = before.map { metric.kind.canBeNegative ? $0 + difference : max(0, $0 + difference) }
    // As with a new baseline: a rise that was seen with its approval raises the level from which creep is measured.
    guard !metric.isRate, var anchor = anchors[metric] ?? anchor(at: Spread.median(before)) else { return }
    if difference > Tolerance.standard(of: metric).allowed(above: before, of: metric) { anchor.level += difference }
    let level = metrics[metric].flatMap(Spread.median) ?? 0
    anchors[metric] = anchor.level < level ? anchor : nil
  }
}
