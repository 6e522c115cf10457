import GateCore
import Testing

@testable import GateFiles

@Suite("Recording files")
struct RecordingFileTests {
  @Test(
    "A recording that is written and read again is the same",
    arguments: [
      DocumentExamples.recording, DocumentExamples.recordingOfVersion1,
      Recording(end: End(.startFailed, code: -1, cause: .verbatim("no such program"))),
      Recording(
        samples: [Sample(time: .nanoseconds(7), main: nil, tree: Bytes(1), processes: 0)],
        end: End(.signaled, signal: Signal(number: 64))
      ),
      Recording(samples: extremes, end: End(.exited, code: .max)),
    ]
  )
  func roundTrip(recording: Recording) throws {
    let encoded = RecordingFile.encode(recording)
    let decoded = try RecordingFile.decode(encoded, path: "1.hwrec")
    #expect(decoded == recording)
    #expect(RecordingFile.encode(decoded) == encoded)
  }

  @Test(
    "A sample costs at most eight bytes on typical curves",
    arguments: [("steady", 0), ("growing", 1), ("noisy", 64)] as [(String, Int64)]
  )
  func size(curve: String, pages: Int64) throws {
    let recording = Self.curve(samples: 30_000, pages: pages)
    let encoded = RecordingFile.encode(recording)
    #expect(encoded.count <= 8 * 30_000, "\(curve): \(encoded.count) bytes")
    #expect(try RecordingFile.decode(encoded, path: "1.hwrec") == recording)
  }

