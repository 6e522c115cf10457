import FoundationEssentials
import GateCore

/// The end of a check: the result file, the history, the summary, the webhooks and the exit code.
struct CheckReport {
  /// What was measured, judged and explained.
  let judged: RunResult
  /// nil outside of a checkout.
  let code: MeasuredCode?
  let project: Project
  let artifacts: ArtifactsFolder
  /// The results of the comparison build, with which those of `judged` were compared; empty without one.
  let comparisons: [ScenarioResult]
  /// The commit of the comparison build, if it is known.
  let comparisonCommit: String?
  /// What explains the regressions.
  var explanations: [Explanation] = []
  let options: SharedOptions
  /// The build that the values were compared with instead of the baselines, if any.
  let against: ComparisonSource?
  /// As in ``Check/suite``.
  var suite: (options: [String], command: [String])?
  /// Whether an undelivered message has its own exit code.
  let requiresDelivery: Bool
  let invocation: Invocation

  /// Writes and sends everything; a report that cannot be written never improves a verdict.
  ///
  /// - Parameter failures: Files that could not be written while the targets ran.
  /// - Returns: the exit code.
  func finish(after failures: [FileError]) -> ExitCode {
    // A comparison with another build does not belong to the project's history, and `merge` adds the shards as one run.
    var history = isComparison || judged.run.isPartial ? nil : CheckHistory(of: project, in: invocation)
    let result = completed(from: &history)
    // Read before they are overwritten, and only if a webhook depends on them.
    let previous =
      project.webhooks.isEmpty ? nil : history?.previousVerdicts(before: result) ?? PreviousVerdicts(of: artifacts)
    let earlier = project.webhooks.isEmpty ? nil : history?.trend()
    let writeFailures = failures + write(result)
    history?.append(result)
    let trend = history?.writeTrend(to: artifacts.trend)
    let news = earlier.flatMap { trend?.news(since: $0) } ?? []
    let isDelivered = notify(of: result, comparedWith: previous, news)
    let exitCode: ExitCode =
      switch result.verdict.exitCode {
      case .pass where !writeFailures.isEmpty: .failed
      case .pass where requiresDelivery && !isDelivered: .delivery
      default: result.verdict.exitCode
      }
    printSummary(of: result, exitCode, trend: trend.map { _ in invocation.shown(artifacts.trend) })
    for failure in writeFailures { invocation.console.printError(failure) }
    if !result.run.isPartial { invocation.reportToCI(result, context: context(exitCode)) }
    return exitCode
  }

  /// The result with what the history and the checkout know of it, which changes no verdict.
  private func completed(from history: inout CheckHistory?) -> RunResult {
    let run = judged.run
    let known = judged.scenarios.map { scenario in
      (history?.creeps(in: scenario, of: run) ?? [], history?.firstNaming(of: scenario, in: run))
    }
    var search = CodeChangeSearch(of: project, code, in: invocation)
    var result = judged
    result.scenarios = zip(judged.scenarios, known).map { scenario, known in
      let changes = search.changes(behind: scenario, comparedWith: comparisonCommit)
      return scenario.completed(creeps: known.0, firstNamed: known.1, changes: changes)
    }
    result.run.notes += search.notes.filter { !run.notes.contains($0) }
    return result
  }

  /// Writes the result to the artifacts, and the reports.
  ///
  /// - Returns: the errors of writing.
  private func write(_ result: RunResult) -> [FileError] {
    var failures: [FileError] = []
    func attempt(_ write: () throws(FileError) -> Void) {
      do throws(FileError) { try write() } catch { failures.append(error) }
    }
    attempt { () throws(FileError) in
      try SafeFile.write(ResultFile.encode(result, words: .reports), to: artifacts.result)
    }
    failures += options.writeReports(of: result, context: context(result.verdict.exitCode), in: invocation)
    if !comparisons.isEmpty {
      var other = RunResult(run: result.run, environment: result.environment, scenarios: comparisons)
      (other.run.commit, other.run.subject, other.run.isDirty) = (comparisonCommit, nil, false)
      attempt { () throws(FileError) in
        try SafeFile.write(ResultFile.encode(other, words: .reports), to: artifacts.comparison.result)
      }
    }
    if !explanations.isEmpty {
      attempt { () throws(FileError) in
        try SafeFile.write(Array(ExplainPage.text(explanations).utf8), to: artifacts.explanationPage)
      }
    }
    return failures
  }

