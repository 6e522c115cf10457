extension MetricName: SingleValueCodable, CodingKeyRepresentable, CodingKey {
  package var coded: String { text }
  package init(coded: String) throws { self.init(try PlainText.checked(coded)) }

  /// As the key of an object: `{"peak_rss": 1}`.
  package var codingKey: any CodingKey { self }
  package init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }

  package var stringValue: String { text }
  package var intValue: Int? { nil }
  package init?(stringValue: String) { self.init(stringValue) }
  package init?(intValue: Int) { nil }
}

extension MetricName {
  /// The valid range in a file.
  private var range: ClosedRange<Double> {
    let most = Double(Bytes.largest.count)
    return kind.canBeNegative ? -most...most : 0...most
  }

  /// The error message for an invalid value of this metric; nil if it is valid.
  package func problem(with value: Double) -> String? {
    if value < range.lowerBound, range.lowerBound == 0 { return "is negative" }
    if !range.contains(value) { return "is too large" }
    return isWholeBytes && value != value.rounded() ? "is not a whole number of bytes" : nil
  }

  /// The value as stored in files: memory is rounded to whole bytes.
  package func rounded(_ value: Double) -> Double {
    isWholeBytes ? value.rounded() : value
  }
}

// MARK: - Objects by metric

// Unknown metrics are ignored.

extension KeyedDecodingContainer {
  package func decode(_ type: [MetricName: Double].Type, forKey key: Key) throws -> [MetricName: Double] {
    try nestedContainer(keyedBy: MetricName.self, forKey: key).values()
  }

  /// The units of growth and of reported values.
  package func decode(_ type: [MetricName: String].Type, forKey key: Key) throws -> [MetricName: String] {
    guard try contains(key) && !decodeNil(forKey: key) else { return [:] }
    let fields = try nestedContainer(keyedBy: MetricName.self, forKey: key)
    return try fields.allKeys.filter(\.kind.hasStoredUnit).reduce(into: [:]) { units, metric in
      let unit = try fields.decode(String.self, forKey: metric)
      guard MetricUnit.isValid(unit) else { throw fields.corrupted(metric, "is not a unit: `\(unit.prefix(80))`") }
      units[metric] = unit
    }
  }

  /// The values of all repetitions: at least one, at most the maximum number of repetitions.
  package func decode(_ type: [MetricName: [Double]].Type, forKey key: Key) throws -> [MetricName: [Double]] {
    let fields = try nestedContainer(keyedBy: MetricName.self, forKey: key)
    return try fields.allKeys.filter { MetricName(parsing: $0.text) != nil }.reduce(into: [:]) { all, metric in
      // Not `[Double]`, for which a missing value is allowed.
      let values = try fields.decode(ContiguousArray<Double>.self, forKey: metric)
      if values.isEmpty { throw fields.corrupted(metric, "has no values") }
      if values.count > Repetitions.most {
        throw fields.corrupted(metric, "has \(values.count) values, at most \(Repetitions.most) are allowed")
      }
      for (index, value) in values.enumerated() {
        guard let problem = metric.problem(with: value) else { continue }
        let place = fields.codingPath + [metric, AnyCodingKey(index)]
        throw DecodingError.dataCorrupted(.init(codingPath: place, debugDescription: problem))
      }
      all[metric] = Array(values)
    }
  }
}

extension KeyedDecodingContainer<MetricName> {
  package func values(of known: (MetricName) -> Bool = { MetricName(parsing: $0.text) != nil }) throws
    -> [MetricName: Double]
  {
    try allKeys.filter(known).reduce(into: [:]) { values, metric in
      guard let value = try decodeIfPresent(Double.self, forKey: metric) else { return }
      if let problem = metric.problem(with: value) { throw corrupted(metric, problem) }
      values[metric] = value
    }
  }
}

// JSON has no non-finite numbers, so they are left out.

extension KeyedEncodingContainer {
  package mutating func encode(_ values: [MetricName: Double], forKey key: Key) throws {
    var fields = nestedContainer(keyedBy: MetricName.self, forKey: key)
    try fields.encode(values)
  }

  package mutating func encode(_ units: [MetricName: String], forKey key: Key) throws {
    if units.isEmpty { return }
    var fields = nestedContainer(keyedBy: MetricName.self, forKey: key)
    for (metric, unit) in units { try fields.encode(unit, forKey: metric) }
  }

  package mutating func encode(_ values: [MetricName: [Double]], forKey key: Key) throws {
    var fields = nestedContainer(keyedBy: MetricName.self, forKey: key)
    for (metric, values) in values {
      let finite = values.filter(\.isFinite)
      if !finite.isEmpty { try fields.encode(finite.map(metric.rounded), forKey: metric) }
    }
  }
}

