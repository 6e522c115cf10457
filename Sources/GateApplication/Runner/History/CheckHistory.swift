import GateCore

/// The history during a check; an unavailable history causes a warning and does not change the verdict.
struct CheckHistory {
  private var history: History?
  /// Why there is no history, or no longer.
  private var failure: (any DiagnosticError)?
  private let location: HistoryLocation
  private let pending: PendingRuns
  private let links: BuildLinks
  private let baselines: String
  private let invocation: Invocation

  /// Opens the project's history; nil if it is turned off.
  init?(of project: Project, in invocation: Invocation) {
    guard let location = project.history else { return nil }
    (self.location, self.invocation, links) = (location, invocation, project.links)
    baselines = project.baselines
    pending = PendingRuns(folder: ArtifactsFolder(path: project.artifacts).pendingRuns)
    do {
      history = try location.openToAdd(for: .checking, root: project.root, in: invocation)
    } catch let error as any DiagnosticError {
      failure = error
    } catch {
      failure = RunnerError(problem: "\(error)", place: location.shown)
    }
  }

  private func warn(_ error: any DiagnosticError, _ consequence: String, _ end: String = "") {
    for diagnostic in error.diagnostics {
      let place = diagnostic.place.map { "\(invocation.shown($0)): " } ?? ""
      invocation.console.warn("\(consequence): \(place)\(diagnostic.problem)\(end)")
    }
  }

  /// Queries the history, or a new one if it turns out to be damaged at two readings; nil if it cannot be read.
  ///
  /// After any other error, the check continues without a history.
  private mutating func querying<Value>(_ question: (History) throws(HistoryError) -> Value) -> Value? {
    do throws(HistoryError) {
      do throws(HistoryError) {
        return try asking(question)
      } catch  where error.code == .damaged {
        // It may be the reading that failed.
        history = try history?.reopened()
      }
      do throws(HistoryError) {
        return try asking(question)
      } catch  where error.code == .damaged {
        let anew = try history?.replacingDamagedFile(at: invocation.now())
        if let anew { location.warnOfRenamedFile(by: anew, in: invocation) }
        history = anew
      }
      return try asking(question)
    } catch {
      failure = error
      history = nil
      return nil
    }
  }

  private func asking<Value>(_ question: (History) throws(HistoryError) -> Value) throws(HistoryError) -> Value? {
    try history.map { history throws(HistoryError) in try question(history) }
  }

  /// The metrics that crept up over earlier runs.
  mutating func creeps(in scenario: ScenarioResult, of run: RunInfo) -> [Creep] {
    guard scenario.verdict != .failed else { return [] }
    // The baseline may show the same creep, over approvals.
    let known = scenario.notes.compactMap { if case .creep(let creep) = $0 { creep.metric } else { nil } }
    let candidates = scenario.metrics.filter {
      [.pass, .improved, .inconclusive].contains($0.verdict) && !known.contains($0.metric)
    }
    return candidates.compactMap { metric in
      guard let before = series(of: metric, in: scenario, of: run) else { return nil }
      let now = SeriesPoint(run: run, verdict: scenario.verdict, metric: metric, approval: scenario.approval)
      return Creep(over: before + [now])
    }
  }

  /// The run that first named the same function for an explained rise.
  mutating func firstNaming(of scenario: ScenarioResult, in run: RunInfo) -> RiseExplanation.Run? {
    guard let culprit = scenario.explanation?.finding.culprit, !culprit.change.function.isAnonymous else { return nil }
    let selection = selection(of: scenario, in: run)
    let first = querying { history throws(HistoryError) in
      try history.firstNaming(culprit.change.function, over: scenario.approval, in: selection)
    }
    // Earlier runs of the same commit do not date it.
    return (first ?? nil).flatMap { first in
      first.commit != nil && first.commit == run.commit ? nil : .init(id: first.id, commit: first.commit)
    }
  }

  private mutating func series(
    of metric: MetricResult,
    in scenario: ScenarioResult,
    of run: RunInfo
  ) -> [SeriesPoint]? {
    let selection = selection(of: scenario, in: run)
    return querying { history throws(HistoryError) in
      try history.series(of: metric.metric, unit: metric.unit, in: selection)
    }
  }

  /// The verdicts of earlier runs of each scenario on this branch; nil if the history has no runs.
  mutating func previousVerdicts(before result: RunResult) -> PreviousVerdicts? {
    guard querying({ history throws(HistoryError) in try history.isEmpty() }) == false else { return nil }
    var verdicts: [ScenarioName: [Verdict]] = [:]
    for scenario in result.scenarios {
      let selection = selection(of: scenario, in: result.run)
      verdicts[scenario.name, default: []] +=
        querying { history throws(HistoryError) in try history.verdicts(in: selection) } ?? []
    }
    return PreviousVerdicts(verdicts)
  }

  /// Adds the finished run, and those of earlier checks that could not be added then; if the history is unavailable, the
  /// run waits in the artifacts.
  mutating func append(_ result: RunResult) {
    let planted = pending.planted()
    if !planted.isEmpty {
      invocation.console.warn(
        "\(Console.count(planted.count, "pending run")) in \(invocation.shown(pending.folder)) not added to the history:"
          + " git tracks the files, so a commit may have put them there; remove them from the repository")
    }
    let waiting = pending.read(without: planted)
    let runs = waiting.map(\.run) + [result.summary]
    if querying({ history throws(HistoryError) in try history.append(runs) }) != nil {
      pending.remove(waiting)
      if !waiting.isEmpty {
        invocation.console.note("added \(Console.count(waiting.count, "pending run")) to the history")
      }
      return
    }
    guard let failure else { return }
    do throws(FileError) {
      try pending.add(result.summary)
      warn(failure, Self.notAdded, "; queued in \(invocation.shown(pending.folder)); the next check will add it")
    } catch {
      warn(failure, Self.notAdded)
      warn(error, "it could not be queued for the next check either")
    }
  }

  private static let notAdded = "this run was not added to the history"

  /// The trend of all runs, without acknowledgements; nil if the history cannot be read.
  mutating func trend() -> Trend? {
    let (links, now) = (links, invocation.now())
    return querying { history throws(HistoryError) in try history.trend(createdAt: now, links: links) }
  }

  /// Writes the history as a page; an error causes a warning and does not change the verdict.
  ///
  /// - Parameter path: The path of the page.
  /// - Returns: the trend that was written; nil if none was.
  mutating func writeTrend(to path: String) -> Trend? {
    guard history != nil else { return nil }
    guard var trend = trend() else {
      if let failure { warn(failure, "the trend page was not written") }
      return nil
    }
    do throws(FileError) {
      trend.apply(try AcknowledgementFile.load(from: baselines))
      try SafeFile.write(Array(TrendPage.text(trend).utf8), to: path)
      return trend
    } catch {
      warn(error, "the trend page was not written")
      return nil
    }
  }

  private func selection(of scenario: ScenarioResult, in run: RunInfo) -> History.Selection {
    History.Selection(
      scenario.name, environment: scenario.environment.name, branch: .named(run.branch), latest: Creep.latestRuns)
  }
}
