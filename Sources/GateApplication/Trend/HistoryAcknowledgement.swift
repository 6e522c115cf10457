import FoundationEssentials
import GateCore

/// Records that an event of the history needs no attention.
struct HistoryAcknowledgement {
  /// The ID of the event or its commit, or the first digits of them.
  var event: String
  var reason: String
  var options: SharedOptions

  func run(in invocation: Invocation) throws -> ExitCode {
    let project = try options.loadProject(in: invocation, webhooksNeeded: false)
    let trend = try options.trend(of: project, in: invocation)
    let event = try find(in: trend)
    let person = BuildContext(variables: invocation.variables, root: project.root).person
    let acknowledgement = Acknowledgement(of: event, at: invocation.now(), by: person, reason: reason)
    var known = try AcknowledgementFile.load(from: project.baselines)
    let replaced = known.filter { $0.isOfSameEvent(as: acknowledgement) }
    known.removeAll(where: replaced.contains)
    try AcknowledgementFile.save(known + [acknowledgement], to: project.baselines)
    for old in replaced { invocation.console.note("replaced the earlier entry: \(old.displayText)") }
    let path = invocation.shown(AcknowledgementFile.path(in: project.baselines))
    invocation.console.say("acknowledged \(TerminalText.safe(event.id)) in \(path); commit this file")
    return .pass
  }

  private func find(in trend: Trend) throws(RunnerError) -> TrendEvent {
    let found = trend.events.filter { $0.id.hasPrefix(event) || $0.after.commit?.hasPrefix(event) == true }
    if let exact = found.first(where: { $0.id == event }) { return exact }
    guard let only = found.first, found.count == 1 else {
      let nearest = found.isEmpty ? NearMiss.closest(to: event, among: trend.events.map(\.id)) : nil
      throw RunnerError(
        problem: found.isEmpty ? "the history has no event `\(event)`" : "`\(event)` names several events",
        hint: nearest.map { "did you mean `\($0)`?" } ?? "`\(Tool.name) history list --events` lists them")
    }
    return only
  }
}
