import Statistics

extension RepetitionPlan {
  /// The probability of a false alarm in all looks together.
  ///
  /// A rise must exceed its tolerance as well: in simulated comparisons of equal programs, the worst kind of noise has
  /// 0.95 % false alarms, and all kinds together have 0.13 % (ci/calibrate.d/RESULTS.md, A).
  package static let falseAlarms = 0.01

  /// The share of ``falseAlarms`` for the first of several looks.
  ///
  /// It is just above 1/252, the smallest p-value of the rank test of 5 values against 5. With less, the first look
  /// could not find anything.
  private static let firstShare = 0.004

  /// The probability of a false alarm for the look after `count` repetitions, against a baseline of `baseline` values.
  ///
  /// A look with too few values to use its share passes it on to the next.
  package func alpha(at count: Int, against baseline: Int) -> Double {
    let looks = looks
    guard looks.count > 1 else { return Self.falseAlarms }
    let share = (Self.falseAlarms - Self.firstShare) / Double(looks.count - 1)
    var available = 0.0
    for (index, look) in looks.enumerated() {
      available += index == 0 ? Self.firstShare : share
      guard look < count else { break }
      if RankTest.smallestPValue(look, baseline) <= available { available = 0 }
    }
    return available
  }

  /// The number of repetitions of the next look; nil if more repetitions cannot change the verdict.
  ///
  /// They can if the verdict is inconclusive because of noise.
  package func nextLook(after result: ScenarioResult) -> Int? {
    let isUndecided = result.metrics.contains { $0.isUndecided && $0.rule.severity == .fail }
    guard result.verdict == .inconclusive, result.failure == nil, isUndecided else { return nil }
    return looks.first { $0 > result.repetitions.count }
  }
}

extension Repetitions {
  /// The number of repetitions for a new baseline; nil if the result has enough.
  ///
  /// If it is too noisy for its tolerance, of `auto` for the part without noise, the maximum: a baseline is used for
  /// weeks, and one that is low by chance, or seems too steady, raises alarm after alarm. (Of 14 checks of an unchanged
  /// program whose values differ by 7 %, 3 were false alarms against 10 values that were low by chance.) The same if a value
  /// is beyond the tolerance: there may be a second level, and more values show how often.
  package func countForBaseline(after result: ScenarioResult) -> Int? {
    let count = result.repetitions.count
    guard case .adaptive(let min, let max) = self, count < max, result.failure == nil else { return nil }
    let isTooNoisy = result.gate.rules.contains { rule in
      let values = result.repetitions.compactMap { $0.value(of: rule.metric) }
      guard rule.severity == .fail, let tolerance = rule.tolerance, values.count * 2 > count else { return false }
      let level = Spread.median(values) ?? 0
      let detectable = Detection.smallestShift(deviation: Spread.noise(values), min, values.count, allowed: 0)
      let allowed = tolerance.allowed(above: values, of: rule.metric)
      return detectable > tolerance.allowed(above: [level], of: rule.metric)
        || values.contains { abs($0 - level) > allowed }
    }
    return isTooNoisy ? max : nil
  }
}

extension RepetitionPlan {
  /// The number of repetitions with which a changed result can be approved; nil if it has enough.
  ///
  /// An approval moves the baseline by the difference of the medians. Of 5 values of a quiet program that is exact enough.
  /// One whose noise is above the least tolerance gets as many values as the baseline has, also if only its own few values
  /// look so noisy: of 0.5 to 2 % of noise, false alarms after one approval fall from 0.10 to 0.40 % to 0.00 to 0.05 %
  /// (ci/calibrate.d/RESULTS.md, K).
  package func countForApproval(after result: ScenarioResult, of baseline: Baseline) -> Int? {
    guard [.regression, .improved].contains(result.verdict), result.failure == nil else { return nil }
    let isNoisy = result.gate.rules.contains { rule in
      guard rule.severity == .fail, !rule.metric.isRate, !rule.metric.isValue,
        let values = baseline.metrics[rule.metric]
      else { return false }
      let noise = Swift.max(
        Tolerance.noise(of: values), Tolerance.noise(of: result.repetitions.compactMap { $0.value(of: rule.metric) }))
      return noise > Tolerance.automatic.allowed(above: [Spread.median(values) ?? 0], of: rule.metric)
    }
    let count = Swift.min(baseline.repetitionCount, max)
    return isNoisy && result.repetitions.count < count ? count : nil
  }
}

extension ScenarioResult {
  /// Why no more repetitions were run; nil if their number was fixed.
  package var stop: RepetitionStop? {
    guard let plan else { return nil }
    if failure != nil { return .failed }
    // An undecided metric does not matter if another metric decided the verdict.
    let isUndecided = summary.metrics.contains { $0.isUndecided && $0.rule.severity == .fail }
    if isUndecided, plan.isLast(repetitions.count) { return .maximumReached }
    return summary.verdict == .inconclusive && !isUndecided ? .moreWouldNotHelp : .decided
  }
}

/// Why no more repetitions were run.
package enum RepetitionStop: Sendable {
  case failed, decided, moreWouldNotHelp
  /// The verdict is still undecided.
  case maximumReached
}
