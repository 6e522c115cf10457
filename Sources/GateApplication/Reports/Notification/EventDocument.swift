import FoundationEssentials
import GateCore

/// An event of the history in JSON: in a trend, and in a notification.
struct EventDocument: Encodable {
  struct Change: Encodable {
    let scenario: ScenarioName
    let environment: String
    let metric: MetricName
    let unit: String
    let from: Double
    let to: Double
    let percent: Double?
    let pValue: Double?
    let persists: Bool
  }

  struct Cause: Encodable {
    let environment: [Fingerprint.Difference]
    let approvals: [Approval]
    let function: FunctionName?
    let text: String
  }

  struct Decision: Encodable {
    let at: Date
    let by: String
    let reason: String
  }

  struct Commands: Encodable {
    let log: String?
    let bisect: String?
  }

  let id: String
  let text: String
  let kind: String
  let state: String
  let needsAttention: Bool
  let branch: String?
  let before: RunReference?
  let after: RunReference
  let start: RunReference
  let scenarios: Int
  let measured: Int
  let medianChange: Double?
  let medianPercent: Double?
  let acknowledged: Decision?
  let cause: Cause
  let commands: Commands
  let changes: [Change]

  init(_ event: TrendEvent) {
    (id, text, kind, branch) = (event.id, event.displayText, event.kind.rawValue, event.branch)
    (state, needsAttention) = (event.state.rawValue, event.needsAttention)
    acknowledged = event.acknowledgement.map { Decision(at: $0.at, by: $0.by, reason: $0.reason) }
    (before, after) = (event.before.map(RunReference.init), RunReference(event.after))
    start = RunReference(event.start)
    (scenarios, measured) = (event.scenarios.count, event.measured)
    (medianChange, medianPercent) = (event.medianSize, event.medianPercent)
    cause = Cause(
      environment: event.cause.environment, approvals: event.approvals,
      function: event.cause.explanation?.finding.culprit?.change.function, text: event.causeText)
    commands = Commands(log: event.logCommand.map(ShellWords.line), bisect: event.bisectCommand.map(ShellWords.line))
    changes = event.changes.map { change in
      Change(
        scenario: change.scenario, environment: change.environment, metric: change.metric, unit: change.unit,
        from: change.before, to: change.after, percent: change.percent, pValue: change.chance,
        persists: change.persists)
    }
  }
}

/// A run in such JSON.
struct RunReference: Encodable {
  let run: String
  let at: Date
  let commit: String?
  let dirty: Bool?
  let subject: String?

  init(_ run: RunInfo) {
    self.run = run.id
    (at, commit, subject) = (run.startedAt, run.commit, run.subject)
    dirty = run.isDirty ? true : nil
  }
}
