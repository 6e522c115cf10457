package import GateCore
import FoundationEssentials

/// Runs of the history as JSON lines (`highwater.run/1`): one object a line.
///
/// A line is the result document without its repetitions: of each metric the median, the ends and the number of its
/// values, and how it was judged. What is not known is left out, and the environment of a scenario where it is the
/// run's.
package enum RunLine {
  /// The most bytes of a line that are read.
  package static let largest = 32 << 20

  /// The run as a line with its line feed; equal runs make equal bytes.
  package static func encode(_ record: RunRecord) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return try [UInt8](encoder.encode(RunRecordDocument(record))) + [0x0a]
    } catch {
      preconditionFailure("documents hold texts and finite numbers only, which JSON can always say: \(error)")
    }
  }

  /// Reads a line; with a whole result document in it, what the history keeps of that.
  ///
  /// - Parameters:
  ///   - bytes: The line, with its line feed or without.
  ///   - path: The file, for messages.
  ///   - number: The line's number from 1, for messages; nil where the bytes are a whole file.
  /// - Returns: the run; of a metric and a trouble in it there is one each.
  /// - Throws: where the line is neither, with its number and column.
  package static func decode(_ bytes: [UInt8], path: String, line number: Int?) throws(FileError) -> RunRecord {
    do throws(FileError) {
      let hint = "name JSON lines as `\(Tool.name) history export` writes them, or result files"
      return try JSONText.decode(AnyRunDocument.self, from: bytes, path: path, hint: hint).record
    } catch {
      guard let number else { throw error }
      // The line is a text of one line, so that its own number says nothing.
      let column = error.position?.split(separator: ":").last.map { ":\($0)" } ?? ""
      throw FileError(
        code: error.code, path: path, position: "\(number)\(column)", problem: error.problem, hint: error.hint
      )
    }
  }
}

/// A line of a history, or a result document.
private struct AnyRunDocument: Decodable {
  let record: RunRecord

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    if try fields.text("schema").hasPrefix("\(DocumentSchema.result.name)/") {
      record = RunRecord(try ResultDocument(from: decoder).result)
    } else {
      record = try RunRecordDocument(from: decoder).record
    }
    // The history keeps texts as C strings, which end at their first zero.
    if let text = record.texts.first(where: { $0.utf8.contains(0) }) {
      throw DocumentFault(problem: "holds a text with a zero character: `\(DocumentFault.shown(text))`")
    }
  }
}

extension RunRecord {
  /// All texts that are not checked as names.
  fileprivate var texts: [String] {
    var texts: [String?] = [run.commit, run.subject, run.branch, run.buildURL]
    for scenario in scenarios {
      for trouble in scenario.troubles { texts += [trouble.end.proofLine, trouble.end.causeText] }
      if let approval = scenario.approval { texts += [approval.by, approval.commit, approval.reason, approval.run] }
    }
    for other in [environment] + scenarios.map(\.environment).filter({ $0 != environment }) {
      texts += Fingerprint.Field.allCases.map { other.fingerprint.text(of: $0) }
    }
    return texts.compactMap(\.self)
  }
}

private struct RunRecordDocument: Codable {
  let record: RunRecord

  init(_ record: RunRecord) {
    self.record = record
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    try DocumentSchema.run.check(fields)
    let environment = try fields.value("environment", as: EnvironmentDocument.self).environment
    record = RunRecord(
      run: try fields.value("run", as: RunDocument.self).run,
      environment: environment,
      scenarios: try fields.objects("scenarios", atMost: DocumentLimit.scenarios) { fields in
        try ScenarioRecord(fields, in: environment)
      }
    )
    let keys = record.scenarios.map { [$0.name.text, $0.environment.name] }
    if Set(keys).count < keys.count { throw fields.fault("scenarios", "has a scenario twice") }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(DocumentSchema.run.text, forKey: "schema")
    try fields.encode(RunDocument(record.run), forKey: "run")
    try fields.encode(EnvironmentDocument(record.environment), forKey: "environment")
    try fields.encode(record.verdict.rawValue, forKey: "verdict")
    try fields.encode(
      record.scenarios.map { ScenarioRecordDocument(scenario: $0, environment: record.environment) },
      forKey: "scenarios")
  }
}

private struct ScenarioRecordDocument: Encodable {
  let scenario: ScenarioRecord
  /// The run's.
  let environment: EnvironmentInfo

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(scenario.name.text, forKey: "name")
    if !scenario.tags.isEmpty { try fields.encode(scenario.tags, forKey: "tags") }
    try fields.encode(scenario.verdict.rawValue, forKey: "verdict")
    if scenario.environment != environment {
      try fields.encode(EnvironmentDocument(scenario.environment), forKey: "environment")
    }
    try fields.encode(scenario.repetitions, forKey: "repetitions")
    if scenario.growthIsPerIteration { try fields.encode("iteration", forKey: "growthPer") }
    try fields.encode(scenario.metrics.map(MetricRecordDocument.init), forKey: "metrics")
    if !scenario.troubles.isEmpty { try fields.encode(scenario.troubles.map(TroubleDocument.init), forKey: "troubles") }
    try fields.encodeIfPresent(scenario.composition.map { CompositionDocument($0) }, forKey: "composition")
    try fields.encodeIfPresent(scenario.approval.map(ApprovalDocument.init), forKey: "approved")
  }
}

