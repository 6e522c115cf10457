import Statistics

/// At how many repetitions a comparison is looked at, and how much chance each look may take.
///
/// To look again and again until something is found finds something in the end: looking after each of 20 runs at a
/// chance of 0.01 raises 2.4 to 2.9 % false alarms. So there are few looks, which share the promised 0.01.
package struct RepetitionPlan: Sendable, Equatable {
  package let min: Int
  package let max: Int

  /// Looks from `min` to `max` repetitions, both 1 or more; the larger counts where `max` is the smaller one.
  package init(min: Int, max: Int) {
    self.min = Swift.max(1, min)
    self.max = Swift.max(self.min, max)
  }

  /// The chance of a false alarm that all looks together may take.
  ///
  /// One in a hundred, on top of which a rise must exceed its tolerance. Of simulated comparisons of equal programs the
  /// worst kind of noise then has 0.95 % false alarms, all kinds together 0.14 % (ci/calibration/RESULTS.md, A).
  package static let falseAlarms = 0.01

  /// The part of ``falseAlarms`` that the first of several looks may take: just above 1/252, which is the least that 5
  /// values against 5 can reach, since with less the first look could never say anything.
  private static let firstShare = 0.004

  /// After how many repetitions is looked: at the least, then at twice as many each time, at last at the most.
  package var looks: [Int] {
    var looks = [min]
    while let last = looks.last, last < max { looks.append(Swift.min(2 * last, max)) }
    return looks
  }

  /// Whether nothing comes after so many repetitions.
  package func isLast(_ count: Int) -> Bool {
    count >= max
  }

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
  /// Why no more repetitions were run, in words; nil where their number was fixed.
  package var stoppingReason: String? {
    guard let plan else { return nil }
    let count = repetitions.count
    guard failure == nil else { return "stopped after \(count), since it failed" }
    guard metrics.contains(where: { $0.isUndecided && $0.rule.severity == .fail }) else {
      let rest = verdict == .inconclusive ? ", since more would not help" : ": decided"
      return "\(count) of \(plan.min) to \(plan.max)\(rest)"
    }
    // An undecided metric matters no more where another one made the verdict.
    guard plan.isLast(count) else { return "\(count) of \(plan.min) to \(plan.max): decided" }
    return "\(count), the most of \(plan.min) to \(plan.max): still undecided"
  }
}
