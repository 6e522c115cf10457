import GateCore
import GateFiles
import GateHistory
import GateReports

/// The history as one check uses it; a history that cannot be had is told and costs no verdict.
struct CheckHistory {
  private var history: History?
  private let links: BuildLinks
  private let invocation: Invocation

  /// Opens the project's history, if it keeps one.
  init(of project: Project, in invocation: Invocation) {
    self.invocation = invocation
    links = project.links
    guard let path = project.history else { return }
    do {
      history = try HistoryPlace(path: path).openForWriting(in: invocation)
    } catch let error as any DiagnosticError {
      warn(error)
    } catch {
      warn(RunnerError(problem: "\(error)", place: path))
    }
  }

  private func warn(_ error: any DiagnosticError, _ consequence: String = "this run is not in the history") {
    for diagnostic in error.diagnostics {
      let place = diagnostic.place.map { "\(invocation.shown($0)): " } ?? ""
      invocation.console.warn("\(consequence): \(place)\(diagnostic.problem)")
    }
  }

  /// Asks the history, or a new one where it turns out to be damaged; nil where there is none that answers.
  ///
  /// After an error that is not healed so there is no history for the rest of the check: one warning tells enough.
  private mutating func asking<Value>(_ question: (History) throws(HistoryError) -> Value) -> Value? {
    do throws(HistoryError) {
      do throws(HistoryError) {
        return try history.map { history throws(HistoryError) in try question(history) }
      } catch  where error.code == .damaged {
        let anew = try history?.beginAnew(at: invocation.now())
        if let anew { HistoryPlace(path: anew.path).tellOfFileSetAside(by: anew, in: invocation) }
        history = anew
        return try anew.map { history throws(HistoryError) in try question(history) }
      }
    } catch {
      warn(error)
      history = nil
      return nil
    }
  }

  /// Adds to the scenarios' notes which of their metrics crept up over the runs before.
  mutating func addCreep(to result: inout RunResult) {
    for (index, record) in RunRecord(result).scenarios.enumerated() where record.verdict != .failed {
      let unchanged = result.scenarios[index]
      let gate = unchanged.gate
      for metric in record.metrics where [.pass, .improved, .inconclusive].contains(metric.judgement?.verdict) {
        let now = SeriesPoint(
          run: result.run, verdict: record.verdict, record: metric, approval: record.approval)
        let selection = selection(of: unchanged, in: result.run)
        let before = asking { history throws(HistoryError) in
          try history.series(of: metric.metric, reported: metric.reported, in: selection)
        }
        guard let before else { return }
        guard let creep = CreepOfRuns(before + [now], tolerance: gate.tolerance(of: metric.metric)) else { continue }
        // The baseline may have told of the same creep, over approvals.
        let known = unchanged.notes.contains { $0.hasPrefix("\(metric.metric) has crept up") }
        if !known { result.scenarios[index].notes.append(creep.sentence(unit: unchanged.unit(of: metric.metric))) }
      }
    }
  }

  /// The verdicts of earlier runs of each scenario on this branch; nil where the history has no run at all.
  mutating func previousVerdicts(before result: RunResult) -> PreviousVerdicts? {
    guard asking({ history throws(HistoryError) in try history.isEmpty() }) == false else { return nil }
    var verdicts: [ScenarioName: [Verdict]] = [:]
    for scenario in result.scenarios {
      let selection = selection(of: scenario, in: result.run)
      verdicts[scenario.name, default: []] +=
        asking { history throws(HistoryError) in try history.verdicts(in: selection) } ?? []
    }
    return PreviousVerdicts(verdicts)
  }

  /// Adds the finished run.
  mutating func append(_ result: RunResult) {
    _ = asking { history throws(HistoryError) in try history.append([RunRecord(result).verbatim]) { _, _ in false } }
  }

  /// Leaves the history as a page; one that cannot be written is told and costs no verdict.
  ///
  /// - Parameter path: Where it goes.
  /// - Returns: whether it is there now.
  mutating func writeTrend(to path: String) -> Bool {
    let (links, now) = (links, invocation.now())
    let trend = asking { history throws(HistoryError) in try history.trend(madeAt: now, links: links) }
    guard let trend else { return false }
    do throws(FileError) {
      try SafeFile.write(Array(TrendPage.text(trend).utf8), to: path)
      return true
    } catch {
      warn(error, "there is no new trend page")
      return false
    }
  }

  /// How many runs are looked back: a creep of 0.05 % a run is 10 % over so many, and older runs say little of today.
  private static let longest = 200

  private func selection(of scenario: ScenarioResult, in run: RunInfo) -> History.Selection {
    History.Selection(
      scenario.name, environment: scenario.environment.name, branch: .named(run.branch), latest: Self.longest)
  }
}

/// Where a history is.
struct HistoryPlace {
  /// Absolute.
  let path: String

  /// Opens the history to add to it, and says if a file of no use stood in its place.
  func openForWriting(in invocation: Invocation) throws -> History {
    try SafeFile.makeFolder(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
    let history = try History.open(path, at: invocation.now())
    tellOfFileSetAside(by: history, in: invocation)
    return history
  }

  func tellOfFileSetAside(by history: History, in invocation: Invocation) {
    guard let aside = history.setAside else { return }
    invocation.console.warn(
      "\(invocation.shown(path)) was damaged or another program's: it is \(invocation.shown(aside)) now, and a new "
        + "history has begun")
  }
}
