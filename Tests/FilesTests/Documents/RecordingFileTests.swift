import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

/// One line of a recording, decoded independently of the encoder.
private struct Line: Decodable {
  let kind: String
  let schema: String?
  let scenario: String?
  let seconds: Double?
  let resident: Int64?
  let tree: Int64?
  let processes: Int?
  let minorFaults: Int64?
  let cpuSeconds: Double?
  let event: String?
  let name: String?
  let value: Double?
  let pid: Int32?
  let signal: String?
  let end: String?
  let output: String?
}

@Suite("Recordings as JSON lines")
struct RecordingFileTests {
  private let recording = DocumentExamples.recording

  private func text(of recording: Recording) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try RecordingFile.write(
      recording, of: ScenarioName("load"), repetition: 3, words: .examples,
      to: { piece throws(FileError) in bytes += piece })
    return bytes
  }

  private func lines(of recording: Recording) throws -> [Line] {
    try text(of: recording).split(separator: 0x0a).map { try JSONDecoder().decode(Line.self, from: Data($0)) }
  }

  @Test("The file matches the golden file")
  func golden() throws {
    var short = recording
    short.samples = Array(recording.samples[0..<4])
    try DocumentGolden.expect(text(of: short), toBe: "recording.jsonl")
  }

  @Test("Every line is a flat object with a kind; the first line is the recording, the last its end")
  func kinds() throws {
    let lines = try lines(of: recording)
    #expect(lines.first?.kind == "recording" && lines.first?.schema == "highwater.recording/1")
    #expect(lines.first?.scenario == "load")
    #expect(lines.last?.kind == "end" && lines.last?.end == "stopped" && lines.last?.signal == "TERM")
    #expect(lines.last?.output == "Ready to accept\n")
    let counts = lines.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
    #expect(
      counts == ["recording": 1, "sample": 200, "mark": 4, "composition": 3, "library": 6, "process": 4, "end": 1])
    #expect(try text(of: recording).last == 0x0a)
  }

  @Test("A sample has exactly the values that were read, to the nanosecond")
  func samples() throws {
    let samples = try lines(of: recording).filter { $0.kind == "sample" }
    for (line, sample) in zip(samples, recording.samples) {
      #expect(line.seconds == sample.time.inSeconds)
      #expect(line.resident == sample.main?.resident.count && line.tree == sample.tree.count)
      #expect(line.processes == sample.processes && line.minorFaults == sample.activity?.minorFaults)
      #expect(line.cpuSeconds == sample.activity?.cpuTime.inSeconds)
    }
  }

  @Test("Marks and processes have names; a non-finite value is omitted")
  func marks() throws {
    var recording = recording
    recording.marks.append(Mark(time: .seconds(1), event: .value(name: "odd", number: .infinity, unit: "x")))
    let lines = try lines(of: recording)
    let marks = lines.filter { $0.kind == "mark" }
    #expect(marks.map { $0.event ?? "" } == ["phase", "iteration", "value", "mark", "value"])
    #expect(marks.map { $0.name ?? "" } == ["load", "", "keys", "filled", "odd"])
    #expect(marks[2].value == -1.5e300 && marks[4].value == nil)
    #expect(lines.filter { $0.kind == "process" }.map { $0.pid ?? 0 } == [4242, 4243, 4244, 4245])
  }

  @Test("An empty recording has two lines")
  func empty() throws {
    #expect(try lines(of: Recording(end: End(.startFailed))).map(\.kind) == ["recording", "end"])
  }

  @Test("The file is written atomically; an error leaves the old file in place")
  func written() throws {
    let folder = try ScratchFolder()
    let path = "\(folder.path)/recordings/load/1.jsonl"
    try RecordingFile.write(recording, of: ScenarioName("load"), repetition: 3, words: .examples, to: path)
    #expect(try SafeFile.read(path, atMost: 1 << 20) == text(of: recording))
  }
}
