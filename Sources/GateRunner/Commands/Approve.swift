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

  package init() {}

  /// Writes a baseline for each selected scenario of the result.
  ///
  /// - Returns: `pass`, or `failed` if a requested scenario cannot be approved.
  package func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    let result = try loadResult(project, invocation)
    let known = Set(project.scenarios.map(\.name))
    let selected = result.scenarios.filter { scenario in
      selection.isEmpty
        ? known.contains(scenario.name)
        : selection.contains { Selection.matches($0, scenario.name.text, tags(of: scenario, project)) }
    }
    for unknown in result.scenarios where selection.isEmpty && !known.contains(unknown.name) {
      invocation.console.warn("skipped \(unknown.name): it is not in the project file")
    }
    try checkSelection(selected, in: result, project)
    let store = BaselineStore(folder: project.baselines)
    let build = BuildContext(variables: invocation.variables, root: project.root)
    var changes: [ApprovalChange] = []
    // Written baselines are reported even if the next one cannot be written.
    defer {
      if !changes.isEmpty { invocation.console.print(ApprovalReport.text(changes, style: invocation.console.style())) }
    }
    for scenario in selected {
      if let code = invocation.interruptedCode { return code }
      changes.append(try approve(scenario, of: result, into: store, project, by: build.person, invocation))
    }
    let wasSkipped = changes.contains { if case .skipped = $0.outcome { true } else { false } }
    return wasSkipped ? .failed : .pass
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

  private func tags(of scenario: ScenarioResult, _ project: Project) -> [String] {
    project.scenarios.first { $0.name == scenario.name }?.tags ?? []
  }

  private func checkSelection(_ selected: [ScenarioResult], in result: RunResult, _ project: Project) throws {
    let missing = selection.filter { word in
      !selected.contains { Selection.matches(word, $0.name.text, tags(of: $0, project)) }
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

  private func approve(
    _ scenario: ScenarioResult,
    of result: RunResult,
    into store: BaselineStore,
    _ project: Project,
    by person: String,
    _ invocation: Invocation
  ) throws -> ApprovalChange {
    var baseline = Baseline(
      of: scenario,
      approval: Approval(
        at: invocation.now(), by: person, commit: result.run.commit, reason: reason, run: result.run.id
      )
    )
    if let name = project.environment.name { baseline.environment = name }
    var change = ApprovalChange(
      scenario: scenario.name, environment: baseline.environment,
      path: invocation.shown(store.path(scenario.name, baseline.environment)), outcome: .unchanged,
      after: baseline.medians
    )
    change.growthIsPerIteration = scenario.growthIsPerIteration
    change.units = baseline.units
    if let reason = scenario.reasonAgainstApproval {
      change.outcome = .skipped(reason)
      return change
    }
    guard !ratchets || scenario.verdict == .improved else {
      change.outcome = .unchanged
      return change
    }
    // An approval may replace a broken baseline, which has no medians to show.
    let previous = (try? store.load(scenario.name, environment: baseline.environment)) ?? nil
    change.before = previous?.medians ?? [:]
    for (metric, unit) in previous?.units ?? [:] {
      // Values in different units cannot be compared.
      if change.units[metric, default: unit] != unit { change.before[metric] = nil }
      change.units[metric] = change.units[metric] ?? unit
    }
    if let previous { baseline.continueAnchors(of: previous, gate: scenario.gate) }
    change.creeps = baseline.creep(under: scenario.gate)
    change.outcome =
      switch try store.save(baseline) {
      case .created: .created
      case .replaced: .replaced
      case .unchanged: .unchanged
      }
    return change
  }
}

extension ScenarioResult {
  /// Why this cannot become a baseline; nil if it can.
  fileprivate var reasonAgainstApproval: ApprovalChange.SkipReason? {
    if let failure { return .failed(failure) }
    if repetitions.isEmpty { return .noRepetitions }
    return repetitions.allSatisfy { $0.metrics[.peakRSS] == nil } ? .noPeak : nil
  }
}
