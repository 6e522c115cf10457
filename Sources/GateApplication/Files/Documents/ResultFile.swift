import FoundationEssentials
import GateCore

/// Result files (`highwater.result/1`, file-formats.md, The result).
enum ResultFile {
  /// The largest result file that is read, in bytes.
  static let largest = 256 << 20

  /// The result as JSON.
  ///
  /// Unknown values are left out. Amounts of memory are rounded to whole bytes and percentages to two decimals.
  static func encode(_ result: RunResult, words: FileWords) -> [UInt8] {
    JSON.encode(ResultDocument(result: result, words: words), .pretty)
  }

  /// Reads a result that a check wrote, on this machine or another.
  ///
  /// - Throws: also if git tracks the file, since a commit may have written it.
  static func readMeasured(_ path: String, shown: String? = nil) throws(FileError) -> RunResult {
    let result = try decode(SafeFile.read(path, atMost: largest), path: shown ?? path)
    guard !GitQuery.isTracked(path) else {
      throw FileError(
        code: .unreadable, path: shown ?? path, problem: "is not used: git tracks it, so a commit may have written it",
        hint: "remove it from the repository (`git rm --cached`), and run `\(Tool.name) check`")
    }
    return result
  }

  /// Decodes a result of this version, a later minor version, or another program that follows file-formats.md.
  ///
  /// Required are `schema`, `run.id`, the environment's name and fingerprint, and for each scenario `name` and
  /// `repetitions[].metrics`. A repetition without `end` has an unknown end. The path is for messages.
  static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> RunResult {
    let hint = "name a result file, as `highwater check --json FILE` writes it"
    return try JSON.decode(DecodedResult.self, from: bytes, path: path, hint: hint).result
  }
}

/// Texts of notes, reasons, failures and ends, which files have for readers beside the values.
struct FileWords: Sendable {
  var reason: @Sendable (MetricResult) -> String?
  var note: @Sendable (Note, ScenarioResult) -> String
  var runNote: @Sendable (RunNote) -> String
  var recordingNote: @Sendable (RecordingNote) -> String
  var failure: @Sendable (Failure) -> String
  var explanation: @Sendable (RiseExplanation) -> String
  var end: @Sendable (End) -> EndTexts

  typealias EndTexts = (text: String, proof: String?, detail: String?)
}

private enum ResultKey: CodingKey {
  case schema, tool, run, environment, verdict, exitCode, scenarios
}

private struct ResultDocument: Encodable {
  let result: RunResult
  let words: FileWords

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: ResultKey.self)
    try fields.encode(Schema.result.text, forKey: .schema)
    try fields.encode(Tool.fields, forKey: .tool)
    try fields.encode(RunDocument(run: result.run, words: words), forKey: .run)
    try fields.encode(result.environment, forKey: .environment)
    try fields.encode(result.verdict, forKey: .verdict)
    try fields.encode(result.verdict.exitCode.rawValue, forKey: .exitCode)
    try fields.encode(
      result.scenarios.map { ScenarioDocument(scenario: $0, words: words) }, forKey: .scenarios)
  }
}

private struct RunDocument: Encodable {
  let run: RunInfo
  let words: FileWords

  private enum Key: CodingKey {
    case notes
  }

  func encode(to encoder: any Encoder) throws {
    try run.encode(to: encoder)
    guard !run.notes.isEmpty else { return }
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(run.notes.map { Worded(value: $0, text: words.runNote($0)) }, forKey: .notes)
  }
}

struct DecodedResult: Decodable {
  private(set) var result: RunResult

  init(from decoder: any Decoder) throws {
    try Schema.result.check(decoder)
    let fields = try decoder.container(keyedBy: ResultKey.self)
    let run = try fields.decode(RunInfo.self, forKey: .run)
    let environment = try fields.decode(EnvironmentInfo.self, forKey: .environment)
    let scenarios = try fields.decodeAll(DecodedScenario.self, forKey: .scenarios, inRunOf: environment)
    result = RunResult(run: run, environment: environment, scenarios: scenarios.map(\.scenario))
    try DocumentCheck(decoder).check(result.summary)
    // Other programs may have anything here.
    let tool = try? fields.decode([String: String].self, forKey: .tool)
    result.toolVersion = tool?["version"] ?? ""
  }
}

