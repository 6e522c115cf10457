import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Runs as JSON lines")
struct RunLineTests {
  private let summary = DocumentExamples.result.summary.stored

  private func line() -> [UInt8] {
    RunLine.encode(summary)
  }

  @Test("A run is one line, matches the golden file and survives a round trip")
  func golden() throws {
    let bytes = line()
    #expect(bytes.count { $0 == 0x0a } == 1 && bytes.last == 0x0a)
    try DocumentGolden.expect(bytes, toBe: "run.jsonl")
    let decoded = try RunLine.decode(bytes, path: "runs.jsonl", line: 1)
    #expect(RunLine.encode(decoded) == bytes)
    #expect(decoded == summary)
  }

  @Test("A result document gives the line that the history stores")
  func resultDocument() throws {
    let decoded = try RunLine.decode(ResultFile.encode(DocumentExamples.result), path: "result.json", line: nil)
    #expect(RunLine.encode(decoded) == line())
  }

  @Test("The order of keys does not matter")
  func order() throws {
    let text = String(decoding: line(), as: UTF8.self)
    let schema = #","schema":"highwater.run/2""#
    try #require(text.contains(schema))
    let moved = "{" + schema.dropFirst() + "," + text.replacing(schema, with: "").dropFirst()
    #expect(RunLine.encode(try RunLine.decode(Array(moved.utf8), path: "", line: 1)) == line())
  }

  @Test(
    "A malformed line is rejected with its location",
    arguments: [
      ("\"highwater.run/2\"", "\"highwater.run/1\"", "has the schema `highwater.run/1`, this version"),
      ("\"highwater.run/2\"", "\"other/1\"", "has the schema `other/1`, not `highwater.run/2`"),
      ("\"name\":\"peak_rss\"", "\"name\":\"a\\nb\"", "`scenarios[0].metrics[0].name` contains a control character"),
      ("\"name\":\"steady_rss\"", "\"name\":\"peak_rss\"", "`scenarios[0].metrics` has `peak_rss` twice"),
      (
        "\"name\":\"crasher\"", "\"name\":\"redis-load[clients=50]\"",
        "`scenarios` has `redis-load[clients=50] (linux-x86_64-2cpu-sampled)` twice"
      ),
      ("\"verdict\":\"regression\"", "\"verdict\":\"good\"", "is `good`, expected one of"),
      ("\"tags\":[\"server\"", "\"tags\":[\"a,b\"", "`scenarios[0].tags` has the invalid tag `a,b`"),
      ("\"branch\":\"", "\"branch\":\"\\u0000", "contains a zero character"),
      ("\"branch\":\"feature/faster-load\"", "\"branch\":7", "`run.branch` is not a string"),
      ("\"branch\":\"", "\"branch\":\"\\ud800", "is not valid JSON"),
      ("\"median\":24207360", "\"median\":1e300", "has a number that is too large"),
      ("\"median\":24207360", "\"median\":1e999", "has a number that is too large"),
    ]
  )
  func malformed(valid: String, malformed: String, problem: String) throws {
    var bytes = line()
    let range = try #require(bytes.firstRange(of: Array(valid.utf8)), "the line has no \(valid)")
    bytes.replaceSubrange(range, with: malformed.utf8)
    let error = #expect(throws: FileError.self) { try RunLine.decode(bytes, path: "runs.jsonl", line: 17) }
    #expect(error?.diagnostics.first?.place?.hasPrefix("runs.jsonl:17") == true)
    #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
  }

  @Test("A truncated line is rejected and never traps")
  func cut() {
    let bytes = line()
    for end in stride(from: 0, to: bytes.count - 2, by: 37) {
      #expect(throws: FileError.self) { try RunLine.decode(Array(bytes[..<end]), path: "", line: 1) }
    }
  }

  @Test("A line with any byte changed is decoded or rejected, and never traps")
  func flipped() {
    let bytes = line()
    for index in stride(from: 0, to: bytes.count, by: 5) {
      for byte in [0x00, 0x22, 0x5c, 0x7d, 0xff] as [UInt8] {
        var malformed = bytes
        malformed[index] = byte
        _ = try? RunLine.decode(malformed, path: "", line: 1)
      }
    }
  }

  @Test("Files are split into lines; the last line may lack a newline, and a line may be too long")
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
