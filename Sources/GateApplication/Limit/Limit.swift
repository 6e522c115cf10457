import FoundationEssentials
import GateCore
import GateProbe

/// Finds the smallest memory limit at which each scenario passes, and the one from which on it is at full speed.
struct Limit {
  var options = SharedOptions()
  /// Names, `tag:NAME`, or patterns with `*`; empty for all.
  var selection: [String] = []

  /// Runs the scenarios at different limits and prints the answers; baselines, history and the last result are
  /// unchanged.
  ///
  /// After an interruption what is known so far is printed.
  ///
  /// - Returns: `pass`, or `failed` or `inconclusive` if a scenario failed or has no answer.
  /// - Throws: `DiagnosticError` for bad input, or if no limit can be set here.
  func run(in invocation: Invocation) throws -> ExitCode {
    try options.study(selection, areStarted: true, in: invocation, checking: Self.refuseRunning) {
      try study($0, invocation)
    }
  }

  /// A limit is set where a target starts.
  private static func refuseRunning(_ scenarios: [Scenario]) throws(RunnerError) {
    let diagnostics = scenarios.compactMap { $0.diagnosticIfRunning(because: "a limit is set") }
    guard diagnostics.isEmpty else { throw RunnerError(diagnostics) }
  }

  private func study(_ studied: StudiedProject, _ invocation: Invocation) throws -> ExitCode {
    let (project, scenarios, artifacts) = (studied.project, studied.scenarios, studied.artifacts)
    let limiting = try invocation.measurer.requiredLimiting()
    let begin = ContinuousClock.now
    var run = RunInfo(startingAt: invocation.now(), in: project.root, invocation)
    var studies: [LimitStudy] = []
    for (index, scenario) in scenarios.enumerated() where !invocation.isInterrupted {
      invocation.console.show(.scenarioStarted(scenario.name, index: index + 1, of: scenarios.count))
      try artifacts.limit.prepareFolders(for: scenario.name)
      let environment = project.environment.environment(of: scenario, on: invocation.measurer)
      var scenarioRun = LimitStudyRun(scenario, in: environment, limiting, artifacts.limit, invocation)
      studies.append(scenarioRun.run())
    }
    run.duration = ContinuousClock.now - begin
    return try report(LimitResult(run: run, studies: studies), invocation)
  }

  private func report(_ result: LimitResult, _ invocation: Invocation) throws -> ExitCode {
    invocation.console.endProgress()
    let code = invocation.interruptedCode ?? result.verdict.exitCode
    if invocation.isInterrupted { invocation.console.say("interrupted: the target was stopped") }
    var context = SummaryContext(exitCode: code)
    context.detail = invocation.console.detail
    invocation.console.report(besides: options) { LimitReport.text(result, style: $0, context: context) }
    let document = LimitFile.encode(result, words: .reports, text: ResultText.outcome)
    for file in options.reportFiles { try file.write(document, in: invocation) }
    return code
  }
}

extension Measurer {
  /// - Throws: the error if no limit can be set here.
  fileprivate func requiredLimiting() throws(RunnerError) -> MemoryLimiting {
    let limiting = memoryLimiting
    guard let obstacle = limiting.obstacle else { return limiting }
    throw RunnerError(
      problem: "cannot limit memory: cannot create a memory cgroup here: \(obstacle.causeText)",
      hint: "\(obstacle.remedyText); `highwater doctor` reports what this machine allows")
  }
}

/// Studies one scenario: without a limit, and then at the limits that the search asks for.
private struct LimitStudyRun {
  let scenario: Scenario
  let limiting: MemoryLimiting
  let invocation: Invocation
  let output: String
  private var study: LimitStudy
  private var codeFiles: [String] = []

  init(
    _ scenario: Scenario,
    in environment: EnvironmentInfo,
    _ limiting: MemoryLimiting,
    _ artifacts: ArtifactsFolder,
    _ invocation: Invocation
  ) {
    var limiting = limiting
    if let own = scenario.memoryLimit { limiting.largest = min(limiting.largest, own) }
    (self.scenario, self.limiting, self.invocation) = (scenario, limiting, invocation)
    output = artifacts.output(of: scenario.name, repetition: 0)
    study = LimitStudy(scenario.name, in: environment, ownLimit: scenario.memoryLimit)
  }

  mutating func run() -> LimitStudy {
    let begin = ContinuousClock.now
    if let usual = usual() { search(after: usual) }
    study.duration = ContinuousClock.now - begin
    study.wasInterrupted = invocation.isInterrupted
    return study
  }

  /// The first run shows the files of the program, and fills its other caches.
  private mutating func usual() -> LimitSearch.Usual? {
    var usual = LimitSearch.Usual(durations: [], treePeak: .zero, peak: nil)
    for number in (1 - max(1, scenario.warmup))...LimitSearch.runsToSurvive {
      guard let recording = usualRun(number), study.failure == nil else { return nil }
      guard number > 0 else { continue }
      let metrics = recording.result().metrics
      let treePeak = Bytes(clampedFrom: metrics[.treePeak] ?? metrics[.peakRSS] ?? 0)
      usual.durations.append(recording.duration)
      usual.treePeak = max(usual.treePeak, treePeak)
      usual.peak = [usual.peak, recording.usage?.peak].compactMap(\.self).max()
    }
    return usual
  }

  /// nil after an interruption.
  private mutating func usualRun(_ number: Int) -> Recording? {
    let isWarmup = number < 1
    let progress = Progress.Repetition(
      scenario: scenario.name, number: isWarmup ? number + max(1, scenario.warmup) : number,
      of: isWarmup ? max(1, scenario.warmup) : LimitSearch.runsToSurvive, isWarmup: isWarmup)
    PageCache.drop(codeFiles)
    invocation.console.show(.repetitionStarted(progress))
    guard let recording = invocation.measurer.measure(scenario, output: output, keepsInterrupted: false) else {
      return nil
    }
    invocation.console.show(
      .repetitionFinished(progress, peak: recording.usage?.peak, duration: recording.duration))
    study.runCount += 1
    study.failure = recording.failure(in: scenario, loop: nil)
    study.failure?.attempt = Failure.Attempt(number: progress.number, of: progress.of, isWarmup: isWarmup)
    codeFiles = recording.composition?.codeFiles ?? codeFiles
    return recording
  }

  private mutating func search(after usual: LimitSearch.Usual) {
    var search = LimitSearch(usual: usual, on: limiting)
    defer { study.search = search }
    let runs = LimitedRuns(
      scenario: scenario, measurer: invocation.measurer, output: output, showProgress: invocation.console.show,
      usual: usual.durations, codeFiles: codeFiles)
    while let level = search.next {
      let number = search.runs(at: level).count + 1
      switch runs.run(at: level, number: number, of: max(number, LimitSearch.runsToSurvive)) {
      case .interrupted: return
      case .failed(let failure): return study.failure = failure
      case .finished(let run): search.add(run)
      }
      study.runCount += 1
    }
  }
}

extension ArtifactsFolder {
  /// The folder for the outputs of `limit`.
  fileprivate var limit: ArtifactsFolder { ArtifactsFolder(path: "\(path)/limit") }
}
