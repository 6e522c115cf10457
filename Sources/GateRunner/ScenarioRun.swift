import GateCore

/// Runs one repetition; nil where an interruption ended it.
typealias Measuring = (_ scenario: Scenario, _ number: Int) -> Recording?

/// All repetitions of one scenario, one after the other.
struct ScenarioRun {
  let scenario: Scenario
  let environment: EnvironmentInfo
  /// Counted repetitions.
  let repetitions: Int
  let show: (Progress) -> Void
  /// What is to be said of the measurement as a whole.
  var remarks: [String] = []
  /// Whether notes tell of a child that holds most of the memory, and of a leak; the report of `record` does so with
  /// figures.
  var notesChildren = true

  /// Runs warm-ups and repetitions until all are done or one cannot count.
  ///
  /// - Returns: the measurements, or nil where an interruption ended the run.
  func measure(by measuring: Measuring) -> ScenarioMeasurements? {
    var measurements = ScenarioMeasurements(
      name: scenario.name, environment: environment, gate: scenario.gate, repetitions: []
    )
    var counted: [Extract] = []
    for number in (1 - scenario.warmup)...max(1, repetitions) {
      let progress = progress(at: number)
      show(.repetitionStarted(progress))
      guard let recording = measuring(scenario, number) else { return nil }
      if let failure = failure(of: recording, number: number) {
        measurements.failure = failure
        measurements.wasKilled = recording.end.kind == .killed && !scenario.accepts(recording.end)
      }
      // Of a warm-up that failed there is nothing to count, but its figures tell what happened.
      if number >= 1 || measurements.failure != nil {
        let result = recording.result()
        measurements.repetitions.append(result)
        counted.append(Extract(recording, result))
        let peak = result.metrics[.peakRSS].map(Bytes.init(clampedFrom:))
        show(.repetitionFinished(progress, peak: peak, duration: recording.duration))
      }
      guard measurements.failure == nil else { break }
    }
    measurements.growthIsPerIteration = !counted.isEmpty && counted.allSatisfy(\.growthIsPerIteration)
    let middle = counted.sorted { $0.peak < $1.peak }.dropFirst(counted.count / 2).first
    measurements.composition = middle?.composition
    measurements.compositionAtPeak = middle?.compositionAtPeak
    measurements.notes =
      remarks + shared(measurements.repetitions.map(\.notes)) + overshadowed(counted)
      + (notesChildren ? GrowthNote.notes(on: measurements) : [])
    return measurements
  }

  /// Counted repetitions have numbers from 1; warm-ups end at 0.
  private func progress(at number: Int) -> Progress.Repetition {
    let isWarmup = number < 1
    return Progress.Repetition(
      scenario: scenario.name,
      number: isWarmup ? number + scenario.warmup : number,
      of: isWarmup ? scenario.warmup : repetitions,
      isWarmup: isWarmup
    )
  }

  /// Why a repetition cannot count; nil where it can.
  private func failure(of recording: Recording, number: Int) -> Failure? {
    let which = number >= 1 ? "repetition \(number) of \(repetitions)" : "warm-up \(number + scenario.warmup)"
    if var failure = recording.failure {
      failure.subject = "\(which), \(failure.subject)"
      return failure
    }
    guard !scenario.accepts(recording.end) else { return nil }
    return Failure(
      subject: which,
      problem: "the target ended: \(recording.end.forPeople) (expected \(expectation))",
      place: scenario.place,
      output: recording.outputTail
    )
  }

  private var expectation: String {
    guard let expect = scenario.expect else {
      return scenario.ending == .steps ? "exit code 0 or SIG\(scenario.stop.signal.name)" : "exit code 0"
    }
    let exits = expect.exits.map { "exit code \($0)" }
    return (exits + expect.signals.map { "SIG\($0.name)" }).joined(separator: " or ")
  }

  /// Says so where a child held most of the memory and no gate looks at it, for else its rise would pass unseen.
  private func overshadowed(_ counted: [Extract]) -> [String] {
    let treeMetrics: Set<MetricName> = [.treePeak, .treeSteady]
    let isGated = scenario.gate.rules.contains { treeMetrics.contains($0.metric) && $0.severity != .off }
    guard notesChildren, !isGated else { return [] }
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
