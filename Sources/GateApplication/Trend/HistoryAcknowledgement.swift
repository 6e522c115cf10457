import FoundationEssentials
import GateCore

/// Records that an event of the history needs no attention.
struct HistoryAcknowledgement {
  /// The ID of the event, or the first digits of it.
  var event: String
  var reason: String
  var options: SharedOptions

  func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    let trend = try options.trend(of: project, in: invocation)
    let event = try find(in: trend)
    let person = BuildContext(variables: invocation.variables, root: project.root).person
    let acknowledgement = Acknowledgement(of: event, at: invocation.now(), by: person, reason: reason)
    let others = try AcknowledgementFile.load(from: project.baselines).filter {
      !$0.isOfSameEvent(as: acknowledgement)
    }
    try AcknowledgementFile.save(others + [acknowledgement], to: project.baselines)
    let path = invocation.shown(AcknowledgementFile.path(in: project.baselines))
    invocation.console.say("acknowledged \(TerminalText.safe(event.id)) in \(path); commit this file")
    return .pass
  }

  private func find(in trend: Trend) throws(RunnerError) -> TrendEvent {
    let found = trend.events.filter { $0.id.hasPrefix(event) }
    if let exact = found.first(where: { $0.id == event }) { return exact }
    guard let only = found.first, found.count == 1 else {
      throw RunnerError(
        problem: found.isEmpty ? "the history has no event `\(event)`" : "`\(event)` is the start of several events",
        hint: "`\(Tool.name) history list --events` lists them")
    }
    return only
  }
}
