import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Result files")
struct ResultFileTests {
  private let encoded = ResultFile.encode(DocumentExamples.result)

  @Test("Decoding an encoded result gives an equal result")
  func roundTrip() throws {
    #expect(try ResultFile.decode(encoded, path: "result.json") == DocumentExamples.result)
  }

  @Test("Encoding a decoded result gives the same bytes")
  func byteRoundTrip() throws {
    #expect(ResultFile.encode(try ResultFile.decode(encoded, path: "result.json")) == encoded)
  }

  @Test("The file matches the golden file, which has every documented key")
  func golden() throws {
    try DocumentGolden.expect(encoded, toBe: "result.json")
  }

  @Test("Libraries of the same name are added up, and their number is limited")
  func libraries() throws {
    var result = DocumentExamples.result
    result.scenarios[0].composition?.libraries = [
      .init(name: "a.so", resident: Bytes(1)), .init(name: "b.so", resident: Bytes(2)),
      .init(name: "a.so", resident: Bytes(4)),
    ]
    let read = try ResultFile.decode(ResultFile.encode(result), path: "result.json")
    let libraries = try #require(read.scenarios[0].composition?.libraries)
    #expect(libraries.map(\.name) == ["a.so", "b.so"] && libraries.map(\.resident.count) == [5, 2])
    let many = (0..<100).map { "\"lib\($0)\": \($0)" }.joined(separator: ", ")
    let text = String(decoding: ResultFile.encode(result), as: UTF8.self)
      .replacing("\"libraries\" : {", with: "\"libraries\" : {\(many), ")
    let bounded = try ResultFile.decode(Array(text.utf8), path: "result.json").scenarios[0].composition
    #expect(bounded?.libraries.count == 32 && bounded?.libraries.first?.name == "lib99")
  }

  @Test("The keys of every object are sorted, and the file ends with one newline")
  func layout() throws {
    let text = String(decoding: encoded, as: UTF8.self)
    #expect(text.hasSuffix("}\n") && !text.hasSuffix("\n\n"))
    let top = text.split(separator: "\n").filter { $0.hasPrefix("  \"") }.map { $0.split(separator: "\"")[1] }
    #expect(top == ["environment", "exitCode", "run", "scenarios", "schema", "tool", "verdict"])
  }

  @Test("Non-finite values are omitted, and fractions of a byte are rounded away from zero")
  func unusualValues() throws {
    var result = DocumentExamples.result
    result.scenarios[0].repetitions[0].growth = nil
    result.scenarios[0].repetitions[0].metrics = [.peakRSS: .nan, .steadyRSS: 10.5, .growth: .infinity, .spike: 0]
    result.scenarios[0].metrics[0].change = .init(absolute: -2.5, percent: 33.333333, low: -.infinity, high: 0)
    result.scenarios[0].metrics[0].detectable = .nan
    let read = try ResultFile.decode(ResultFile.encode(result), path: "result.json")
    #expect(read.scenarios[0].repetitions[0].metrics == [.steadyRSS: 11, .spike: 0])
    #expect(read.scenarios[0].metrics[0].change == .init(absolute: -3, percent: 33.33, low: -3, high: 0))
    #expect(read.scenarios[0].metrics[0].detectable == nil)
  }

  @Test("A file of an earlier version has no growth interval, and counts as steady if it has a steady level")
  func earlierVersion() throws {
    var result = DocumentExamples.result
    let metrics: [[MetricName: Double]] = [[.growth: 3, .steadyRSS: 4096], [.growth: 3]]
    result.scenarios[0].repetitions = metrics.map { metrics in
      RepetitionResult(end: End(.exited, code: 0), duration: .zero, processes: 1, metrics: metrics)
    }
    let read = try ResultFile.decode(ResultFile.encode(result), path: "result.json").scenarios[0].repetitions
    #expect(read.map(\.growth) == [nil, nil])
    #expect(read.map(\.steadiness) == [.steady, nil])
  }

