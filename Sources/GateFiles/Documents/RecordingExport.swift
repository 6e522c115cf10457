package import GateCore

/// Recordings for other programs, as JSON (`highwater.recording/1`) or CSV (RFC 4180).
///
/// Amounts are bytes and times are seconds since the target's exec; what was not read is `null` or an empty field.
package struct RecordingExport {
  /// Takes the text piece by piece.
  package typealias Sink = ([UInt8]) throws(FileError) -> Void

  private let format: RecordingFormat

  package init(_ format: RecordingFormat) {
    self.format = format
  }

  /// Writes recordings one after the other, so that no more than one of them is in memory at a time.
  ///
  /// `names` say in the text whose samples they are, and to `reading` what to read.
  package func write(
    _ names: [String],
    reading: (String) throws(FileError) -> Recording,
    to sink: Sink
  ) throws(FileError) {
    let frame = JSONText.frame(ExportDocument(), around: "recordings")
    try sink(format == .json ? frame.head : Array(Self.heading.utf8))
    for (index, name) in names.enumerated() {
      let recording = try reading(name)
      switch format {
      case .json:
        if index > 0 { try sink(Array(",\n".utf8)) }
        try writeJSON(recording, name, to: sink)
      case .csv: try writeRows(recording, name, to: sink)
      }
    }
    if format == .json { try sink(frame.tail) }
  }

  private func writeJSON(_ recording: Recording, _ name: String, to sink: Sink) throws(FileError) {
    let document = RecordingDocument(recording: recording, name: name)
    guard !recording.samples.isEmpty else { return try sink(JSONText.entry(document, indentedBy: 4)) }
    let (head, tail) = JSONText.frame(document, around: "samples", indentedBy: 4)
    var piece = head
    for (index, sample) in recording.samples.enumerated() {
      let fields = Self.columns.map { "\"\($0.json)\" : \($0.value(sample) ?? "null")" }
      piece += "\(index > 0 ? ",\n" : "")        {\(fields.joined(separator: ", "))}".utf8
      try send(&piece, to: sink, ifAbove: Self.pieceSize)
    }
    piece += tail
    try send(&piece, to: sink)
  }

  private func writeRows(_ recording: Recording, _ name: String, to sink: Sink) throws(FileError) {
    var phases = recording.marks.lazy.compactMap { mark -> (time: Duration, name: String)? in
      guard case .phase(let name) = mark.event else { return nil }
      return (mark.time, name)
    }.makeIterator()
    var next = phases.next()
    var phase = ""
    var piece: [UInt8] = []
    for sample in recording.samples {
      while let begun = next, begun.time <= sample.time {
        phase = Self.quoted(begun.name)
        next = phases.next()
      }
      let fields = Self.columns.map { $0.value(sample) ?? "" } + [phase, Self.quoted(name)]
      piece += (fields.joined(separator: ",") + "\n").utf8
      try send(&piece, to: sink, ifAbove: Self.pieceSize)
    }
    try send(&piece, to: sink)
  }

  private static let pieceSize = 65_536

  private func send(_ piece: inout [UInt8], to sink: Sink, ifAbove size: Int = 0) throws(FileError) {
    guard piece.count > size else { return }
    try sink(piece)
    piece.removeAll(keepingCapacity: true)
  }
}

// MARK: - Samples

extension RecordingExport {
  /// One figure of each sample.
  private struct Column: Sendable {
    let csv: String
    let json: String
    let value: @Sendable (Sample) -> String?

    init(_ csv: String, _ json: String, _ value: @escaping @Sendable (Sample) -> String?) {
      (self.csv, self.json, self.value) = (csv, json, value)
    }

    /// An amount under one name in both forms; nil where the main process was not read.
    init(_ name: String, _ amount: @escaping @Sendable (MemoryReading) -> Bytes) {
      self.init(name, name) { sample in sample.main.map { "\(amount($0).count)" } }
    }
  }

