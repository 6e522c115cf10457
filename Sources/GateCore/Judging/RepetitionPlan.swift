import Statistics

extension RepetitionPlan {
  /// The chance of a false alarm that all looks together may take.
  ///
  /// One in a hundred, on top of which a rise must exceed its tolerance. Of simulated comparisons of equal programs the
  /// worst kind of noise then has 0.95 % false alarms, all kinds together 0.14 % (ci/calibrate.d/RESULTS.md, A).
  package static let falseAlarms = 0.01

  /// The part of ``falseAlarms`` that the first of several looks may take: just above 1/252, which is the least that 5
  /// values against 5 can reach, since with less the first look could never say anything.
  private static let firstShare = 0.004

  /// The chance of a false alarm that the look at `count` repetitions may take, against a baseline of so many values.
  ///
  /// What a look could not spend, since so few values cannot reach it, goes to the next.
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

  /// How many repetitions there should be at the next look; nil where more of them would change nothing.
  ///
  /// They are worth their time only where noise alone left something undecided, and nothing else made the verdict.
  package func nextLook(after result: ScenarioResult) -> Int? {
    let isUndecided = result.metrics.contains { $0.isUndecided && $0.rule.severity == .fail }
    guard result.verdict == .inconclusive, result.failure == nil, isUndecided else { return nil }
    return looks.first { $0 > result.repetitions.count }
  }
}

extension Repetitions {
  /// How many repetitions a new baseline should have, once so many have been run; nil where they suffice.
  ///
  /// One that is too noisy for its tolerance is measured to the most that is allowed: it is held against for weeks, and
  /// one that happened to be low alarms again and again. (Of 14 checks of an unchanged program whose values differ by
  /// 7 % 3 alarmed beside 10 values that were low by chance.)
  package func countForBaseline(after result: ScenarioResult) -> Int? {
    let count = result.repetitions.count
    guard case .adaptive(let min, let max) = self, count < max, result.failure == nil else { return nil }
    let isTooNoisy = result.gate.rules.contains { rule in
      let values = result.repetitions.compactMap { $0.allMetrics[rule.metric] }
      guard rule.severity == .fail, let tolerance = rule.tolerance, values.count * 2 > count else { return false }
      let seen = Detection.smallestShift(deviation: Spread.noise(values), min, values.count, allowed: 0)
      return seen > tolerance.allowed(beside: values, of: rule.metric)
    }
    return isTooNoisy ? max : nil
  }
}

extension ScenarioResult {
  /// Why no more repetitions were run; nil where their number was fixed.
  package var stop: RepetitionStop? {
    guard let plan else { return nil }
    if failure != nil { return .failed }
    // An undecided metric does not matter where another one decided the verdict.
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
