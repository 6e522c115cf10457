import GateCore

/// How one repetition's memory went (`curve`), each series in one line of the file.
struct CurveDocument: Codable {
  let curve: MemoryCurve

  init(_ curve: MemoryCurve) {
    self.curve = curve
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let main = try fields.value("main", as: SeriesText.self).series
    let last = main.points.last?.time ?? .zero
    curve = MemoryCurve(
      main: main,
      tree: try fields.valueIfAny("tree", as: SeriesText.self)?.series,
      end: try fields.secondsIfAny("endSeconds") ?? last,
      phases: try fields.instants("phases"),
      marks: try fields.instants("marks"),
      iterations: Int(try fields.wholeIfAny("iterations", in: 0...(1 << 40)) ?? 0),
      peak: try fields.valueIfAny("peak", as: PeakDocument.self)?.peak,
      steady: try fields.valueIfAny("steady", as: StretchDocument.self)?.stretch
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(SeriesText(curve.main), forKey: "main")
    try fields.encodeIfPresent(curve.tree.map(SeriesText.init), forKey: "tree")
    try fields.encode(curve.end.asSeconds, forKey: "endSeconds")
    if !curve.phases.isEmpty { try fields.encode(curve.phases.map(InstantDocument.init), forKey: "phases") }
    if !curve.marks.isEmpty { try fields.encode(curve.marks.map(InstantDocument.init), forKey: "marks") }
    if curve.iterations > 0 { try fields.encode(curve.iterations, forKey: "iterations") }
    try fields.encodeIfPresent(curve.peak.map(PeakDocument.init), forKey: "peak")
    try fields.encodeIfPresent(curve.steady.map(StretchDocument.init), forKey: "steady")
  }
}

extension JSONFields {
  /// Named instants in the order of time.
  fileprivate func instants(_ key: JSONName) throws -> [MemoryCurve.Instant] {
    let instants = try listIfAny(key, of: InstantDocument.self, atMost: MemoryCurve.mostInstants).map(\.instant)
    guard zip(instants, instants.dropFirst()).allSatisfy({ $0.time <= $1.time }) else {
      throw fault(key, "is not in the order of time")
    }
    return instants
  }
}

private struct InstantDocument: Codable {
  let instant: MemoryCurve.Instant

  init(_ instant: MemoryCurve.Instant) {
    self.instant = instant
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    instant = MemoryCurve.Instant(try fields.text("name"), at: try fields.secondsIfAny("atSeconds") ?? .zero)
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(instant.name.boundedStart, forKey: "name")
    try fields.encode(instant.time.asSeconds, forKey: "atSeconds")
  }
}

private struct PeakDocument: Codable {
  let peak: MemoryCurve.Peak

  init(_ peak: MemoryCurve.Peak) {
    self.peak = peak
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let before = try fields.secondsIfAny("beforeSeconds") ?? .zero
    let after = try fields.secondsIfAny("afterSeconds") ?? before
    guard after <= before else { throw fields.fault("afterSeconds", "is later than `beforeSeconds`") }
    peak = MemoryCurve.Peak(
      height: Bytes(try fields.whole("height", in: 0...Bytes.largest.count)), after: after, before: before
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(peak.height.count, forKey: "height")
    try fields.encode(peak.after.asSeconds, forKey: "afterSeconds")
    try fields.encode(peak.before.asSeconds, forKey: "beforeSeconds")
  }
}

private struct StretchDocument: Codable {
  let stretch: MemoryCurve.Stretch

  init(_ stretch: MemoryCurve.Stretch) {
    self.stretch = stretch
  }

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let amounts = 0...Bytes.largest.count
    let from = try fields.secondsIfAny("fromSeconds") ?? .zero
    let to = try fields.secondsIfAny("toSeconds") ?? from
    guard from <= to else { throw fields.fault("fromSeconds", "is later than `toSeconds`") }
    stretch = MemoryCurve.Stretch(
      from: from, to: to, first: Bytes(try fields.whole("first", in: amounts)),
      last: Bytes(try fields.whole("last", in: amounts))
    )
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(stretch.from.asSeconds, forKey: "fromSeconds")
    try fields.encode(stretch.to.asSeconds, forKey: "toSeconds")
    try fields.encode(stretch.first.count, forKey: "first")
    try fields.encode(stretch.last.count, forKey: "last")
  }
}

/// Readings of memory as one text: `MILLISECONDS:KiB`, or `MILLISECONDS:KiB-KiB` for the range of a group, with a space
/// between two of them.
///
/// As a list of numbers they would be a line each, hundreds of them, in files that people review.
struct SeriesText: Codable {
  let series: MemorySeries

  /// Later versions may keep more than ``MemorySeries/mostPoints``, and no picture is better for it.
  private static let mostPoints = 1000

  init(_ series: MemorySeries) {
    self.series = series
  }

  init(from decoder: any Decoder) throws {
    let node = try JSONNode(decoder)
    let text = try node.text()
    func fault(_ problem: String) -> DocumentFault { DocumentFault(path: node.codingPath, problem: problem) }
    guard text.utf8.count <= DocumentLimit.text else { throw fault("is too long") }
    let words = text.split(separator: " ")
    guard words.count <= Self.mostPoints else { throw fault("has more than \(Self.mostPoints) readings") }
    let points = try words.map { word in
      guard let point = Self.point(word) else { throw fault("has no reading `\(DocumentFault.shown(String(word)))`") }
      return point
    }
    guard zip(points, points.dropFirst()).allSatisfy({ $0.time <= $1.time }) else {
      throw fault("is not in the order of time")
    }
    series = MemorySeries(points)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(series.points.map(Self.word).joined(separator: " "))
  }

  private static func word(_ point: MemorySeries.Point) -> String {
    let tenths = max(0, point.time.nanoseconds) / MemorySeries.tick.nanoseconds
    let time = "\(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)")
    let (low, high) = (point.low.count / 1024, (point.high.count + 1023) / 1024)
    return low == high ? "\(time):\(low)" : "\(time):\(low)-\(high)"
  }

  private static func point(_ word: Substring) -> MemorySeries.Point? {
    let halves = word.split(separator: ":", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let time = halves[0].split(separator: ".", omittingEmptySubsequences: false)
    let range = halves[1].split(separator: "-", omittingEmptySubsequences: false)
    guard let whole = time.first.flatMap({ number($0, atMost: Int64(DocumentLimit.seconds) * 1000) }),
      let low = range.first.flatMap({ number($0, atMost: Bytes.largest.count / 1024) }),
      let high = range.last.flatMap({ number($0, atMost: Bytes.largest.count / 1024) }),
      let tenth = time.count == 1 ? 0 : number(time[1], atMost: 9), time.count <= 2, range.count <= 2, low <= high
    else { return nil }
    return MemorySeries.Point(
      time: MemorySeries.tick * (whole * 10 + tenth), low: .kibibytes(low), high: .kibibytes(high)
    )
  }

  /// Digits only: `Int64` would take a sign, too.
  private static func number(_ text: Substring, atMost most: Int64) -> Int64? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), number <= most else {
      return nil
    }
    return number
  }
}
