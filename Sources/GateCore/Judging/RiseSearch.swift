/// Chooses which commit of a range to measure next, to find those at which memory rises with as few builds as possible.
///
/// Commits are numbered from 0, the good end, to `last`, the bad end. The measured ones divide the range into intervals.
/// The interval with the greatest rise is divided in its middle, until only one commit lies in it. With a single step
/// this is a bisection. With several steps it finds the largest one; and if the rise is spread over many commits, soon
/// no interval holds a large part of it.
package struct RiseSearch: Sendable, Equatable {
  package enum Depth: String, Sendable, Codable {
    /// Ends at the commit that holds more of the rise than any other.
    case largestStep
    /// Goes on to all commits that hold a part of the rise.
    case allSteps

    /// The least part of the rise that is a step; smaller ones together are creep.
    var leastShare: Double { self == .largestStep ? 0.25 : 0.1 }
  }

  /// The level of a commit, and half of its 95 % interval.
  package struct Level: Sendable, Equatable {
    package var value: Double
    package var uncertainty: Double

    package init(_ value: Double, uncertainty: Double = 0) {
      (self.value, self.uncertainty) = (value, uncertainty)
    }

    fileprivate var variance: Double { uncertainty * uncertainty }
  }

  /// Two measured commits with no other measured one between them.
  package struct Interval: Sendable, Equatable {
    package let lower: Int
    package let upper: Int
    /// The part of the whole rise between the two; negative where memory falls.
    package let share: Double
    /// Whether the rise is a step, and not noise.
    package let isStep: Bool
    /// Whether a rise or fall as large as a step may be noise: a search compares ten commits, of which one is easily three
    /// deviations off.
    package let isDoubtful: Bool
    /// The commits between the two that were not tried.
    package let untried: [Int]
  }

  package let last: Int
  package let depth: Depth
  private var levels: [Int: Level]
  private var unusable: Set<Int> = []

  /// Rises that differ by less are taken for equal: then the interval with fewer commits comes first.
  private static let alike = 0.75

  /// A difference of so many half intervals, six deviations, is no noise.
  private static let certain = 3.0

  /// The level of the bad end is higher than that of the good end.
  package init(from good: Level, to bad: Level, last: Int, depth: Depth) {
    (self.last, self.depth) = (last, depth)
    levels = [0: good, last: bad]
  }

  package mutating func record(_ level: Level, at index: Int) {
    levels[index] = level
  }

  /// Excludes a commit that cannot be built or measured.
  package mutating func exclude(_ index: Int) {
    unusable.insert(index)
  }

  /// The levels of the measured commits, in order.
  package var measured: [(index: Int, value: Double)] {
    levels.sorted { $0.key < $1.key }.map { ($0.key, $0.value.value) }
  }

  /// The rise from end to end.
  package var rise: Double { (levels[last]?.value ?? 0) - (levels[0]?.value ?? 0) }

  /// In order of the commits.
  package var intervals: [Interval] {
    let known = levels.sorted { $0.key < $1.key }
    return zip(known, known.dropFirst()).map { lower, upper in
      let rise = upper.value.value - lower.value.value
      let noise = lower.value.variance + upper.value.variance
      let share = rise / self.rise
      return Interval(
        lower: lower.key, upper: upper.key, share: share,
        isStep: share >= depth.leastShare && rise * rise > noise,
        isDoubtful: abs(share) >= depth.leastShare && rise * rise < Self.certain * Self.certain * noise,
        untried: (lower.key + 1..<upper.key).filter { !unusable.contains($0) })
    }
  }

  /// The measured neighbours of a commit that was not measured.
  package func interval(around index: Int) -> Interval? {
    intervals.first { $0.lower < index && index < $0.upper }
  }

  /// The steps that cannot be narrowed further, in order of the commits.
  package var steps: [Interval] { intervals.filter { $0.isStep && $0.untried.isEmpty } }

  /// The measured commits, apart from the ends, beside a doubtful rise or fall that is not the largest rise.
  package var doubtful: [Int] {
    let all = intervals
    let largest = all.map(\.share).max()
    let beside = all.filter { $0.isDoubtful && $0.share != largest }.flatMap { [$0.lower, $0.upper] }
    return beside.filter { $0 != 0 && $0 != last }
  }

  /// The commit to measure next; nil at the end of the search.
  package var next: Int? { divided.flatMap(middle) }

  /// About how many commits are still to be measured.
  package var remaining: Int {
    let divided = depth == .allSteps ? intervals.filter(\.isStep) : [divided].compactMap(\.self)
    return divided.map { Int.bitWidth - $0.untried.count.leadingZeroBitCount }.reduce(0, +)
  }

  private var divided: Interval? {
    let open = intervals.filter { $0.isStep && !$0.untried.isEmpty }
    guard let most = open.map(\.share).max() else { return nil }
    if depth == .largestStep, let found = steps.map(\.share).max(), found >= Self.alike * most { return nil }
    return open.filter { $0.share >= Self.alike * most }.min { $0.upper - $0.lower < $1.upper - $1.lower }
  }

  /// The untried commit nearest to the middle; further from it the more were excluded, since commits that do not build
  /// often follow each other.
  private func middle(of interval: Interval) -> Int? {
    let center = (interval.lower + interval.upper) / 2
    let excluded = interval.upper - interval.lower - 1 - interval.untried.count
    // 0, +1, −1, +2, −2, +4, −4 and so on.
    let distance = excluded == 0 ? 0 : 1 << min((excluded - 1) / 2, 30)
    let wanted = center + (excluded.isMultiple(of: 2) ? -distance : distance)
    return interval.untried.min { abs($0 - wanted) < abs($1 - wanted) }
  }
}
