import FoundationEssentials
import GateCore
import Testing

@testable import GateFiles

@Suite("Baseline files")
struct BaselineFileTests {
  private let encoded = BaselineFile.encode(DocumentExamples.baseline)

  @Test("A baseline that is written and read again is the same")
  func roundTrip() throws {
    #expect(try BaselineFile.decode(encoded, path: "b.json") == DocumentExamples.baseline)
  }

  @Test("A baseline that is read and written again has the same bytes")
  func byteRoundTrip() throws {
    #expect(BaselineFile.encode(try BaselineFile.decode(encoded, path: "b.json")) == encoded)
  }

  @Test("The file looks as its golden copy")
  func golden() throws {
    try DocumentGolden.expect(encoded, toBe: "baseline.json")
  }

  @Test("What is not known is left out or null, and read as such")
  func sparse() throws {
    var baseline = DocumentExamples.baseline
    baseline.composition = nil
    baseline.approved.commit = nil
    baseline.approved.reason = nil
    baseline.fingerprint.memoryLimit = nil
    baseline.fingerprint.allocator = ""
    let encoded = BaselineFile.encode(baseline)
    #expect(!String(decoding: encoded, as: UTF8.self).contains("memoryLimit"))
    #expect(try BaselineFile.decode(encoded, path: "b.json") == baseline)
  }

  @Test("One value more is one line more in a diff")
  func shortDiff() throws {
    var more = DocumentExamples.baseline
    more.metrics[.peakRSS]?.insert(24_207_365, at: 1)
    let lines = BaselineFile.encode(more).split(separator: 0x0a)
    let old = Set(encoded.split(separator: 0x0a))
    #expect(lines.count { !old.contains($0) } == 1)
  }

  @Test(
    "What claims to be a baseline is told by its schema, however the JSON is written",
    arguments: [
      (#"{"schema":"highwater.baseline\/1"}"#, true), (#"{"x":[{}],"schema":"highwater.baseline/2"}"#, true),
      (#"{"schema":"highwater.result/1","notes":["highwater.baseline/1"]}"#, false),
      (#"["highwater.baseline/1"]"#, false),
      (#"{"schema":1}"#, false), ("", false),
    ])
  func claims(text: String, isOne: Bool) {
    #expect(BaselineFile.claims(Array(text.utf8)) == isOne)
  }
}
