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
    append(count: process.isMain ? 1 : 0)
    append(process.peak.count)
    append(process.firstSeen.nanoseconds)
    append(process.lastSeen.nanoseconds)
  }

  mutating func append(_ composition: Composition) {
    append(composition.anonymous.count)
    append(composition.file.count)
    append(composition.shared.count)
    append(composition.stack?.count) { $0.append($1) }
    append(composition.heap?.count) { $0.append($1) }
  }

  mutating func append(_ end: End) {
    append(end.kind.rawValue)
    append(end.code.map(Int64.init)) { $0.append($1) }
    append((end.signal?.number).map(Int64.init)) { $0.append($1) }
    append(end.proof) { $0.append(cut: $1) }
    append(end.detail) { $0.append(cut: $1) }
  }

  mutating func append(_ failure: Failure) {
    append(cut: failure.subject)
    append(cut: failure.problem)
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

  private mutating func integer32() throws(ByteFault) -> Int32 {
    guard let number = Int32(exactly: try signed()) else { throw .damaged }
    return number
  }

  mutating func mark() throws(ByteFault) -> Mark {
    let time = try duration()
    let resident = try optional { reader throws(ByteFault) in try reader.bytes() }
    let event: Mark.Event =
      switch try count(atMost: 3) {
      case 0: .phase(try text())
      case 1: .mark(try text())
      case 2: .iteration
      default: .value(name: try text(), number: try number(), unit: try text())
      }
    return Mark(time: time, event: event, resident: resident)
  }

  private mutating func number() throws(ByteFault) -> Double {
    let number = Double(bitPattern: try unsigned())
    guard number.isFinite else { throw .damaged }
    return number
  }

  mutating func process() throws(ByteFault) -> ProcessRecord {
    ProcessRecord(
      id: try integer32(),
      parent: try integer32(),
      command: try text(),
      isMain: try count(atMost: 1) == 1,
      peak: try bytes(),
      firstSeen: try duration(),
      lastSeen: try duration()
    )
  }

  mutating func composition() throws(ByteFault) -> Composition {
    Composition(
      anonymous: try bytes(),
      file: try bytes(),
      shared: try bytes(),
      stack: try optional { reader throws(ByteFault) in try reader.bytes() },
      heap: try optional { reader throws(ByteFault) in try reader.bytes() }
    )
  }

  mutating func end() throws(ByteFault) -> End {
    guard let kind = End.Kind(rawValue: try text()) else { throw .damaged }
    let code = try optional { reader throws(ByteFault) in try reader.signed() }
    let signal = try optional { reader throws(ByteFault) in try reader.integer32() }
    return End(
      kind,
      code: code.map { Int($0) },
      signal: signal.map(Signal.init(number:)),
      proof: try optional { reader throws(ByteFault) in try reader.text() },
      detail: try optional { reader throws(ByteFault) in try reader.text() }
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
