/// The time that a check may take for profiled repetitions: as long as its own took, so that a red check takes at most
/// twice as long as a green one.
package struct ExplanationBudget: Sendable {
  /// A scenario that waits to be profiled.
  package struct Candidate: Sendable {
    package let rule: ExplainRule
    /// How long a repetition took without the profiler, that of another build included.
    package let repetition: Duration

    package init(rule: ExplainRule, repetition: Duration) {
      (self.rule, self.repetition) = (rule, repetition)
    }
  }

  /// Of one build; the noise between them is what a rise must exceed.
  package static let mostRepetitions = 3
  /// The least time of a check.
  package static let least = Duration.seconds(10)

  /// How many times as long a repetition takes with the profiler, and what names and stacks take besides: the aim of its
  /// benchmark (`ci/bench explain`).
  private static let slowdown = 1.5
  private static let naming = Duration.milliseconds(300)
  /// What was seen corrects the estimates by so much at least.
  private static let leastCorrection = 0.6

  /// The time of ``ExplainRule/auto``.
  package let time: Duration
  private var spent = Duration.zero
  private var (estimated, taken) = (Duration.zero, Duration.zero)

  /// `measured` is the time of all repetitions of the check.
  package init(measured: Duration) {
    time = max(Self.least, measured)
  }

  /// What is left for a scenario with this rule; nil for any time.
  package func left(under rule: ExplainRule) -> Duration? {
    switch rule {
    case .always: nil
    case .auto: max(.zero, time - spent)
    case .within(let most): max(.zero, most - spent)
    case .off: .zero
    }
  }

  /// How long a profiled repetition of it is expected to take, by what earlier ones took.
  package func estimate(of candidate: Candidate) -> Duration {
    let correction = estimated > .zero ? max(Self.leastCorrection, taken / estimated) : 1
    return Self.plainEstimate(candidate) * correction
  }

  /// How often the first of these is profiled, so that each gets one repetition before any gets more; 0 if there is no
  /// time for it, or earlier ones leave none.
  ///
  /// Before time is left unused, one repetition is tried that might just fit: if it does not, what was seen until then counts.
  package func repetitions(ofFirst candidates: ArraySlice<Candidate>) -> Int {
    var (counts, planned) = (candidates.map { _ in 0 }, Duration.zero)
    for round in 0..<Self.mostRepetitions {
      for (index, candidate) in candidates.enumerated() where counts[index] == round {
        let cost = estimate(of: candidate)
        if let left = left(under: candidate.rule) {
          guard planned + cost <= left else { continue }
          planned += cost
        }
        counts[index] += 1
      }
    }
    guard let first = candidates.first, counts.allSatisfy({ $0 == 0 }) else { return counts.first ?? 0 }
    let mayFit = left(under: first.rule).map { Self.plainEstimate(first) <= $0 } ?? true
    return mayFit ? 1 : 0
  }

  /// Notes what so many repetitions took; what is asked for in any case is not part of the time.
  package mutating func note(_ repetitions: Int, of candidate: Candidate, took time: Duration) {
    if candidate.rule != .always { spent += time }
    estimated += Self.plainEstimate(candidate) * repetitions
    taken += time
  }

  private static func plainEstimate(_ candidate: Candidate) -> Duration {
    candidate.repetition * slowdown + naming
  }
}
