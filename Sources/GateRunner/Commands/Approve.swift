import FoundationEssentials
package import GateCore
import GateFiles
import GateReports

/// Approves measured results as baselines.
package struct Approve {
  package var options = SharedOptions()
  package var selection: [String] = []
  /// A result file of another machine, instead of that of the last check.
  package var from: String?
  package var reason: String?
  /// Whether only improvements are approved.
  package var ratchets = false
  /// Whether results are approved that would be refused, or that pass (``ApprovalReview``).
  package var forces = false

  package init() {}

  /// Writes a baseline for each selected scenario of the result.
  ///
  /// - Returns: `pass`; `failed` if a requested scenario cannot be approved, and `usage` if it can by `--force`.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try loadProject(invocation)
    let result = try loadResult(project, invocation)
    let known = Dictionary(project.scenarios.map { ($0.name, $0) }) { first, _ in first }
    let selected = result.scenarios.filter { scenario in
      selection.isEmpty
        ? known[scenario.name] != nil
        : selection.contains { Selection.matches($0, scenario.name.text, known[scenario.name]?.tags ?? []) }
    }
    for unknown in result.scenarios where selection.isEmpty && known[unknown.name] == nil {
      invocation.console.warn("skipped \(unknown.name): it is not in the project file")
    }
    try checkSelection(selected, in: result, known)
    let approver = Approver(self, result.run, project, known, in: invocation)
    var changes: [ApprovalChange] = []
    // Written baselines are reported even if the next one cannot be written.
    defer {
      if !changes.isEmpty { invocation.console.print(ApprovalReport.text(changes, style: invocation.console.style())) }
    }
    for scenario in selected {
      if let code = invocation.interruptedCode { return code }
      changes.append(try approver.approve(scenario))
    }
    let reasons = changes.flatMap(\.skipReasons)
    return reasons.isEmpty ? .pass : reasons.allSatisfy(\.canBeOverridden) ? .usage : .failed
  }

  /// The project, of which a stranger may have written the file.
  private func loadProject(_ invocation: Invocation) throws -> Project {
    let project = try options.loadProjectWithoutVariables(in: invocation)
    guard options.baselines == nil, project.hasBaselinesOutside else { return project }
    throw RunnerError(
      problem: "the folder of baselines is outside the repository", place: invocation.shown(project.baselines),
      hint: "to write there, use `--baselines FOLDER`")
  }

  private func loadResult(_ project: Project, _ invocation: Invocation) throws -> RunResult {
    let path = from.map(invocation.absolute) ?? ArtifactsFolder(path: project.artifacts).result
    do {
      return try ResultFile.decode(try SafeFile.read(path, atMost: ResultFile.largest), path: path)
    } catch let error {
      guard from == nil, error.code == .notFound else { throw error }
      throw RunnerError(
        problem: "there is no result to approve", place: path,
        hint: "run `highwater check` first, or name a result file with `--from`"
      )
    }
  }

  private func checkSelection(
    _ selected: [ScenarioResult], in result: RunResult, _ known: [ScenarioName: Scenario]
  ) throws {
    let missing = selection.filter { word in
      !selected.contains { Selection.matches(word, $0.name.text, known[$0.name]?.tags ?? []) }
    }
    guard missing.isEmpty, !selected.isEmpty else {
      let measured = result.scenarios.map(\.name.text).prefix(8).joined(separator: ", ")
      throw RunnerError(
        (missing.isEmpty ? ["of the project file"] : missing.map { "`\($0)`" }).map { what in
          Diagnostic(
            place: from, problem: "the result has no scenario \(what)",
            hint: measured.isEmpty ? "the result is empty" : "the result has \(measured)"
          )
        }
      )
    }
  }
}

/// Approves the scenarios of one result.
private struct Approver {
  let options: Approve
  let run: RunInfo
  let project: Project
  let scenarios: [ScenarioName: Scenario]
  let store: BaselineStore
  /// The commit of the checkout.
  let head: String?
  let person: String
  let invocation: Invocation

