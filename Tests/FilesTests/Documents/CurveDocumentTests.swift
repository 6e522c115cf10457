import GateCore
import Testing

@testable import GateApplication

@Suite("Curves in result files")
struct CurveDocumentTests {
  /// Decodes a result with one repetition whose curve is this JSON text.
  private func read(_ curve: String) throws -> MemoryCurve? {
    let text = """
      {"schema": "highwater.result/1", "run": {"id": "r"}, "environment": {"name": "e", "fingerprint": {
      "architecture": "x86_64", "pageSize": 4096, "cpus": 2, "aslr": "off", "thp": "never", "measurement": "traced"}},
      "scenarios": [{"name": "a", "repetitions": [{"metrics": {}, "curve": \(curve)}]}]}
      """
    return try ResultFile.decode(Array(text.utf8), path: "r.json").scenarios[0].repetitions[0].curve
  }

  @Test("A curve needs only a series, and ends with its last point")
  func least() throws {
    let curve = try #require(try read(#"{"main": "0:4 10.2:20480-24576 2000:23552"}"#))
    #expect(curve.end == .seconds(2) && curve.peak == nil && curve.phases.isEmpty)
    #expect(
      curve.main.points == [
        .init(time: .zero, low: .kibibytes(4), high: .kibibytes(4)),
        .init(time: .microseconds(10_200), low: .mebibytes(20), high: .mebibytes(24)),
        .init(time: .seconds(2), low: .mebibytes(23), high: .mebibytes(23)),
      ])
  }

  @Test("A repetition from an earlier version has no curve")
  func none() throws {
    #expect(try read("null") == nil)
  }

  @Test("The curve of a recording survives a round trip")
  func recorded() throws {
    let samples = (0..<5000).map { index in
      let level = Bytes.kibibytes(2048 + Int64(index * 7919 % 1009) * 4)
      return Sample(
        time: .microseconds(index * 333),
        main: MemoryReading(resident: level, peak: .mebibytes(8), anonymous: level, file: .zero, shared: .zero),
        tree: .kibibytes(level.count / 1024 + 512), processes: 2
      )
    }
    let marks = (0..<90).map { Mark(time: .milliseconds($0), event: .phase("p\($0)")) }
    let recording = Recording(samples: samples, marks: marks, end: End(.exited, code: 0), duration: .seconds(2))
    var result = DocumentExamples.result
    result.scenarios[0].repetitions = [recording.result()]
    let bytes = ResultFile.encode(result)
    #expect(try ResultFile.decode(bytes, path: "r.json") == result)
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.contains("\"main\" : \"") }
    #expect(lines.count == 1 && lines.allSatisfy { $0.utf8.count < 2500 })
  }

  @Test(
    "A malformed curve is rejected with its location and the reason",
    arguments: [
      (#"{"main": "1:2 0:2"}"#, "main` is not ordered by time"),
      (#"{"main": "0:-4"}"#, "main` has the invalid reading `0:-4`"),
      (#"{"main": "0:9-4"}"#, "main` has the invalid reading `0:9-4`"),
      (#"{"main": "0:1-2-3"}"#, "main` has the invalid reading `0:1-2-3`"),
      (#"{"main": "0.12:4"}"#, "main` has the invalid reading `0.12:4`"),
      (#"{"main": "+1:4"}"#, "main` has the invalid reading `+1:4`"),
      (#"{"main": "1e9:4"}"#, "main` has the invalid reading `1e9:4`"),
      (#"{"main": "0:9223372036854775807"}"#, "main` has the invalid reading `0:9223372036854775807`"),
      (#"{"main": "99999999999999:1"}"#, "main` has the invalid reading `99999999999999:1`"),
      (#"{"main": "</script>"}"#, "main` has the invalid reading `</script>`"),
      (#"{"main": 5}"#, "main` is not a string"),
      (#"{"tree": "0:4"}"#, "main` is missing"),
      (#"{"main": "0:4", "peak": {"height": -1}}"#, "peak.height` is negative"),
      (
        #"{"main": "0:4", "peak": {"height": 1, "afterSeconds": 2, "beforeSeconds": 1}}"#,
        "peak` has `afterSeconds` later than `beforeSeconds`"
      ),
      (
        #"{"main": "0:4", "steady": {"first": 1, "last": 2, "fromSeconds": 2, "toSeconds": 1}}"#,
        "steady` has `fromSeconds` later than `toSeconds`"
      ),
      (
        #"{"main": "0:4", "phases": [{"name": "b", "atSeconds": 2}, {"name": "a", "atSeconds": 1}]}"#,
        "phases` is not ordered by time"
      ),
      (#"{"main": "0:4", "iterations": -1}"#, "iterations` is negative"),
    ]
  )
  func malformed(curve: String, message: String) throws {
    let error = try #require(throws: FileError.self) { try read(curve) }
    let text = error.diagnostics.map(\.description).joined()
    #expect(text.hasPrefix("r.json: error: `scenarios[0].repetitions[0].curve.\(message)"), "\(text)")
  }

  @Test("A curve with too many readings or instants is rejected")
  func bounds() throws {
    let long = (0..<1001).map { "\($0):1" }.joined(separator: " ")
    #expect(throws: FileError.self) { try read(#"{"main": "\#(long)"}"#) }
    let marks = (0..<61).map { #"{"name": "m", "atSeconds": \#($0)}"# }.joined(separator: ", ")
    #expect(throws: FileError.self) { try read(#"{"main": "0:4", "marks": [\#(marks)]}"#) }
  }
}
