package import GateCore
import FoundationEssentials

/// Baseline files (`highwater.baseline/1`, file-formats.md, The baseline).
package enum BaselineFile {
  /// The most bytes of a baseline that are read: a thousand repetitions of ten metrics have a fifth of it.
  package static let largest = 1 << 20

  /// Whether a file means to be a baseline, by its size and the schema that it names; ``decode(_:path:)`` says more.
  package static func claims(_ bytes: [UInt8]) -> Bool {
    guard bytes.count <= largest else { return false }
    let claim = try? JSONText.decode(SchemaClaim.self, from: bytes, path: "", hint: "")
    return claim?.schema.hasPrefix("\(DocumentSchema.baseline.name)/") ?? false
  }

  /// The baseline as JSON; equal figures make equal bytes, but for what is said of the approval.
  package static func encode(_ baseline: Baseline) -> [UInt8] {
    JSONText.encode(BaselineDocument(baseline))
  }

  /// Reads a baseline; the path is for messages.
  package static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> Baseline {
    let hint = "take the file from version control, or make it again with `highwater approve`"
    return try JSONText.decode(BaselineDocument.self, from: bytes, path: path, hint: hint).baseline
  }
}

/// What a document says first of itself, whatever else it holds.
private struct SchemaClaim: Decodable {
  let schema: String

  init(from decoder: any Decoder) throws {
    schema = try JSONFields(decoder).text("schema")
  }
}

private struct BaselineDocument: Codable {
  private(set) var baseline: Baseline

  /// The small ones come and go by a page, and each would be a line of the diff.
  private static let mostLibraries = 10

  init(_ baseline: Baseline) {
    self.baseline = baseline
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    try DocumentSchema.baseline.check(fields)
    baseline = Baseline(
      scenario: ScenarioName(try fields.name("scenario")),
      environment: try fields.name("environment"),
      fingerprint: try fields.value("fingerprint", as: FingerprintDocument.self).fingerprint,
      metrics: try fields.value("metrics", as: SeriesDocument.self).series,
      composition: try fields.valueIfAny("composition", as: CompositionDocument.self)?.composition,
      treeMethod: try fields.choiceIfAny("treeMethod") ?? .upperBound,
      anchors: try fields.valueIfAny("anchors", as: AnchorsDocument.self)?.anchors ?? [:],
      approved: try fields.value("approved", as: ApprovalDocument.self).approval
    )
    baseline.units = try fields.units(of: baseline.metrics.keys)
    baseline.curve = try fields.valueIfAny("curve", as: SeriesText.self)?.series
    if baseline.metrics.isEmpty { throw fields.fault("metrics", "has no figures") }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(DocumentSchema.baseline.text, forKey: "schema")
    try fields.encode(baseline.scenario.text, forKey: "scenario")
    try fields.encode(baseline.environment, forKey: "environment")
    try fields.encode(FingerprintDocument(baseline.fingerprint), forKey: "fingerprint")
    try fields.encode(SeriesDocument(baseline.metrics), forKey: "metrics")
    try fields.encodeUnits(baseline.units)
    try fields.encode(
      CompositionDocument(baseline.composition, mostLibraries: Self.mostLibraries), forKey: "composition"
    )
    try fields.encodeIfPresent(baseline.curve.map(SeriesText.init), forKey: "curve")
    // Where it is not told, trees were sums, as all were at first: those files stay as they are.
    if baseline.treeMethod != .upperBound { try fields.encode(baseline.treeMethod.rawValue, forKey: "treeMethod") }
    if !baseline.anchors.isEmpty { try fields.encode(AnchorsDocument(baseline.anchors), forKey: "anchors") }
    try fields.encode(ApprovalDocument(baseline.approved), forKey: "approved")
  }
}

/// The values of each metric, one for each repetition.
private struct SeriesDocument: Codable {
  let series: [MetricName: [Double]]

  init(_ series: [MetricName: [Double]]) {
    self.series = series
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    var series: [MetricName: [Double]] = [:]
    for name in fields.names {
      guard let metric = MetricName(parsing: name) else { continue }
      series[metric] = try fields.values(of: metric)
    }
    self.series = series
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    for (metric, values) in series {
      let finite = values.filter(\.isFinite).map { Figure($0, of: metric) }
      if !finite.isEmpty { try fields.encode(finite, forKey: JSONName(metric.text)) }
    }
  }
}

/// How low metrics were before they rose in small steps.
private struct AnchorsDocument: Codable {
  let anchors: [MetricName: Baseline.Anchor]

  init(_ anchors: [MetricName: Baseline.Anchor]) {
    self.anchors = anchors
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    var anchors: [MetricName: Baseline.Anchor] = [:]
    for name in fields.names {
      guard let metric = MetricName(parsing: name) else { continue }
      anchors[metric] = try fields.value(JSONName(name), as: AnchorDocument.self).anchor
    }
    self.anchors = anchors
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    for (metric, anchor) in anchors where anchor.level.isFinite {
      try fields.encode(AnchorDocument(anchor, of: metric), forKey: JSONName(metric.text))
    }
  }
}

private struct AnchorDocument: Codable {
  let anchor: Baseline.Anchor
  /// For writing; only memory is rounded to whole bytes.
  private let metric: MetricName

  init(_ anchor: Baseline.Anchor, of metric: MetricName) {
    (self.anchor, self.metric) = (anchor, metric)
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    guard let instant = try fields.instantIfAny("at") else { throw fields.fault("at", "is missing") }
    metric = .peakRSS
    anchor = Baseline.Anchor(
      level: try fields.number("level", in: -DocumentLimit.amount...DocumentLimit.amount), at: instant,
      commit: try fields.textIfAny("commit")
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(Figure(anchor.level, of: metric), forKey: "level")
    try fields.encode(Timestamp.text(of: anchor.at), forKey: "at")
    try fields.encodeOrNull(anchor.commit?.boundedStart, forKey: "commit")
  }
}

extension JSONFields {
  /// The values of one metric: at least one, at most as many as there can be repetitions.
  fileprivate func values(of metric: MetricName) throws -> [Double] {
    let key = JSONName(metric.text)
    let values = try list(key, of: NumberDocument.self, atMost: DocumentLimit.repetitions).map(\.number)
    if values.isEmpty { throw fault(key, "has no values") }
    for (index, value) in values.enumerated() {
      guard let problem = Self.problem(with: value, of: metric) else { continue }
      throw DocumentFault(path: fault(key, "").path + [ListIndex(index)], problem: problem)
    }
    return values
  }
}

/// A number in a list.
private struct NumberDocument: Decodable {
  let number: Double

  init(from decoder: any Decoder) throws {
    number = try JSONNode(decoder).number()
  }
}