  private static let columns = [
    Column("time_s", "timeSeconds") { seconds($0.time) },
    Column("rss") { $0.resident },
    Column("peak") { $0.peak },
    Column("anon") { $0.anonymous },
    Column("file") { $0.file },
    Column("shmem") { $0.shared },
    Column("tree", "tree") { "\($0.tree.count)" },
    Column("processes", "processes") { "\($0.processes)" },
    Column("minor_faults", "minorFaults") { $0.activity.map { "\($0.minorFaults)" } },
    Column("cpu_s", "cpuSeconds") { $0.activity.map { seconds($0.cpuTime) } },
  ]

  private static let heading = columns.map(\.csv).joined(separator: ",") + ",phase,recording\n"

  /// The span with all of its nanoseconds, as in `0.010000321`.
  private static func seconds(_ span: Duration) -> String {
    let (seconds, rest) = max(0, span.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    let digits = String(rest)
    return "\(seconds)." + String(repeating: "0", count: 9 - digits.count) + digits
  }

  private static func quoted(_ text: String) -> String {
    guard text.utf8.contains(where: { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}

// MARK: - JSON

/// The whole document; the recordings are filled in.
private struct ExportDocument: Encodable {
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(DocumentSchema.recording.text, forKey: "schema")
    try fields.encode([String](), forKey: "recordings")
  }
}

/// One recording; its samples are filled in.
private struct RecordingDocument: Encodable {
  let recording: Recording
  let name: String

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(name, forKey: "file")
    try fields.encode(recording.method.rawValue, forKey: "measurement")
    try fields.encode(recording.treeMethod.rawValue, forKey: "treeMethod")
    try fields.encode(recording.pageSize, forKey: "pageSize")
    try fields.encode(recording.duration.asSeconds, forKey: "durationSeconds")
    try fields.encodeOrNull(recording.stopRequested?.asSeconds, forKey: "stopRequestedSeconds")
    try fields.encode(recording.widestGap.asSeconds, forKey: "widestGapSeconds")
    try fields.encode(EndDocument(recording.end), forKey: "end")
    try fields.encodeOrNull(recording.failure.map(FailureDocument.init), forKey: "failure")
    try fields.encode([String](), forKey: "samples")
    try fields.encode(recording.marks.map(MarkDocument.init), forKey: "marks")
    try fields.encode(recording.unknownMarks, forKey: "unknownMarks")
    try fields.encode(recording.processes.map(ProcessDocument.init), forKey: "processes")
    try fields.encode(CompositionDocument(recording.composition), forKey: "composition")
    try fields.encode(recording.compositions.map(CompositionReadingDocument.init), forKey: "compositions")
    try fields.encode(recording.outputTail, forKey: "outputTail")
    try fields.encode(recording.notes.compactMap(\.verbatimText), forKey: "notes")
  }
}

private struct MarkDocument: Encodable {
  let mark: Mark

  init(_ mark: Mark) {
    self.mark = mark
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(mark.time.asSeconds, forKey: "timeSeconds")
    try fields.encodeOrNull(mark.resident?.count, forKey: "rss")
    try fields.encodeOrNull(mark.peakBefore?.count, forKey: "peakBefore")
    switch mark.event {
    case .phase(let name):
      try fields.encode("phase", forKey: "event")
      try fields.encode(name, forKey: "name")
    case .mark(let name):
      try fields.encode("mark", forKey: "event")
      try fields.encode(name, forKey: "name")
    case .iteration:
      try fields.encode("iteration", forKey: "event")
    case .value(let name, let number, let unit):
      try fields.encode("value", forKey: "event")
      try fields.encode(name, forKey: "name")
      try fields.encode(number, forKey: "number")
      try fields.encode(unit, forKey: "unit")
    }
  }
}

private struct CompositionReadingDocument: Encodable {
  let reading: CompositionReading

  init(_ reading: CompositionReading) {
    self.reading = reading
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: JSONName.self)
    try fields.encode(reading.time.asSeconds, forKey: "timeSeconds")
    try fields.encodeOrNull(reading.proportional?.count, forKey: "pss")
    try fields.encode(CompositionDocument(reading.composition), forKey: "composition")
  }
}
