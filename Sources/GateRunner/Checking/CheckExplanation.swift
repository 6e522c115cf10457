import GateCore
import GateFiles

/// Profiles the scenarios of a check that have risen, and those whose profile an approval is to store.
struct CheckExplanation {
  /// For each build; the noise between them is what a rise must exceed.
  private static let repetitions = 3
  /// How long it may take in one check, unless the project file says otherwise.
  private static let mostTime = Duration.seconds(60)

  let measurer: any Measurer
  let artifacts: ArtifactsFolder
  let baselines: BaselineStore
  /// The run's ID.
  let run: String
  let showProgress: @Sendable (Progress) -> Void
  /// The profiles of regressions.
  private(set) var explanations: [Explanation] = []
  private var time = Duration.zero

  init(
    measurer: any Measurer,
    artifacts: ArtifactsFolder,
    baselines: BaselineStore,
    run: String,
    showProgress: @escaping @Sendable (Progress) -> Void
  ) {
    (self.measurer, self.artifacts, self.baselines, self.run) = (measurer, artifacts, baselines, run)
    self.showProgress = showProgress
  }

  /// Adds to a regression which function explains it, or why none is known; an interruption leaves the verdict as it is.
  ///
  /// The profile of a build that may be approved is written to the artifacts, where `approve` finds it.
  mutating func explain(_ result: inout ScenarioResult, of plan: CheckPlan) throws(FileError) {
    let isRegression = result.verdict == .regression
    let rise = isRegression ? ExplainedRise(of: result.failingMetrics) : .peak
    guard plan.isToBeProfiled(result), let rise else { return }
    guard MeasurementMethod(rawValue: plan.environment.fingerprint.measurement)?.isTraced == true else {
      let isOff = plan.scenario.isolation.tracer == .off
      if isRegression { result.notes.append(.notExplained(obstacle: isOff ? .tracingIsOff : .noTracing)) }
      return
    }
    let mostTime = plan.scenario.explain == .always ? nil : Self.mostTime - time
    let estimate = result.typicalDuration * ((Self.repetitions + 1) * (plan.other == nil ? 1 : 2))
    let explanation: Explanation
    if let mostTime, estimate > mostTime {
      explanation = Explanation(
        scenario: result.name, obstacle: .takesLong(estimate: estimate, left: max(.zero, mostTime)))
    } else {
      let begin = ContinuousClock.now
      defer {
        result.times.explaining = ContinuousClock.now - begin
        time += result.times.explaining
      }
      explanation = try profiled(plan, rise, mostTime)
    }
    if isRegression { add(explanation, to: &result, of: plan) }
  }

  private mutating func profiled(
    _ plan: CheckPlan, _ rise: ExplainedRise, _ mostTime: Duration?
  ) throws(FileError) -> Explanation {
    var runs = try ProfiledRuns(
      of: plan.scenario, against: plan.other, by: measurer, into: artifacts.explain, showProgress: showProgress)
    (runs.mostTime, runs.rise) = (mostTime, rise)
    let (name, environment) = (plan.scenario.name, plan.environment.name)
    let base = plan.other == nil ? baselines.profile(of: name, environment: environment) : nil
    guard let explanation = runs.explanation(repetitions: Self.repetitions, base: base) else {
      return Explanation(scenario: name, obstacle: .interrupted)
    }
    if var build = explanation.build {
      build.run = run
      try artifacts.write(build, of: name)
    }
    return explanation
  }

  private mutating func add(_ explanation: Explanation, to result: inout ScenarioResult, of plan: CheckPlan) {
    if explanation.comparison != nil { explanations.append(explanation) }
    result.explanation = explanation.comparison.flatMap { comparison in
      comparison.finding.map { RiseExplanation(comparison.explained, finding: $0) }
    }
    let lacksBase = result.explanation == nil && plan.other == nil && result.approval != nil
    let missing = lacksBase ? ExplanationObstacle.noApprovedProfile(commit: result.approval?.commit) : nil
    if let obstacle = explanation.obstacle ?? missing { result.notes.append(.notExplained(obstacle: obstacle)) }
  }
}

extension CheckPlan {
  /// The other build, with which this one is compared instead of a baseline.
  fileprivate var other: Scenario? {
    if case .build(let scenario) = comparison { scenario } else { nil }
  }

  /// Regressions are explained; what may become a baseline needs a profile for later explanations.
  fileprivate func isToBeProfiled(_ result: ScenarioResult) -> Bool {
    guard scenario.explain != .off, result.failure == nil else { return false }
    switch result.verdict {
    case .regression: return true
    case .improved, .noBaseline: return other == nil
    case .skipped: return other == nil && result.approval == nil && !result.metrics.isEmpty
    case .pass, .inconclusive, .failed: return false
    }
  }
}

extension ScenarioResult {
  fileprivate var failingMetrics: [MetricName] { summary.metrics.filter { $0.verdict == .regression }.map(\.metric) }

  /// The median duration of a repetition.
  fileprivate var typicalDuration: Duration {
    let durations = repetitions.map(\.duration).sorted()
    return durations.isEmpty ? .zero : durations[durations.count / 2]
  }
}