  @Test("A string of more than 1 MiB is rejected")
  func longTexts() throws {
    var result = DocumentExamples.result
    result.scenarios[1].failure?.output = String(repeating: "ä€🎈", count: 200_000)
    let error = try #require(throws: FileError.self) {
      try ResultFile.decode(ResultFile.encode(result), path: "result.json")
    }
    #expect(error.problem == "has a string of more than 1 MiB" && error.position?.hasSuffix(":20") == true)
  }

  @Test("Values, notes and reasons have a display text, which is not read back")
  func words() throws {
    let text = String(decoding: encoded, as: UTF8.self)
    #expect(
      text.contains(#""text" : "the reason of peak_rss""#) && text.contains(#""text" : "a note on crasher""#) == false)
    #expect(text.ranges(of: #""text" : "a note on redis-load[clients=50]""#).count == 4)
    #expect(text.contains(#""text" : "ended by crash""#) && text.contains(#""text" : "failed: run: client""#))
  }

  @Test("Unknown notes and reasons, or those with only a text, are ignored")
  func unknownNotes() throws {
    let text = String(decoding: encoded, as: UTF8.self)
      .replacing("\"nothingJudged\" : {", with: "\"somethingNew\" : {")
      .replacing("\"rise\" : {", with: "\"leap\" : {")
    var expected = DocumentExamples.result
    expected.scenarios[0].notes.remove(at: 1)
    expected.scenarios[0].metrics[0].reason = nil
    #expect(try ResultFile.decode(Array(text.utf8), path: "result.json") == expected)
  }

  @Test("Integers beyond 2^53 are exact; of duplicate keys the first counts")
  func exactness() throws {
    var result = DocumentExamples.result
    result.scenarios[0].repetitions[0].largestProcesses[0].peak = Bytes(1 << 60)
    result.scenarios[0].repetitions[0].largestProcesses[1].peak = Bytes(1 << 53 + 1)
    #expect(try ResultFile.decode(ResultFile.encode(result), path: "result.json") == result)
    let twice = String(decoding: encoded, as: UTF8.self)
      .replacing("\"exitCode\" :", with: "\"run\" : {\"id\": \"first\"}, \"exitCode\" :")
    #expect(try ResultFile.decode(Array(twice.utf8), path: "result.json").run.id == "first")
  }

  @Test("Every signal survives a round trip, with or without `SIG`")
  func signals() throws {
    for number in 1...64 as ClosedRange<Int32> {
      #expect(try Signal(coded: Signal(number: number).name).number == number)
    }
    #expect(try Signal(coded: "SIGSEGV") == .segv)
    for text in ["RTMIN+99", ""] { #expect(throws: UnitError.self) { try Signal(coded: text) } }
  }

  @Test("A file of another program needs only the required keys")
  func minimal() throws {
    let text = """
      {"schema": "highwater.result/1", "run": {"id": "r1"},
       "environment": {"name": "ci", "fingerprint": {"architecture": "arm64", "pageSize": 16384, "cpus": 4,
         "aslr": "on", "thp": "never", "measurement": "sampled"}},
       "scenarios": [{"name": "x", "repetitions": [{"metrics": {"peak_rss": 4096}}]}]}
      """
    let read = try ResultFile.decode(Array(text.utf8), path: "result.json")
    #expect(read.run.id == "r1" && read.environment.fingerprint.kernel == "" && read.verdict == .noBaseline)
    let scenario = try #require(read.scenarios.first)
    #expect(scenario.environment == read.environment && scenario.gate == .standard)
    #expect(scenario.repetitions[0].metrics == [.peakRSS: 4096] && scenario.repetitions[0].end == End(.unknown))
    #expect(scenario.repetitionCount == 1 && scenario.ungated.map(\.metric) == [.peakRSS])
  }

  @Test("The documented example can be read")
  func contract() throws {
    let text = """
      {
        "schema": "highwater.result/1",
        "tool": {"name": "highwater", "version": "0.1.0"},
        "run": {"id": "UUIDv7", "startedAt": "2026-01-02T03:04:05.678Z", "durationSeconds": 12.3, "commit": "…", "branch": "main", "buildURL": "…"},
        "environment": {"name": "…", "fingerprint": {"architecture": "x86_64", "kernel": "6.18", "pageSize": 4096, "libc": "glibc 2.36", "cpus": 2, "thp": "madvise", "aslr": "off", "measurement": "traced"}},
        "verdict": "regression", "exitCode": 1,
        "scenarios": [{
          "name": "redis-load", "verdict": "regression",
          "repetitions": [{"end": {"kind": "exited", "code": 0}, "durationSeconds": 1.2, "processes": 1,
                           "metrics": {"peak_rss": 24207360, "steady_rss": 23000000, "growth": 0.0, "tree_peak": 24207360},
                           "phases": [{"name": "load", "peak_rss": 24207360, "steady_rss": 23000000}], "notes": []}],
          "metrics": [{"name": "peak_rss", "unit": "bytes", "verdict": "regression",
                       "baseline": {"median": 23000000, "count": 5}, "current": {"median": 24207360, "count": 5},
                       "change": {"absolute": 1207360, "percent": 5.2, "low": 1100000, "high": 1300000},
                       "tolerance": {"percent": 3, "absolute": 524288, "limit": null}, "detectable": 120000}],
          "composition": {"baseline": {"anon": 0, "file": 0, "shmem": 0, "stack": 0, "heap": 0}, "current": {}}
        }]
      }
      """
    let scenario = try ResultFile.decode(Array(text.utf8), path: "result.json").scenarios[0]
    #expect(
      scenario.verdict == .regression
        && scenario.metrics[0].rule.tolerance == .bounds(relative: Percent(3), absolute: .kibibytes(512)))
    #expect(scenario.repetitions[0].allMetrics[.phase("load", .steadyRSS)] == 23_000_000)
    #expect(scenario.reference?.composition?.stack == .zero && scenario.composition == nil)
  }

  @Test("Unknown keys and metrics are ignored")
  func laterVersion() throws {
    let text = String(decoding: encoded, as: UTF8.self)
      .replacing("\"peak_rss\" : 24207360", with: "\"cpu_seconds\": {\"user\": 1.5}, \"peak_rss\": 24207360")
      .replacing("\"schema\" :", with: "\"sandbox\": [[1], {\"x\": null}], \"schema\":")
    #expect(text.contains("cpu_seconds") && text.contains("sandbox"))
    #expect(try ResultFile.decode(Array(text.utf8), path: "result.json") == DocumentExamples.result)
  }

  @Test("A merged file may contain a scenario once per environment")
  func merged() throws {
    var result = DocumentExamples.result
    result.scenarios = [result.scenarios[0], result.scenarios[0]]
    result.scenarios[1].environment.name = "another"
    #expect(try ResultFile.decode(ResultFile.encode(result), path: "result.json") == result)
  }
}
