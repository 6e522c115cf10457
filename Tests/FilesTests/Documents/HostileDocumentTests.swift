import GateCore
import Testing

@testable import GateApplication

/// A malformed document and the error that it must cause.
struct MalformedDocument: Sendable, CustomTestStringConvertible {
  let what: String
  let text: String
  let code: FileError.Code
  let message: String

  init(_ what: String, _ text: String, _ code: FileError.Code = .malformed, _ message: String) {
    (self.what, self.text, self.code, self.message) = (what, text, code, message)
  }

  var testDescription: String { what }
}

@Suite("Broken and hostile documents")
struct HostileDocumentTests {
  @Test("A malformed baseline is rejected with its location and the reason", arguments: malformedBaselines)
  func baseline(_ malformed: MalformedDocument) throws {
    let error = try #require(throws: FileError.self) {
      try BaselineFile.decode(Array(malformed.text.utf8), path: "b.json")
    }
    #expect(error.diagnostics.map(\.description) == [malformed.message])
    #expect(error.code == malformed.code)
  }

  @Test("A malformed result is rejected with its location and the reason", arguments: malformedResults)
  func result(_ malformed: MalformedDocument) throws {
    let error = try #require(throws: FileError.self) {
      try ResultFile.decode(Array(malformed.text.utf8), path: "r.json")
    }
    #expect(error.diagnostics.map(\.description) == [malformed.message])
    #expect(error.code == malformed.code)
  }

  @Test("A truncated baseline is always an error")
  func cutBaseline() {
    let whole = BaselineFile.encode(DocumentExamples.baseline)
    for length in 0..<whole.count - 2 {
      #expect(throws: FileError.self, "cut to \(length) bytes") {
        try BaselineFile.decode(Array(whole.prefix(length)), path: "b.json")
      }
    }
  }

  @Test("A result with flipped bits is rejected or decoded, and never traps")
  func flippedResult() {
    let whole = ResultFile.encode(DocumentExamples.result)
    var random = SmallRandom(seed: 7)
    for _ in 0..<400 {
      var bytes = whole
      for _ in 0...Int.random(in: 0...2, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
      _ = try? ResultFile.decode(bytes, path: "r.json")
    }
  }

  @Test("Deep nesting of 10 MB is rejected without recursion", arguments: ["[", "{\"a\":"])
  func nesting(opening: String) throws {
    let text = "{\"x\":" + String(repeating: opening, count: 10_000_000 / opening.utf8.count)
    let error = try #require(throws: FileError.self) { try ResultFile.decode(Array(text.utf8), path: "r.json") }
    #expect(error.problem == "is nested deeper than 32 levels")
  }

  @Test("Invalid UTF-8 is rejected")
  func notUTF8() throws {
    let text = String(decoding: BaselineFile.encode(DocumentExamples.baseline), as: UTF8.self)
    let bytes = Array(text.utf8).map { $0 == UInt8(ascii: "<") ? 0xff : $0 }
    #expect(throws: FileError.self) { try BaselineFile.decode(bytes, path: "b.json") }
  }

  @Test("Terminal control sequences are removed from messages")
  func terminal() throws {
    let text = #"{"schema": "highwater.result/\u001b[31m9"}"#
    let error = try #require(throws: FileError.self) { try ResultFile.decode(Array(text.utf8), path: "r.json") }
    #expect(error.problem.hasPrefix("has the schema `highwater.result/\u{FFFD}[31m9`"))
  }
}

/// Pseudo-random numbers with a fixed seed (SplitMix64, Steele, Lea and Flood 2014).
struct SmallRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

// MARK: - Baselines

private let valid = """
  {"schema": "highwater.baseline/1", "scenario": "load", "environment": "ci",
   "fingerprint": {"architecture": "arm64", "pageSize": 4096, "cpus": 4, "aslr": "off", "thp": "never", "measurement": "sampled"},
   "metrics": {"peak_rss": [4096, 8192]}, "composition": {},
   "approved": {"at": "2026-01-02T03:04:05.678Z", "by": "ada", "run": "r1"}}
  """

private let baselineHint = "\n  hint: restore the file from version control, or recreate it with `highwater approve`"

private func baseline(_ what: String, _ old: String, _ new: String, _ problem: String) -> MalformedDocument {
  MalformedDocument(what, valid.replacing(old, with: new), "b.json: error: \(problem)\(baselineHint)")
}

