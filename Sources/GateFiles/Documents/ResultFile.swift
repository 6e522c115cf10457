package import GateCore
import FoundationEssentials

/// Result files (`highwater.result/1`, file-formats.md, The result).
package enum ResultFile {
  /// The most bytes of a result file that are read.
  package static let largest = 256 << 20

  /// The result as JSON: every documented key, `null` where a value is not known.
  ///
  /// Amounts of memory are rounded to whole bytes and percentages to two decimals; figures that are not finite are
  /// left out, and texts are cut at 64 KiB.
  package static func encode(_ result: RunResult) -> [UInt8] {
    JSONText.encode(ResultDocument(result), filling: "scenarios", with: result.scenarios.map(ScenarioDocument.init))
  }

  /// Reads a result that this or a later minor version wrote, or another program by file-formats.md.
  ///
  /// Needed are `schema`, `run.id`, the environment's name and fingerprint, and for each scenario `name` and
  /// `repetitions[].metrics`. A repetition without `end` ended in a way that is not known. The path is for messages.
  package static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> RunResult {
    let hint = "name a result file, as `highwater check --json FILE` writes it"
    return try JSONText.decode(ResultDocument.self, from: bytes, path: path, hint: hint).result
  }
}

struct ResultDocument: Codable {
  let result: RunResult

  init(_ result: RunResult) {
    self.result = result
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    try DocumentSchema.result.check(fields)
    let environment = try fields.value("environment", as: EnvironmentDocument.self).environment
    result = RunResult(
      run: try fields.value("run", as: RunDocument.self).run,
      environment: environment,
      scenarios: try fields.objects("scenarios", atMost: DocumentLimit.scenarios) { fields in
        try ScenarioResult(fields, in: environment)
      }
    )
    var seen: Set<[String]> = []
    for (index, scenario) in result.scenarios.enumerated()
    where !seen.insert([scenario.name.text, scenario.environment.name]).inserted {
      throw fields.fault("scenarios", "has `\(scenario.name)` twice, the second time as entry \(index)")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    let verdict = result.verdict
    try fields.encode(DocumentSchema.result.text, forKey: "schema")
    try fields.encode(["name": Tool.name, "version": Tool.version], forKey: "tool")
    try fields.encode(RunDocument(result.run), forKey: "run")
    try fields.encode(EnvironmentDocument(result.environment), forKey: "environment")
    try fields.encode(verdict.rawValue, forKey: "verdict")
    try fields.encode(verdict.exitCode.rawValue, forKey: "exitCode")
    // They are filled in one by one.
    try fields.encode([String](), forKey: "scenarios")
  }
}

/// When and of what a run was.
struct RunDocument: Codable {
  let run: RunInfo

  init(_ run: RunInfo) {
    self.run = run
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    run = RunInfo(
      id: try fields.name("id"),
      startedAt: try fields.instantIfAny("startedAt") ?? Date(timeIntervalSince1970: 0),
      duration: try fields.secondsIfAny("durationSeconds") ?? .zero,
      commit: try fields.textIfAny("commit"),
      subject: try fields.textIfAny("subject"),
      branch: try fields.textIfAny("branch"),
      buildURL: try fields.textIfAny("buildURL")
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(run.id, forKey: "id")
    try fields.encode(Timestamp.text(of: run.startedAt), forKey: "startedAt")
    try fields.encode(run.duration.asSeconds, forKey: "durationSeconds")
    try fields.encodeOrNull(run.commit?.boundedStart, forKey: "commit")
    try fields.encodeIfPresent(run.subject?.boundedStart, forKey: "subject")
    try fields.encodeOrNull(run.branch?.boundedStart, forKey: "branch")
    try fields.encodeOrNull(run.buildURL?.boundedStart, forKey: "buildURL")
  }
}

extension JSONFields {
  func instantIfAny(_ key: JSONName) throws -> Date? {
    guard let text = try textIfAny(key) else { return nil }
    if let date = Timestamp.date(from: text) { return date }
    throw fault(
      key, "is no instant: `\(DocumentFault.shown(text))`", hint: "write it as in `2026-01-02T03:04:05.678Z`"
    )
  }
}