  init(
    _ options: Approve, _ run: RunInfo, _ project: Project, _ scenarios: [ScenarioName: Scenario],
    in invocation: Invocation
  ) {
    (self.options, self.run, self.project, self.scenarios) = (options, run, project, scenarios)
    self.invocation = invocation
    store = BaselineStore(folder: project.baselines)
    let build = BuildContext(variables: invocation.variables, root: project.root)
    (head, person) = (build.head, build.person)
  }

  func approve(_ scenario: ScenarioResult) throws -> ApprovalChange {
    let approval = Approval(
      at: invocation.now(), by: person, commit: run.commit, isDirty: run.isDirty, reason: options.reason,
      run: run.id)
    var baseline = Baseline(of: scenario, approval: approval)
    if let name = project.environment.name { baseline.environment = name }
    let (previous, isUnusable) = stored(scenario.name, baseline.environment)
    var change = change(of: scenario, from: previous, to: baseline)
    let review = review(of: scenario, replacing: previous, isUnusable)
    if let kept = outcomeWithoutChange(review, scenario.verdict) {
      change.outcome = kept
      return change
    }
    if let previous { baseline.continueAnchors(of: previous, gate: scenario.gate) }
    change.creeps = baseline.creep(under: scenario.gate)
    switch try store.save(baseline) {
    case .created: change.outcome = .created
    case .replaced: change.outcome = .replaced
    case .unchanged: return change
    }
    // What held the memory in this run, if the check profiled it. The stored profile still fits a result that passes.
    let profile = ArtifactsFolder(path: project.artifacts)
      .profile(of: scenario.name, in: run.id, beside: options.from.map(invocation.absolute))
    if profile != nil || !review.passesAgainstPrevious {
      try store.saveProfile(profile, of: scenario.name, environment: baseline.environment)
    }
    change.approval = approval
    return change
  }

  /// The baseline that would be replaced, and whether its file cannot be compared with.
  ///
  /// Of a merge conflict it is one side, and of a file that is broken otherwise there is none.
  private func stored(_ scenario: ScenarioName, _ environment: String) -> (Baseline?, isUnusable: Bool) {
    do throws(FileError) {
      return (try store.load(scenario, environment: environment), false)
    } catch {
      return (store.conflictingSide(scenario, environment: environment), error.defect != nil)
    }
  }

  private func review(
    of scenario: ScenarioResult, replacing previous: Baseline?, _ isUnusable: Bool
  ) -> ApprovalReview {
    var review = ApprovalReview(
      of: scenario, in: run, for: scenarios[scenario.name], replacing: previous, head: head,
      environment: project.environment)
    review.replacesUnusable = isUnusable
    return review
  }

  /// The outcome if the baseline stays; nil if it is to be written.
  private func outcomeWithoutChange(_ review: ApprovalReview, _ verdict: Verdict) -> ApprovalChange.Outcome? {
    let reasons = review.reasonsAgainst
    if reasons.contains(where: { !$0.canBeOverridden }) { return .skipped(reasons) }
    if options.ratchets, verdict != .improved { return .unchanged(.notImproved) }
    if options.forces { return nil }
    // Where nothing would change, there is nothing to refuse.
    if review.passesAgainstPrevious { return .unchanged(.passes) }
    return reasons.isEmpty ? nil : .skipped(reasons)
  }

  private func change(of scenario: ScenarioResult, from previous: Baseline?, to baseline: Baseline) -> ApprovalChange {
    var change = ApprovalChange(
      scenario: scenario.name, environment: baseline.environment,
      path: invocation.shown(store.path(scenario.name, baseline.environment)), outcome: .unchanged(.equalValues),
      before: previous?.medians ?? [:], after: baseline.medians
    )
    change.countBefore = previous?.repetitionCount ?? 0
    change.countAfter = baseline.repetitionCount
    change.fewerValues = baseline.metrics.filter { !$0.key.isInstances && $0.value.count < baseline.repetitionCount }
      .mapValues(\.count)
    change.growthIsPerIteration = scenario.growthIsPerIteration
    change.hiddenGrowth = scenario.judged(against: .missing).hiddenGrowth
    change.units = baseline.units
    for (metric, unit) in previous?.units ?? [:] {
      // Values in different units cannot be compared.
      if change.units[metric, default: unit] != unit { change.before[metric] = nil }
      change.units[metric] = change.units[metric] ?? unit
    }
    return change
  }
}
