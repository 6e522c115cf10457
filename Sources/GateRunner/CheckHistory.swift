import GateCore
import GateFiles
import GateHistory

/// The history as one check uses it; a history that cannot be had is told and costs no verdict.
struct CheckHistory {
  private let history: History?
  private let warn: (String) -> Void

  /// Opens the project's history, if it keeps one.
  init(of project: Project, in workplace: Workplace) {
    warn = workplace.console.warn
    guard let path = project.history else {
      history = nil
      return
    }
    do {
      history = try HistoryPlace(path: path).openForWriting(in: workplace)
    } catch {
      history = nil
      warn(Self.words(for: error))
    }
  }

  private static func words(for error: any Error) -> String {
    let complaint = (error as? any ExplainedError)?.complaints.first
    let place = complaint?.place.map { "\($0): " } ?? ""
    return "this run is not in the history: \(place)\(complaint?.problem ?? "\(error)")"
  }

  private func asking<Value>(_ question: (History) throws(HistoryError) -> Value) -> Value? {
    guard let history else { return nil }
    do throws(HistoryError) {
      return try question(history)
    } catch {
      warn("the history cannot be read: \(error.path): \(error.problem)")
      return nil
    }
  }

  /// Adds to the scenarios' notes which of their metrics crept up over the runs before.
  func addCreep(to result: inout RunResult) {
    for (index, record) in RunRecord(result).scenarios.enumerated() where record.verdict != .failed {
      let unchanged = result.scenarios[index]
      let gate = unchanged.gate
      for metric in record.metrics where [.pass, .improved, .inconclusive].contains(metric.judgement?.verdict) {
        let now = SeriesPoint(
          run: result.run, verdict: record.verdict, record: metric, approval: record.approval)
        let selection = selection(of: unchanged, in: result.run, latest: Self.longest)
        let before = asking { history throws(HistoryError) in try history.series(of: metric.metric, in: selection) }
        guard let before else { return }
        guard let creep = CreepOfRuns(before + [now], tolerance: gate.tolerance(of: metric.metric)) else { continue }
        // The baseline may have told of the same creep, over approvals.
        let known = unchanged.notes.contains { $0.hasPrefix("\(metric.metric) has crept up") }
        if !known { result.scenarios[index].notes.append(creep.sentence(unit: "bytes")) }
      }
    }
  }

  /// The verdicts of earlier runs of each scenario on this branch; nil where the history has no run at all.
  func previousVerdicts(before result: RunResult) -> PreviousVerdicts? {
    guard asking({ history throws(HistoryError) in try history.isEmpty() }) == false else { return nil }
    let verdicts = result.scenarios.map { scenario in
      let selection = selection(of: scenario, in: result.run, latest: Self.longest)
      let earlier = asking { history throws(HistoryError) in try history.verdicts(in: selection) } ?? []
      return (scenario.name, earlier)
    }
    return PreviousVerdicts(Dictionary(verdicts, uniquingKeysWith: +))
  }

  /// Adds the finished run.
  func append(_ result: RunResult) {
    guard let history else { return }
    do throws(HistoryError) {
      try history.append(result)
    } catch {
      warn(Self.words(for: error))
    }
  }

  /// How many runs are looked back: a creep of 0.05 % a run is 10 % over so many, and older runs say little of today.
  private static let longest = 200

  private func selection(of scenario: ScenarioResult, in run: RunInfo, latest: Int) -> History.Selection {
    History.Selection(
      scenario.name, environment: scenario.environment.name, branch: .named(run.branch), latest: latest)
  }
}

/// Where a history is.
struct HistoryPlace {
  /// Absolute.
  let path: String

  /// Opens the history to add to it, and says if a file of no use stood in its place.
  func openForWriting(in workplace: Workplace) throws -> History {
    try SafeFile.makeFolder(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
    let history = try History.open(path, at: workplace.now())
    if let aside = history.setAside {
      workplace.console.warn(
        "\(workplace.shown(path)) was damaged or another program's: it is \(workplace.shown(aside)) now, and a new "
          + "history has begun")
    }
    return history
  }
}
