package import GateCore

/// Recording files (`.hwrec`): all that was seen of one repetition, in a compact binary form.
///
/// The file is `HWREC`, a byte of the version, the parts of the recording in a fixed order (see ``encode(_:)``), and
/// the CRC-32 of all before. It is made for this program's own reports; what others should read is the result file, or
/// a ``RecordingExport``.
///
/// Version 2 has added what the main process did (faults, CPU time), marks that were set back, how processes ended,
/// more of compositions and all of their readings, what trees count, and the size of a page. Version 1 is read.
package enum RecordingFile {
  /// The most bytes of a recording that are read.
  package static let largest = 64 << 20
  /// The most samples of a recording, far more than a repetition keeps of itself: they take some 100 MB when they are read.
  package static let mostSamples = 1 << 20
  static let mostMarks = 1 << 22
  static let mostProcesses = 1 << 20
  static let mostCompositions = 1 << 16
  /// The most bytes of one text.
  static let longestText = 1 << 20

  private static let magic = Array("HWREC".utf8)
  static let version: UInt8 = 2

  /// The recording as bytes.
  ///
  /// Samples, marks and processes beyond the most that are read are left out, which a note says.
  package static func encode(_ recording: Recording) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(magic + [version])
    writer.append(recording.method.rawValue)
    SampleColumns.write(Array(recording.samples.prefix(mostSamples)), to: &writer)
    writer.append(Array(recording.marks.filter(\.isFinite).prefix(mostMarks))) { $0.append($1) }
    writer.append(Array(recording.processes.prefix(mostProcesses))) { $0.append($1) }
    writer.append(recording.composition) { $0.append($1) }
    writer.append(Array(recording.compositions.prefix(mostCompositions))) { $0.append($1) }
    writer.append(recording.treeMethod.rawValue)
    writer.append(count: recording.pageSize)
    writer.append(recording.end)
    writer.append(recording.failure) { $0.append($1) }
    writer.append(recording.duration.nanoseconds)
    writer.append(recording.stopRequested?.nanoseconds) { $0.append($1) }
    writer.append(recording.widestGap.nanoseconds)
    writer.append(count: recording.unknownMarks)
    writer.append(cut: recording.outputTail)
    writer.append(notes(of: recording)) { $0.append(cut: $1) }
    return writer.bytes + Checksum.bytes(of: writer.bytes)
  }

  /// Reads a recording; bytes that are none, or a damaged one, are an error and nothing worse; the path is for messages.
  package static func decode(_ bytes: [UInt8], path: String) throws(FileError) -> Recording {
    guard bytes.starts(with: magic), bytes.count > magic.count else {
      throw FileError(code: .malformed, path: path, problem: "is not a recording", hint: "name a `.hwrec` file")
    }
    let version = bytes[magic.count]
    guard (1...Self.version).contains(version) else {
      throw FileError(
        code: .wrongSchema,
        path: path,
        problem: "is a recording of version \(version), and this version of \(Tool.name) reads 1 to \(Self.version)",
        hint: "use the version of \(Tool.name) that wrote it, or a newer one"
      )
    }
    do throws(ByteFault) {
      let content = bytes.dropLast(4)
      guard Array(bytes.suffix(4)) == Checksum.bytes(of: content) else { throw .damaged }
      var reader = ByteReader(Array(content.dropFirst(magic.count + 1)), version: version)
      let recording = try reader.recording()
      guard reader.remaining == 0 else { throw .damaged }
      return recording
    } catch {
      throw FileError(
        code: .malformed, path: path, problem: error.problem, hint: "remove it; the next check writes a new one"
      )
    }
  }

  private static func notes(of recording: Recording) -> [String] {
    let parts = [
      ("samples", recording.samples.count - mostSamples),
      ("marks", recording.marks.count - mostMarks),
      ("processes", recording.processes.count - mostProcesses),
      ("compositions", recording.compositions.count - mostCompositions),
    ]
    let left = parts.filter { $0.1 > 0 }.map { "the last \($0.1) \($0.0) did not fit into the recording" }
    return recording.notes.compactMap(\.verbatimText).prefix(DocumentLimit.list - left.count) + left
  }
}

extension Mark {
  /// Whether readers take its number, if it has one.
  fileprivate var isFinite: Bool {
    guard case .value(_, let number, _) = event else { return true }
    return number.isFinite
  }
}

extension ByteReader {
  fileprivate mutating func recording() throws(ByteFault) -> Recording {
    guard let method = MeasurementMethod(rawValue: try text()) else { throw .damaged }
    let samples = try SampleColumns.read(from: &self)
    let marks = try list(atMost: RecordingFile.mostMarks) { reader throws(ByteFault) in try reader.mark() }
    let processes = try list(atMost: RecordingFile.mostProcesses) { reader throws(ByteFault) in try reader.process() }
    let composition = try optional { reader throws(ByteFault) in try reader.composition() }
    let compositions = try added(in: 2, else: []) { reader throws(ByteFault) in
      try reader.list(atMost: RecordingFile.mostCompositions) { reader throws(ByteFault) in
        try reader.compositionReading()
      }
    }
    let treeMethod = try added(in: 2, else: .upperBound) { reader throws(ByteFault) in try reader.treeMethod() }
    let pageSize = try added(in: 2, else: 4096) { reader throws(ByteFault) in try reader.count(atMost: 1 << 30) }
    return Recording(
      method: method,
      samples: samples,
      marks: marks,
      processes: processes,
      composition: composition,
      compositions: compositions,
      treeMethod: treeMethod,
      pageSize: pageSize,
      end: try end(),
      failure: try optional { reader throws(ByteFault) in try reader.failure() },
      duration: try duration(),
      stopRequested: try optional { reader throws(ByteFault) in try reader.duration() },
      widestGap: try duration(),
      unknownMarks: try count(atMost: 1 << 62),
      outputTail: try text(),
      notes: try list(atMost: DocumentLimit.list) { reader throws(ByteFault) in .verbatim(try reader.text()) }
    )
  }
}
