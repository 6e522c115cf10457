import GateCore

/// Recordings (`highwater.recording/1`): everything measured in one repetition, as JSON lines for other programs.
///
/// The first line has the kind `recording`, the last one the kind `end`. Between them are lines of the kinds `sample`,
/// `mark`, `composition`, `library` and `process`, each kind in order of time. Every line is a flat object; missing
/// values are left out. Amounts are bytes, and times are seconds since the target's exec. This program does not read
/// recordings.
enum RecordingFile {
  /// Writes a recording in pieces, so that its text is never in memory as a whole.
  static func write(
    _ recording: Recording,
    of scenario: ScenarioName,
    repetition: Int,
    words: FileWords,
    to path: String
  ) throws(FileError) {
    // It can be measured again: to sync it took 8 ms, a sixth of what surrounds a short target.
    try SafeFile.write(to: path, isSynced: false) { sink throws(FileError) in
      try write(recording, of: scenario, repetition: repetition, words: words, to: sink)
    }
  }

  private static let pieceSize = 65_536

  static func write(
    _ recording: Recording,
    of scenario: ScenarioName,
    repetition: Int,
    words: FileWords,
    to sink: ([UInt8]) throws(FileError) -> Void
  ) throws(FileError) {
    var piece = JSON.encode(Header(recording, scenario, repetition, words), .line)
    func send(_ line: some Sequence<UInt8>) throws(FileError) {
      piece += line
      guard piece.count > pieceSize else { return }
      try sink(piece)
      piece.removeAll(keepingCapacity: true)
    }
    for sample in recording.samples { try send(line(of: sample).utf8) }
    for mark in recording.marks { try send(JSON.encode(MarkLine(mark), .line)) }
    for reading in recording.compositions {
      try send(JSON.encode(CompositionLine(reading.composition, at: reading.time, pss: reading.proportional), .line))
      for library in LibraryLine.all(of: reading.composition, at: reading.time) {
        try send(JSON.encode(library, .line))
      }
    }
    if let composition = recording.composition {
      try send(JSON.encode(CompositionLine(composition), .line))
      for library in LibraryLine.all(of: composition) { try send(JSON.encode(library, .line)) }
    }
    for process in recording.processes { try send(JSON.encode(ProcessLine(process), .line)) }
    try sink(piece + JSON.encode(EndLine(recording, words), .line))
  }

  /// All values are numbers, so nothing needs escaping; the encoder takes 20 times as long for a sample.
  private static func line(of sample: Sample) -> String {
    var line = "{\"kind\":\"sample\",\"seconds\":\(sample.time.inSeconds)"
    if let main = sample.main {
      line += ",\"pid\":\(sample.process)"
      line += ",\"resident\":\(main.resident.count),\"peak\":\(main.peak.count),\"anonymous\":\(main.anonymous.count)"
      line += ",\"file\":\(main.file.count),\"shmem\":\(main.shared.count)"
    }
    line += ",\"tree\":\(sample.tree.count),\"processes\":\(sample.processes)"
    if let activity = sample.activity {
      line += ",\"minorFaults\":\(activity.minorFaults),\"cpuSeconds\":\(activity.cpuTime.inSeconds)"
    }
    return line + "}\n"
  }
}

// MARK: - Lines

private struct Header: Encodable {
  let kind = "recording"
  let schema = Schema.recording.text
  let version = Tool.version
  let scenario: ScenarioName
  let repetition: Int
  let measurement: MeasurementMethod
  let treeMethod: TreeMethod.RawValue
  let treePeak: Bytes
  let pageSize: Int
  let samples: Int
  let notes: [String]

  init(_ recording: Recording, _ scenario: ScenarioName, _ repetition: Int, _ words: FileWords) {
    (self.scenario, self.repetition) = (scenario, repetition)
    (measurement, treeMethod) = (recording.method, recording.treeMethod.rawValue)
    treePeak = recording.treePeak
    (pageSize, samples) = (recording.pageSize, recording.samples.count)
    notes = recording.notes.map(words.recordingNote)
  }
}

