import GateCore

/// What is known of a repetition's growth beside its slope, which is the metric `growth`.
struct GrowthDocument: Codable {
  private let growth: Growth

  /// nil where the repetition has no growth, or its figures are not ones that JSON can say.
  init?(_ repetition: RepetitionResult) {
    guard let growth = repetition.growth, growth.slope == repetition.metrics[.growth], growth.low.isFinite,
      growth.high.isFinite
    else { return nil }
    self.growth = growth
  }

  /// Reads an interval and a kind; the slope is yet to come.
  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let range = MetricName.growth.range
    let low = try fields.number("low", in: range)
    let high = try fields.number("high", in: range)
    guard low <= high else { throw fields.fault("high", "is below `low`") }
    growth = Growth(slope: low, low: low, high: high, kind: try fields.choice("kind"))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(Figure(growth.low, of: .growth), forKey: "low")
    try fields.encode(Figure(growth.high, of: .growth), forKey: "high")
    try fields.encode(growth.kind.rawValue, forKey: "kind")
  }

  /// The growth with its slope; nil where the interval does not hold that.
  func growth(of slope: Double) -> Growth? {
    guard growth.low <= slope, slope <= growth.high else { return nil }
    return Growth(slope: slope, low: growth.low, high: growth.high, kind: growth.kind)
  }
}

extension JSONFields {
  /// The growth of a repetition with these figures; a file that tells only the slope, or none, has no more to say.
  func growthIfAny(among figures: [MetricName: Double]) throws -> Growth? {
    guard let document = try valueIfAny("growth", as: GrowthDocument.self) else { return nil }
    guard let slope = figures[.growth] else { throw fault("growth", "is of no metric `growth`") }
    guard let growth = document.growth(of: slope) else {
      throw fault("growth", "has an interval without the metric `growth` in it")
    }
    return growth
  }

  /// Whether memory became steady; a file of an earlier version tells that by a steady level.
  func steadinessIfAny(among figures: [MetricName: Double]) throws -> Steadiness? {
    try choiceIfAny("steadiness") ?? (figures[.steadyRSS] == nil ? nil : .steady)
  }
}