extension MalformedDocument {
  fileprivate init(_ what: String, _ text: String, _ message: String) {
    self.init(what, text, .malformed, message)
  }
}

private let malformedBaselines: [MalformedDocument] = [
  MalformedDocument("empty", "", "b.json: error: is empty\(baselineHint)"),
  MalformedDocument("blank", " \n", "b.json: error: is empty\(baselineHint)"),
  MalformedDocument("not JSON", "peak: 3", "b.json:1:1: error: is not a JSON object\(baselineHint)"),
  MalformedDocument("a list", "[1]", "b.json:1:1: error: is not a JSON object\(baselineHint)"),
  MalformedDocument(
    "cut", String(valid.prefix(200)), "b.json:2:125: error: ends early: the file is truncated\(baselineHint)"
  ),
  MalformedDocument(
    "two values", valid + "{}", "b.json:4:75: error: is not valid JSON\(baselineHint)"
  ),
  MalformedDocument(
    "merge conflict", "{\n<<<<<<< HEAD\n\"schema\": 1\n=======\n>>>>>>> topic\n}",
    "b.json: error: contains merge conflict markers\n  hint: resolve the conflict: keep one side, or approve again"
  ),
  MalformedDocument(
    "unsupported version", valid.replacing("baseline/1", with: "baseline/2"), .wrongSchema,
    """
    b.json: error: has the schema `highwater.baseline/2`, this version of highwater reads `highwater.baseline/1`
      hint: use the version of highwater that wrote it, or a newer one
    """
  ),
  MalformedDocument(
    "a result", valid.replacing("baseline/1", with: "result/1"), .wrongSchema,
    "b.json: error: has the schema `highwater.result/1`, not `highwater.baseline/1`\(baselineHint)"
  ),
  baseline("no schema", "\"schema\": \"highwater.baseline/1\",", "", "`schema` is missing"),
  baseline("schema is a number", "\"highwater.baseline/1\"", "1", "`schema` is not a string"),
  baseline("scenario empty", "\"load\"", "\"\"", "`scenario` is empty"),
  baseline("scenario null", "\"load\"", "null", "`scenario` is null"),
  baseline("line feed in a name", "\"load\"", "\"a\\nb\"", "`scenario` contains a control character"),
  baseline("escape in a name", "\"ci\"", "\"\\u001b]0;x\"", "`environment` contains a control character"),
  baseline(
    "name too long", "\"load\"", "\"\(String(repeating: "x", count: 401))\"",
    "`scenario` has 401 bytes, at most 400 are allowed"
  ),
  baseline("no fingerprint", "\"fingerprint\"", "\"print\"", "`fingerprint` is missing"),
  baseline("no architecture", "\"architecture\"", "\"arch\"", "`fingerprint.architecture` is missing"),
  baseline("page size zero", "4096,", "0,", "`fingerprint.pageSize` is not between 1 and 1073741824"),
  baseline("0.5 CPUs", "\"cpus\": 4", "\"cpus\": 0.5", "`fingerprint.cpus` is not a whole number"),
  baseline("4.5 CPUs", "\"cpus\": 4", "\"cpus\": 4.5", "`fingerprint.cpus` is not a whole number"),
  baseline("CPUs as a string", "\"cpus\": 4", "\"cpus\": \"4\"", "`fingerprint.cpus` is not a number"),
  baseline("metrics as a list", "{\"peak_rss\": [4096, 8192]}", "[]", "`metrics` is not an object"),
  baseline("no metrics", "\"peak_rss\"", "\"peak\"", "`metrics` has no values"),
  baseline("no values", "[4096, 8192]", "[]", "`metrics.peak_rss` has no values"),
  baseline("values as a number", "[4096, 8192]", "4096", "`metrics.peak_rss` is not a list"),
  baseline("negative bytes", "8192", "-8192", "`metrics.peak_rss[1]` is negative"),
  baseline("fraction of a byte", "8192", "8192.5", "`metrics.peak_rss[1]` is not a whole number of bytes"),
  MalformedDocument(
    "beyond 1 EiB", valid.replacing("8192", with: "1152921504606846977000"),
    "b.json:3:33: error: has a number that is too large\(baselineHint)"
  ),
  MalformedDocument(
    "number out of range", valid.replacing("8192", with: "1e999"),
    "b.json:3:33: error: has a number that is too large\(baselineHint)"
  ),
  MalformedDocument(
    "leading zero", valid.replacing("8192", with: "0192"),
    "b.json:3:33: error: is not valid JSON\(baselineHint)"
  ),
  MalformedDocument(
    "trailing comma", valid.replacing("8192]", with: "8192,]"),
    "b.json:3:38: error: is not valid JSON\(baselineHint)"
  ),
  MalformedDocument(
    "unknown escape", valid.replacing("\"load\"", with: "\"\\x\""), "b.json: error: is not valid JSON\(baselineHint)"
  ),
  MalformedDocument(
    "line feed in a string", valid.replacing("\"load\"", with: "\"a\nb\""),
    "b.json:1:50: error: is not valid JSON\(baselineHint)"
  ),
  baseline("a string as a value", "8192", "\"8192\"", "`metrics.peak_rss[1]` is not a number"),
  baseline("null as a value", "8192", "null", "`metrics.peak_rss[1]` is null"),
  baseline(
    "too many values", "[4096", "[" + String(repeating: "1,", count: 1000) + "1",
    "`metrics.peak_rss` has 1002 values, at most 1000 are allowed"
  ),
  MalformedDocument(
    "not a number", valid.replacing("8192", with: "NaN"), "b.json:3:33: error: is not valid JSON\(baselineHint)"
  ),
  baseline("negative composition", "{},", "{\"anon\": -1},", "`composition.anon` is negative"),
  baseline("no approval", "\"approved\"", "\"accepted\"", "`approved` is missing"),
  baseline("missing approver", "\"by\"", "\"from\"", "`approved.by` is missing"),
  MalformedDocument(
    "malformed approval time", valid.replacing("2026-01-02T03:04:05.678Z", with: "some day"),
    "b.json: error: `approved.at` is not a time: `some day`, expected one as in `2026-01-02T03:04:05.678Z`\(baselineHint)"
  ),
  MalformedDocument(
    "oversized reason",
    valid.replacing("\"by\"", with: "\"reason\": \"\(String(repeating: "x", count: 1_048_577))\", \"by\""),
    "b.json:4:59: error: has a string of more than 1 MiB\(baselineHint)"
  ),
]

