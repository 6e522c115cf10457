import GateCore

/// Profiles the scenarios of a check that have risen, the largest rises first, and then those whose approved build has no
/// profile yet, in the time that the check may take for it.
struct CheckExplanation {
  /// Later rises are taken to be such a part of the peak, or more.
  private static let usualPart: Int64 = 16

  let measurer: any Measurer
  let artifacts: ArtifactsFolder
  let profiles: ApprovedProfiles
  /// The run's ID.
  let run: String
  let showProgress: @Sendable (Progress) -> Void
  /// What explains regressions.
  private(set) var explanations: [Explanation] = []
  /// The profiles of approved builds that were taken, and how many are still missing.
  private(set) var taken = 0
  private(set) var missing = 0
  /// Why a profile that was begun is missing.
  private var obstacles: [RunNote] = []
  private(set) var failures: [FileError] = []
  private var budget = ExplanationBudget(measured: .zero)

  init(
    measurer: any Measurer,
    artifacts: ArtifactsFolder,
    profiles: ApprovedProfiles,
    run: String,
    showProgress: @escaping @Sendable (Progress) -> Void
  ) {
    (self.measurer, self.artifacts, self.profiles, self.run) = (measurer, artifacts, profiles, run)
    self.showProgress = showProgress
  }

  /// Says once that profiles of approved builds were taken, and why others could not be.
  var notes: [RunNote] { (taken > 0 ? [.tookProfiles(count: taken, left: missing)] : []) + obstacles }

  /// Adds to each regression what explains it, or why that is unknown; an interruption leaves the verdicts as they are.
  ///
  /// Profiles of approved builds are only taken if the artifacts folder outlives the check (`keepsProfiles`), so that later
  /// ones find them.
  mutating func explain(_ results: inout [ScenarioResult], of plans: [CheckPlan], keepingProfiles keepsProfiles: Bool) {
    budget = ExplanationBudget(measured: results.reduce(.zero) { $0 + $1.times.total })
    let rises = results.indices.compactMap { index in Rise(results[index], plans[index], index) }
      .sorted { ($1.size, $0.index) < ($0.size, $1.index) }
    let unexplained = rises.filter { !settle($0, in: &results[$0.index], of: plans[$0.index]) }
    // Reads and decodes the stored profile, so once for each.
    let comparable = Set(unexplained.filter { isComparable($0.measured, of: plans[$0.index]) }.map(\.index))
    let indices = unexplained.map(\.index)
    let order = indices.filter(comparable.contains) + indices.filter { !comparable.contains($0) }
    inTurn(order, results, plans) { (explanation: inout Self, index: Int, repetitions: Int) throws(FileError) in
      let isComparable = comparable.contains(index)
      try explanation.explain(
        &results[index], of: plans[index], isComparable: isComparable, repetitions: repetitions)
    }
    if keepsProfiles { takeProfiles(of: results, plans) }
  }

  // MARK: Order

  /// A regression that is to be explained.
  private struct Rise {
    let index: Int
    let size: Bytes
    let measured: MeasuredRise

    init?(_ result: ScenarioResult, _ plan: CheckPlan, _ index: Int) {
      guard result.verdict == .regression, result.failure == nil, plan.scenario.explain != .off,
        let measured = result.measuredRises.first
      else { return nil }
      (self.index, self.measured, size) = (index, measured, measured.amount ?? .zero)
    }
  }

  /// Calls `body` for each scenario with the number of its repetitions, 0 if it does not fit in what is left of the time.
  private mutating func inTurn(
    _ indices: [Int], _ results: [ScenarioResult], _ plans: [CheckPlan],
    _ body: (inout Self, Int, Int) throws(FileError) -> Void
  ) {
    let candidates = indices.map { plans[$0].candidate(results[$0]) }
    for (position, index) in indices.enumerated() {
      do throws(FileError) {
        try body(&self, index, budget.repetitions(ofFirst: candidates[position...]))
      } catch {
        failures.append(error)
      }
    }
  }

  // MARK: Regressions

  /// Whether no profile is taken, since the mappings explain the rise, or none can be.
  private mutating func settle(_ rise: Rise, in result: inout ScenarioResult, of plan: CheckPlan) -> Bool {
    if let mapped = result.mappedRise {
      result.explanation = RiseExplanation(rise.measured.kind, finding: .mapped(rise: mapped))
      return true
    }
    guard let obstacle = plan.obstacle else { return false }
    result.notes.append(.notExplained(obstacle: obstacle))
    return true
  }

  private func isComparable(_ rise: MeasuredRise, of plan: CheckPlan) -> Bool {
    rise.kind == .growth || plan.other != nil || base(of: plan) != nil
  }

  private func base(of plan: CheckPlan) -> ProfiledBuild? { plan.baseline.flatMap(profiles.profile) }

  private mutating func explain(
    _ result: inout ScenarioResult, of plan: CheckPlan, isComparable: Bool, repetitions: Int
  ) throws(FileError) {
    let rises = result.measuredRises
    guard let rise = rises.first else { return }
    guard repetitions > 0 else {
      guard isComparable else { return result.noteNoApprovedProfile(of: plan) }
      let candidate = plan.candidate(result)
      let left = budget.left(under: candidate.rule) ?? .zero
      let obstacle = ExplanationObstacle.overBudget(
        estimate: budget.estimate(of: candidate), left: left, rise: rise.kind)
      result.notes.append(.notExplained(obstacle: obstacle))
      return
    }
    let (found, time) = try profiled(result, plan, repetitions, of: rises)
    result.times.explaining = time
    guard let explanation = found else {
      result.notes.append(.notExplained(obstacle: .interrupted))
      return
    }
    // What may be approved needs a profile for later explanations.
    if var build = explanation.build, plan.other == nil {
      build.run = run
      try artifacts.write(build, of: result.name)
    }
    add(explanation, to: &result)
    if explanation.comparison != nil, !isComparable { result.noteNoApprovedProfile(of: plan) }
  }

