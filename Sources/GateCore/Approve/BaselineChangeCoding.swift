extension BaselineChange: Codable {
  private enum CodingKeys: String, CodingKey {
    case scenario, environment, metrics, units, definition, repetitions
    case approval = "approved"
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let moves = try fields.decode([MetricName: [Double]].self, forKey: .metrics)
    guard moves.values.allSatisfy({ $0.count == 2 }) else {
      throw fields.corrupted(.metrics, "has a metric without two values")
    }
    self.init(
      scenario: try fields.decode(ScenarioName.self, forKey: .scenario),
      environment: try fields.decode(String.self, forKey: .environment),
      moves: moves.mapValues { Move(from: $0[0], to: $0[1]) },
      units: try fields.decode([MetricName: String].self, forKey: .units),
      definition: try fields.decodeIfPresent(ScenarioDefinition.self, forKey: .definition),
      repetitions: try fields.decode(Int.self, forKey: .repetitions),
      approval: try fields.decode(Approval.self, forKey: .approval))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(scenario, forKey: .scenario)
    try fields.encode(environment, forKey: .environment)
    try fields.encode(moves.mapValues { [$0.from, $0.to] }, forKey: .metrics)
    if !units.isEmpty { try fields.encode(units, forKey: .units) }
    try fields.encodeIfPresent(definition, forKey: .definition)
    try fields.encode(repetitions, forKey: .repetitions)
    try fields.encode(approval, forKey: .approval)
  }
}