  private func printSummary(of result: RunResult, _ exitCode: ExitCode, trend: String?) {
    var context = context(exitCode)
    context.trendPath = trend
    invocation.console.report(besides: options) { SummaryReport.text(result, style: $0, context: context) }
  }

  /// Whether the values were compared with another build instead of the baselines.
  private var isComparison: Bool { against != nil || judged.comparedBuild != nil }

  private func context(_ exitCode: ExitCode) -> SummaryContext {
    var context = SummaryContext(exitCode: exitCode, resultPath: invocation.shown(artifacts.result))
    context.detail = invocation.console.detail
    context.options = options.repeated
    context.projectFile = invocation.repositoryPath(of: project.file, in: project)
    context.places = project.scenarios.reduce(into: [:]) { places, scenario in
      places[scenario.name] = scenario.place.map { place in
        SourcePlace(
          file: invocation.repositoryPath(of: place.file, in: project), line: place.line, column: place.column)
      }
    }
    for explanation in explanations { context.explanations[explanation.scenario] = explanation.comparison }
    if !explanations.isEmpty { context.explanationPath = invocation.shown(artifacts.explanationPage) }
    if isComparison { context.approval = .unavailable }
    if let suite { (context.command, context.measured) = (.suite, suite.command) }
    context.checkOptions = (suite?.options ?? []) + (against?.options ?? [])
    context.outputs = artifacts.outputs(ofFailed: judged.scenarios).mapValues(invocation.shown)
    return context
  }

  /// Sends the webhook messages; true if every message of this run was delivered.
  private func notify(
    of result: RunResult, comparedWith previous: PreviousVerdicts?, _ news: [TrendEvent]
  ) -> Bool {
    guard !project.webhooks.isEmpty else { return true }
    let exitCode = result.verdict.exitCode
    let states = result.scenarios.reduce(into: [:]) { states, scenario in
      states[scenario.name] = ScenarioState(scenario.verdict, after: previous?[scenario.name] ?? [])
    }
    var random = SystemRandomNumberGenerator()
    for note in project.webhooks.compactMap(\.omissionNote) { invocation.console.note(note) }
    let messages = project.webhooks.filter(\.unsetVariables.isEmpty)
      .filter {
        $0.occasion.shouldNotify(exitCode: exitCode, states: states.values, hasNews: !news.isEmpty)
      }
      .map { webhook in
        OutgoingMessage(
          webhook: webhook,
          event: "check",
          deliveryID: RunIdentifier.make(at: invocation.now(), random: &random),
          body: NotificationBody.bytes(
            result, states: states, news: news, format: webhook.format,
            links: (build: result.run.buildURL, report: nil), exitCode: exitCode
          )
        )
      }
    let sender = WebhookSender(
      outbox: artifacts.outbox, of: invocation.projectName(in: project.root),
      tracked: { [outbox = artifacts.outbox] in GitQuery.tracked($0, in: outbox) },
      interruption: invocation.interruption)
    let reports = sender.deliver(messages, webhooks: project.webhooks)
    for report in reports {
      guard let warning = report.warning else { continue }
      // A quiet check tells what decides its exit code as well.
      if requiresDelivery, !report.wasQueued {
        invocation.console.printError(RunnerError([warning]))
      } else {
        invocation.console.warn(warning.problem)
        if let hint = warning.hint { invocation.console.say("  hint: \(hint)") }
      }
    }
    return reports.allSatisfy { $0.wasQueued || $0.isDelivered }
  }
}

extension ScenarioResult {
  /// The result with what else is known of it, which does not change the verdict.
  fileprivate func completed(
    creeps: [Creep], firstNamed: RiseExplanation.Run?, changes: CodeChanges?
  ) -> ScenarioResult {
    var result = self
    result.notes += creeps.map { .creep(creep: $0) }
    result.explanation?.firstNamed = firstNamed ?? summary.explanation?.firstNamed
    result.explanation?.changes = changes
    return result
  }
}