extension KeyedEncodingContainer<MetricName> {
  package mutating func encode(_ values: [MetricName: Double]) throws {
    for (metric, value) in values where value.isFinite { try encode(metric.rounded(value), forKey: metric) }
  }
}

// MARK: - Gates

/// The bounds of a rule as stored in files; amounts are bytes unless `amounts` has another kind.
package struct RuleBounds: Decodable {
  private enum Amounts: String, CaseIterable, Codable {
    case seconds, number
  }

  private enum CodingKeys: CodingKey {
    case percent, absolute, limit, amounts, automatic, allowed, exact
  }

  private var percent: Double?
  private var absolute: Double?
  private var limit: Double?
  /// All amounts of a rule are of one kind; otherwise no value could match them.
  private var amounts: Amounts?
  private var automatic: Bool
  private var exact: Bool
  /// The absolute change that the rule allowed, if it was applied.
  package var allowed: Double?

  package init(_ rule: GateRule, allowed: Double? = nil) {
    self.allowed = allowed
    automatic = false
    exact = rule.isExact
    limit = rule.limit?.value
    var amount = rule.limit
    switch rule.tolerance {
    case .bounds(let relative, let bound):
      (percent, absolute) = (relative?.value, bound?.value)
      amount = bound ?? amount
    case .automatic: automatic = true
    case nil: break
    }
    amounts =
      switch amount {
      case .time: .seconds
      case .number: .number
      case .size, nil: nil
      }
  }

  package func rule(_ metric: MetricName, _ severity: GateRule.Severity) -> GateRule {
    let tolerance: Tolerance? =
      switch (percent.map { Percent($0) }, amount(absolute)) {
      case _ where automatic: .automatic
      case (nil, nil): nil
      case (let percent, let absolute): .bounds(relative: percent, absolute: absolute)
      }
    var rule = GateRule(metric: metric, tolerance: tolerance, limit: amount(limit), severity: severity)
    rule.isExact = exact
    return rule

    func amount(_ value: Double?) -> Amount? {
      value.map { value in
        switch metric.takesNumbers ? amounts : nil {
        case nil: .size(Bytes(Int64(value)))
        case .seconds: .time(.nanoseconds(Int64((value * 1e9).rounded())))
        case .number: .number(value)
        }
      }
    }
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys, atMost most: Double = Double(Bytes.largest.count)) throws -> Double? {
      guard let number = try fields.decodeIfPresent(Double.self, forKey: key) else { return nil }
      if number < 0 { throw fields.corrupted(key, "is negative") }
      if number > most { throw fields.corrupted(key, "is too large") }
      return number
    }
    amounts = try fields.decodeIfPresent(Amounts.self, forKey: .amounts)
    automatic = try fields.decodeIfPresent(Bool.self, forKey: .automatic) ?? false
    exact = try fields.decodeIfPresent(Bool.self, forKey: .exact) ?? false
    allowed = try number(.allowed)
    percent = try number(.percent, atMost: 10_000)
    absolute = amounts == .seconds ? try number(.absolute, atMost: 1e9) : try number(.absolute)
    limit = amounts == .seconds ? try number(.limit, atMost: 1e9) : try number(.limit)
  }

  /// Encodes the bounds into an object: `percent`, `absolute` and `limit` always.
  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(percent, forKey: .percent)
    try fields.encode(absolute, forKey: .absolute)
    try fields.encode(limit, forKey: .limit)
    try fields.encodeIfPresent(amounts, forKey: .amounts)
    if automatic { try fields.encode(true, forKey: .automatic) }
    if exact { try fields.encode(true, forKey: .exact) }
    try fields.encodeIfPresent(allowed, forKey: .allowed)
  }
}

extension GateRule: Codable {
  private enum CodingKeys: String, CodingKey {
    case metric
    case severity = "on"
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let severity = try fields.decodeIfPresent(Severity.self, forKey: .severity)
    self = try RuleBounds(from: decoder).rule(fields.decode(MetricName.self, forKey: .metric), severity ?? .fail)
  }

  package func encode(to encoder: any Encoder) throws {
    try RuleBounds(self).encode(to: encoder)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(metric, forKey: .metric)
    try fields.encode(severity, forKey: .severity)
  }
}

extension Gate {
  enum CodingKeys: String, CodingKey {
    case rules
    case isStandard = "standard"
  }
}

extension RepetitionPlan: Codable {
  private enum CodingKeys: CodingKey {
    case min, max
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func count(_ key: CodingKeys) throws -> Int {
      let count = try fields.decode(Int.self, forKey: key)
      guard (1...Repetitions.most).contains(count) else {
        throw fields.corrupted(key, "is not between 1 and \(Repetitions.most)")
      }
      return count
    }
    self.init(min: try count(.min), max: try count(.max))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(min, forKey: .min)
    try fields.encode(max, forKey: .max)
  }
}
