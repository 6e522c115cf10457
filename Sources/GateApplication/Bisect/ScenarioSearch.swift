import GateCore

/// The search of one scenario: measures commits alternately with the good end, and stores what it has learned.
struct ScenarioSearch {
  let scenario: Scenario
  let environment: EnvironmentInfo
  /// The file for the answers.
  let stateFile: String
  /// The commits by number; 0 is the good end.
  let commits: [String]
  /// The number of commits of the whole range, if the history narrowed it.
  let narrowedFrom: Int?
  private(set) var bisection: Bisection
  private var state: BisectState
  /// Why an end cannot be measured; it is not stored, so that the same command tries again.
  private(set) var failure: ScenarioBisection.EndFailure?

  /// Goes on with the answers of an earlier run, if they are of the same ends, unless it `restarts`.
  init(
    of scenario: Scenario,
    in environment: EnvironmentInfo,
    commits: [String],
    narrowedFrom: Int?,
    bisection: Bisection,
    stateFile: String,
    restarts: Bool
  ) {
    (self.scenario, self.environment, self.stateFile) = (scenario, environment, stateFile)
    (self.commits, self.narrowedFrom, self.bisection) = (commits, narrowedFrom, bisection)
    state = BisectState(good: commits[0], bad: commits[bisection.last])
    let stored = restarts ? nil : Self.stored(in: stateFile)
    if let stored, (stored.good, stored.bad) == (state.good, state.bad) { state = stored }
    // The ends come first: they decide which metric is searched.
    for (index, commit) in commits.enumerated().reversed() where index > 0 {
      if let answer = state.answers[commit] { self.bisection.record(answer, at: index) }
    }
  }

  /// The state of an earlier run; nil if there is none, if it cannot be read, or if a commit may have written it.
  static func stored(in file: String) -> BisectState? {
    guard let state = try? BisectStateFile.read(file), !GitQuery.isTracked(file) else { return nil }
    return state
  }

  /// The number of the commit to measure next; nil at the end of the search.
  var next: Int? { failure == nil ? bisection.next : nil }

  /// The number of commits with an answer, apart from the good end.
  var answerCount: Int { state.answers.count }

  mutating func record(_ answer: CommitAnswer, at index: Int) throws(FileError) {
    bisection.record(answer, at: index)
    state.answers[commits[index]] = answer
    try BisectStateFile.write(state, to: stateFile)
  }

  /// Measures a commit that was built, until it is clear where it belongs; false after an interruption.
  mutating func measure(
    _ index: Int,
    in builds: BisectBuilds,
    into artifacts: ArtifactsFolder,
    _ invocation: Invocation
  ) throws(FileError) -> Bool {
    var own = run(of: builds.other(scenario), into: artifacts, invocation)
    var good = run(of: builds.good(scenario), into: artifacts.comparison, invocation)
    good.isComparison = true
    try artifacts.prepareFolders(for: scenario.name)
    try artifacts.comparison.prepareFolders(for: scenario.name)
    var total = bisection.plan.min
    while ScenarioCheck.runAlternately(&own, &good, to: total) {
      if let failure = good.failure ?? own.failure {
        try take(failure, isOfGood: good.failure != nil, at: index)
        return true
      }
      let measured = MeasuredCommit(of: own.measurement, alternatingWith: good.measurement)
      guard let more = bisection.nextLook(after: measured, at: index) else {
        try record(.measured(values: measured), at: index)
        return true
      }
      total = more
    }
    return false
  }

  private mutating func take(_ failure: Failure, isOfGood: Bool, at index: Int) throws(FileError) {
    if isOfGood || index == bisection.last && !failure.isOutOfMemory {
      self.failure = ScenarioBisection.EndFailure(isOfGood: isOfGood, failure)
    } else {
      try record(failure.isOutOfMemory ? .outOfMemory(failure: failure) : .failed(failure: failure), at: index)
    }
  }

  private func run(of scenario: Scenario, into folder: ArtifactsFolder, _ invocation: Invocation) -> ScenarioRun {
    var run = ScenarioRun(
      scenario, in: environment, by: invocation.measurer, into: folder, showProgress: invocation.showRunning)
    run.storesRecordings = false
    return run
  }
}

extension Invocation {
  /// Shows the running repetition; in a log, the lines of finished ones would hide those of the commits.
  fileprivate func showRunning(_ progress: Progress) {
    if case .repetitionFinished = progress, console.volume != .verbose { return }
    console.show(progress)
  }
}
