import GateCore

/// Repetitions of a scenario under the profiler, alternately of two builds if there is another one.
struct ProfiledRuns {
  /// The mean number of bytes from one sampled allocation to the next at the start, if the rise is unknown; the profiler
  /// doubles it as a run needs it.
  private static let shortestInterval: Int64 = 1 << 10
  private static let longestInterval: Int64 = 1 << 16
  /// So many samples of a rise give an error of 3 % (the square root of their number).
  private static let samplesOfRise: Int64 = 1000
  /// The profiler makes a program slower: what a scenario waits for may take so many times longer.
  private static let mostSlowdown = 10

  private let own: Scenario
  private let other: Scenario?
  private let artifacts: ArtifactsFolder
  private let measurer: any Measurer
  private let showProgress: @Sendable (Progress) -> Void
  var purpose = Progress.Purpose.explaining
  /// How long all repetitions may take; nil for any time.
  var mostTime: Duration?
  /// What is to be explained: the first, if none of them has a clear explanation; never empty.
  var rises = [MeasuredRise(.peak)]
  /// The rise that is to be seen; nil if it is unknown.
  var expectedRise: Bytes?
  /// What the repetitions have taken so far.
  private(set) var time = Duration.zero
  /// How many repetitions of this build were begun.
  private(set) var begun = 0
  private var failure: Failure?
  /// The repetition in which the time was over, and how long it was.
  private var cutShort: (repetition: ProfiledRepetition, time: Duration)?
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
  /// An earlier profile, `base`, takes the place of another build. If the time is over, what was seen until then counts.
  mutating func explanation(repetitions: Int, base: ProfiledBuild?) -> Explanation? {
    var (own, other): ([ProfiledRepetition], [ProfiledRepetition]) = ([], [])
    for number in 1...repetitions where hasTime(for: number) {
      begun = number
      guard let first = repetition(of: self.own, number, of: repetitions) else { break }
      let second = compared.flatMap { repetition(of: $0, number, of: repetitions, isComparison: true) }
      guard compared == nil || second != nil else { break }
      own.append(first)
      if let second { other.append(second.named(like: first)) }
    }
    guard !isInterrupted else { return nil }
    var explanation = Explanation(scenario: self.own.name, obstacle: failure.map { .failed(failure: $0) })
    explanation.limits = measurer.profilerLimits
    let isWhole = !own.isEmpty
    if !isWhole, let cutShort {
      explanation.obstacle = .ranOut(after: cutShort.time, rise: rise.kind)
      own = [cutShort.repetition]
    }
    let build = ProfiledBuild(own)
    if isWhole, let build, build.processes.contains(where: \.moment.isOfBuild) { explanation.build = build }
    let before = base ?? ProfiledBuild(other)
    let comparisons = rises.compactMap { build?.comparison(with: before, of: $0) }
    let isVague = comparisons.first?.finding?.isVague == true
    let clear = isVague ? comparisons.first { $0.finding?.culprit != nil } : nil
    explanation.comparison = clear ?? comparisons.first
    guard let comparison = explanation.comparison else {
      explanation.obstacle = explanation.obstacle ?? .noSnapshot
      return explanation
    }
    explanation.profile = own.compactMap { $0.profile(like: comparison.now) }.middle
    return explanation
  }

  private var rise: MeasuredRise { rises[0] }

  /// Growth is that of one build.
  private var compared: Scenario? { rise.kind == .growth ? nil : other }

  /// Whether one more repetition of each build fits in the time, if it takes as long as those before.
  private func hasTime(for number: Int) -> Bool {
    guard let mostTime, number > 1 else { return true }
    return time + time / (number - 1) <= mostTime
  }

  /// A thousandth of the rise, as a power of two.
  private var interval: Bytes {
    let wanted = (rise.amount ?? expectedRise ?? .zero).count / Self.samplesOfRise
    let bounded = max(Self.shortestInterval, min(wanted, Self.longestInterval))
    return Bytes(1 << (Int64.bitWidth - 1 - bounded.leadingZeroBitCount))
  }

  /// The profiles of one repetition; nil after a failure or an interruption, or if the time was over before its end.
  private mutating func repetition(
    of scenario: Scenario, _ number: Int, of count: Int, isComparison: Bool = false
  ) -> ProfiledRepetition? {
    var scenario = scenario.allowing(times: Self.mostSlowdown)
    scenario.target.samplingInterval = interval
    let left = mostTime.map { max(.milliseconds(1), $0 - time) }
    scenario.timeout = min(scenario.timeout, left ?? .seconds(Int64.max))
    let progress = Progress.Repetition(
      scenario: scenario.name, number: number, of: count, isComparison: isComparison, purpose: purpose)
    showProgress(.repetitionStarted(progress))
    let output = artifacts.output(of: scenario.name, repetition: number)
    let begin = ContinuousClock.now
    guard let recording = measurer.measure(scenario, output: output, keepsInterrupted: false) else {
      isInterrupted = true
      return nil
    }
    showProgress(.repetitionFinished(progress, peak: nil, duration: recording.duration))
    time += ContinuousClock.now - begin
    let repetition = ProfiledRepetition(
      main: recording.processes.first(where: \.isMain)?.command, profiles: recording.profiles)
    guard let found = recording.failure(in: scenario, loop: nil) else { return repetition }
    if scenario.timeout == left, found.isOutOfTime {
      if !isComparison { cutShort = (repetition, recording.duration) }
    } else {
      failure = found
    }
    return nil
  }
}

extension Failure {
  /// Whether the scenario's timeout ended the repetition.
  fileprivate var isOutOfTime: Bool {
    switch problem {
    case .timeout(.notEnded), .outOfTime: true
    default: false
    }
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
