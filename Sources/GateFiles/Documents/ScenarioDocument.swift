import GateCore

/// One scenario, as a result file writes it.
struct ScenarioDocument: Encodable {
  let scenario: ScenarioResult

  init(_ scenario: ScenarioResult) {
    self.scenario = scenario
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(scenario.name.text, forKey: "name")
    if !scenario.tags.isEmpty { try fields.encode(scenario.tags, forKey: "tags") }
    try fields.encode(scenario.verdict.rawValue, forKey: "verdict")
    try fields.encode(EnvironmentDocument(scenario.environment), forKey: "environment")
    try fields.encode(GateDocument(scenario.gate), forKey: "gate")
    try fields.encode(scenario.repetitions.map(RepetitionDocument.init), forKey: "repetitions")
    try fields.encodeIfPresent(scenario.plan.map(PlanDocument.init), forKey: "plan")
    try fields.encodeIfPresent(scenario.stoppingReason, forKey: "stopped")
    try fields.encodeIfPresent(scenario.approval.map(ApprovalDocument.init), forKey: "approved")
    try fields.encodeIfPresent(scenario.commitsSinceApproval, forKey: "commitsSinceApproval")
    try fields.encode(scenario.metrics.map(MetricDocument.init), forKey: "metrics")
    var composition = fields.nestedContainer(keyedBy: JSONName.self, forKey: "composition")
    try composition.encode(CompositionDocument(scenario.baselineComposition), forKey: "baseline")
    try composition.encode(CompositionDocument(scenario.currentComposition), forKey: "current")
    if let peak = scenario.compositionAtPeak { try composition.encode(CompositionDocument(peak), forKey: "peak") }
    try fields.encodeIfPresent(scenario.baselineCurve.map(SeriesText.init), forKey: "baselineCurve")
    try fields.encodeIfPresent(scenario.failure.map(FailureDocument.init), forKey: "failure")
    try fields.encode(scenario.notes.map(\.boundedStart), forKey: "notes")
    try fields.encode(GrowthUnit(perIteration: scenario.growthIsPerIteration).rawValue, forKey: "growthPer")
  }
}

extension ScenarioResult {
  /// Reads a scenario, which is `skipped` where the file does not say how it was judged.
  ///
  /// `environment` is the run's, for a scenario that names none of its own.
  init(_ fields: JSONFields, in environment: EnvironmentInfo) throws {
    let composition = try fields.valueIfAny("composition", as: CompositionsDocument.self)
    let growth = try fields.choiceIfAny("growthPer", as: GrowthUnit.self)
    self.init(
      name: ScenarioName(try fields.name("name")),
      verdict: try fields.choiceIfAny("verdict") ?? .skipped,
      environment: try fields.valueIfAny("environment", as: EnvironmentDocument.self)?.environment ?? environment,
      gate: try fields.valueIfAny("gate", as: GateDocument.self)?.gate ?? .standard,
      repetitions: try fields.list("repetitions", of: RepetitionDocument.self, atMost: DocumentLimit.repetitions)
        .map(\.repetition),
      metrics: try fields.listIfAny("metrics", of: MetricDocument.self).map(\.result),
      baselineComposition: composition?.baseline,
      currentComposition: composition?.current,
      compositionAtPeak: composition?.peak,
      failure: try fields.valueIfAny("failure", as: FailureDocument.self)?.failure,
      notes: try fields.notes(),
      growthIsPerIteration: growth == .iteration,
      plan: try fields.valueIfAny("plan", as: PlanDocument.self)?.plan
    )
    baselineCurve = try fields.valueIfAny("baselineCurve", as: SeriesText.self)?.series
    tags = try fields.tags()
    approval = try fields.valueIfAny("approved", as: ApprovalDocument.self)?.approval
    commitsSinceApproval = try fields.wholeIfAny("commitsSinceApproval", in: 0...(1 << 40)).map { Int($0) }
  }
}

extension JSONFields {
  /// A scenario's tags, which are plain names as in the project file.
  func tags() throws -> [String] {
    let tags = try listIfAny("tags", of: TextDocument.self, atMost: 1000).map(\.text)
    if let odd = tags.first(where: { !PlainName.isValid($0) }) {
      throw fault("tags", "has a tag that is no plain name: `\(DocumentFault.shown(odd))`")
    }
    return tags
  }
}

/// How many repetitions the verdict could have asked for.
private struct PlanDocument: Codable {
  let plan: RepetitionPlan

  init(_ plan: RepetitionPlan) {
    self.plan = plan
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let bounds = 1...Int64(Repetitions.most)
    plan = RepetitionPlan(min: Int(try fields.whole("min", in: bounds)), max: Int(try fields.whole("max", in: bounds)))
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(plan.min, forKey: "min")
    try fields.encode(plan.max, forKey: "max")
  }
}

/// What growth is counted by (`growthPer`).
private enum GrowthUnit: String, CaseIterable {
  case iteration, second

  init(perIteration: Bool) {
    self = perIteration ? .iteration : .second
  }
}

private struct CompositionsDocument: Decodable {
  let baseline: Composition?
  let current: Composition?
  let peak: Composition?

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    baseline = try fields.valueIfAny("baseline", as: CompositionDocument.self)?.composition
    current = try fields.valueIfAny("current", as: CompositionDocument.self)?.composition
    peak = try fields.valueIfAny("peak", as: CompositionDocument.self)?.composition
  }
}

/// Why a scenario failed; the place is an object, since a file's name may hold colons.
struct FailureDocument: Codable {
  let failure: Failure

  init(_ failure: Failure) {
    self.failure = failure
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    failure = Failure(
      subject: try fields.text("subject"),
      problem: try fields.text("problem"),
      place: try fields.valueIfAny("place", as: PlaceDocument.self)?.place,
      output: try fields.textIfAny("output") ?? ""
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode((failure.verbatimSubject ?? "").boundedStart, forKey: "subject")
    try fields.encode((failure.verbatimProblem ?? "").boundedStart, forKey: "problem")
    try fields.encodeIfPresent(failure.place.map(PlaceDocument.init), forKey: "place")
    try fields.encode(failure.output.boundedEnd, forKey: "output")
  }
}

private struct PlaceDocument: Codable {
  let place: SourcePlace

  init(_ place: SourcePlace) {
    self.place = place
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    place = SourcePlace(
      file: try fields.text("file"),
      line: Int(try fields.whole("line", in: 0...(1 << 40))),
      column: Int(try fields.whole("column", in: 0...(1 << 40)))
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(place.file.boundedStart, forKey: "file")
    try fields.encode(place.line, forKey: "line")
    try fields.encode(place.column, forKey: "column")
  }
}
