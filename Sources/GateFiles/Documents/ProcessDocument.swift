import GateCore

/// One process of a repetition's tree; `end` is missing where it was not seen to end.
struct ProcessDocument: Codable {
  let process: ProcessRecord

  init(_ process: ProcessRecord) {
    self.process = process
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let ids = Int64(Int32.min)...Int64(Int32.max)
    process = ProcessRecord(
      id: Int32(try fields.whole("pid", in: ids)),
      parent: Int32(try fields.wholeIfAny("parent", in: ids) ?? 0),
      command: try fields.textIfAny("command") ?? "",
      isMain: try fields.flag("main"),
      peak: try fields.amountIfAny("peak") ?? .zero,
      firstSeen: try fields.secondsIfAny("firstSeenSeconds") ?? .zero,
      lastSeen: try fields.secondsIfAny("lastSeenSeconds") ?? .zero,
      isExact: try fields.flag("exact"),
      ending: try fields.valueIfAny("end", as: EndingDocument.self)?.ending
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(process.id, forKey: "pid")
    try fields.encode(process.parent, forKey: "parent")
    try fields.encode(process.command.boundedStart, forKey: "command")
    try fields.encode(process.isMain, forKey: "main")
    try fields.encode(process.peak.count, forKey: "peak")
    try fields.encode(process.firstSeen.asSeconds, forKey: "firstSeenSeconds")
    try fields.encode(process.lastSeen.asSeconds, forKey: "lastSeenSeconds")
    try fields.encode(process.isExact, forKey: "exact")
    try fields.encodeIfPresent(process.ending.map(EndingDocument.init), forKey: "end")
  }
}

/// What the kernel told of a process that has ended, in the words of a target's end.
private struct EndingDocument: Codable {
  let ending: EndEvidence.Status

  private enum Kind: String, CaseIterable {
    case exited, signaled
  }

  init(_ ending: EndEvidence.Status) {
    self.ending = ending
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    switch try fields.choice("kind", as: Kind.self) {
    case .exited:
      guard let code = try fields.exitCodeIfAny() else { throw fields.fault("code", "is missing") }
      ending = .exited(code)
    case .signaled:
      guard let signal = try fields.signalIfAny() else { throw fields.fault("signal", "is missing") }
      ending = .signaled(signal, coreDumped: try fields.flag("coreDumped"))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    switch ending {
    case .exited(let code):
      try fields.encode(Kind.exited.rawValue, forKey: "kind")
      try fields.encode(code, forKey: "code")
    case .signaled(let signal, let coreDumped):
      try fields.encode(Kind.signaled.rawValue, forKey: "kind")
      try fields.encode(signal.name, forKey: "signal")
      if coreDumped { try fields.encode(true, forKey: "coreDumped") }
    }
  }
}

/// A short rise above the steady level, and between which readings it came.
struct SpikeDocument: Codable {
  let spike: RepetitionResult.Spike

  init(_ spike: RepetitionResult.Spike) {
    self.spike = spike
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let before = try fields.secondsIfAny("beforeSeconds") ?? .zero
    spike = RepetitionResult.Spike(
      height: Bytes(try fields.whole("height", in: 0...Bytes.largest.count)),
      after: try fields.secondsIfAny("afterSeconds") ?? before,
      before: before,
      phase: try fields.textIfAny("phase"),
      isBusy: try fields.flag("busy")
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(spike.height.count, forKey: "height")
    try fields.encode(spike.after.asSeconds, forKey: "afterSeconds")
    try fields.encode(spike.before.asSeconds, forKey: "beforeSeconds")
    try fields.encodeIfPresent(spike.phase?.boundedStart, forKey: "phase")
    try fields.encode(spike.isBusy, forKey: "busy")
  }
}