private struct MarkLine: Encodable {
  let kind = "mark"
  let seconds: Double
  var event = "mark"
  var name: String?
  var value: Double?
  var unit: String?
  let resident: Bytes?
  let tree: Bytes?
  let peakBefore: Bytes?

  init(_ mark: Mark) {
    (seconds, resident, tree, peakBefore) = (mark.time.inSeconds, mark.resident, mark.tree, mark.peakBefore)
    switch mark.event {
    case .phase(let name): (event, self.name) = ("phase", name)
    case .mark(let name): self.name = name
    case .iteration: event = "iteration"
    case .value(let name, let number, let unit):
      (event, self.name, self.unit) = ("value", name, unit)
      value = number.isFinite ? number : nil
    }
  }
}

/// Without a time: the last composition before the end or the stop.
private struct CompositionLine: Encodable {
  let kind = "composition"
  let seconds: Double?
  let pss: Bytes?
  let anonymous: Bytes
  let file: Bytes
  let shmem: Bytes
  let stack: Bytes?
  let heap: Bytes?
  let lazilyFreed: Bytes?
  let hugePages: Bytes?

  init(_ composition: Composition, at time: Duration? = nil, pss: Bytes? = nil) {
    (seconds, self.pss) = (time?.inSeconds, pss)
    (anonymous, file, shmem) = (composition.anonymous, composition.file, composition.shared)
    (stack, heap) = (composition.stack, composition.heap)
    (lazilyFreed, hugePages) = (composition.lazilyFreed, composition.hugePages)
  }
}

/// The resident pages of one mapped file at the time of a composition.
private struct LibraryLine: Encodable {
  let kind = "library"
  let seconds: Double?
  let name: String
  let resident: Bytes

  static func all(of composition: Composition, at time: Duration? = nil) -> [LibraryLine] {
    composition.libraries.map { LibraryLine(seconds: time?.inSeconds, name: $0.name, resident: $0.resident) }
  }
}

private struct ProcessLine: Encodable {
  let kind = "process"
  let pid: Int32
  let parent: Int32
  let command: String
  let main: Bool
  let peak: Bytes
  let firstSeenSeconds: Double
  let lastSeenSeconds: Double
  let exact: Bool
  var exitCode: Int?
  var signal: Signal?
  var coreDumped: Bool?

  init(_ process: ProcessRecord) {
    (pid, parent, command) = (process.id, process.parent, process.command)
    (main, peak, exact) = (process.isMain, process.peak, process.isExact)
    (firstSeenSeconds, lastSeenSeconds) = (process.firstSeen.inSeconds, process.lastSeen.inSeconds)
    switch process.ending {
    case .exited(let code): exitCode = code
    case .signaled(let signal, let dumpedCore): (self.signal, coreDumped) = (signal, dumpedCore)
    case nil: break
    }
  }
}

private struct EndLine: Encodable {
  let kind = "end"
  let end: End.Kind
  let code: Int?
  let signal: Signal?
  let oomKills: Int
  let text: String
  let failure: String?
  let durationSeconds: Double
  let stopRequestedSeconds: Double?
  let widestGapSeconds: Double
  let unknownMarks: Int
  let output: String

  init(_ recording: Recording, _ words: FileWords) {
    let end = recording.end
    (self.end, code, signal, oomKills, text) = (end.kind, end.code, end.signal, end.oomKills, words.end(end).text)
    failure = recording.failure.map(words.failure)
    (durationSeconds, stopRequestedSeconds) = (recording.duration.inSeconds, recording.stopRequested?.inSeconds)
    (widestGapSeconds, unknownMarks) = (recording.widestGap.inSeconds, recording.unknownMarks)
    output = recording.outputTail
  }
}
