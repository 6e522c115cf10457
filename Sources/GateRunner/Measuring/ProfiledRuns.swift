import GateCore
import GateFiles

/// Repetitions of a scenario under the profiler, alternately of two builds if there is another one.
struct ProfiledRuns {
  /// How many stops at allocations a repetition may cost, of some 20 µs each.
  private static let mostStops: Int64 = 100_000
  /// The interval of the first repetition, from which that of the others follows.
  private static let firstInterval = Bytes(1 << 14)

  private let own: Scenario
  private let other: Scenario?
  private let artifacts: ArtifactsFolder
  private let measurer: any Measurer
  private let showProgress: @Sendable (Progress) -> Void
  /// How long all repetitions may take; nil for any time.
  var mostTime: Duration?
  var rise = ExplainedRise.peak
  private var time = Duration.zero
  private var failure: Failure?
  private var isInterrupted = false

  /// Prepares the folders for the outputs.
  init(
    of scenario: Scenario,
    against other: Scenario?,
    by measurer: any Measurer,
    into artifacts: ArtifactsFolder,
    showProgress: @escaping @Sendable (Progress) -> Void
  ) throws(FileError) {
    try artifacts.prepareFolders(for: scenario.name)
    (self.own, self.other, self.artifacts, self.measurer) = (scenario, other, artifacts, measurer)
    self.showProgress = showProgress
  }

  /// What holds the memory of the processes that rose most, or why there is no profile; nil after an interruption.
  ///
  /// A first repetition of each build is a warm-up: it shows how much the program allocates. An earlier profile, `base`,
  /// takes the place of another build.
  mutating func explanation(repetitions: Int, base: ProfiledBuild?) -> Explanation? {
    var (own, other): ([ProfiledRepetition], [ProfiledRepetition]) = ([], [])
    var interval = Self.firstInterval
    var obstacle: ExplanationObstacle?
    for number in 0...repetitions where obstacle == nil {
      let first = repetition(of: self.own, number, of: repetitions, interval)
      let second = compared.flatMap { repetition(of: $0, number, of: repetitions, interval, isComparison: true) }
      guard let first, compared == nil || second != nil else { break }
      if number == 0 {
        interval = Self.interval(for: max(first.allocated, second?.allocated ?? .zero))
        let estimate = time * (repetitions + 1)
        if let mostTime, estimate > mostTime { obstacle = .takesLong(estimate: estimate, left: mostTime) }
      } else {
        own.append(first)
        if let second { other.append(second) }
      }
    }
    guard !isInterrupted else { return nil }
    var explanation = Explanation(scenario: self.own.name, obstacle: obstacle ?? failure.map { .failed(failure: $0) })
    explanation.limits = measurer.profilerLimits
    explanation.build = ProfiledBuild(own)
    other = other.map { $0.named(like: own[0]) }
    guard let comparison = explanation.build?.comparison(with: base ?? ProfiledBuild(other), of: rise) else {
      explanation.obstacle = explanation.obstacle ?? .noSnapshot
      return explanation
    }
    explanation.profile = own.compactMap { $0.profile(of: comparison.now.process, at: rise.moment) }.middle
    explanation.comparison = base == nil ? detailed(comparison, own, other) : comparison
    return explanation
  }

  /// The comparison with inlined functions, which only profiles that were taken now have.
  private func detailed(
    _ comparison: ProfileComparison, _ own: [ProfiledRepetition], _ other: [ProfiledRepetition]
  ) -> ProfileComparison {
    let now = own.compactMap { $0.profile(of: comparison.now.process, at: rise.moment) }
    let earlier = (rise == .growth ? own : other).compactMap { repetition in
      repetition.profile(of: comparison.before?.process, at: rise.earlierMoment)
    }
    var detailed = ProfileComparison(repetitions: now, before: earlier) ?? comparison
    (detailed.explained, detailed.middle) = (rise, comparison.middle)
    return detailed
  }

  /// Growth is that of one build.
  private var compared: Scenario? { rise == .growth ? nil : other }

  /// The least power of two from 1 KiB on that gives few enough samples of so much memory.
  ///
  /// Small intervals show small differences.
  private static func interval(for allocated: Bytes) -> Bytes {
    let least = max(1024, allocated.count / mostStops)
    return Bytes(1 << (Int64.bitWidth - (least - 1).leadingZeroBitCount))
  }

  /// The profiles of one repetition; nil after a failure or an interruption.
  private mutating func repetition(
    of scenario: Scenario, _ number: Int, of count: Int, _ interval: Bytes, isComparison: Bool = false
  ) -> ProfiledRepetition? {
    guard failure == nil, !isInterrupted else { return nil }
    var scenario = scenario
    scenario.target.samplingInterval = interval
    // The stops make a program several times slower.
    scenario.timeout = min(scenario.timeout * 10, mostTime ?? .seconds(Int64.max))
    let progress = Progress.Repetition(
      scenario: scenario.name, number: max(1, number), of: number > 0 ? count : 1, isWarmup: number < 1,
      isComparison: isComparison, purpose: .explaining)
    showProgress(.repetitionStarted(progress))
    let output = artifacts.output(of: scenario.name, repetition: number)
    guard let recording = measurer.measure(scenario, output: output, keepsInterrupted: false) else {
      isInterrupted = true
      return nil
    }
    showProgress(.repetitionFinished(progress, peak: nil, duration: recording.duration))
    time += recording.duration
    failure = recording.failure(in: scenario, loop: nil)
    return ProfiledRepetition(
      main: recording.processes.first(where: \.isMain)?.command, profiles: recording.profiles)
  }
}

extension ProfiledRepetition {
  /// The repetition with the name of another build's program, whose functions are then the same.
  fileprivate func named(like other: ProfiledRepetition) -> ProfiledRepetition {
    guard let old = program, let new = other.program, old != new else { return self }
    var named = self
    for index in profiles.indices { named.profiles[index].calls = profiles[index].calls.renamingModule(old, to: new) }
    return named
  }

  /// The file name of the main process's program; nil if it is unknown.
  private var program: String? {
    (profile(of: main) ?? profiles.first).flatMap { $0.program.isEmpty ? nil : $0.program }
  }
}