  private mutating func add(_ explanation: Explanation, to result: inout ScenarioResult) {
    if explanation.comparison != nil { explanations.append(explanation) }
    result.explanation = explanation.comparison.flatMap { comparison in
      (comparison.finding ?? comparison.holding).map { RiseExplanation(comparison.explained, finding: $0) }
    }
    if let obstacle = explanation.obstacle { result.notes.append(.notExplained(obstacle: obstacle)) }
  }

  // MARK: Approved builds

  /// Takes the profiles of scenarios that pass against a baseline without one, the shortest first, so that many get one.
  private mutating func takeProfiles(of results: [ScenarioResult], _ plans: [CheckPlan]) {
    let wanted = results.indices.filter { index in
      let plan = plans[index]
      return results[index].verdict == .pass && plan.scenario.explain != .off && plan.obstacle == nil
        && plan.baseline != nil && base(of: plan) == nil
    }
    let shortest = wanted.sorted { (results[$0].typicalDuration, $0) < (results[$1].typicalDuration, $1) }
    inTurn(shortest, results, plans) {
      (explanation: inout Self, index: Int, repetitions: Int) throws(FileError) in
      try explanation.takeProfile(of: results[index], plans[index], repetitions: repetitions)
    }
    missing = wanted.count - taken
  }

  private mutating func takeProfile(
    of result: ScenarioResult, _ plan: CheckPlan, repetitions: Int
  ) throws(FileError) {
    guard repetitions > 0, let baseline = plan.baseline else { return }
    guard let explanation = try profiled(result, plan, repetitions, of: []).explanation else { return }
    guard let build = explanation.build else {
      return obstacles.append(.lacksProfile(scenario: result.name, obstacle: explanation.obstacle ?? .noSnapshot))
    }
    try profiles.keep(build, for: baseline)
    taken += 1
  }

  /// What the profiler found, and how long that took; nothing after an interruption.
  private mutating func profiled(
    _ result: ScenarioResult, _ plan: CheckPlan, _ repetitions: Int, of rises: [MeasuredRise]
  ) throws(FileError) -> (explanation: Explanation?, time: Duration) {
    let candidate = plan.candidate(result)
    var runs = try ProfiledRuns(
      of: plan.scenario, against: rises.isEmpty ? nil : plan.other, by: measurer, into: artifacts.explain,
      showProgress: showProgress)
    runs.mostTime = budget.left(under: candidate.rule)
    if rises.isEmpty { runs.purpose = .profiling } else { runs.rises = rises }
    // What they explain needs no profile.
    let excludesMappings = result.reference?.composition != nil && result.summary.composition != nil
    for index in runs.rises.indices { runs.rises[index].excludesMappings = excludesMappings }
    runs.expectedRise = result.peak.map { Bytes($0.count / Self.usualPart) }
    let begin = ContinuousClock.now
    let base = rises.isEmpty || plan.other != nil ? nil : base(of: plan)
    let explanation = runs.explanation(repetitions: repetitions, base: base)
    let time = ContinuousClock.now - begin
    budget.note(runs.begun, of: candidate, took: time)
    return (explanation, time)
  }
}

extension CheckPlan {
  /// The other build, with which this one is compared instead of a baseline.
  fileprivate var other: Scenario? {
    if case .build(let scenario) = comparison { scenario } else { nil }
  }

  fileprivate var baseline: Baseline? {
    if case .approved(.baseline(let baseline)) = comparison { baseline } else { nil }
  }

  /// Why the scenario cannot be profiled; nil if it can.
  fileprivate var obstacle: ExplanationObstacle? {
    if scenario.target.running != nil { return .startedElsewhere }
    if MeasurementMethod(rawValue: environment.fingerprint.measurement)?.isTraced == true { return nil }
    return scenario.isolation.tracer == .off ? .tracingIsOff : .noTracing
  }

  /// One repetition of it, and one of the other build.
  fileprivate func candidate(_ result: ScenarioResult) -> ExplanationBudget.Candidate {
    ExplanationBudget.Candidate(
      rule: scenario.explain, repetition: result.typicalDuration * (other == nil ? 1 : 2))
  }
}

extension ScenarioResult {
  fileprivate mutating func noteNoApprovedProfile(of plan: CheckPlan) {
    let obstacle = ExplanationObstacle.noApprovedProfile(
      commit: summary.approval?.commit, builds: plan.scenario.build != nil)
    notes.append(.notExplained(obstacle: obstacle))
  }

  /// The mappings that explain the largest rise; nil if it is not theirs.
  fileprivate var mappedRise: MappedRise? {
    guard let rise = measuredRises.first, let amount = rise.amount, let before = reference?.composition,
      let now = summary.composition
    else { return nil }
    guard rise.isOfTree else { return MappedRise(from: before, to: now, of: amount) }
    return MappedRise(from: before.countingUnmapped, to: now.countingUnmapped, of: amount)
  }

  /// The median duration of a repetition.
  fileprivate var typicalDuration: Duration {
    let durations = repetitions.map(\.duration).sorted()
    return durations.isEmpty ? .zero : durations[durations.count / 2]
  }

  fileprivate var peak: Bytes? {
    summary[.peakRSS]?.current.map { Bytes(clampedFrom: $0.median) }
  }
}
