/// Decides whether a result may become a baseline.
///
/// A baseline hides what it already contains, so a result that nobody meant to approve is refused.
package struct ApprovalReview {
  package var result: ScenarioResult
  package var run: RunInfo
  /// The scenario in the project file now; nil if it was removed.
  package var scenario: Scenario?
  /// The baseline that would be replaced.
  package var previous: Baseline?
  /// Whether the file that would be replaced cannot be compared with; `previous` is then one side of a merge conflict.
  package var replacesUnusable = false
  /// The commit of the checkout; nil outside a checkout.
  package var head: String?
  /// The trees of that commit and of the files now (``RunInfo/tree``).
  package var trees: [String] = []
  /// How the project names and compares environments.
  package var environment: EnvironmentRule

  package init(
    of result: ScenarioResult,
    in run: RunInfo,
    for scenario: Scenario?,
    replacing previous: Baseline?,
    head: String?,
    environment: EnvironmentRule
  ) {
    self.result = result
    self.run = run
    self.scenario = scenario
    self.previous = previous
    self.head = head
    self.environment = environment
    // Later checks use the gate and the environment rule of the project file.
    if let scenario { self.result.gate = scenario.gate }
    self.result.environment.ignoredFields = environment.ignoredFields
  }

  package typealias Reason = ApprovalChange.SkipReason

  /// The reasons against an approval that cannot be overridden, and if there are none, the others.
  package var reasonsAgainst: [Reason] {
    let lasting = lastingReasons
    guard lasting.isEmpty else { return lasting }
    return [measuredBefore, otherCommit, otherDefinition, fewerRepetitions, comparedWithBuild, otherEnvironment]
      .compactMap(\.self)
  }

  /// Whether the result passes against the baseline, which is then as good, unless it lacks a metric, is of another
  /// scenario, or needs less as a whole tree.
  package var passesAgainstPrevious: Bool {
    guard !replacesUnusable, let previous, previous.isComparable(to: result.environment) else { return false }
    let judged = result.judged(against: .baseline(previous))
    let isAsGood = judged.notes.allSatisfy { note in
      switch note {
      case .otherUnit, .otherScenario, .riseOutweighed: false
      default: true
      }
    }
    return judged.verdict == .pass && isAsGood
  }

  /// Whether the result is what the baseline and the changes since say, or less: then it may replace them.
  package var confirmsPrevious: Bool {
    guard !replacesUnusable, let previous, previous.isComparable(to: result.environment) else { return false }
    return [.pass, .improved].contains(result.judged(against: .baseline(previous)).verdict)
  }

  // MARK: Reasons that cannot be overridden

  private var lastingReasons: [Reason] {
    // Of a suite the tests that passed can be approved, unless it stopped in the middle.
    if let suite = result.suite, suite.problems.isEmpty { return [] }
    if let failure = result.failure { return [.failed(failure)] }
    if result.repetitions.isEmpty { return [.noRepetitions] }
    if result.repetitions.allSatisfy({ $0.metrics[.peakRSS] == nil }) { return [.noPeak] }
    return unavailableMetrics
  }

  /// The default gate names no metric: what a program does not have is only noted.
  private var unavailableMetrics: [Reason] {
    guard !result.gate.isStandard else { return [] }
    return result.judged(against: .missing).metrics.compactMap { metric in
      guard case .unavailable(let cause) = metric.reason else { return nil }
      return .unavailable(metric: metric.metric, cause: cause)
    }
  }

  // MARK: Reasons that can be overridden

  /// A result from before the merge is not of the merged program.
  private var measuredBefore: Reason? {
    replacesUnusable && result.baselineDefect == nil ? .measuredBeforeDefect : nil
  }

  private var otherCommit: Reason? {
    guard let head else { return nil }
    guard let measured = run.commit else { return .unknownCommit(head: head) }
    guard !CommitID.areSame(measured, head) else { return nil }
    // What was measured has been committed since.
    if let tree = run.tree, trees.contains(tree), CommitID.isHash(measured.lowercased()) { return nil }
    return .otherCommit(measured: measured, isDirty: run.isDirty, head: head)
  }

  private var otherDefinition: Reason? {
    guard let measured = result.definition, let current = scenario?.definition, measured.hashes != current.hashes
    else { return nil }
    return .otherDefinition(measured: measured, current: current)
  }

  /// A change of a baseline keeps the spread of the baseline's values, so that it needs no more repetitions than a check.
  private var fewerRepetitions: Reason? {
    let count = result.repetitions.count
    guard result.suite == nil, let least = scenario?.repetitions.plan.min, count < least else { return nil }
    return .fewerThanPlanned(count: count, least: least)
  }

  private var comparedWithBuild: Reason? {
    result.comparedBuild.map { .comparedWithBuild(build: $0) }
  }

  private var otherEnvironment: Reason? {
    let measured = result.environment.name
    if let named = environment.name, measured != named { return .otherEnvironment(measured: measured, named: named) }
    // `check --environment` may have named it.
    let differences = previous?.differencesThatCount(in: result.environment) ?? []
    return differences.isEmpty ? nil : .otherMachine(environment: measured, differences: differences)
  }
}
