import GateCore

/// One repetition of a result file.
struct RepetitionDocument: Codable {
  private(set) var repetition: RepetitionResult

  init(_ repetition: RepetitionResult) {
    self.repetition = repetition
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let figures = try fields.value("metrics", as: FiguresDocument.self).figures
    repetition = RepetitionResult(
      end: try fields.valueIfAny("end", as: EndDocument.self)?.end ?? End(.unknown),
      duration: try fields.secondsIfAny("durationSeconds") ?? .zero,
      processes: Int(try fields.wholeIfAny("processes", in: 0...(1 << 30)) ?? 0),
      metrics: figures,
      growth: try fields.growthIfAny(among: figures),
      steadiness: try fields.steadinessIfAny(among: figures),
      phases: try fields.listIfAny("phases", of: PhaseDocument.self).map(\.phase),
      widestGap: try fields.secondsIfAny("widestGapSeconds") ?? .zero,
      notes: try fields.notes().map { .verbatim($0) },
      spike: try fields.valueIfAny("spike", as: SpikeDocument.self)?.spike,
      treeMethod: try fields.choiceIfAny("treeMethod") ?? .upperBound,
      largestProcesses: try fields.listIfAny("processTable", of: ProcessDocument.self).map(\.process)
    )
    repetition.units = try fields.units(of: figures.keys)
    repetition.events = try fields.listIfAny("events", of: EventDocument.self, atMost: TargetEvent.most).map(\.event)
    repetition.curve = try fields.valueIfAny("curve", as: CurveDocument.self)?.curve
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(EndDocument(repetition.end), forKey: "end")
    try fields.encode(repetition.duration.asSeconds, forKey: "durationSeconds")
    try fields.encode(repetition.processes, forKey: "processes")
    try fields.encode(FiguresDocument(repetition.metrics), forKey: "metrics")
    try fields.encodeUnits(repetition.units)
    if !repetition.events.isEmpty { try fields.encode(repetition.events.map(EventDocument.init), forKey: "events") }
    try fields.encodeIfPresent(GrowthDocument(repetition), forKey: "growth")
    try fields.encodeIfPresent(repetition.steadiness?.rawValue, forKey: "steadiness")
    try fields.encode(repetition.phases.map(PhaseDocument.init), forKey: "phases")
    try fields.encode(repetition.widestGap.asSeconds, forKey: "widestGapSeconds")
    try fields.encode(repetition.notes.compactMap(\.verbatimText?.boundedStart), forKey: "notes")
    try fields.encodeIfPresent(repetition.spike.map(SpikeDocument.init), forKey: "spike")
    try fields.encode(repetition.treeMethod.rawValue, forKey: "treeMethod")
    try fields.encode(repetition.largestProcesses.map(ProcessDocument.init), forKey: "processTable")
    try fields.encodeIfPresent(repetition.curve.map(CurveDocument.init), forKey: "curve")
  }
}

/// The figures of one phase, beside its name.
struct PhaseDocument: Codable {
  let phase: RepetitionResult.Phase

  init(_ phase: RepetitionResult.Phase) {
    self.phase = phase
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    phase = RepetitionResult.Phase(
      name: try fields.name("name"),
      metrics: try fields.figures { name in MetricName.perPhase.first { $0.text == name } },
      peakIsExact: try fields.flag("exact")
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(phase.metrics)
    try fields.encode(phase.name, forKey: "name")
    try fields.encode(phase.peakIsExact, forKey: "exact")
  }
}

/// How a repetition's target ended.
struct EndDocument: Codable {
  let end: End

  init(_ end: End) {
    self.end = end
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    end = End(
      try fields.choice("kind"),
      code: try fields.exitCodeIfAny(),
      signal: try fields.signalIfAny(),
      proof: try fields.textIfAny("proof").map { .verbatim($0) },
      cause: try fields.textIfAny("detail").map { .verbatim($0) },
      oomKills: Int(try fields.wholeIfAny("oomKills", in: 0...(1 << 40)) ?? 0)
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(end.kind.rawValue, forKey: "kind")
    try fields.encodeIfPresent(end.code, forKey: "code")
    try fields.encodeIfPresent(end.signal?.name, forKey: "signal")
    try fields.encodeIfPresent(end.proofLine?.boundedStart, forKey: "proof")
    try fields.encodeIfPresent(end.causeText?.boundedStart, forKey: "detail")
    if end.oomKills > 0 { try fields.encode(end.oomKills, forKey: "oomKills") }
  }
}

extension Signal {
  /// Reads what ``Signal/name`` writes, real-time signals and bare numbers too.
  init?(spelled text: String) {
    if let named = Signal(name: text) {
      self = named
      return
    }
    let realTime = text.hasPrefix("RTMIN+")
    guard let number = Int32(realTime ? text.dropFirst(6) : text[...]), (0...64).contains(number) else { return nil }
    self.init(number: realTime ? 34 + number : number)
  }
}

extension Duration {
  /// The span in seconds, as JSON has it; a span below zero is none.
  var asSeconds: Double { max(0, inSeconds) }
}

extension JSONFields {
  func exitCodeIfAny() throws -> Int? {
    try wholeIfAny("code", in: -(1 << 31)...(1 << 32)).map { Int($0) }
  }

  func signalIfAny() throws -> Signal? {
    guard let name = try textIfAny("signal") else { return nil }
    if let signal = Signal(spelled: name) { return signal }
    throw fault("signal", "is no signal: `\(DocumentFault.shown(name))`")
  }

  func secondsIfAny(_ key: JSONName) throws -> Duration? {
    try numberIfAny(key, in: 0...DocumentLimit.seconds).map { .nanoseconds(Int64(($0 * 1e9).rounded())) }
  }

  func notes() throws -> [String] {
    guard has("notes") else { return [] }
    return try list("notes", of: TextDocument.self).map(\.text)
  }
}

/// A text in a list.
struct TextDocument: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    text = try JSONNode(decoder).text()
    guard text.utf8.count <= DocumentLimit.text else {
      let problem = "has \(text.utf8.count) bytes, and \(DocumentLimit.text) are the most"
      throw DocumentFault(path: decoder.codingPath, problem: problem)
    }
  }
}
