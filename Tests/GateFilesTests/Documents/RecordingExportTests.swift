import FoundationEssentials
import GateCore
import Testing

@testable import GateFiles

@Suite("Recordings for other programs")
struct RecordingExportTests {
  private static let small = {
    var recording = DocumentExamples.recording
    recording.samples = [1, 2, 50, 99, 150, 199].map { recording.samples[$0] }
    return recording
  }()

  private func text(
    _ format: RecordingFormat,
    _ recordings: [String: Recording] = ["1.hwrec": small],
    names: [String] = ["1.hwrec"]
  ) throws -> String {
    var bytes: [UInt8] = []
    try RecordingExport(format).write(names) { name throws(FileError) in
      guard let recording = recordings[name] else {
        throw FileError(code: .notFound, path: name, problem: "is missing")
      }
      return recording
    } to: { piece throws(FileError) in
      bytes += piece
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("The forms look as their golden copies", arguments: RecordingFormat.allCases)
  func golden(format: RecordingFormat) throws {
    try DocumentGolden.expect(Array(text(format).utf8), toBe: "recording.\(format.rawValue)")
  }

  /// What a reader needs of the JSON.
  private struct Document: Decodable {
    struct Recording: Decodable {
      let file: String
      let measurement: String
      let samples: [[String: Double?]]
      let marks: [Mark]
    }
    struct Mark: Decodable {
      let event: String
    }
    let schema: String
    let recordings: [Recording]
  }

  @Test("The JSON has every sample of every recording, and is read by others", arguments: [0, 1, 2, 5000])
  func json(samples: Int) throws {
    var large = Self.small
    large.samples = (0..<samples).map { index in
      Sample(
        time: .microseconds(index), main: nil, tree: Bytes(Int64(index)), processes: 1,
        activity: Activity(minorFaults: 5, cpuTime: .milliseconds(index))
      )
    }
    let text = try text(.json, ["a": large, "b \"x\".hwrec": Self.small], names: ["a", "b \"x\".hwrec"])
    let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    #expect(document.schema == "highwater.recording/1")
    #expect(document.recordings.map(\.file) == ["a", "b \"x\".hwrec"])
    #expect(document.recordings.map(\.samples.count) == [samples, 6])
    #expect(document.recordings[1].marks.map(\.event) == ["phase", "iteration", "value", "mark"])
    for (index, sample) in document.recordings[0].samples.enumerated() {
      #expect(sample["timeSeconds"] == Double(index) / 1e6 && sample["tree"] == Double(index))
      #expect(sample["rss"] == .some(nil) && sample["cpuSeconds"] == Double(index) / 1000)
    }
    #expect(text.hasSuffix("}\n"))
  }

  @Test("No recording at all is still a document")
  func none() throws {
    let document = try JSONDecoder().decode(Document.self, from: Data(try text(.json, [:], names: []).utf8))
    #expect(document.recordings.isEmpty)
  }

  @Test("Each row of the CSV has every column, of all recordings below one heading, and what was not read is empty")
  func csv() throws {
    var other = Self.small
    other.samples.removeLast(2)
    let rows = try text(.csv, ["a": Self.small, "b": other], names: ["a", "b"]).split(separator: "\n")
    #expect(rows.count == 1 + 6 + 4)
    #expect(rows[0] == "time_s,rss,peak,anon,file,shmem,tree,processes,minor_faults,cpu_s,phase,recording")
    let fields = rows.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    #expect(fields.allSatisfy { $0.count == 12 })
    #expect(fields[1][1...5] == ["", "", "", "", ""])
    #expect(fields[2][0] == "0.020004052" && fields[2][10] == "load" && fields[2][11] == "a" && fields[7][11] == "b")
  }

  @Test(
    "A text that holds a comma, a quote or a line break is quoted",
    arguments: [
      ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\""), ("two\nlines", "\"two\nlines\""), ("ä b", "ä b"),
    ]
  )
  func quoting(name: String, quoted: String) throws {
    var recording = Self.small
    recording.samples.removeFirst(5)
    recording.marks = [Mark(time: .zero, event: .phase(name))]
    #expect(try text(.csv, [name: recording], names: [name]).hasSuffix(",\(quoted),\(quoted)\n"))
  }

  @Test("A recording that cannot be read ends the text with its error")
  func unreadable() throws {
    let error = try #require(throws: FileError.self) { try text(.json, names: ["1.hwrec", "2.hwrec"]) }
    #expect(error.path == "2.hwrec")
  }
}
