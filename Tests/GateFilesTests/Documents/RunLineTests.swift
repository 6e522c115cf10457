import FoundationEssentials
import GateCore
import GateFiles
import Testing

@Suite("Runs as JSON lines")
struct RunLineTests {
  private let record = RunRecord(DocumentExamples.result)

  private func line() -> [UInt8] {
    RunLine.encode(record)
  }

  @Test("A run is one line, as in the golden file, and comes back as it was")
  func golden() throws {
    let bytes = line()
    #expect(bytes.count { $0 == 0x0a } == 1 && bytes.last == 0x0a)
    try DocumentGolden.expect(bytes, toBe: "run.jsonl")
    let decoded = try RunLine.decode(bytes, path: "runs.jsonl", line: 1)
    #expect(RunLine.encode(decoded) == bytes)
    #expect(decoded.scenarios.map(\.metrics) == record.scenarios.map(\.metrics))
    #expect(decoded.scenarios.map(\.troubles) == record.scenarios.map(\.troubles))
    #expect(decoded.verdict == record.verdict)
  }

  @Test("A whole result document gives what a history keeps of it")
  func resultDocument() throws {
    let decoded = try RunLine.decode(ResultFile.encode(DocumentExamples.result), path: "result.json", line: nil)
    #expect(RunLine.encode(decoded) == line())
  }

  @Test("The order of keys and of metrics makes no difference")
  func order() throws {
    var decoded = try RunLine.decode(line(), path: "", line: 1)
    decoded.scenarios[0].metrics.reverse()
    let again = try RunLine.decode(RunLine.encode(decoded), path: "", line: 1)
    #expect(RunLine.encode(again) == line())
  }

  @Test(
    "A hostile line is told with its place",
    arguments: [
      ("\"highwater.run/1\"", "\"highwater.run/2\"", "has the schema `highwater.run/2`, and this version"),
      ("\"highwater.run/1\"", "\"other/1\"", "has the schema `other/1`, not `highwater.run/1`"),
      ("\"name\":\"peak_rss\"", "\"name\":\"a\\nb\"", "`scenarios[0].metrics[0].name` holds a control character"),
      ("\"name\":\"steady_rss\"", "\"name\":\"peak_rss\"", "`scenarios[0].metrics` has a metric twice"),
      ("\"name\":\"crasher\"", "\"name\":\"redis-load[clients=50]\"", "`scenarios` has a scenario twice"),
      ("\"verdict\":\"regression\"", "\"verdict\":\"good\"", "has an unknown value `good`"),
      ("\"tags\":[\"server\"", "\"tags\":[\"a,b\"", "`scenarios[0].tags` has a tag that is no plain name: `a,b`"),
      ("\"branch\":\"", "\"branch\":\"\\u0000", "holds a text with a zero character"),
      ("\"branch\":\"feature/faster-load\"", "\"branch\":7", "`run.branch` is not a text"),
      ("\"branch\":\"", "\"branch\":\"\\ud800", "is not valid JSON"),
      ("\"median\":24207360", "\"median\":1e300", "is too large a number"),
      ("\"median\":24207360", "\"median\":1e999", "has a number here that is too large"),
    ]
  )
  func hostile(sound: String, spoilt: String, problem: String) throws {
    var bytes = line()
    let range = try #require(bytes.firstRange(of: Array(sound.utf8)), "the line has no \(sound)")
    bytes.replaceSubrange(range, with: spoilt.utf8)
    let error = #expect(throws: FileError.self) { try RunLine.decode(bytes, path: "runs.jsonl", line: 17) }
    #expect(error?.diagnostics.first?.place?.hasPrefix("runs.jsonl:17") == true)
    #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
  }

  @Test("A line that was cut anywhere is refused and nothing traps")
  func cut() {
    let bytes = line()
    for end in stride(from: 0, to: bytes.count - 2, by: 37) {
      #expect(throws: FileError.self) { try RunLine.decode(Array(bytes[..<end]), path: "", line: 1) }
    }
  }

  @Test("Every byte may be another one: the line is read or refused, and nothing traps")
  func flipped() {
    let bytes = line()
    for index in stride(from: 0, to: bytes.count, by: 5) {
      for byte in [0x00, 0x22, 0x5c, 0x7d, 0xff] as [UInt8] {
        var spoilt = bytes
        spoilt[index] = byte
        _ = try? RunLine.decode(spoilt, path: "", line: 1)
      }
    }
  }

  @Test("Files are cut into lines, with a last one that has no end and one that is too long")
  func lines() throws {
    let folder = try ScratchFolder()
    let long = String(repeating: "x", count: RunLine.largest + 1)
    let path = try folder.put("a\n\n\(long)\nb", at: "lines")
    var reader = try RunLineReader(path)
    var seen: [String] = []
    while let line = try reader.next() {
      switch line {
      case .whole(let bytes): seen.append(String(decoding: bytes, as: UTF8.self))
      case .tooLong: seen.append("too long")
      }
    }
    #expect(seen == ["a", "", "too long", "b"])
    #expect(throws: FileError.self) { _ = try RunLineReader(folder.path) }
    #expect(throws: FileError.self) { _ = try RunLineReader("\(folder.path)/none") }
  }
}
