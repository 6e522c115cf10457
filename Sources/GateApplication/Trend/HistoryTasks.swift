import FoundationEssentials
import GateCore

/// Lists, exports and prunes the history.
struct HistoryUse {
  enum Task: Sendable, Equatable {
    /// The latest runs as a table; with names, those of any of these scenarios.
    case list(names: [String], limit: Int)
    /// All runs as JSON lines.
    case export
    /// The latest run and the events as OpenMetrics text.
    case exportOpenMetrics
    /// Removes all runs except the latest ones.
    case keep(Int)
    /// Removes the runs that are older than this many days.
    case keepDays(Int)

    var changes: Bool {
      switch self {
      case .list, .export, .exportOpenMetrics: false
      case .keep, .keepDays: true
      }
    }
  }

  var task: Task
  var options: SharedOptions

  init(_ task: Task, _ options: SharedOptions) {
    self.task = task
    self.options = options
  }

  func run(in invocation: Invocation) throws -> ExitCode {
    let history = try options.historyLocation(in: invocation).openExisting(toChange: task.changes, in: invocation)
    switch task {
    case .list(let names, let limit): try list(history, names, limit, invocation.console)
    case .export:
      try history.forEachRun { invocation.console.print(String(decoding: RunLine.encode($0), as: UTF8.self)) }
    case .exportOpenMetrics:
      let trend = try options.trend(of: options.projectOfHistory(in: invocation), in: invocation)
      invocation.console.print(OpenMetricsReport.text(try history.runs(latest: 1).last, events: trend.events))
    case .keep(let count): try prune(history, keeping: .latest(count), invocation.console)
    case .keepDays(let days):
      let start = invocation.now().addingTimeInterval(-86_400 * Double(days))
      try prune(history, keeping: .since(start), invocation.console)
    }
    return .pass
  }

  private func list(_ history: History, _ names: [String], _ limit: Int, _ console: Console) throws {
    let wanted = try history.scenarios(named: names)
    let runs = try history.runs(latest: limit, of: wanted)
    if runs.isEmpty { console.say("the history has no runs") }
    console.print(HistoryReport.text(runs, of: wanted, style: console.style()))
  }

  private func prune(_ history: History, keeping retention: History.Retention, _ console: Console) throws {
    let removed = try history.prune(keeping: retention)
    console.say("removed \(Console.count(removed, "run"))")
  }
}

/// Lists the events of the history.
struct EventList {
  /// If not empty, only events that changed any of these scenarios.
  var names: [String]
  /// How many of the latest events.
  var limit: Int
  var options: SharedOptions

  func run(in invocation: Invocation) throws -> ExitCode {
    let console = invocation.console
    let wanted = names.isEmpty ? [] : Set(try scenarios(in: invocation))
    let trend = try options.trend(of: options.projectOfHistory(in: invocation), in: invocation)
    let events = trend.events.filter { wanted.isEmpty || !wanted.isDisjoint(with: $0.scenarios) }
    if events.isEmpty { console.say("the history has no events" + (names.isEmpty ? "" : " of these scenarios")) }
    let shown = Array(events.prefix(limit))
    console.print(EventReport.text(shown, isDetailed: console.detail == .verbose, style: console.style()))
    return .pass
  }

  private func scenarios(in invocation: Invocation) throws -> [ScenarioName] {
    try options.historyLocation(in: invocation).openExisting(toChange: false, in: invocation).scenarios(named: names)
  }
}

extension History {
  /// The scenarios of these names; an error about each that the history lacks, with the one that was probably meant.
  fileprivate func scenarios(named names: [String]) throws -> [ScenarioName] {
    guard !names.isEmpty else { return [] }
    let known = Set(try scenarios().map(\.text))
    let unknown = names.filter { !known.contains($0) }
    guard unknown.isEmpty else {
      throw RunnerError(
        unknown.map { name in
          let others = ReportedNames(known, missing: name)
          let hint = others.nearest.map { "did you mean `\($0)`?" } ?? "it has \(others.displayText)"
          return Diagnostic(
            place: path, problem: "the history has no scenario `\(name)`", hint: known.isEmpty ? nil : hint)
        })
    }
    return names.map { ScenarioName($0) }
  }
}
