import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Baseline files")
struct BaselineFileTests {
  private let encoded = BaselineFile.encode(DocumentExamples.baseline)

  @Test("Decoding an encoded baseline gives an equal baseline")
  func roundTrip() throws {
    #expect(try BaselineFile.decode(encoded, path: "b.json") == DocumentExamples.baseline)
  }

  @Test("Encoding a decoded baseline gives the same bytes")
  func byteRoundTrip() throws {
    #expect(BaselineFile.encode(try BaselineFile.decode(encoded, path: "b.json")) == encoded)
  }

  @Test("The file matches the golden file")
  func golden() throws {
    try DocumentGolden.expect(encoded, toBe: "baseline.json")
  }

  @Test("Missing values are omitted and read back as missing")
  func sparse() throws {
    var baseline = DocumentExamples.baseline
    baseline.composition = nil
    baseline.approval?.commit = nil
    baseline.approval?.reason = nil
    baseline.fingerprint.memoryLimit = nil
    baseline.fingerprint.allocator = ""
    let encoded = BaselineFile.encode(baseline)
    #expect(!String(decoding: encoded, as: UTF8.self).contains("memoryLimit"))
    #expect(try BaselineFile.decode(encoded, path: "b.json") == baseline)
  }

  @Test("The ten largest libraries are stored, one per line, and the order is stable")
  func libraries() throws {
    var baseline = DocumentExamples.baseline
    baseline.composition?.libraries = (0..<32).map { .init(name: "lib\($0).so", resident: .mebibytes(32 - $0)) }
    let encoded = BaselineFile.encode(baseline)
    let read = try BaselineFile.decode(encoded, path: "b.json")
    #expect(read.composition?.libraries.map(\.name) == (0..<10).map { "lib\($0).so" })
    #expect(BaselineFile.encode(read) == encoded)
    baseline.composition?.libraries[3].resident = Bytes(30_408_705)
    let lines = Set(encoded.split(separator: 0x0a))
    #expect(BaselineFile.encode(baseline).split(separator: 0x0a).count { !lines.contains($0) } == 2, "and the digest")
  }

  @Test("A version 1 baseline is read with tree values as sums, and is written back with a digest")
  func firstFormat() throws {
    let stored = Array(DocumentGolden.text("baseline-first.json").utf8)
    let read = try BaselineFile.decode(stored, path: "b.json")
    var expected = DocumentExamples.baseline
    expected.treeMethod = .upperBound
    expected.anchors = [:]
    expected.approval?.isDirty = false
    #expect(read == expected)
    func plain(_ bytes: [UInt8]) -> String {
      let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined()
      return text.replacing(#/"digest":"[0-9a-f]{16}",/#, with: "").replacing(#/"summary":{[^}]*},/#, with: "")
    }
    #expect(plain(BaselineFile.encode(read)) == plain(stored))
  }

  @Test("An additional value changes one line, and the digest")
  func shortDiff() throws {
    var more = DocumentExamples.baseline
    more.metrics[.peakRSS]?.insert(24_207_365, at: 1)
    let lines = BaselineFile.encode(more).split(separator: 0x0a)
    let old = Set(encoded.split(separator: 0x0a))
    #expect(lines.count { !old.contains($0) } == 2)
  }

  @Test(
    "A baseline is recognized by its schema, whatever the JSON layout",
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
