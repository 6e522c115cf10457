import Statistics

extension ScenarioResult {
  /// What a verdict does not show: certain rises within the tolerance, and far ones of metrics without a rule.
  func notesOnRises(above baseline: Baseline) -> [Note] {
    let values = repetitions.map(\.allMetrics)
    let outweighed = Set(notes.compactMap(\.unjudgedMetric))
    let within = summary.metrics.filter { $0.verdict == .pass && $0.allowed != nil && !outweighed.contains($0.metric) }
      .compactMap { rise(of: $0.metric, in: values, above: baseline, by: Self.leastShareWithinTolerance, noise: 0) }
    let ungated = names(withoutRuleIn: values).compactMap {
      rise(of: $0, in: values, above: baseline, by: Self.leastShareWithoutRule, noise: 2)
    }
    let rises = ungated + instanceRises(above: baseline)
    return (within.isEmpty ? [] : [.risesWithinTolerance(rises: within)])
      + (rises.isEmpty ? [] : [.ungatedRises(rises: rises)])
  }

  /// The classes, and the counts of allocations, without a rule that gained more than the standard tolerance allows; a class
  /// also from none.
  private func instanceRises(above baseline: Baseline) -> [Rise] {
    guard let before = baseline.instances, let now = instances, now.refusal == nil else { return [] }
    let judged = Set(gate.rules.map(\.metric))
    return now.metrics.keys
      .filter { !judged.contains($0) && ($0.isInstances || before.metrics[$0] != nil) }.sorted().compactMap { metric in
        let (base, level) = (before.least(of: metric) ?? 0, now.least(of: metric) ?? 0)
        let allowed = Tolerance.standard(of: metric).allowed(above: [base], of: metric)
        return level - base > allowed
          ? Rise(metric: metric, unit: unit(of: metric), before: base, after: level) : nil
      }
  }

  /// Smaller rises within the tolerance are not worth a word, as shares of the level.
  private static let leastShareWithinTolerance = 0.01
  private static let leastShareWithoutRule = 0.1

  /// Page faults depend on the machine's speed, and the tree of a single process is mostly that process.
  private func names(withoutRuleIn values: [[MetricName: Double]]) -> [MetricName] {
    let judged = Set(summary.metrics.map(\.metric))
    let isTree = hasTreeMemory
    return Set(values.flatMap(\.keys)).subtracting(judged).filter { $0.counts(.studied) && (isTree || !$0.isOfTree) }
      .sorted(by: MetricName.isListedBefore)
  }

  /// The rise of a metric if an unchanged program shows it in less than 1 of 100 checks, and if it is larger than a
  /// share of the level and than `noise` times what the baseline's noise calls for.
  private func rise(
    of metric: MetricName,
    in all: [[MetricName: Double]],
    above baseline: Baseline,
    by share: Double,
    noise: Double
  ) -> Rise? {
    let values = all.compactMap { $0[metric] }
    guard values.count * 2 > repetitions.count, baseline.unit(of: metric) == unit(of: metric),
      !metric.isOfTree || repetitions.allSatisfy({ $0.treeMethod.isComparable(to: baseline.treeMethod) }),
      let base = baseline.metrics[metric], let before = Spread.median(base), let after = Spread.median(values)
    else { return nil }
    let least = max(share * abs(before), noise * Tolerance.noise(of: base), metric.kind.leastRise)
    let comparison = Comparison(
      from: base, to: values, allowed: least,
      alpha: RepetitionPlan.falseAlarms, isLast: true
    )
    guard let comparison, comparison.outcome == .rise, comparison.method != .thresholds else { return nil }
    return Rise(metric: metric, unit: unit(of: metric), before: before, after: after)
  }

  /// A note if the scenario is not the one that the baseline was measured with.
  func noteOnScenario(of baseline: Baseline) -> Note? {
    guard let before = baseline.definition, let now = definition, before.hashes != now.hashes else { return nil }
    return .otherScenario(keys: now.keysThatDiffer(from: before), baseline: before.command, current: now.command)
  }

  /// A note if the program of the baseline is not the main process any more.
  func noteOnProgram(of baseline: Baseline) -> Note? {
    guard let before = baseline.program, let now = program, before != now else { return nil }
    return .otherProgram(baseline: before, current: now)
  }
}

extension MetricKind {
  /// A smaller rise is not reported, however certain: that of two pages, or what `auto` always allows growth.
  fileprivate var leastRise: Double {
    switch self {
    case .peak, .steadyLevel, .height, .remainder: 2 * MetricJudgement.leastDeviation
    case .slope: Tolerance.Bounds.growth.amount
    case .rate, .reported, .instances, .perItem, .count, .countedBytes: 0
    }
  }
}
