import GateCore
import GateProbe

/// The repetitions of one scenario that have been run so far.
struct ScenarioRun {
  let scenario: Scenario
  let environment: EnvironmentInfo
  let measurer: any Measurer
  /// The folder for outputs and recordings, named ``folderName``.
  let artifacts: ArtifactsFolder
  let showProgress: @Sendable (Progress) -> Void
  /// The name of the scenario's folders in the artifacts.
  var folderName: ScenarioName
  /// Notes on the measurement as a whole.
  var notes: [Note]
  var storesRecordings = true
  /// Whether the repetition that an interruption ended counts if there is no other.
  var keepsInterrupted = false
  /// Whether this is the comparison build.
  var isComparison = false

  private var repetitions: [RepetitionResult] = []
  private var extracts: [Extract] = []
  /// That of the first repetition: all run the same program.
  private var runtime: CollectedRuntime?
  /// Why a repetition does not count; no more are run after it.
  private(set) var failure: Failure?
  private(set) var lastRecording: Recording?
  /// Whether a repetition held what was to be injected by a library.
  private(set) var injection = InjectionState.notLoaded
  private var instances: InstanceCounts?
  /// Of all repetitions, those that do not count included.
  private var times = TimeUse()
  private var limitedRun: LimitedRun?
  /// The first recording that could not be written; it does not affect the verdict.
  private(set) var writeFailure: FileError?
  /// Repetitions count from 1; the warm-ups before them end at 0.
  private var next: Int

  init(
    _ scenario: Scenario,
    in environment: EnvironmentInfo,
    by measurer: any Measurer,
    into artifacts: ArtifactsFolder,
    showProgress: @escaping @Sendable (Progress) -> Void
  ) {
    self.scenario = scenario
    self.environment = environment
    self.measurer = measurer
    self.artifacts = artifacts
    self.showProgress = showProgress
    folderName = scenario.name
    notes = measurer.notes(on: scenario).map(Note.machine)
    next = 1 - scenario.warmup
  }

  /// Runs the missing repetitions, warm-ups first, up to this number, but none after a failure.
  ///
  /// - Parameters:
  ///   - number: The last repetition to run; 0 or less runs warm-ups only.
  ///   - total: The number of repetitions in progress lines.
  /// - Returns: false after an interruption.
  mutating func run(to number: Int, of total: Int) -> Bool {
    while next <= number, failure == nil {
      let progress = progress(of: total)
      showProgress(.repetitionStarted(progress))
      // All warm-ups share a file: only the last one that ran can have failed.
      let output = artifacts.output(of: folderName, repetition: max(0, next))
      guard let recording = measure(into: output) else { return false }
      if recording.failure?.problem == .interrupted {
        takeInterrupted(recording)
        return false
      }
      times += recording.times
      store(recording)
      take(recording, progress)
      // The first warm-up shows the files of the program; later repetitions find them all in the same state.
      if next == 1 - scenario.warmup, next < 1 { PageCache.renew(recording.composition?.codeFiles ?? []) }
      next += 1
    }
    return true
  }

  /// Measures the scenario once, or with each number of items of its `scale`; nil after an interruption.
  ///
  /// The first run that fails is the repetition.
  private func measure(into output: String) -> Recording? {
    var peaks: [Double] = []
    for smaller in scenario.scale?.smaller ?? [] {
      guard let recording = measurer.measure(smaller, output: output, keepsInterrupted: false) else { return nil }
      guard recording.failure(in: smaller, loop: nil) == nil, let peak = recording.result().metrics[.peakRSS] else {
        return recording
      }
      peaks.append(peak)
    }
    var recording = measurer.measure(scenario, output: output, keepsInterrupted: keepsInterrupted)
    guard let scale = scenario.scale, let peak = recording?.result().metrics[.peakRSS] else { return recording }
    recording?.scaling = Scaling(axis: scale.axis, items: scale.values, peaks: peaks + [peak])
    return recording
  }

  /// What was measured so far.
  var measurement: ScenarioMeasurement {
    var measurement = ScenarioMeasurement(
      name: scenario.name,
      environment: environment,
      gate: scenario.gate,
      repetitions: repetitions,
      failure: failure,
      notes: notes + Self.shared(repetitions.map(\.notes)),
      growthIsPerIteration: !extracts.isEmpty && extracts.allSatisfy(\.growthIsPerIteration)
    )
    (measurement.tags, measurement.definition) = (scenario.tags, scenario.definition)
    (measurement.instances, measurement.limitedRun, measurement.times) = (instances, limitedRun, times)
    if let middle = repetitions.middle {
      measurement.composition = extracts[middle].composition
      measurement.composition?.runtime = runtime
      measurement.compositionAtPeak = extracts[middle].compositionAtPeak
    }
    return measurement
  }

  /// Runs further repetitions that only count instances or allocations, if the gate has a rule on them and it has not been
  /// done.
  ///
  /// Their memory includes the counters, so that they are no repetitions of the result, and cannot make a baseline.
  ///
  /// - Returns: false after an interruption.
  mutating func countInstances() -> Bool {
    guard instances == nil, failure == nil else { return true }
    var counts: InstanceCounts?
    if scenario.gate.countsInstances {
      let readings = counted(\.countsInstances, isRefused: { $0.refusal != nil }) { recording in
        guard let recording else { return InstanceReading(refusal: .failedRepetition) }
        return recording.instances ?? InstanceReading(refusal: .notLoaded)
      }
      guard let readings else { return false }
      counts = InstanceCounts(readings, for: scenario.gate)
    }
    if scenario.gate.countsAllocations {
      let readings = counted(\.countsAllocations, isRefused: { $0.refusal != nil }) { recording in
        guard let recording else { return AllocationReading(refusal: .failedRepetition) }
        return recording.allocations ?? AllocationReading(refusal: .notLoaded)
      }
      guard let readings else { return false }
      counts = counts ?? InstanceCounts()
      counts?.add(readings)
    }
    instances = counts
    return true
  }

