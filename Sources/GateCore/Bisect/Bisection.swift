import Statistics

/// The search of one scenario for the commits at which its memory rises, with what was measured so far.
///
/// The bad end is measured first. Every commit runs alternately with the good end, so that a machine that changes in the
/// course of the search changes both alike: the change of the good end is subtracted.
package struct Bisection: Sendable, Equatable {
  /// The number of the bad end; the good end is 0.
  package let last: Int
  package let plan: RepetitionPlan
  package let depth: RiseSearch.Depth
  /// The only metric to search; nil for the one that rose most clearly.
  package let wanted: MetricName?
  package private(set) var answers: [Int: CommitAnswer] = [:]
  /// The comparison of the ends, for each gated metric that both have; empty if an end ran out of memory.
  package private(set) var ends: [MetricResult] = []
  private var search: RiseSearch?
  /// The values of the searched metric, less what the good end has changed by since the ends were measured.
  private var values: [Int: [Double]] = [:]

  package init(last: Int, plan: RepetitionPlan, depth: RiseSearch.Depth = .largestStep, metric: MetricName? = nil) {
    (self.last, self.plan, self.depth, wanted) = (last, plan, depth, metric)
  }

  /// The comparison of the ends in the searched metric; nil if they do not differ, or differ by running out of memory.
  package var searched: MetricResult? {
    ends.filter { $0.verdict == .regression }.min(by: Self.isClearer)
  }

  /// The commit to measure next; nil at the end of the search.
  ///
  /// In the end, commits whose level is doubtful are measured again, with all repetitions.
  package var next: Int? {
    guard answers[last] != nil, let search else { return answers[last] == nil ? last : nil }
    return search.next ?? search.doubtful.first(where: hasFewRepetitions)
  }

  private func hasFewRepetitions(_ index: Int) -> Bool {
    guard case .measured(let measured)? = answers[index] else { return false }
    return measured.repetitions < plan.max
  }

  /// About how many commits are still to be built, apart from the good end.
  package var remaining: Int {
    answers[last] == nil ? 1 + Int.bitWidth - (last - 1).leadingZeroBitCount : search?.remaining ?? 0
  }

  package mutating func record(_ answer: CommitAnswer, at index: Int) {
    answers[index] = answer
    if index == last { begin(with: answer) } else { place(answer, at: index) }
  }

  // MARK: The ends

  private mutating func begin(with bad: CommitAnswer) {
    switch bad {
    case .measured(let measured):
      ends = comparisons(of: measured)
      guard let searched, let good = measured.reference[searched.metric] else { return }
      values = [0: good, last: measured.values[searched.metric] ?? []]
      let level = level(of: last)
      guard level.value > 0 else { return }
      search = RiseSearch(from: RiseSearch.Level(0), to: level, last: last, depth: depth)
    case .outOfMemory:
      search = RiseSearch(from: RiseSearch.Level(0), to: RiseSearch.Level(1), last: last, depth: depth)
    case .notBuilt, .failed: break
    }
  }

  private func comparisons(of bad: MeasuredCommit) -> [MetricResult] {
    let metrics = wanted.map { [$0] } ?? bad.values.keys.sorted(by: MetricName.isListedBefore)
    return metrics.compactMap { metric in
      guard let after = bad.values[metric], let before = bad.reference[metric] else { return nil }
      return comparison(
        of: metric, unit: bad.units[metric], from: before, to: after, allowing: .leastRise(of: metric), plan)
    }
  }

  /// The smaller probability of chance comes first; then the greater rise, in units of the least that counts.
  private static func isClearer(_ one: MetricResult, _ other: MetricResult) -> Bool {
    func rank(_ metric: MetricResult) -> (chance: Double, rise: Double) {
      (metric.chance ?? 0, -(metric.change?.shift ?? 0) / max(1, metric.allowed ?? 0))
    }
    return rank(one) < rank(other)
  }

  // MARK: The commits between them

  private mutating func place(_ answer: CommitAnswer, at index: Int) {
    switch answer {
    case .measured(let measured):
      guard let searched else {
        search?.record(RiseSearch.Level(0), at: index)
        return
      }
      guard let own = corrected(measured, searched.metric) else {
        search?.exclude(index)
        return
      }
      values[index] = own
      let level = level(of: index)
      search?.record(level, at: index)
    case .outOfMemory:
      let level = searched == nil ? RiseSearch.Level(1) : level(of: last)
      search?.record(level, at: index)
    case .notBuilt, .failed:
      search?.exclude(index)
    }
  }

  /// The probability of taking noise for a change of the good end: a search asks about ten times, and a change that is none
  /// moves a commit by more than its noise.
  private static let falseDrift = 0.001

  /// The values without the change of the good end since the ends were measured, if it has changed for certain.
  private func corrected(_ measured: MeasuredCommit, _ metric: MetricName) -> [Double]? {
    guard let own = measured.values[metric], let reference = measured.reference[metric], let good = values[0]
    else { return nil }
    let least = RankTest.smallestPValue(good.count, reference.count)
    let drift = Comparison(from: good, to: reference, allowed: 0, alpha: max(Self.falseDrift, least), isLast: true)
    guard let drift, drift.outcome == .rise || drift.outcome == .fall else { return own }
    return own.map { $0 - drift.shift.estimate }
  }

  private func level(of index: Int) -> RiseSearch.Level {
    guard let good = values[0], let own = values[index], let shift = Shift(from: good, to: own)
    else { return RiseSearch.Level(0) }
    return RiseSearch.Level(
      shift.estimate, uncertainty: (shift.interval.upperBound - shift.interval.lowerBound) / 2)
  }

  // MARK: More repetitions

  /// The number of repetitions of the next look at a commit; nil if it is clear where it belongs, or has them all.
  ///
  /// It is clear if the commit differs from either neighbour by more, or by less, than a third of the rise between them,
  /// unless it is measured again because that was doubtful.
  package func nextLook(after measured: MeasuredCommit, at index: Int) -> Int? {
    let isClear = index == last ? areEndsClear(measured) : answers[index] == nil && isClear(measured, at: index)
    return isClear ? nil : plan.looks.first { $0 > measured.repetitions }
  }

  /// Every commit is compared with the ends, so they are measured as often as a baseline, if the plan allows it.
  private var leastOfEnds: Int { min(10, plan.max) }

  private func areEndsClear(_ bad: MeasuredCommit) -> Bool {
    let ends = comparisons(of: bad)
    guard bad.repetitions >= leastOfEnds else { return false }
    return ends.contains { $0.verdict == .regression } || !ends.contains(where: \.isUndecided)
  }

  private func isClear(_ measured: MeasuredCommit, at index: Int) -> Bool {
    guard let searched, let around = search?.interval(around: index), let own = corrected(measured, searched.metric),
      let lower = values[around.lower], let upper = values[around.upper], let rise = Shift(from: lower, to: upper)
    else { return true }
    let allowed = Tolerance.bounds(relative: nil, absolute: .number(abs(rise.estimate) / 3))
    let (below, above) = (
      comparison(of: searched.metric, from: lower, to: own, allowing: allowed, plan),
      comparison(of: searched.metric, from: own, to: upper, allowing: allowed, plan)
    )
    return !below.isUndecided && !above.isUndecided
  }

  private func comparison(
    of metric: MetricName,
    unit: String? = nil,
    from before: [Double],
    to after: [Double],
    allowing tolerance: Tolerance,
    _ plan: RepetitionPlan
  ) -> MetricResult {
    MetricJudgement(
      rule: GateRule(metric: metric, tolerance: tolerance), unit: unit ?? metric.unit(perIteration: false),
      current: after, baseline: before, missingBaseline: .noBaseline, plan: plan, repetitions: after.count, growth: []
    ).result
  }
}