extension ScenarioRecord {
  /// `environment` is the run's, for a scenario that names none of its own.
  fileprivate init(_ fields: JSONFields, in environment: EnvironmentInfo) throws {
    var composition = try fields.valueIfAny("composition", as: CompositionDocument.self)?.composition
    composition?.libraries = []
    self.init(
      name: ScenarioName(try fields.name("name")),
      tags: try fields.tags(),
      verdict: try fields.choice("verdict"),
      environment: try fields.valueIfAny("environment", as: EnvironmentDocument.self)?.environment ?? environment,
      repetitions: Int(try fields.wholeIfAny("repetitions", in: 0...Int64(DocumentLimit.repetitions)) ?? 0),
      growthIsPerIteration: try fields.textIfAny("growthPer") == "iteration",
      metrics: try fields.listIfAny("metrics", of: MetricRecordDocument.self).map(\.record)
        .sorted { MetricRecord.isShownBefore($0.metric, $1.metric) },
      troubles: try fields.listIfAny("troubles", of: TroubleDocument.self, atMost: DocumentLimit.repetitions)
        .map(\.trouble).sorted { $0.repetition < $1.repetition },
      composition: composition,
      approval: try fields.valueIfAny("approved", as: ApprovalDocument.self)?.approval
    )
    if Set(metrics.map(\.metric)).count < metrics.count { throw fields.fault("metrics", "has a metric twice") }
    if Set(troubles.map(\.repetition)).count < troubles.count {
      throw fields.fault("troubles", "has a repetition twice")
    }
  }
}

private struct MetricRecordDocument: Codable {
  let record: MetricRecord

  init(_ record: MetricRecord) {
    self.record = record
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let amounts = -DocumentLimit.amount...DocumentLimit.amount
    let figures = try fields.numberIfAny("median", in: amounts).map { median in
      MetricRecord.Figures(
        median: median,
        low: try fields.numberIfAny("low", in: amounts) ?? median,
        high: try fields.numberIfAny("high", in: amounts) ?? median,
        count: Int(try fields.wholeIfAny("count", in: 1...Int64(DocumentLimit.repetitions)) ?? 1)
      )
    }
    let judgement = try fields.choiceIfAny("verdict", as: Verdict.self).map { verdict in
      MetricRecord.Judgement(
        verdict: verdict,
        baseline: try fields.numberIfAny("baseline", in: amounts),
        change: try fields.numberIfAny("change", in: amounts),
        allowed: try fields.numberIfAny("allowed", in: 0...DocumentLimit.amount),
        limit: try fields.numberIfAny("limit", in: 0...DocumentLimit.amount)
      )
    }
    let metric = MetricName(try fields.name("name"))
    let reported = metric.isValue ? try fields.unitIfAny("unit") : nil
    record = MetricRecord(metric: metric, reported: reported, figures: figures, judgement: judgement)
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    let metric = record.metric
    func figure(_ value: Double) -> Figure { Figure(value, of: metric) }
    try fields.encode(metric.text, forKey: "name")
    try fields.encodeIfPresent(record.reported, forKey: "unit")
    if let figures = record.figures {
      try fields.encode(figure(figures.median), forKey: "median")
      try fields.encode(figure(figures.low), forKey: "low")
      try fields.encode(figure(figures.high), forKey: "high")
      try fields.encode(figures.count, forKey: "count")
    }
    guard let judgement = record.judgement else { return }
    try fields.encode(judgement.verdict.rawValue, forKey: "verdict")
    try fields.encodeIfPresent(judgement.baseline.map(figure), forKey: "baseline")
    try fields.encodeIfPresent(judgement.change.map(figure), forKey: "change")
    try fields.encodeIfPresent(judgement.allowed.map(figure), forKey: "allowed")
    try fields.encodeIfPresent(judgement.limit.map(figure), forKey: "limit")
  }
}

private struct TroubleDocument: Codable {
  let trouble: ScenarioRecord.Trouble

  init(_ trouble: ScenarioRecord.Trouble) {
    self.trouble = trouble
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    trouble = ScenarioRecord.Trouble(
      repetition: Int(try fields.whole("repetition", in: 1...Int64(DocumentLimit.repetitions))),
      end: try fields.value("end", as: EndDocument.self).end
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(trouble.repetition, forKey: "repetition")
    try fields.encode(EndDocument(trouble.end), forKey: "end")
  }
}
