// Members whose names or forms in files differ from the types; everything else is synthesised.

extension RepetitionResult {
  enum CodingKeys: String, CodingKey {
    case end
    case duration = "durationSeconds"
    case processes, metrics, units
    case events = "targetEvents"
    case growth = "growthFit"
    case steadiness, nearlySteady, phases
    case widestGap = "widestGapSeconds"
    case notes, spike, treeMethod
    case largestProcesses = "processTable"
    case curve
  }

  /// Only `metrics` is required: other programs may know no more.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      end: try fields.decodeIfPresent(End.self, forKey: .end) ?? End(.unknown),
      duration: try fields.decodeIfPresent(Duration.self, forKey: .duration) ?? .zero,
      processes: try fields.decodeCountIfPresent(forKey: .processes) ?? 0,
      metrics: try fields.decode([MetricName: Double].self, forKey: .metrics),
      growth: try fields.decodeIfPresent(Growth.self, forKey: .growth),
      steadiness: try fields.decodeIfPresent(Steadiness.self, forKey: .steadiness),
      phases: try fields.decodeIfPresent([Phase].self, forKey: .phases) ?? [],
      widestGap: try fields.decodeIfPresent(Duration.self, forKey: .widestGap) ?? .zero,
      notes: try fields.decodeIfPresent([RecordingNote].self, forKey: .notes) ?? [],
      spike: try fields.decodeIfPresent(Spike.self, forKey: .spike),
      treeMethod: try fields.decode(TreeMethod.self, forKey: .treeMethod),
      largestProcesses: try fields.decodeIfPresent([ProcessRecord].self, forKey: .largestProcesses) ?? [])
    units = try fields.decode([MetricName: String].self, forKey: .units)
    events = try fields.decodeIfPresent([TargetEvent].self, forKey: .events) ?? []
    nearlySteady = try fields.decodeIfPresent([MetricName].self, forKey: .nearlySteady) ?? []
    curve = try fields.decodeIfPresent(MemoryCurve.self, forKey: .curve)
  }
}

extension End {
  /// Result files have the texts of `evidence` and `cause` as `proof` and `detail`.
  enum CodingKeys: String, CodingKey {
    case kind, code, signal
    case proof = "evidence"
    case cause, oomKills
  }

  /// Only `kind` is required.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      try fields.decode(Kind.self, forKey: .kind), code: try fields.decodeIfPresent(Int.self, forKey: .code),
      signal: try fields.decodeIfPresent(Signal.self, forKey: .signal),
      proof: try fields.decodeIfPresent(Proof.self, forKey: .proof),
      cause: try fields.decodeIfPresent(Cause.self, forKey: .cause),
      oomKills: try fields.decodeCountIfPresent(forKey: .oomKills) ?? 0)
  }
}

extension RepetitionResult.Spike {
  enum CodingKeys: String, CodingKey {
    case height
    case after = "afterSeconds"
    case before = "beforeSeconds"
    case phase
    case isBusy = "busy"
  }
}

extension ProcessRecord {
  enum CodingKeys: String, CodingKey {
    case id = "pid"
    case parent, command
    case isMain = "main"
    case peak
    case firstSeen = "firstSeenSeconds"
    case lastSeen = "lastSeenSeconds"
    case isExact = "exact"
    case ending = "status"
  }
}

extension TargetEvent {
  enum CodingKeys: String, CodingKey {
    case kind
    case time = "atSeconds"
  }
}

extension MemoryCurve {
  enum CodingKeys: String, CodingKey {
    case main, tree
    case end = "endSeconds"
    case phases, marks, iterations, peak, steady
  }

  /// Only `main` is required; without `endSeconds` it ends with its last reading.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let main = try fields.decode(MemorySeries.self, forKey: .main)
    self.init(
      main: main, tree: try fields.decodeIfPresent(MemorySeries.self, forKey: .tree),
      end: try fields.decodeIfPresent(Duration.self, forKey: .end) ?? main.points.last?.time ?? .zero,
      phases: try fields.decodeIfPresent([Instant].self, forKey: .phases) ?? [],
      marks: try fields.decodeIfPresent([Instant].self, forKey: .marks) ?? [],
      iterations: try fields.decodeCountIfPresent(forKey: .iterations) ?? 0,
      peak: try fields.decodeIfPresent(Peak.self, forKey: .peak),
      steady: try fields.decodeIfPresent(Stretch.self, forKey: .steady))
  }
}

extension MemoryCurve.Instant {
  enum CodingKeys: String, CodingKey {
    case name
    case time = "atSeconds"
  }
}

extension MemoryCurve.Peak {
  enum CodingKeys: String, CodingKey {
    case height
    case after = "afterSeconds"
    case before = "beforeSeconds"
  }
}

extension MemoryCurve.Stretch {
  enum CodingKeys: String, CodingKey {
    case from = "fromSeconds"
    case to = "toSeconds"
    case first, last
  }
}

// Lists that are empty for most targets are left out.

extension KeyedEncodingContainer {
  mutating func encode(_ metrics: [MetricName], forKey key: Key) throws {
    if !metrics.isEmpty { try encode(ContiguousArray(metrics), forKey: key) }
  }

  mutating func encode(_ events: [TargetEvent], forKey key: Key) throws {
    if !events.isEmpty { try encode(ContiguousArray(events), forKey: key) }
  }
}

