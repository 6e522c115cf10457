import GateCore

/// Something that a target told of itself, in a repetition of a result file.
struct EventDocument: Codable {
  let event: TargetEvent

  private enum Kind: String, CaseIterable {
    case loop, launch, activity
    case launchFailures = "launch-failures"
  }

  init(_ event: TargetEvent) {
    self.event = event
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    func count(_ key: JSONName) throws -> Int { Int(try fields.whole(key, in: 0...Bytes.largest.count)) }
    let kind: TargetEvent.Kind =
      switch try fields.choice("kind", as: Kind.self) {
      case .loop: .loop(name: try fields.name("name"), calls: try count("calls"), turns: try count("turns"))
      case .launch: .launch(reason: try fields.name("reason"))
      case .launchFailures: .launchFailures(try count("launches"))
      case .activity: .activity(try fields.name("activity"))
      }
    event = TargetEvent(kind, at: try fields.secondsIfAny("at") ?? .zero)
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(event.time.asSeconds, forKey: "at")
    switch event.kind {
    case .loop(let name, let calls, let turns):
      try fields.encode(Kind.loop.rawValue, forKey: "kind")
      try fields.encode(name, forKey: "name")
      try fields.encode(calls, forKey: "calls")
      try fields.encode(turns, forKey: "turns")
    case .launch(let reason):
      try fields.encode(Kind.launch.rawValue, forKey: "kind")
      try fields.encode(reason, forKey: "reason")
    case .launchFailures(let count):
      try fields.encode(Kind.launchFailures.rawValue, forKey: "kind")
      try fields.encode(count, forKey: "launches")
    case .activity(let word):
      try fields.encode(Kind.activity.rawValue, forKey: "kind")
      try fields.encode(word, forKey: "activity")
    }
  }
}

extension JSONFields {
  /// The units that a target told of these metrics; those of others are left out.
  func units(of metrics: some Collection<MetricName>) throws -> [MetricName: String] {
    guard let units = try valueIfAny("units", as: JSONFields.Object.self)?.fields else { return [:] }
    return try metrics.reduce(into: [:]) { reported, metric in
      if metric.isValue { reported[metric] = try units.unitIfAny(JSONName(metric.text)) }
    }
  }

  func unitIfAny(_ key: JSONName) throws -> String? {
    guard let unit = try textIfAny(key) else { return nil }
    if !MetricUnit.isValid(unit) { throw fault(key, "is no unit: `\(DocumentFault.shown(unit))`") }
    return unit
  }

  /// An object within another one.
  struct Object: Decodable {
    let fields: JSONFields

    init(from decoder: any Decoder) throws {
      fields = try JSONFields(decoder)
    }
  }
}

extension KeyedEncodingContainer<JSONName> {
  /// Writes `units`, where there are any.
  mutating func encodeUnits(_ units: [MetricName: String]) throws {
    guard !units.isEmpty else { return }
    var fields = nestedContainer(keyedBy: JSONName.self, forKey: "units")
    for (metric, unit) in units { try fields.encode(unit, forKey: JSONName(metric.text)) }
  }
}