// MARK: - Results

private let validResult = """
  {"schema": "highwater.result/1", "run": {"id": "r1", "startedAt": "2026-01-02T03:04:05Z", "durationSeconds": 3},
   "environment": {"name": "ci", "fingerprint": {"architecture": "arm64", "pageSize": 4096, "cpus": 4, "aslr": "off", "thp": "never", "measurement": "sampled"}},
   "scenarios": [{"name": "a", "repetitions": []}, {"name": "b", "verdict": "pass", "repetitions": [
     {"end": {"kind": "signaled", "signal": "TERM"}, "processes": 1, "metrics": {"peak_rss": 4096, "growth": -0.5},
      "growthFit": {"slope": -0.5, "low": -0.75, "high": 0.125, "kind": "level"}, "steadiness": "drifting",
      "spike": {"height": 5, "afterSeconds": 1, "beforeSeconds": 2, "busy": true}, "treeMethod": "cgroup",
      "processTable": [{"pid": 12, "parent": 1, "command": "x", "main": true, "peak": 3, "exact": true,
        "firstSeenSeconds": 0, "lastSeenSeconds": 1, "status": {"exited": {"code": 7}}}],
      "phases": [{"name": "load", "peak_rss": 4096}]}],
    "gate": {"standard": false, "rules": [{"metric": "peak_rss", "percent": 3, "on": "fail"}]},
    "metrics": [{"name": "peak_rss", "verdict": "pass", "baseline": {"median": 4096, "count": 1}}]}]}
  """

private let resultHint = "\n  hint: name a result file, as `highwater check --json FILE` writes it"

private func result(_ what: String, _ old: String, _ new: String, _ problem: String) -> MalformedDocument {
  MalformedDocument(what, validResult.replacing(old, with: new), "r.json: error: \(problem)\(resultHint)")
}