  @Test("A file of version 1 is read as what it was written from, and refused where it is cut short or damaged")
  func version1() throws {
    let stored = DocumentGolden.bytes("recording-1.hwrec")
    #expect(stored[5] == 1)
    #expect(try RecordingFile.decode(stored, path: "1.hwrec") == DocumentExamples.recordingOfVersion1)
    for length in stride(from: 7, to: stored.count - 4, by: 5) {
      #expect(throws: FileError.self, "cut to \(length) bytes") {
        try RecordingFile.decode(Self.sealed(Array(stored.prefix(length))), path: "1.hwrec")
      }
    }
    for index in stride(from: 0, to: stored.count, by: 5) {
      var bytes = stored
      bytes[index] ^= 1 << UInt8(index % 8)
      #expect(throws: FileError.self, "byte \(index)") { try RecordingFile.decode(bytes, path: "1.hwrec") }
    }
  }

  @Test("A peak that is set back now and then costs nearly nothing")
  func sizeOfResets() throws {
    let plain = Self.curve(samples: 10_000, pages: 64)
    var reset = plain
    for index in 0..<10_000 { reset.samples[index].main?.peak = .mebibytes(40 - Int64(index / 1000)) }
    let cost = RecordingFile.encode(reset).count - RecordingFile.encode(plain).count
    #expect(cost < 200, "\(cost) bytes")
  }

  @Test("Each truncation is an error")
  func truncated() {
    let whole = RecordingFile.encode(DocumentExamples.recording)
    for length in whole.indices {
      #expect(throws: FileError.self, "cut to \(length) bytes") {
        try RecordingFile.decode(Array(whole.prefix(length)), path: "1.hwrec")
      }
    }
  }

  @Test("Each truncation is an error even with a checksum to match")
  func truncatedAndSealed() {
    let whole = RecordingFile.encode(DocumentExamples.recording).dropLast(4)
    for length in whole.indices {
      #expect(throws: FileError.self, "cut to \(length) bytes") {
        try RecordingFile.decode(Self.sealed(Array(whole.prefix(length))), path: "1.hwrec")
      }
    }
  }

  @Test("Each flipped bit is an error")
  func flipped() {
    let whole = RecordingFile.encode(DocumentExamples.recording)
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= 1 << UInt8(index % 8)
      #expect(throws: FileError.self, "bit \(index % 8) of byte \(index)") {
        try RecordingFile.decode(bytes, path: "1.hwrec")
      }
    }
  }

  @Test(
    "Changed bytes with a checksum to match are an error or a recording in bounds",
    arguments: 1...8 as ClosedRange<UInt64>
  )
  func forged(seed: UInt64) {
    let isOld = seed % 4 == 0
    let whole = (isOld ? DocumentGolden.bytes("recording-1.hwrec") : RecordingFile.encode(DocumentExamples.recording))
      .dropLast(4)
    var random = SmallRandom(seed: seed)
    for _ in 0..<1000 {
      var bytes = Array(whole)
      for _ in 0...Int.random(in: 0...3, using: &random) {
        let telling = [0, 1, 0x7f, 0x80, 0xff, UInt8.random(in: 0...255, using: &random)]
        bytes[Int.random(in: 6..<bytes.count, using: &random)] = telling.randomElement(using: &random) ?? 0
      }
      guard let recording = try? RecordingFile.decode(Self.sealed(bytes), path: "1.hwrec") else { continue }
      #expect(recording.samples.allSatisfy { (Bytes.zero...Bytes.largest).contains($0.tree) })
    }
  }

  @Test("Random bytes behind a good head are an error or a recording", arguments: 1...4 as ClosedRange<UInt64>)
  func random(seed: UInt64) {
    var random = SmallRandom(seed: seed)
    for _ in 0..<1000 {
      let length = Int.random(in: 0...200, using: &random)
      var bytes = Array("HWREC".utf8) + [seed % 2 == 0 ? 1 : 2, 7] + Array("sampled".utf8)
      bytes += (0..<length).map { _ in .random(in: 0...255, using: &random) }
      _ = try? RecordingFile.decode(Self.sealed(bytes), path: "1.hwrec")
    }
  }

  @Test("A count that no file of that size could hold is refused before memory is taken for it")
  func hugeCount() {
    var writer = ByteWriter()
    writer.append(Array("HWREC\u{1}".utf8))
    writer.append("sampled")
    writer.append(UInt64.max)
    #expect(throws: FileError.self) { try RecordingFile.decode(Self.sealed(writer.bytes), path: "1.hwrec") }
  }

  @Test(
    "What is no recording of ours is told from a damaged one and a later one",
    arguments: [
      (Array("".utf8), FileError.Code.malformed, "1.hwrec: error: is not a recording\n  hint: name a `.hwrec` file"),
      (Array("{}".utf8), .malformed, "1.hwrec: error: is not a recording\n  hint: name a `.hwrec` file"),
      (
        Array("HWREC\u{3}".utf8), .wrongSchema,
        """
        1.hwrec: error: is a recording of version 3, and this version of highwater reads 1 to 2
          hint: use the version of highwater that wrote it, or a newer one
        """
      ),
      (
        Array("HWREC\u{1}abcdefgh".utf8), .malformed,
        "1.hwrec: error: is damaged\n  hint: remove it; the next check writes a new one"
      ),
    ]
  )
  func refused(bytes: [UInt8], code: FileError.Code, message: String) throws {
    let error = try #require(throws: FileError.self) { try RecordingFile.decode(bytes, path: "1.hwrec") }
    #expect(error.code == code && error.diagnostics.map(\.description) == [message])
  }

  @Test("A mark whose number is not finite is left out")
  func notFinite() throws {
    let marks: [Mark] = [
      Mark(time: .zero, event: .value(name: "x", number: .nan, unit: "B")), Mark(time: .zero, event: .iteration),
    ]
    let encoded = RecordingFile.encode(Recording(marks: marks, end: End(.unknown)))
    #expect(try RecordingFile.decode(encoded, path: "1.hwrec").marks == [marks[1]])
  }

  @Test("The checksum is the one of zip and PNG")
  func checksum() {
    // The check value of CRC-32/ISO-HDLC in Greg Cook's catalogue of CRC algorithms.
    #expect(Checksum.of("123456789".utf8) == 0xcbf4_3926)
  }

  /// The ends of what a recording may hold, in an order that makes each difference as large as can be.
  private static let extremes = (0..<6).map { index in
    let (low, high) = (Bytes.zero, Bytes.largest)
    let isOdd = index % 2 == 1
    return Sample(
      time: .nanoseconds(index > 1 ? 1 << 62 : Int64(index)),
      main: index == 4
        ? nil
        : MemoryReading(
          resident: isOdd ? high : low, peak: isOdd ? low : high, anonymous: isOdd ? low : high,
          file: isOdd ? high : low, shared: isOdd ? high : low
        ),
      tree: isOdd ? low : high,
      processes: isOdd ? 1 << 32 : 0,
      activity: index == 3 ? nil : Activity(minorFaults: isOdd ? .max : 0, cpuTime: .nanoseconds(isOdd ? 1 << 62 : 0))
    )
  }

  private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    bytes + Checksum.bytes(of: bytes)
  }

  /// A single process sampled each 10 ms, give or take 50 µs, whose memory changes by up to `pages` each time.
  private static func curve(samples: Int, pages: Int64) -> Recording {
    var random = SmallRandom(seed: 42)
    var (anonymous, peak) = (Bytes.mebibytes(20), Bytes.zero)
    let taken = (0..<samples).map { index in
      if pages == 1 { anonymous = anonymous + Bytes(4096 * Int64.random(in: 0...1, using: &random)) }
      if pages > 1 { anonymous = .mebibytes(20) + Bytes(4096 * Int64.random(in: 0...pages, using: &random)) }
      let resident = anonymous + .mebibytes(3)
      peak = max(peak, resident)
      return Sample(
        time: .nanoseconds(Int64(index) * 10_000_000 + .random(in: -50_000...50_000, using: &random) + 60_000),
        main: MemoryReading(
          resident: resident, peak: peak, anonymous: anonymous, file: .mebibytes(3), shared: .zero
        ),
        tree: resident,
        processes: 1,
        activity: Activity(minorFaults: 400 + Int64(index) * pages / 2, cpuTime: .milliseconds(index / 2 * 10))
      )
    }
    return Recording(samples: taken, end: End(.exited, code: 0))
  }
}
