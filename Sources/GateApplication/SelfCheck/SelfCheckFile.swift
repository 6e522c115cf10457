import GateCore

/// Self-checks as JSON (`highwater.selfcheck/1`), for other programs; not read by this one.
enum SelfCheckFile {
  static func encode(_ result: SelfCheckResult, words: FileWords) -> [UInt8] {
    StudyDocument(run: result.run, verdict: result.verdict, scenarios: result.checks.map { CheckDocument($0, words) })
      .encoded(as: .selfCheck)
  }
}

private struct CheckDocument: Encodable {
  let name: ScenarioName
  let environment: EnvironmentInfo
  let outcome: ScenarioSelfCheck.Outcome
  let kind: Mutation
  let injected: Bytes
  let repetitions: Int
  let verdict: Verdict
  let metrics: [MetricDocument]
  let failure: Worded<Failure>?
  let notes: [Worded<Note>]

  init(_ check: ScenarioSelfCheck, _ words: FileWords) {
    let result = check.result
    (name, environment, repetitions) = (check.name, result.environment, result.repetitions.count)
    (outcome, kind, injected, verdict) = (check.outcome, check.mutation, check.injected, result.verdict)
    metrics = result.metrics.map { MetricDocument(metric: $0, words: words) }
    failure = result.failure.map { Worded(value: $0, text: words.failure($0)) }
    notes = result.notes.map { Worded(value: $0, text: words.note($0, result)) }
  }
}
