import GateCore

extension MetricName {
  /// Whether its values are whole bytes; a metric of a later version may be anything.
  var isKnownInBytes: Bool { MetricName(parsing: text) != nil && isWholeBytes }

  /// The values that a file may give it; only growth, and what a target reports, can be below zero.
  var range: ClosedRange<Double> {
    self == .growth || isValue ? -DocumentLimit.amount...DocumentLimit.amount : 0...DocumentLimit.amount
  }
}

/// One figure as JSON writes it: a whole number where it counts bytes.
struct Figure: Encodable {
  let value: Double
  let isWhole: Bool

  /// Takes a finite number.
  init(_ value: Double, of metric: MetricName) {
    self.value = value
    isWhole = metric.isKnownInBytes
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let whole = Int64(exactly: isWhole ? value.rounded() : value) {
      try container.encode(whole)
    } else {
      try container.encode(value)
    }
  }
}

extension JSONFields {
  /// The figures of this object by their metrics; names that are no metric here are left out.
  func figures(among known: (String) -> MetricName?) throws -> [MetricName: Double] {
    var figures: [MetricName: Double] = [:]
    for name in names {
      let key = JSONName(name)
      guard let metric = known(name), has(key) else { continue }
      let value = try number(key, in: metric.range)
      if let problem = Self.problem(with: value, of: metric) { throw fault(key, problem) }
      figures[metric] = value
    }
    return figures
  }

  /// What keeps a number from being a value of the metric; nil if nothing does.
  static func problem(with value: Double, of metric: MetricName) -> String? {
    if let problem = problem(with: value, in: metric.range) { return problem }
    return metric.isWholeBytes && value != value.rounded() ? "is not a whole number of bytes" : nil
  }
}

extension KeyedEncodingContainer<JSONName> {
  /// Writes figures under their metrics' names; JSON has no word for one that is not finite, so it is left out, as
  /// is a metric that could not be had.
  mutating func encode(_ figures: [MetricName: Double]) throws {
    for (metric, value) in figures where value.isFinite {
      try encode(Figure(value, of: metric), forKey: JSONName(metric.text))
    }
  }
}

/// The figures of one whole repetition.
struct FiguresDocument: Codable {
  let figures: [MetricName: Double]

  init(_ figures: [MetricName: Double]) {
    self.figures = figures
  }

  init(from decoder: any Decoder) throws {
    figures = try JSONFields(decoder).figures { MetricName(parsing: $0) }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(figures)
  }
}
