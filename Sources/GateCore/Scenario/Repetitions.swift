/// How many times a scenario is run.
package enum Repetitions: Sendable, Equatable {
  case fixed(Int)
  case adaptive(min: Int, max: Int)

  /// The largest number of repetitions in a file.
  package static let most = 1000

  /// The repetitions of a new baseline: 10 within the bounds, since its spread decides what later checks can detect.
  package var countForBaseline: Int {
    switch self {
    case .fixed(let count): count
    case .adaptive(let min, let max): Swift.min(Swift.max(10, min), max)
    }
  }

  /// When comparisons are made.
  package var plan: RepetitionPlan {
    switch self {
    case .fixed(let count): RepetitionPlan(min: count, max: count)
    case .adaptive(let min, let max): RepetitionPlan(min: min, max: max)
    }
  }
}

/// The numbers of repetitions after which a comparison is made, and the share of false alarms that each may use.
///
/// Each comparison of the values so far is a look (an interim analysis of a sequential test). More looks raise more
/// false alarms: a test at 0.01 after each of 20 repetitions raises 2.4 to 2.9 %. So there are few looks, which share
/// 0.01.
package struct RepetitionPlan: Sendable, Equatable {
  package let min: Int
  package let max: Int

  /// Both are at least 1; `max` is at least `min`.
  package init(min: Int, max: Int) {
    self.min = Swift.max(1, min)
    self.max = Swift.max(self.min, max)
  }

  /// The numbers of repetitions with a look: `min`, doubled each time, and finally `max`.
  package var looks: [Int] {
    var looks = [min]
    while let last = looks.last, last < max { looks.append(Swift.min(2 * last, max)) }
    return looks
  }

  /// Whether there is no look after this number of repetitions.
  package func isLast(_ count: Int) -> Bool {
    count >= max
  }
}
