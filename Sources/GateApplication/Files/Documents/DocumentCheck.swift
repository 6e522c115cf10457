import GateCore

/// Checks of a decoded document that the coding of its types does not make.
struct DocumentCheck {
  private var path: [any CodingKey]

  init(_ decoder: any Decoder) {
    path = decoder.codingPath
  }

  func at(_ key: String, _ index: Int? = nil) -> Self {
    var inner = self
    inner.path += [AnyCodingKey(key)] + (index.map { [AnyCodingKey($0)] } ?? [])
    return inner
  }

  private func refusal(_ problem: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: path, debugDescription: problem))
  }

  func check(name: String) throws {
    do {
      _ = try PlainText.checked(name)
    } catch let error as UnitError {
      throw refusal(error.problem)
    }
  }

  private func check(isUnique keys: some Sequence<some Hashable & CustomStringConvertible>) throws {
    var seen = Set(keys.prefix(0))
    for key in keys where !seen.insert(key).inserted { throw refusal("has `\(key)` twice") }
  }
}

// MARK: - Runs

extension DocumentCheck {
  func check(_ run: RunSummary) throws {
    try at("run").at("id").check(name: run.run.id)
    try at("environment").at("name").check(name: run.environment.name)
    if run.run.isPartial { try checkShard(of: run) }
    for (index, scenario) in run.scenarios.enumerated() { try at("scenarios", index).check(scenario) }
    // A scenario may occur once per environment.
    let keys = Set(run.scenarios.map { [$0.name.text, $0.environment.name] })
    if keys.count < run.scenarios.count {
      try at("scenarios").check(isUnique: run.scenarios.map { "\($0.name) (\($0.environment.name))" })
    }
  }

  private func checkShard(of run: RunSummary) throws {
    let all = run.run.shard?.scenarios ?? []
    try at("run").at("shard").at("scenarios").check(isUnique: all)
    if let unknown = run.scenarios.first(where: { !all.contains($0.name) }) {
      throw at("scenarios").refusal("has `\(unknown.name)`, which is not in the list of the shard")
    }
  }

  private func check(_ scenario: ScenarioSummary) throws {
    try at("environment").at("name").check(name: scenario.environment.name)
    if let tag = scenario.tags.first(where: { !PlainName.isValid($0) }) {
      throw at("tags").refusal("has the invalid tag `\(tag)`, expected \(PlainName.rule)")
    }
    try at("metrics").check(isUnique: (scenario.metrics + scenario.ungated).map(\.metric))
    try at("failedRepetitions").check(isUnique: scenario.failedRepetitions.map(\.number))
    for (index, repetition) in scenario.failedRepetitions.enumerated() {
      if let loop = repetition.loop { try at("failedRepetitions", index).at("loop").check(loop) }
    }
  }

  private func check(_ event: TargetEvent.Kind) throws {
    switch event {
    case .loop(let name, _, _): try at("name").check(name: name)
    case .launch(let reason): try at("reason").check(name: reason)
    case .activity(let word): try at("activity").check(name: word)
    case .launchFailures: break
    }
  }
}

// MARK: - Repetitions

extension DocumentCheck {
  func check(_ repetition: RepetitionResult) throws {
    if repetition.events.count > TargetEvent.most {
      throw at("targetEvents").refusal(
        "has \(repetition.events.count) entries, at most \(TargetEvent.most) are allowed")
    }
    for (index, event) in repetition.events.enumerated() {
      try at("targetEvents", index).at("kind").check(event.kind)
    }
    for (index, phase) in repetition.phases.enumerated() where !PlainName.isValid(phase.name) {
      throw at("phases", index).at("name").refusal("is `\(phase.name)`, expected \(PlainName.rule)")
    }
    if let growth = repetition.growth {
      let isInside = growth.low <= growth.slope && growth.slope <= growth.high
      guard isInside, growth.slope == repetition.metrics[.growth] else {
        throw at("growthFit").refusal("does not match the metric `growth`")
      }
    }
    if let curve = repetition.curve { try at("curve").check(curve) }
  }

  private func check(_ curve: MemoryCurve) throws {
    try at("phases").check(curve.phases)
    try at("marks").check(curve.marks)
    if let peak = curve.peak, peak.after > peak.before {
      throw at("peak").refusal("has `afterSeconds` later than `beforeSeconds`")
    }
    if let steady = curve.steady, steady.from > steady.to {
      throw at("steady").refusal("has `fromSeconds` later than `toSeconds`")
    }
  }

  private func check(_ instants: [MemoryCurve.Instant]) throws {
    if instants.count > MemoryCurve.mostInstants {
      throw refusal("has \(instants.count) entries, at most \(MemoryCurve.mostInstants) are allowed")
    }
    guard zip(instants, instants.dropFirst()).allSatisfy({ $0.time <= $1.time }) else {
      throw refusal("is not ordered by time")
    }
  }
}
