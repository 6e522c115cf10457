import GateCore
import GateProbe
import GateReports

/// Runs one repetition; nil where an interruption ended it.
typealias Measuring = (_ scenario: Scenario, _ number: Int) -> Recording?

/// The repetitions of one scenario, as far as they have been run.
struct ScenarioRun {
  let scenario: Scenario
  let environment: EnvironmentInfo
  let show: (Progress) -> Void
  /// What is to be said of the measurement as a whole.
  var remarks: [String] = []
  /// Whether notes tell of a child that holds most of the memory, and of a leak, and what to gate then; the report of
  /// `record` has figures instead.
  var givesAdvice = true
  /// Whether these are repetitions of the build that `--against` names.
  var isComparison = false

  private var repetitions: [RepetitionResult] = []
  private var counted: [Extract] = []
  /// Why a repetition cannot count, after which there are no more.
  private(set) var failure: Failure?
  /// Repetitions have numbers from 1; the warm-ups before them end at 0.
  private var next: Int

  init(scenario: Scenario, environment: EnvironmentInfo, show: @escaping (Progress) -> Void) {
    self.scenario = scenario
    self.environment = environment
    self.show = show
    next = 1 - scenario.warmup
  }

  /// Runs what is missing, warm-ups first, up to the repetition of this number; no more than one that cannot count.
  ///
  /// Those who wait are told of `total` repetitions.
  ///
  /// - Returns: false where an interruption ended the run.
  mutating func run(to number: Int, of total: Int, by measuring: Measuring) -> Bool {
    while next <= number, failure == nil {
      let progress = progress(of: total)
      show(.repetitionStarted(progress))
      guard let recording = measuring(scenario, next) else { return false }
      take(recording, progress)
      // The first warm-up shows which files the program is made of; all that is counted finds them alike.
      if next == 1 - scenario.warmup, next < 1 { PageCache.renew(recording.composition?.codeFiles ?? []) }
      next += 1
    }
    return true
  }

  /// What has been measured.
  var measurements: ScenarioMeasurements {
    let middle = counted.sorted { $0.peak < $1.peak }.dropFirst(counted.count / 2).first
    var measurements = ScenarioMeasurements(
      name: scenario.name,
      environment: environment,
      gate: scenario.gate,
      repetitions: repetitions,
      composition: middle?.composition,
      compositionAtPeak: middle?.compositionAtPeak,
      growthIsPerIteration: !counted.isEmpty && counted.allSatisfy(\.growthIsPerIteration),
      failure: failure,
      wasKilled: failure?.isInconclusive ?? false,
      notes: remarks + shared(repetitions.map { $0.notes.map(\.displayText) }) + overshadowed(counted)
    )
    if givesAdvice { measurements.notes += GrowthNote.notes(on: measurements) }
    return measurements
  }

  private mutating func take(_ recording: Recording, _ progress: Progress.Repetition) {
    let result = recording.result()
    failure = recording.failure(in: scenario, loop: result.events.first(where: \.isLoop))
    failure?.attempt = Failure.Attempt(
      number: progress.number, of: progress.of, isWarmup: progress.isWarmup, isComparison: isComparison
    )
    // Of a warm-up that failed there is nothing to count, but its figures tell what happened.
    guard !progress.isWarmup || failure != nil else { return }
    repetitions.append(result)
    counted.append(Extract(recording, result))
    let peak = result.metrics[.peakRSS].map(Bytes.init(clampedFrom:))
    show(.repetitionFinished(progress, peak: peak, duration: recording.duration))
  }

  private func progress(of total: Int) -> Progress.Repetition {
    let isWarmup = next < 1
    return Progress.Repetition(
      scenario: scenario.name,
      number: isWarmup ? next + scenario.warmup : next,
      of: isWarmup ? scenario.warmup : total,
      isWarmup: isWarmup
    )
  }

  /// Says so where a child held most of the memory and no gate looks at it, for else its rise would pass unseen.
  private func overshadowed(_ counted: [Extract]) -> [String] {
    let treeMetrics: Set<MetricName> = [.treePeak, .treeSteady]
    let isGated = scenario.gate.rules.contains { treeMetrics.contains($0.metric) && $0.severity != .off }
    guard givesAdvice, !isGated else { return [] }
    let children = counted.compactMap(\.overshadowingChild)
    guard children.count * 2 > counted.count, let child = children.last else { return [] }
    let main = counted.last?.mainCommand ?? "unknown"
    return [
      "a child (`\(child)`) holds more memory than the main process (`\(main)`), which alone is judged; to judge it too, "
        + "gate `tree_peak`, name it in `target: main: {name: …}`, or put `exec` before it where a shell starts it"
    ]
  }

  /// What several repetitions had to say alike is said once, with their number unless all of them did.
  private func shared(_ notes: [[String]]) -> [String] {
    var counts: [(note: String, count: Int)] = []
    for note in notes.flatMap({ Set($0).sorted() }) {
      if let index = counts.firstIndex(where: { $0.note == note }) {
        counts[index].count += 1
      } else {
        counts.append((note, 1))
      }
    }
    return counts.prefix(20).map { note, count in
      count == notes.count ? note : "\(note) (in \(count) of \(notes.count) repetitions)"
    }
  }
}

/// What is still asked of a recording once its figures are known; its samples would be megabytes a repetition.
private struct Extract {
  let peak: Double
  let composition: Composition?
  let compositionAtPeak: Composition?
  let growthIsPerIteration: Bool
  /// The commands of the largest child, where it holds most of the memory, and of the main process.
  let overshadowingChild: String?
  let mainCommand: String?

  init(_ recording: Recording, _ result: RepetitionResult) {
    peak = result.metrics[.peakRSS] ?? 0
    composition = recording.composition
    compositionAtPeak = recording.compositionAtPeak
    growthIsPerIteration = recording.growthIsPerIteration
    overshadowingChild = recording.overshadowingChild?.command
    mainCommand = recording.processes.first(where: \.isMain)?.command
  }
}