/// The values of a phase are members beside its name.
extension RepetitionResult.Phase: Codable {
  private enum CodingKeys: String, CodingKey {
    case name
    case peakIsExact = "exact"
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try fields.decode(String.self, forKey: .name),
      metrics: try decoder.container(keyedBy: MetricName.self).values(of: MetricName.perPhase.contains),
      peakIsExact: try fields.decodeIfPresent(Bool.self, forKey: .peakIsExact) ?? false
    )
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: MetricName.self)
    try values.encode(metrics)
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encode(peakIsExact, forKey: .peakIsExact)
  }
}

/// `libraries` and `unmapped` are objects of sizes by name, so that each library is one line of a diff.
extension Composition: Codable {
  private enum CodingKeys: String, CodingKey {
    case anonymous = "anon"
    case file
    case shared = "shmem"
    case stack, heap
    case lazilyFreed = "lazyFree"
    case hugePages, libraries, unmapped, runtime
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func amount(_ key: CodingKeys) throws -> Bytes? { try fields.decodeIfPresent(Bytes.self, forKey: key) }
    func sizes(_ key: CodingKeys) throws -> [Library] {
      let sizes = try fields.decodeIfPresent([String: Bytes].self, forKey: key) ?? [:]
      let sorted = sizes.map { Library(name: $0.key, resident: $0.value) }.sorted(by: Self.isLarger)
      return Array(sorted.prefix(Self.mostLibraries))
    }
    self.init(
      anonymous: try amount(.anonymous) ?? .zero,
      file: try amount(.file) ?? .zero,
      shared: try amount(.shared) ?? .zero,
      stack: try amount(.stack),
      heap: try amount(.heap),
      lazilyFreed: try amount(.lazilyFreed),
      hugePages: try amount(.hugePages),
      libraries: try sizes(.libraries)
    )
    unmapped = try sizes(.unmapped)
    runtime = try fields.decodeIfPresent(CollectedRuntime.self, forKey: .runtime)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(anonymous, forKey: .anonymous)
    try fields.encode(file, forKey: .file)
    try fields.encode(shared, forKey: .shared)
    try fields.encodeIfPresent(stack, forKey: .stack)
    try fields.encodeIfPresent(heap, forKey: .heap)
    try fields.encodeIfPresent(lazilyFreed, forKey: .lazilyFreed)
    try fields.encodeIfPresent(hugePages, forKey: .hugePages)
    try fields.encodeIfPresent(runtime, forKey: .runtime)
    for (key, files) in [(CodingKeys.libraries, libraries), (.unmapped, unmapped)] where !files.isEmpty {
      // Files with the same name in several folders are added up.
      try fields.encode(Dictionary(files.map { ($0.name, $0.resident) }, uniquingKeysWith: +), forKey: key)
    }
  }

  /// The largest first, then by name.
  private static func isLarger(_ lhs: Library, _ rhs: Library) -> Bool {
    (rhs.resident, lhs.name) < (lhs.resident, rhs.name)
  }

  /// The composition with its largest libraries only.
  package func keepingLibraries(_ most: Int) -> Composition {
    var result = self
    result.libraries = Array(libraries.sorted(by: Self.isLarger).prefix(most))
    return result
  }
}

/// Samples as one string: `MILLISECONDS:KiB`, or `MILLISECONDS:KiB-KiB` for the range of a group, separated by spaces.
///
/// As a list of numbers they would be hundreds of lines in files that people review.
extension MemorySeries: SingleValueCodable {
  /// More than a chart can show.
  private static let mostCoded = 1000

  package var coded: String {
    points.map { point in
      let tenths = max(0, point.time.nanoseconds) / Self.tick.nanoseconds
      let time = "\(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(tenths % 10)")
      let (low, high) = (point.low.count / 1024, (point.high.count + 1023) / 1024)
      return low == high ? "\(time):\(low)" : "\(time):\(low)-\(high)"
    }
    .joined(separator: " ")
  }

  package init(coded: String) throws {
    let words = coded.split(separator: " ", maxSplits: Self.mostCoded)
    guard words.count <= Self.mostCoded else {
      throw UnitError(problem: "has more than \(Self.mostCoded) readings", hint: "")
    }
    self.init(try words.map(Self.point))
    guard zip(points, points.dropFirst()).allSatisfy({ $0.time <= $1.time }) else {
      throw UnitError(problem: "is not ordered by time", hint: "")
    }
  }

  private static func point(_ word: Substring) throws -> Point {
    var reader = NumberReader(rest: word.utf8)
    let whole = reader.number()
    let tenth = reader.skips(".") ? reader.number() : 0
    let low = reader.skips(":") ? reader.number() : nil
    let high = reader.skips("-") ? reader.number() : low
    guard reader.rest.isEmpty, let whole, let tenth, let low, let high, low <= high,
      high <= Bytes.largest.count / 1024, whole <= 1_000_000_000_000, tenth <= 9
    else { throw UnitError(problem: "has the invalid reading `\(word.prefix(80))`", hint: "") }
    return Point(time: tick * (whole * 10 + tenth), low: .kibibytes(low), high: .kibibytes(high))
  }
}

/// Reads bytes instead of characters: the result of a large project has a million readings.
private struct NumberReader {
  var rest: Substring.UTF8View

  /// The digits that come next; nil if there are none.
  ///
  /// The last digits of a number beyond all limits are not read.
  mutating func number() -> Int64? {
    let start = rest.startIndex
    var value: Int64 = 0
    while let byte = rest.first, (0x30...0x39).contains(byte), value < 1 << 58 {
      value = value * 10 + Int64(byte - 0x30)
      rest.removeFirst()
    }
    return rest.startIndex > start ? value : nil
  }

  mutating func skips(_ separator: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: separator) else { return false }
    rest.removeFirst()
    return true
  }
}