// MARK: - The answer

/// Two measured commits between which memory rises.
package struct RiseStep: Sendable, Equatable {
  package let lower: Int
  /// The guilty commit is in `lower + 1 ... upper`.
  package let upper: Int
  /// The part of the whole rise; nil if the scenario runs out of memory.
  package let share: Double?
  /// The comparison of both; nil if one ran out of memory.
  package let change: MetricResult?

  /// Whether it is a single commit.
  package var isCommit: Bool { upper == lower + 1 }
}

/// What a search has found.
package enum BisectionOutcome: String, Sendable, CaseIterable, Codable {
  /// One commit holds nearly all of the rise.
  case commit
  /// Several commits hold parts of it; of a search for the largest step only that one is known.
  case steps
  /// No commit holds a large part of it.
  case creep
  /// The commits that hold the rise cannot be told apart: those between them cannot be built or measured.
  case range
  /// They cannot be told apart, since the values are too noisy.
  case noisy
  /// The ends have the same level.
  case same
  /// The bad end needs less than the good end.
  case lower
  /// The ends are too noisy to be told apart.
  case undecided
  /// The ends have no gated metric in common.
  case nothingMeasured = "nothing-measured"
  /// The scenario fails at an end.
  case failed

  package var exitCode: ExitCode {
    switch self {
    case .commit, .steps, .creep, .range: .pass
    case .noisy, .same, .lower, .undecided, .nothingMeasured: .inconclusive
    case .failed: .failed
    }
  }
}