  /// The least of three snapshots is compared.
  private static let countingRepetitions = 3

  /// What repetitions with a counter read, of which a refused one is the last; nil after an interruption.
  ///
  /// `reading` gets nil for a repetition that failed.
  private mutating func counted<Reading>(
    _ counter: WritableKeyPath<Target, Bool>, isRefused: (Reading) -> Bool, _ reading: (Recording?) -> Reading
  ) -> [Reading]? {
    var counting = scenario
    counting.target[keyPath: counter] = true
    var readings: [Reading] = []
    for number in 1...Self.countingRepetitions {
      showProgress(
        .repetitionStarted(
          Progress.Repetition(
            scenario: scenario.name, number: number, of: Self.countingRepetitions, isComparison: isComparison,
            purpose: .counting)))
      let output = artifacts.output(of: folderName, repetition: 0)
      guard let recording = measurer.measure(counting, output: output, keepsInterrupted: false) else { return nil }
      times += recording.times
      let read = reading(recording.failure(in: counting, loop: nil) == nil ? recording : nil)
      readings.append(read)
      if isRefused(read) { break }
    }
    return readings
  }

  /// Fails, before a target is started, if the scenario has a `limit` and none can be set here.
  mutating func requireLimit() {
    guard scenario.limit != nil, let obstacle = measurer.memoryLimiting.obstacle else { return }
    failure = Failure(
      part: Failure.Part(.start), problem: .limitUnavailable(error: obstacle), place: scenario.place)
  }

  /// Runs the scenario once more at the limit of its `limit`, if it has one and has not failed.
  ///
  /// Call it after all repetitions, since it drops files from the page cache.
  ///
  /// - Returns: false after an interruption.
  mutating func runAtLimit() -> Bool {
    guard let rule = scenario.limit, failure == nil else { return true }
    let runs = LimitedRuns(
      scenario: scenario, measurer: measurer, output: artifacts.output(of: folderName, repetition: 0),
      showProgress: showProgress, usual: repetitions.map(\.duration),
      codeFiles: lastRecording?.composition?.codeFiles ?? [])
    switch runs.run(at: rule.survives) {
    case .interrupted: return false
    case .failed(let other): failure = other
    case .finished(let run):
      limitedRun = run
      times.target += run.duration
    }
    return true
  }

  private mutating func store(_ recording: Recording) {
    lastRecording = recording
    injection = max(injection, recording.injection)
    guard storesRecordings, next >= 1 else { return }
    do throws(FileError) {
      try RecordingFile.write(
        recording, of: scenario.name, repetition: next, words: .reports,
        to: artifacts.recording(of: folderName, repetition: next))
    } catch {
      writeFailure = writeFailure ?? error
    }
  }

  private mutating func take(_ recording: Recording, _ progress: Progress.Repetition) {
    let result = recording.result()
    failure = failure(of: recording, result, progress)
    // A failed warm-up does not count, but its values show what happened.
    guard !progress.isWarmup || failure != nil else { return }
    append(result, of: recording)
    let peak = result.metrics[.peakRSS].map(Bytes.init(clampedFrom:))
    showProgress(.repetitionFinished(progress, peak: peak, duration: recording.duration))
  }

  private mutating func append(_ result: RepetitionResult, of recording: Recording) {
    if repetitions.isEmpty { runtime = CollectedRuntime(codeFiles: recording.composition?.codeFiles ?? []) }
    repetitions.append(result)
    extracts.append(Extract(recording))
  }

  private mutating func takeInterrupted(_ recording: Recording) {
    guard repetitions.isEmpty, recording.end.kind != .startFailed else { return }
    var recording = recording
    recording.failure = nil
    lastRecording = recording
    append(recording.result(), of: recording)
  }

  private func failure(
    of recording: Recording,
    _ result: RepetitionResult,
    _ progress: Progress.Repetition
  ) -> Failure? {
    var failure = recording.failure(in: scenario, loop: result.events.first(where: \.isLoop))
    failure?.attempt = Failure.Attempt(
      number: progress.number, of: progress.of, isWarmup: progress.isWarmup, isComparison: isComparison)
    return failure
  }

  private func progress(of total: Int) -> Progress.Repetition {
    let isWarmup = next < 1
    return Progress.Repetition(
      scenario: scenario.name,
      number: isWarmup ? next + scenario.warmup : next,
      of: isWarmup ? scenario.warmup : total,
      isWarmup: isWarmup,
      isComparison: isComparison,
      ballast: scenario.target.ballast
    )
  }

  /// Notes shared by several repetitions, as one note with their number; at most ``mostShared``.
  private static func shared(_ notes: [[RecordingNote]]) -> [Note] {
    var order: [RecordingNote] = []
    var counts: [RecordingNote: Int] = [:]
    for repetition in notes {
      var seen: Set<RecordingNote> = []
      for note in repetition where seen.insert(note).inserted {
        if counts[note] == nil { order.append(note) }
        counts[note, default: 0] += 1
      }
    }
    return order.prefix(mostShared).map { .recording(note: $0, count: counts[$0] ?? 0, total: notes.count) }
  }

  private static let mostShared = 20
}

/// The part of a recording that is needed once its metrics are known; its samples take megabytes per repetition.
private struct Extract {
  let composition: Composition?
  let compositionAtPeak: Composition?
  let growthIsPerIteration: Bool

  init(_ recording: Recording) {
    composition = recording.composition
    compositionAtPeak = recording.compositionAtPeak
    growthIsPerIteration = recording.growthIsPerIteration
  }
}