extension KeyedDecodingContainer {
  /// Decodes the scenarios of a run in this environment.
  ///
  /// The array's own `decode(_:forKey:configuration:)` takes a missing key for null.
  func decodeAll<Scenario: DecodableWithConfiguration>(
    _ type: Scenario.Type, forKey key: Key, inRunOf environment: EnvironmentInfo
  ) throws -> [Scenario] where Scenario.DecodingConfiguration == EnvironmentInfo {
    var list = try nestedUnkeyedContainer(forKey: key)
    var scenarios: [Scenario] = []
    while !list.isAtEnd { scenarios.append(try list.decode(type, configuration: environment)) }
    return scenarios
  }
}

// MARK: - Scenarios

enum ScenarioKey: CodingKey {
  case metrics, definition, gate, plan, instances, limitedRun, repetitionCount, repetitions, composition, failure, notes
  case baselineCurve, commitsSinceApproval, explanation, times, suite

  enum Composition: CodingKey {
    case baseline, peak
  }

  enum Text: CodingKey {
    case text
  }
}

/// A scenario's summary and the members that only the result file has.
private struct ScenarioDocument: Encodable {
  let scenario: ScenarioResult
  let words: FileWords

  func encode(to encoder: any Encoder) throws {
    try scenario.summary.encode(to: encoder, configuration: nil)
    var fields = encoder.container(keyedBy: ScenarioKey.self)
    try fields.encode(scenario.metrics.map { MetricDocument(metric: $0, words: words) }, forKey: .metrics)
    try fields.encodeIfPresent(scenario.definition, forKey: .definition)
    try fields.encode(scenario.gate, forKey: .gate)
    try fields.encode(
      scenario.repetitions.map { RepetitionDocument(repetition: $0, words: words) }, forKey: .repetitions)
    try fields.encodeIfPresent(scenario.plan, forKey: .plan)
    try fields.encodeIfPresent(scenario.instances, forKey: .instances)
    if scenario.times != TimeUse() { try fields.encode(scenario.times, forKey: .times) }
    try fields.encodeIfPresent(scenario.limitedRun, forKey: .limitedRun)
    try fields.encodeIfPresent(scenario.suite, forKey: .suite)
    var compositions = fields.nestedContainer(keyedBy: ScenarioKey.Composition.self, forKey: .composition)
    try compositions.encodeIfPresent(scenario.reference?.composition, forKey: .baseline)
    try compositions.encodeIfPresent(scenario.compositionAtPeak, forKey: .peak)
    try fields.encodeIfPresent(scenario.reference?.curve, forKey: .baselineCurve)
    try fields.encodeIfPresent(scenario.reference?.commitsSinceApproval, forKey: .commitsSinceApproval)
    try fields.encodeIfPresent(
      scenario.failure.map { Worded(value: $0, text: words.failure($0)) }, forKey: .failure)
    try fields.encodeIfPresent(
      scenario.explanation.map { Worded(value: $0, text: words.explanation($0)) }, forKey: .explanation)
    try fields.encode(scenario.notes.map { Worded(value: $0, text: words.note($0, scenario)) }, forKey: .notes)
  }
}

/// An object with the text that describes it.
struct Worded<Value: Encodable>: Encodable {
  let value: Value
  let text: String

  func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    var fields = encoder.container(keyedBy: ScenarioKey.Text.self)
    try fields.encode(text, forKey: .text)
  }
}

struct MetricDocument: Encodable {
  let metric: MetricResult
  let words: FileWords

  private enum Key: CodingKey {
    case reason
  }

  func encode(to encoder: any Encoder) throws {
    try metric.encode(to: encoder)
    guard metric.reason != nil, let text = words.reason(metric) else { return }
    var fields = encoder.container(keyedBy: Key.self)
    var reason = fields.nestedContainer(keyedBy: ScenarioKey.Text.self, forKey: .reason)
    try reason.encode(text, forKey: .text)
  }
}

