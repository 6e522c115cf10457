import GateCore

/// The file of a command that studies scenarios without judging this build.
struct StudyDocument<Scenario: Encodable>: Encodable {
  let tool = Tool.fields
  let run: RunInfo
  let verdict: Verdict
  let exitCode: Int32
  let scenarios: [Scenario]

  init(run: RunInfo, verdict: Verdict, scenarios: [Scenario]) {
    (self.run, self.verdict, self.scenarios) = (run, verdict, scenarios)
    exitCode = verdict.exitCode.rawValue
  }

  func encoded(as schema: Schema) -> [UInt8] {
    JSON.encode(WithSchema(schema: schema, content: self), .pretty)
  }
}