private let malformedResults: [MalformedDocument] = [
  MalformedDocument(
    "unsupported version", validResult.replacing("result/1", with: "result/2"), .wrongSchema,
    """
    r.json: error: has the schema `highwater.result/2`, this version of highwater reads `highwater.result/1`
      hint: use the version of highwater that wrote it, or a newer one
    """
  ),
  MalformedDocument(
    "a baseline", valid, .wrongSchema,
    "r.json: error: has the schema `highwater.baseline/1`, not `highwater.result/1`\(resultHint)"
  ),
  result("no run", "\"run\":", "\"ran\":", "`run` is missing"),
  result("no id", "\"id\"", "\"uid\"", "`run.id` is missing"),
  result(
    "a phase that no metric can name", #""name": "load""#, #""name": "a b""#,
    "`scenarios[1].repetitions[0].phases[0].name` is `a b`, expected \(PlainName.rule)"
  ),
  result(
    "a shard that does not exist", ": 3}", ": 3, \"shard\": {\"index\": 5, \"count\": 4}}",
    "`run.shard.index` is not from 1 to `count`"),
  result(
    "a scenario of another shard", ": 3}", ": 3, \"shard\": {\"index\": 1, \"count\": 4, \"scenarios\": [\"a\"]}}",
    "`scenarios` has `b`, which is not in the list of the shard"),
  result(
    "a scenario twice in the list of shards", ": 3}",
    ": 3, \"shard\": {\"index\": 1, \"count\": 4, \"scenarios\": [\"a\", \"b\", \"a\"]}}",
    "`run.shard.scenarios` has `a` twice"),
  result("negative duration", ": 3}", ": -3}", "`run.durationSeconds` is negative"),
  result("duration too large", ": 3}", ": 1e10}", "`run.durationSeconds` is too large"),
  result("no scenarios", "\"scenarios\"", "\"tests\"", "`scenarios` is missing"),
  result(
    "a string as a scenario", "{\"name\": \"a\", \"repetitions\": []}", "\"a\"", "`scenarios[0]` is not an object"),
  result("no name", "\"name\": \"b\"", "\"title\": \"b\"", "`scenarios[1].name` is missing"),
  result(
    "duplicate scenario", "\"name\": \"b\"", "\"name\": \"a\"", "`scenarios` has `a (ci)` twice"
  ),
  result(
    "repetitions as a number", "\"repetitions\": []", "\"repetitions\": 5", "`scenarios[0].repetitions` is not a list"
  ),
  result(
    "no metrics", "\"metrics\": {\"peak_rss\"", "\"figures\": {\"peak_rss\"",
    "`scenarios[1].repetitions[0].metrics` is missing"
  ),
  result(
    "negative peak", "\"peak_rss\": 4096, \"growth\"", "\"peak_rss\": -1, \"growth\"",
    "`scenarios[1].repetitions[0].metrics.peak_rss` is negative"
  ),
  result(
    "boolean as a peak", "4096, \"growth\"", "true, \"growth\"",
    "`scenarios[1].repetitions[0].metrics.peak_rss` is not a number"
  ),
  result(
    "low above high", "0.125", "-1",
    "`scenarios[1].repetitions[0].growthFit` does not match the metric `growth`"
  ),
  result(
    "interval of another slope", "\"slope\": -0.5", "\"slope\": -0.625",
    "`scenarios[1].repetitions[0].growthFit` does not match the metric `growth`"
  ),
  result(
    "interval without a slope", "4096, \"growth\": -0.5", "4096",
    "`scenarios[1].repetitions[0].growthFit` does not match the metric `growth`"
  ),
  result("interval without low", "\"low\": -0.75, ", "", "`scenarios[1].repetitions[0].growthFit.low` is missing"),
  result(
    "growth as a list", "{\"slope\": -0.5, \"low\": -0.75, \"high\": 0.125, \"kind\": \"level\"}", "[]",
    "`scenarios[1].repetitions[0].growthFit` is not an object"
  ),
  result(
    "unknown kind of growth", "\"level\"", "\"up\"",
    "`scenarios[1].repetitions[0].growthFit.kind` is `up`, expected one of level, continuous, settling"
  ),
  result(
    "unknown steadiness", "\"drifting\"", "\"wobbly\"",
    "`scenarios[1].repetitions[0].steadiness` is `wobbly`, expected one of steady, unsteady, drifting, too-short"
  ),
  result(
    "spike without height", "\"height\": 5, ", "", "`scenarios[1].repetitions[0].spike.height` is missing"
  ),
  result("spike without busy", ", \"busy\": true", "", "`scenarios[1].repetitions[0].spike.busy` is missing"),
  result(
    "process without a first reading", "\"firstSeenSeconds\": 0, ", "",
    "`scenarios[1].repetitions[0].processTable[0].firstSeenSeconds` is missing"
  ),
  result(
    "process without a parent", "\"parent\": 1, ", "",
    "`scenarios[1].repetitions[0].processTable[0].parent` is missing"
  ),
  result("gate without rules", "\"rules\": [", "\"laws\": [", "`scenarios[1].gate.rules` is missing"),
  result(
    "spike before the start", "\"afterSeconds\": 1", "\"afterSeconds\": -1",
    "`scenarios[1].repetitions[0].spike.afterSeconds` is negative"
  ),
  result(
    "process ID too large", "\"pid\": 12", "\"pid\": 4294967296",
    "`scenarios[1].repetitions[0].processTable[0].pid` is too large"
  ),
  result(
    "process with a negative peak", "\"peak\": 3", "\"peak\": -3",
    "`scenarios[1].repetitions[0].processTable[0].peak` is negative"
  ),
  result(
    "status without a kind", "\"exited\": {\"code\": 7}", "",
    "`scenarios[1].repetitions[0].processTable[0].status` is not a known value"
  ),
  result(
    "unknown tree method", "\"cgroup\"", "\"fingers\"",
    "`scenarios[1].repetitions[0].treeMethod` is `fingers`, expected one of cgroup, proportional, upper-bound"
  ),
  result(
    "counters as a number", "\"fingerprint\"", "\"counters\": 3, \"fingerprint\"",
    "`environment.counters` is not an object"
  ),
  result(
    "libraries as a list", "\"name\": \"a\",",
    "\"name\": \"a\", \"composition\": {\"peak\": {\"anon\": 1, \"libraries\": []}},",
    "`scenarios[0].composition.peak.libraries` is not an object"
  ),
  result(
    "library with a negative size", "\"name\": \"a\",",
    "\"name\": \"a\", \"composition\": {\"current\": {\"anon\": 1, \"libraries\": {\"libc\": -1}}},",
    "`scenarios[0].composition.current.libraries.libc` is negative"
  ),
  result(
    "phase peak as a string", "\"load\", \"peak_rss\": 4096", "\"load\", \"peak_rss\": \"4 KiB\"",
    "`scenarios[1].repetitions[0].phases[0].peak_rss` is not a number"
  ),
  result(
    "unknown end", "signaled", "vanished",
    "`scenarios[1].repetitions[0].end.kind` is `vanished`, expected one of exited, signaled, oom, allocation-failure, "
      + "trap, abort, crash, timeout, stopped, start-failed, killed, unknown, running"
  ),
  result(
    "unknown signal", "TERM", "TERMINATE", "`scenarios[1].repetitions[0].end.signal` is not a signal: `TERMINATE`"
  ),
  result(
    "unknown verdict", "\"b\", \"verdict\": \"pass\"", "\"b\", \"verdict\": \"good\"",
    "`scenarios[1].verdict` is `good`, expected one of pass, improved, regression, failed, inconclusive, no-baseline, "
      + "skipped"
  ),
  result(
    "unknown severity", "\"on\": \"fail\"", "\"on\": \"panic\"",
    "`scenarios[1].gate.rules[0].on` is `panic`, expected one of fail, warn, off"
  ),
  result(
    "tolerance too large", "\"percent\": 3", "\"percent\": 1e9",
    "`scenarios[1].gate.rules[0].percent` is too large"
  ),
  result(
    "metric without a verdict", "\"peak_rss\", \"verdict\"", "\"peak_rss\", \"judged\"",
    "`scenarios[1].metrics[0].verdict` is missing"
  ),
  result(
    "baseline without a median", "\"median\": 4096, ", "", "`scenarios[1].metrics[0].baseline.median` is missing"
  ),
  result(
    "too many repetitions", "\"repetitions\": []",
    "\"repetitions\": [\(String(repeating: "{\"metrics\":{}},", count: 1000)){\"metrics\":{}}]",
    "`scenarios[0].repetitions` has 1001 entries, at most 1000 are allowed"
  ),
  MalformedDocument(
    "too many scenarios",
    validResult.replacing("\"scenarios\": [", with: "\"scenarios\": [" + String(repeating: "{},", count: 100_000)),
    "r.json:3:300048: error: has more than 100000 entries in one list\(resultHint)"
  ),
]
