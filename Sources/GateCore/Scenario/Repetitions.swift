/// How often a scenario is run.
package enum Repetitions: Sendable, Equatable {
  case fixed(Int)
  case adaptive(min: Int, max: Int)

  /// The most repetitions that a file may ask for.
  package static let most = 1000

  /// The repetitions of a new baseline: 10, as far as the bounds allow it, since its spread decides what later checks
  /// can see.
  package var countForBaseline: Int {
    switch self {
    case .fixed(let count): count
    case .adaptive(let min, let max): Swift.min(Swift.max(10, min), max)
    }
  }

  /// At how many repetitions a comparison is looked at.
  package var plan: RepetitionPlan {
    switch self {
    case .fixed(let count): RepetitionPlan(min: count, max: count)
    case .adaptive(let min, let max): RepetitionPlan(min: min, max: max)
    }
  }
}

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
}