private struct RepetitionDocument: Encodable {
  let repetition: RepetitionResult
  let words: FileWords

  private enum Key: CodingKey {
    case end, notes
  }

  func encode(to encoder: any Encoder) throws {
    try repetition.encode(to: encoder)
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(EndDocument(end: repetition.end, texts: words.end(repetition.end)), forKey: .end)
    try fields.encode(repetition.notes.map { Worded(value: $0, text: words.recordingNote($0)) }, forKey: .notes)
  }
}

private struct EndDocument: Encodable {
  let end: End
  let texts: FileWords.EndTexts

  private enum Key: CodingKey {
    case text, proof, detail
  }

  func encode(to encoder: any Encoder) throws {
    try end.encode(to: encoder)
    var fields = encoder.container(keyedBy: Key.self)
    try fields.encode(texts.text, forKey: .text)
    try fields.encodeIfPresent(texts.proof, forKey: .proof)
    try fields.encodeIfPresent(texts.detail, forKey: .detail)
  }
}

private struct DecodedScenario: DecodableWithConfiguration {
  let scenario: ScenarioResult

  init(from decoder: any Decoder, configuration environment: EnvironmentInfo) throws {
    let summary = try ScenarioSummary(from: decoder, configuration: environment)
    let fields = try decoder.container(keyedBy: ScenarioKey.self)
    var repetitions = try fields.decode([RepetitionResult].self, forKey: .repetitions)
    guard repetitions.count <= Repetitions.most else {
      throw fields.corrupted(.repetitions, "has \(repetitions.count) entries, at most \(Repetitions.most) are allowed")
    }
    let check = DocumentCheck(decoder)
    for index in repetitions.indices {
      repetitions[index].complete()
      try check.at("repetitions", index).check(repetitions[index])
    }
    var scenario = ScenarioResult(
      name: summary.name,
      verdict: summary.verdict,
      environment: summary.environment,
      gate: try fields.decodeIfPresent(Gate.self, forKey: .gate) ?? .standard,
      repetitions: repetitions,
      failure: try fields.decodeIfPresent(Failure.self, forKey: .failure),
      notes: try fields.decodeIfPresent([Note].self, forKey: .notes) ?? [],
      plan: try fields.decodeIfPresent(RepetitionPlan.self, forKey: .plan)
    )
    scenario.definition = try fields.decodeIfPresent(ScenarioDefinition.self, forKey: .definition)
    scenario.instances = try fields.decodeIfPresent(InstanceCounts.self, forKey: .instances)
    scenario.times = try fields.decodeIfPresent(TimeUse.self, forKey: .times) ?? TimeUse()
    scenario.limitedRun = try fields.decodeIfPresent(Known<LimitedRun>.self, forKey: .limitedRun)?.value
    scenario.suite = try fields.decodeIfPresent(SuiteResult.self, forKey: .suite)
    scenario.summary = summary
    if !fields.contains(.repetitionCount) { scenario.summarize() }
    var reference = ReferenceInfo(
      curve: try fields.decodeIfPresent(MemorySeries.self, forKey: .baselineCurve),
      commitsSinceApproval: try fields.decodeIfPresent(Int.self, forKey: .commitsSinceApproval))
    if try fields.contains(.composition) && !fields.decodeNil(forKey: .composition) {
      let compositions = try fields.nestedContainer(keyedBy: ScenarioKey.Composition.self, forKey: .composition)
      scenario.compositionAtPeak = try compositions.decodeComposition(forKey: .peak)
      reference.composition = try compositions.decodeComposition(forKey: .baseline)
    }
    scenario.reference = reference == ReferenceInfo() ? nil : reference
    self.scenario = scenario
  }
}

extension RepetitionResult {
  /// Adds values that files of other programs lack, and drops metrics without a value.
  fileprivate mutating func complete() {
    units = units.filter { metrics[$0.key] != nil }
    if steadiness == nil, metrics[.steadyRSS] != nil { steadiness = .steady }
  }
}