extension Bisection {
  /// From this share on a step counts as all of the rise: the rest is within the noise of two levels.
  private static let nearlyAll = 0.75

  /// The outcome; nil while commits are still to be measured.
  package var outcome: BisectionOutcome? {
    guard next == nil, let bad = answers[last] else { return nil }
    if case .notBuilt = bad { return .failed }
    if case .failed = bad { return .failed }
    guard search != nil else { return outcomeOfEnds }
    let steps = steps
    guard let largest = steps.max(by: { ($0.share ?? 1) < ($1.share ?? 1) }) else {
      return isNoisy ? .noisy : .creep
    }
    if !largest.isCommit { return isOfExcluded(largest) ? .range : .noisy }
    return (largest.share ?? 1) >= Self.nearlyAll ? .commit : .steps
  }

  private var outcomeOfEnds: BisectionOutcome {
    if ends.isEmpty { return .nothingMeasured }
    // A rise without a greater level is one between two levels that a program takes by chance.
    if ends.contains(where: { $0.isUndecided || $0.verdict == .regression }) { return .undecided }
    return ends.contains { $0.verdict == .improved } ? .lower : .same
  }

  /// Whether a part of the rise that would be a step is lost in the noise.
  private var isNoisy: Bool {
    search.map { search in search.intervals.contains { !$0.isStep && $0.share >= depth.leastShare } } ?? false
  }

  private func isOfExcluded(_ step: RiseStep) -> Bool {
    (step.lower + 1..<step.upper).allSatisfy { index in
      switch answers[index] {
      case .notBuilt, .failed: true
      case .measured: values[index] == nil
      case .outOfMemory, nil: false
      }
    }
  }

  /// The commits that hold a part of the rise, the greatest part first.
  ///
  /// A rise between neighbours that is not certain is widened to the next commits between which it is.
  package var steps: [RiseStep] {
    guard let search, next == nil else { return [] }
    let found = search.steps.map { certainStep(around: $0, in: search) }
    // Two of them may be widened to the same commits.
    let distinct = found.enumerated().filter { index, step in
      !found[..<index].contains { ($0.lower, $0.upper) == (step.lower, step.upper) }
    }
    return distinct.map(\.element).sorted { ($0.share ?? 1) > ($1.share ?? 1) }
  }

  private func certainStep(around interval: RiseSearch.Interval, in search: RiseSearch) -> RiseStep {
    let measured = search.measured
    let lower = measured.filter { $0.index <= interval.lower }
    let upper = measured.filter { $0.index >= interval.upper }
    let pairs = lower.flatMap { low in upper.map { high in (low: low, high: high) } }
      .sorted { (one, other) -> Bool in one.high.index - one.low.index < other.high.index - other.low.index }
    let whole = search.rise
    let steps = pairs.lazy.map { low, high in
      RiseStep(
        lower: low.index, upper: high.index, share: searched == nil ? nil : (high.value - low.value) / whole,
        change: change(from: low.index, to: high.index))
    }
    // The ends differ for certain.
    return steps.first { $0.change.map { $0.verdict == .regression } ?? true }
      ?? RiseStep(lower: 0, upper: last, share: 1, change: searched)
  }

  /// The comparison of two measured commits, without a tolerance; nil if one ran out of memory.
  package func change(from lower: Int, to upper: Int) -> MetricResult? {
    guard let searched, let before = values[lower], let after = values[upper] else { return nil }
    return comparison(
      of: searched.metric, unit: searched.unit, from: before, to: after,
      allowing: .bounds(relative: nil, absolute: .number(0)), RepetitionPlan(min: after.count, max: after.count))
  }

  /// The rise of each measured commit above the good end, in the searched metric.
  package var rises: [(index: Int, rise: Double)] {
    guard searched != nil else { return [] }
    return search?.measured.map { ($0.index, $0.value) } ?? []
  }
}

extension Tolerance {
  /// The least rise between two ends that is searched for; more than relinking the same program changes.
  ///
  /// The project's own tolerance says what a team bears, not what it wants to understand.
  static func leastRise(of metric: MetricName) -> Tolerance {
    metric.isWholeBytes ? .bounds(relative: Percent(0.5), absolute: .kibibytes(32)) : .automatic
  }
}
