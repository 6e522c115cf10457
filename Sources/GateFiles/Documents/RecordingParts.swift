import GateCore

extension ByteWriter {
  /// Writes a text, cut at the most that is read.
  mutating func append(cut text: String) {
    guard text.utf8.count > RecordingFile.longestText else { return append(text) }
    append(text.boundedEnd)
  }

  mutating func append(_ mark: Mark) {
    append(mark.time.nanoseconds)
    append(mark.resident?.count) { $0.append($1) }
    append(mark.peakBefore?.count) { $0.append($1) }
    switch mark.event {
    case .phase(let name):
      append(count: 0)
      append(cut: name)
    case .mark(let name):
      append(count: 1)
      append(cut: name)
    case .iteration:
      append(count: 2)
    case .value(let name, let number, let unit):
      append(count: 3)
      append(cut: name)
      append(number.bitPattern)
      append(cut: unit)
    }
  }

  mutating func append(_ process: ProcessRecord) {
    append(Int64(process.id))
    append(Int64(process.parent))
    append(cut: process.command)
    append(count: (process.isMain ? 1 : 0) + (process.isExact ? 2 : 0))
    append(process.peak.count)
    append(process.firstSeen.nanoseconds)
    append(process.lastSeen.nanoseconds)
    append(process.ending) { $0.append($1) }
  }

  private mutating func append(_ ending: EndEvidence.Status) {
    switch ending {
    case .exited(let code):
      append(count: 0)
      append(Int64(code))
    case .signaled(let signal, let coreDumped):
      append(count: coreDumped ? 2 : 1)
      append(Int64(signal.number))
    }
  }

  mutating func append(_ composition: Composition) {
    append(composition.anonymous.count)
    append(composition.file.count)
    append(composition.shared.count)
    append(composition.stack?.count) { $0.append($1) }
    append(composition.heap?.count) { $0.append($1) }
    append(composition.lazilyFreed?.count) { $0.append($1) }
    append(composition.hugePages?.count) { $0.append($1) }
    append(Array(composition.libraries.prefix(Composition.mostLibraries))) { writer, library in
      writer.append(cut: library.name)
      writer.append(library.resident.count)
    }
  }

  mutating func append(_ reading: CompositionReading) {
    append(reading.time.nanoseconds)
    append(reading.composition)
    append(reading.proportional?.count) { $0.append($1) }
  }

  mutating func append(_ end: End) {
    append(end.kind.rawValue)
    append(end.code.map(Int64.init)) { $0.append($1) }
    append((end.signal?.number).map(Int64.init)) { $0.append($1) }
    append(end.proofLine) { $0.append(cut: $1) }
    append(end.causeText) { $0.append(cut: $1) }
    append(count: end.oomKills)
  }

  mutating func append(_ failure: Failure) {
    append(cut: failure.verbatimSubject ?? "")
    append(cut: failure.verbatimProblem ?? "")
    append(failure.place) { writer, place in
      writer.append(cut: place.file)
      writer.append(count: place.line)
      writer.append(count: place.column)
    }
    append(cut: failure.output)
  }
}

extension ByteReader {
  mutating func bytes() throws(ByteFault) -> Bytes { try .checked(try signed()) }

  mutating func duration() throws(ByteFault) -> Duration { try .checked(try signed()) }

  private mutating func bytesIfAny() throws(ByteFault) -> Bytes? {
    try optional { reader throws(ByteFault) in try reader.bytes() }
  }

  /// An amount that version 2 has added.
  private mutating func bytesIfAnyOfVersion2() throws(ByteFault) -> Bytes? {
    try added(in: 2, else: nil) { reader throws(ByteFault) in try reader.bytesIfAny() }
  }

  private mutating func integer32() throws(ByteFault) -> Int32 {
    guard let number = Int32(exactly: try signed()) else { throw .damaged }
    return number
  }

  mutating func mark() throws(ByteFault) -> Mark {
    let time = try duration()
    let resident = try bytesIfAny()
    let peakBefore = try bytesIfAnyOfVersion2()
    let event: Mark.Event =
      switch try count(atMost: 3) {
      case 0: .phase(try text())
      case 1: .mark(try text())
      case 2: .iteration
      default: .value(name: try text(), number: try number(), unit: try text())
      }
    return Mark(time: time, event: event, resident: resident, peakBefore: peakBefore)
  }

  private mutating func number() throws(ByteFault) -> Double {
    let number = Double(bitPattern: try unsigned())
    guard number.isFinite else { throw .damaged }
    return number
  }

  mutating func process() throws(ByteFault) -> ProcessRecord {
    let (id, parent) = (try integer32(), try integer32())
    let command = try text()
    let flags = try count(atMost: version < 2 ? 1 : 3)
    return ProcessRecord(
      id: id,
      parent: parent,
      command: command,
      isMain: flags & 1 != 0,
      peak: try bytes(),
      firstSeen: try duration(),
      lastSeen: try duration(),
      isExact: flags & 2 != 0,
      ending: try added(in: 2, else: nil) { reader throws(ByteFault) in
        try reader.optional { reader throws(ByteFault) in try reader.ending() }
      }
    )
  }

  private mutating func ending() throws(ByteFault) -> EndEvidence.Status {
    switch try count(atMost: 2) {
    case 0: .exited(Int(try signed()))
    case let kind: .signaled(Signal(number: try integer32()), coreDumped: kind == 2)
    }
  }

  mutating func composition() throws(ByteFault) -> Composition {
    Composition(
      anonymous: try bytes(),
      file: try bytes(),
      shared: try bytes(),
      stack: try bytesIfAny(),
      heap: try bytesIfAny(),
      lazilyFreed: try bytesIfAnyOfVersion2(),
      hugePages: try bytesIfAnyOfVersion2(),
      libraries: try added(in: 2, else: []) { reader throws(ByteFault) in try reader.libraries() }
    )
  }

  private mutating func libraries() throws(ByteFault) -> [Composition.Library] {
    try list(atMost: Composition.mostLibraries) { reader throws(ByteFault) in
      Composition.Library(name: try reader.text(), resident: try reader.bytes())
    }
  }

  mutating func compositionReading() throws(ByteFault) -> CompositionReading {
    CompositionReading(time: try duration(), composition: try composition(), proportional: try bytesIfAny())
  }

  mutating func treeMethod() throws(ByteFault) -> TreeMethod {
    guard let basis = TreeMethod(rawValue: try text()) else { throw .damaged }
    return basis
  }

  mutating func end() throws(ByteFault) -> End {
    guard let kind = End.Kind(rawValue: try text()) else { throw .damaged }
    let code = try optional { reader throws(ByteFault) in try reader.signed() }
    let signal = try optional { reader throws(ByteFault) in try reader.integer32() }
    return End(
      kind,
      code: code.map { Int($0) },
      signal: signal.map(Signal.init(number:)),
      proof: try optional { reader throws(ByteFault) in .verbatim(try reader.text()) },
      cause: try optional { reader throws(ByteFault) in .verbatim(try reader.text()) },
      oomKills: try added(in: 2, else: 0) { reader throws(ByteFault) in try reader.count(atMost: 1 << 40) }
    )
  }

  mutating func failure() throws(ByteFault) -> Failure {
    Failure(
      subject: try text(),
      problem: try text(),
      place: try optional { reader throws(ByteFault) in try reader.place() },
      output: try text()
    )
  }

  private mutating func place() throws(ByteFault) -> SourcePlace {
    SourcePlace(file: try text(), line: try count(atMost: 1 << 40), column: try count(atMost: 1 << 40))
  }
}
