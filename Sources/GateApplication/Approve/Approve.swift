import FoundationEssentials
import GateCore
import LinuxSystem

/// What is approved, and why.
struct ApprovalRequest {
  var options = SharedOptions()
  var selection: [String] = []
  var reason: String?
  /// Whether results are approved that would be refused, or that pass (``ApprovalReview``).
  var forces = false
}

/// Approves measured results as baselines.
struct Approve {
  var request = ApprovalRequest()
  /// A result file of another machine, or its folder with the profiles, instead of that of the last check.
  var from: String?
  /// Whether only improvements are approved.
  var ratchets = false
  /// Whether only the changes since a baseline become a part of it, where the result confirms them.
  var folds = false

  /// Writes a baseline for each selected scenario of the result.
  ///
  /// - Returns: `pass`; `failed` if a requested scenario cannot be approved, and `usage` if it can by `--force`.
  func run(in invocation: Invocation) throws -> ExitCode {
    let project = try loadProject(invocation)
    let path = try resultPath(project, invocation)
    let result = try loadResult(path)
    let known = Dictionary(project.scenarios.map { ($0.name, $0) }) { first, _ in first }
    // `highwater suite` needs no scenario in the project file.
    func isKnown(_ scenario: ScenarioResult) -> Bool { known[scenario.name] != nil || scenario.suite != nil }
    let selected = result.scenarios.filter { scenario in
      request.selection.isEmpty
        ? isKnown(scenario)
        : request.selection.contains { Selection.matches($0, scenario.name.text, known[scenario.name]?.tags ?? []) }
    }
    for unknown in result.scenarios where request.selection.isEmpty && !isKnown(unknown) {
      invocation.console.warn("skipped \(unknown.name): it is not in the project file")
    }
    try checkSelection(selected, in: result, known)
    let approver = Approver(self, result.run, beside: path, project, known, in: invocation)
    var changes: [ApprovalChange] = []
    // Written baselines are reported even if the next one cannot be written.
    defer {
      if !changes.isEmpty { invocation.report(changes, in: project.root) }
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
    if let project = request.options.suiteProject(in: invocation), hasResult(project) { return project }
    let project = try request.options.loadProjectWithoutVariables(in: invocation)
    guard request.options.baselines == nil, project.hasBaselinesOutside else { return project }
    throw RunnerError(
      problem: "the folder of baselines is outside the repository", place: invocation.shown(project.baselines),
      hint: "to write there, use `--baselines FOLDER`")
  }

  private func hasResult(_ project: Project) -> Bool {
    let path = ArtifactsFolder(path: project.artifacts).result
    return from != nil || (try? Descriptor.kind(of: path, followingLinks: true)) != nil
  }

  /// The result file: that of the last check, or the given one, which a given folder contains.
  private func resultPath(_ project: Project, _ invocation: Invocation) throws -> String {
    guard let from else { return ArtifactsFolder(path: project.artifacts).result }
    let path = invocation.absolute(from)
    let candidates = [path, "\(path)/result.json", "\(path)/.highwater/result.json"]
    return candidates.first { candidate in
      let kind = try? Descriptor.kind(of: candidate, followingLinks: true)
      return kind != nil && kind != .folder
    } ?? path
  }

  private func loadResult(_ path: String) throws -> RunResult {
    do {
      return try ResultFile.readMeasured(path)
    } catch let error {
      guard from == nil, error.code == .notFound else { throw error }
      throw RunnerError(
        problem: "no result to approve", place: path,
        hint: "run `highwater check` first, or name the result of another machine with `--from`"
      )
    }
  }

  private func checkSelection(
    _ selected: [ScenarioResult], in result: RunResult, _ known: [ScenarioName: Scenario]
  ) throws {
    let missing = request.selection.filter { word in
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
  let resultPath: String
  let project: Project
  let scenarios: [ScenarioName: Scenario]
  let store: BaselineStore
  /// The commit of the checkout, and its tree and that of the files, if the result has one to compare with.
  let head: String?
  let trees: (head: String?, files: String?)
  let person: String
  let invocation: Invocation

  init(
    _ options: Approve, _ run: RunInfo, beside resultPath: String, _ project: Project,
    _ scenarios: [ScenarioName: Scenario],
    in invocation: Invocation
  ) {
    (self.options, self.project, self.scenarios) = (options, project, scenarios)
    (self.invocation, self.resultPath) = (invocation, resultPath)
    store = BaselineStore(folder: project.baselines)
    let build = BuildContext(variables: invocation.variables, root: project.root)
    (head, person) = (build.head, build.person)
    var run = run
    // Another commit with the same files, such as an amended one, is the same program.
    if !run.isDirty, run.tree == nil, let commit = run.commit, let head, !CommitID.areSame(commit, head) {
      run.tree = GitQuery.tree(of: commit, in: project.root)
    }
    self.run = run
    let temporary = FileManager.default.temporaryDirectory.path
    trees = run.tree == nil ? (nil, nil) : (build.treeOfHead, build.treeOfFiles(usingFolder: temporary))
  }

  private var approval: Approval {
    let isCommitted = run.tree != nil && run.tree == trees.head
    return Approval(
      at: invocation.now(), by: person, commit: isCommitted ? head : run.commit, isDirty: run.isDirty && !isCommitted,
      reason: options.request.reason, run: run.id)
  }

  func approve(_ scenario: ScenarioResult) throws -> ApprovalChange {
    if let suite = scenario.suite { return try approve(suite, of: scenario) }
    let approval = approval
    var baseline = Baseline(of: scenario, approval: approval)
    if let name = project.environment.name { baseline.environment = name }
    let (previous, isUnusable, isReadable) = stored(scenario.name, baseline.environment)
    var effect = change(of: scenario, from: previous, to: baseline)
    let review = review(of: scenario, replacing: previous, isUnusable)
    if let kept = outcomeWithoutChange(review, scenario.verdict) {
      effect.outcome = kept
      return effect
    }
    // What cannot be read is replaced.
    let kept = isReadable ? previous : nil
    let change = kept.flatMap { BaselineChange(from: $0, to: baseline, gate: review.result.gate) }
    // What held the memory in this run, if the check profiled it.
    let profile = ArtifactsFolder(path: project.artifacts)
      .profile(of: scenario.name, in: run.id, beside: resultPath)
    if let change, !options.request.forces, !options.folds {
      guard try write(change, to: baseline, profile, into: &effect) else { return effect }
    } else {
      if let previous, options.folds { baseline.keepSpread(of: previous, with: change) }
      if let previous { baseline.continueAnchors(of: previous, gate: scenario.gate) }
      effect.creeps = baseline.creep(under: scenario.gate)
      guard try write(baseline, profile, replacing: previous, review, into: &effect) else { return effect }
    }
    // Only the check of a regression profiles its build; otherwise the next check that passes does.
    effect.lacksProfile = profile == nil && options.from != nil && scenario.verdict == .regression
    effect.approval = approval
    return effect
  }

  /// Writes the file of a suite, in which the lines of tests that pass stay as they are.
  private func approve(_ suite: SuiteResult, of scenario: ScenarioResult) throws -> ApprovalChange {
    var suite = suite
    if let name = project.environment.name { suite.environment.name = name }
    let file = SuiteBaselineFile(suite.name, suite.environment.name, in: project.baselines)
    var effect = ApprovalChange(
      scenario: suite.name, environment: suite.environment.name, path: invocation.shown(file.path),
      outcome: .unchanged(.equalValues))
    let reasons = review(of: scenario, replacing: nil, false).reasonsAgainst
    if !options.request.forces && !reasons.isEmpty || reasons.contains(where: { !$0.canBeOverridden }) {
      effect.outcome = .skipped(reasons)
    } else if options.folds {
      effect.outcome = .unchanged(.nothingToFold)
    } else if options.ratchets, scenario.verdict != .improved {
      effect.outcome = .unchanged(.notImproved)
    } else {
      let approval = approval
      let (previous, baseline, change) = try file.approve(suite, approval, forces: options.request.forces)
      guard !change.isEmpty else { return effect }
      effect.outcome = previous == nil ? .created : .changed
      (effect.before, effect.after) = (previous?.figures ?? [:], baseline.figures)
      effect.units[SuiteMetric.tests.name] = SuiteMetric.tests.unit
      (effect.tests, effect.approval) = (change, approval)
    }
    return effect
  }

  /// Writes a change beside the baseline; false if nothing changed.
  private func write(
    _ change: BaselineChange, to measured: Baseline, _ profile: ProfiledBuild?, into effect: inout ApprovalChange
  ) throws -> Bool {
    guard !change.moves.isEmpty || change.definition != nil else { return false }
    try store.save(change, to: measured)
    if let profile { try store.save(profile, of: change.scenario, environment: change.environment, with: change) }
    (effect.outcome, effect.path) = (.changed, invocation.shown(store.path(change)))
    return true
  }

  /// Writes a baseline in place of the previous one and the changes since; false if nothing changed.
  private func write(
    _ baseline: Baseline, _ profile: ProfiledBuild?, replacing previous: Baseline?, _ review: ApprovalReview,
    into effect: inout ApprovalChange
  ) throws -> Bool {
    let (name, environment) = (baseline.scenario, baseline.environment)
    // The last profile still fits a result that passes; that of a folded change stays in its place.
    let last = profile == nil && options.folds ? store.lastChange(of: name, environment: environment) : nil
    let fitting = review.passesAgainstPrevious ? store.profile(of: name, environment: environment) : nil
    switch try store.save(baseline, keepingProfileOf: last) {
    case .created: effect.outcome = .created
    case .replaced: effect.outcome = options.folds ? .folded(changes: previous?.changeCount ?? 0) : .replaced
    case .unchanged: return false
    }
    if last == nil { try store.save(profile ?? fitting, of: name, environment: environment) }
    return true
  }

  /// The baseline that would be replaced, and whether its file cannot be compared with.
  ///
  /// Of a merge conflict it is one side, and of a file that is broken otherwise there is none.
  private func stored(
    _ scenario: ScenarioName, _ environment: String
  ) -> (Baseline?, isUnusable: Bool, isReadable: Bool) {
    do throws(FileError) {
      return (try store.load(scenario, environment: environment), false, true)
    } catch {
      return (store.conflictingSide(scenario, environment: environment), error.defect != nil, false)
    }
  }

  private func review(
    of scenario: ScenarioResult, replacing previous: Baseline?, _ isUnusable: Bool
  ) -> ApprovalReview {
    var review = ApprovalReview(
      of: scenario, in: run, for: scenarios[scenario.name], replacing: previous, head: head,
      environment: project.environment)
    review.replacesUnusable = isUnusable
    review.trees = [trees.head, trees.files].compactMap(\.self)
    return review
  }

  /// The outcome if the baseline stays; nil if it is to be written.
  private func outcomeWithoutChange(_ review: ApprovalReview, _ verdict: Verdict) -> ApprovalChange.Outcome? {
    let reasons = review.reasonsAgainst
    if reasons.contains(where: { !$0.canBeOverridden }) { return .skipped(reasons) }
    if options.folds {
      guard review.previous.map({ $0.changeCount > 0 }) ?? false else { return .unchanged(.nothingToFold) }
      guard review.confirmsPrevious else { return .unchanged(.differsFromChanges) }
      return reasons.isEmpty || options.request.forces ? nil : .skipped(reasons)
    }
    if options.ratchets, verdict != .improved { return .unchanged(.notImproved) }
    if options.request.forces { return nil }
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
    change.omitUnjudgedFigures(of: scenario.gate)
    change.countBefore = previous?.repetitionCount ?? 0
    change.countAfter = baseline.repetitionCount
    change.fewerValues = baseline.metrics.filter { !$0.key.isCounted && $0.value.count < baseline.repetitionCount }
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

extension ApprovalChange {
  /// Leaves out figures that differ from run to run, unless the gate judges them.
  mutating func omitUnjudgedFigures(of gate: Gate) {
    let judged = Set(gate.rules.map(\.metric))
    for metric in MetricName.wholeRun where !metric.counts(.reviewed) && !judged.contains(metric) {
      (before[metric], after[metric]) = (nil, nil)
    }
  }
}

extension Invocation {
  /// Prints what became of baselines, and warns if git ignores one that was written.
  func report(_ changes: [ApprovalChange], in root: String) {
    console.report(changes)
    let written = changes.filter { $0.approval != nil && !$0.path.isEmpty }.map { absolute($0.path) }
    guard !written.isEmpty, let (path, rule) = GitQuery.ignored(of: written, in: root) else { return }
    console.warn("git ignores \(shown(path)) (\(rule)), so no other machine will have this baseline")
    console.say("  hint: add the line `!*` to .gitignore in the folder of the baselines, or change that pattern")
  }
}
