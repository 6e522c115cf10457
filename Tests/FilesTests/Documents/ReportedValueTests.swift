import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Reported values in documents")
struct ReportedValueTests {
  private typealias Example = ReportedExamples
  private let result = ResultFile.encode(ReportedExamples.result)
  private let baseline = BaselineFile.encode(ReportedExamples.baseline)
  private let line = RunLine.encode(ReportedExamples.result.summary)

  @Test("A result stores reported values, units, events and rules with every kind of amount")
  func resultRoundTrip() throws {
    let read = try ResultFile.decode(result, path: "result.json")
    #expect(read == Example.result)
    #expect(ResultFile.encode(read) == result)
  }

  @Test("A result has the unit of each value, and the kind of a rule's amounts unless they are sizes")
  func resultWords() throws {
    let text = String(decoding: result, as: UTF8.self).replacing(/\s+/, with: " ")
    for part in [
      #""units" : { "value.balance" : "EUR/day", "value.cache.entries" : "items", "value.heap" : "bytes", "#
        + #""value.queue.wait" : "seconds" }"#,
      #""units" : { "value.cache.entries" : "items" }"#,
      #"{ "atSeconds" : 0, "kind" : { "launch" : { "reason" : "out-of-memory.active.cgroup-counter" } } }"#,
      #"{ "atSeconds" : 0.001234567, "kind" : { "launchFailures" : { "count" : 3 } } }"#,
      #"{ "atSeconds" : 0.012, "kind" : { "loop" : { "calls" : 6000, "name" : "Layout.pass", "turns" : 3 } } }"#,
      #""absolute" : 10, "amounts" : "number", "limit" : 1000"#,
      #""absolute" : 0.0015, "amounts" : "seconds", "limit" : 90"#,
      #""absolute" : 524288, "limit" : 67108864, "metric" : "value.heap""#,
      #""value.balance" : -0.1, "value.cache.entries" : 1234, "value.heap" : 1048576.5"#,
      #""baseline" : { "count" : 5, "median" : 1000.5 }"#,
    ] {
      #expect(text.contains(part), "\(part)")
    }
    #expect(text.ranges(of: #""amounts""#).count == 6)
  }

  @Test("A result without reported values has none of their keys")
  func silent() {
    let text = String(decoding: ResultFile.encode(DocumentExamples.result), as: UTF8.self)
    for key in ["units", "targetEvents", "amounts"] { #expect(!text.contains("\"\(key)\"")) }
  }

  @Test("A baseline stores fractions, negative values and units, and survives a round trip")
  func baselineRoundTrip() throws {
    let read = try BaselineFile.decode(baseline, path: "b.json")
    #expect(read == Example.baseline)
    #expect(BaselineFile.encode(read) == baseline)
    let text = String(decoding: baseline, as: UTF8.self)
    #expect(text.contains(#""level" : 900.25"#) && text.contains(#""level" : 24000000"#))
    #expect(text.contains(#""level" : -3.75"#))
  }

  @Test("A baseline without reported values has the same bytes as in earlier versions")
  func baselineAsBefore() {
    var plain = Example.baseline
    for metric in Example.units.keys { (plain.metrics[metric], plain.anchors[metric]) = (nil, nil) }
    plain.units = [:]
    #expect(String(decoding: BaselineFile.encode(plain), as: UTF8.self) == DocumentGolden.text("baseline.json"))
  }

  @Test("A baseline has the units of its result and can be read back")
  func approved() throws {
    let approval = Example.baseline.approval
    var approved = Baseline(of: Example.result.scenarios[0], approval: approval)
    #expect(approved.units == Example.units)
    // Results of other programs may have no units.
    var bare = Example.result.scenarios[0]
    for index in bare.repetitions.indices { bare.repetitions[index].units = [:] }
    bare.metrics = []
    approved = Baseline(of: bare, approval: approval)
    #expect(approved.units == [:])
    #expect(try BaselineFile.decode(BaselineFile.encode(approved), path: "b.json") == approved)
  }

  @Test("A run line has the unit of every value and survives a round trip")
  func runLine() throws {
    let read = try RunLine.decode(line, path: "runs.jsonl", line: 1)
    #expect(RunLine.encode(read) == line)
    #expect(read == Example.result.summary)
    #expect(
      read.scenarios[0].allMetrics.map { "\($0.metric) \($0.unit)" } == [
        "peak_rss bytes", "value.balance EUR/day", "value.cache.entries items", "value.heap bytes",
        "value.queue.wait seconds",
      ])
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.contains(#""limit":1000"#) && text.contains(#""limit":90"#) && text.contains(#""limit":0.125"#))
  }

  @Test("A result document gives the same line")
  func lineOfResult() throws {
    let decoded = try RunLine.decode(result, path: "result.json", line: nil)
    #expect(RunLine.encode(decoded) == line)
  }

  @Test("A missing value has no unit, and its line can be read")
  func unitless() throws {
    var result = Example.result
    result.scenarios[0].metrics = [
      MetricResult(
        rule: Example.rules[0], unit: "", verdict: .inconclusive,
        reason: .unavailable(cause: .notReported(in: 0, of: 2)))
    ]
    result.scenarios[0].ungated = []
    #expect(try RunLine.decode(RunLine.encode(result.summary), path: "", line: 1) == result.summary)
  }

  @Test("Units of other metrics and of missing values are ignored")
  func otherUnits() throws {
    let strange = String(decoding: result, as: UTF8.self).replacing(
      #""units" : {"#, with: #""units" : {"peak_rss": "pages", "value.other": "items", "spike": "a b", "#)
    #expect(try ResultFile.decode(Array(strange.utf8), path: "r.json") == Example.result)
  }

  @Test("Any values and marks of a target give a readable result")
  func arbitraryReports() throws {
    let names = [
      "a", "loop.A.b", "loop.", "launch.failures", "marks.dropped", "launch.", "0", String(repeating: "n", count: 100),
    ]
    let numbers = [
      0, -0.0, -1, 0.5, 1e-300, .leastNonzeroMagnitude, 1.2e18, -1.2e18, 1e300, -1e300, .infinity, -.infinity, .nan,
    ]
    let units = ["calls", "launches", "messages", "items", "KiB", "GiB", "ns", "s", "%", "/", "bytes/second", "B"]
    var marks: [Mark] = []
    for name in names {
      marks.append(Mark(time: .milliseconds(1), event: .mark(name)))
      for number in numbers {
        for unit in units {
          let event = Mark.Event.value(name: name, number: number, unit: unit)
          marks.append(Mark(time: .milliseconds(2), event: event))
        }
      }
    }
    marks += (0..<300).map { Mark(time: .seconds($0), event: .mark("launch.reason\($0)")) }
    marks += (0..<150).map { index in
      Mark(time: .seconds(400), event: .value(name: "loop.T.l\(index)", number: 200, unit: "calls"))
    }
    marks += (0..<150).map { index in
      Mark(time: .seconds(500), event: .value(name: "v\(index)", number: Double(index), unit: "items"))
    }
    var recording = DocumentExamples.recording
    var result = Example.result
    for part in [marks, marks.reversed() + [], marks.suffix(450) + []] {
      recording.marks = part.sorted { $0.time < $1.time }
      result.scenarios[0].repetitions = [recording.result()]
      result.scenarios[0].metrics = []
      let encoded = ResultFile.encode(result)
      let read = try ResultFile.decode(encoded, path: "r.json")
      #expect(ResultFile.encode(read) == encoded)
      #expect(read.scenarios[0].repetitions[0].events.count == TargetEvent.most)
      #expect(read.scenarios[0].repetitions[0].events.contains { $0.isLoop }, "the events have no loop")
      let line = RunLine.encode(result.summary)
      #expect(RunLine.encode(try RunLine.decode(line, path: "", line: 1)) == line)
      let baseline = Baseline(of: result.scenarios[0], approval: Example.baseline.approval)
      #expect(try BaselineFile.decode(BaselineFile.encode(baseline), path: "b.json").units == baseline.units)
    }
  }

  @Test("A hundred events are stored; one more is rejected")
  func manyEvents() throws {
    var result = Example.result
    let event = TargetEvent(.loop(name: "A.b", calls: 1_152_921_504_606_846_976, turns: 1), at: .zero)
    result.scenarios[0].repetitions[0].events = Array(repeating: event, count: TargetEvent.most)
    #expect(try ResultFile.decode(ResultFile.encode(result), path: "r.json") == result)
    result.scenarios[0].repetitions[0].events.append(event)
    let error = try #require(throws: FileError.self) {
      try ResultFile.decode(ResultFile.encode(result), path: "r.json")
    }
    #expect(error.problem == "`scenarios[0].repetitions[0].targetEvents` has 101 entries, at most 100 are allowed")
  }

  /// The part to replace, its replacement and the expected error.
  static let malformedResults: [(what: String, valid: String, malformed: String, problem: String)] = [
    (
      "a unit with a space", #"balance" : "EUR/day"#, #"balance" : "EUR a day"#,
      "repetitions[0].units.value.balance` is not a unit: `EUR a day`"
    ),
    (
      "an empty unit", #"balance" : "EUR/day"#, #"balance" : ""#,
      "repetitions[0].units.value.balance` is not a unit: ``"
    ),
    (
      "a unit that is too long", #"balance" : "EUR/day"#, #"balance" : "aaaaaaaaaaaaaaaaaaaaa"#,
      "is not a unit: `aaaaaaaaaaaaaaaaaaaaa`"
    ),
    ("a unit with markup", #"balance" : "EUR/day"#, #"balance" : "<b>"#, "is not a unit: `<b>`"),
    (
      "a unit as a number", #"balance" : "EUR/day""#, #"balance" : 7"#,
      "repetitions[0].units.value.balance` is not a string"
    ),
    ("units as a list", #""units" : {"#, #""units": [], "x": {"#, "repetitions[0].units` is not an object"),
    (
      "an unknown event", "\"launchFailures\"", "\"party\"",
      "repetitions[0].targetEvents[1].kind` is not a known value"
    ),
    ("an event without a kind", #""kind" : {"#, #""sort" : {"#, "targetEvents[0].kind` is missing"),
    ("a loop without a name", #""name" : "Layout.pass""#, #""of" : "x""#, "loop.name` is missing"),
    (
      "a loop name with a control sequence", "Layout.pass", #"\u001b[2J"#,
      "loop.name` contains a control character"
    ),
    ("a negative number of calls", "6000", "-1", "loop.calls` is negative"),
    ("a fraction of a call", "6000", "0.5", "loop.calls` is not a whole number"),
    ("too many calls", "6000", "1.2e18", "has a number that is too large"),
    (
      "a launch without a reason", #""reason" : "out-of"#, #""why" : "out-of"#,
      "targetEvents[0].kind.launch.reason` is missing"
    ),
    (
      "an event before the start", #""atSeconds" : 0.012"#, #""atSeconds" : -0.012"#,
      "targetEvents[2].atSeconds` is negative"
    ),
    (
      "events as a number", #""targetEvents" : ["#, #""targetEvents" : 5, "x" : ["#,
      "repetitions[0].targetEvents` is not a list"
    ),
    ("a value beyond 1 EiB", "1048576.5", "1.2e18", "has a number that is too large"),
    ("a value below -1 EiB", "1048576.5", "-1.2e18", "has a number that is too large"),
    ("a value as a string", "1048576.5", "\"many\"", "metrics.value.heap` is not a number"),
    (
      "amounts of an unknown kind", #""amounts" : "seconds""#, #""amounts" : "furlongs""#,
      "amounts` is `furlongs`, expected one of seconds, number"
    ),
    ("a negative limit", #""limit" : 1000"#, #""limit" : -1000"#, "limit` is negative"),
    ("a time limit that is too large", #""limit" : 90"#, #""limit" : 1e18"#, "limit` is too large"),
  ]

  @Test("A malformed result is rejected with its location", arguments: malformedResults)
  func malformedResult(what: String, valid: String, malformed: String, problem: String) throws {
    let whole = String(decoding: result, as: UTF8.self)
    try #require(whole.contains(valid), "the result has no \(valid)")
    let error = try #require(throws: FileError.self, "\(what)") {
      try ResultFile.decode(Array(whole.replacing(valid, with: malformed, maxReplacements: 1).utf8), path: "r.json")
    }
    #expect(error.problem.contains(problem), "\(error.problem)")
  }

  @Test(
    "A malformed baseline is rejected with its location",
    arguments: [
      ("\"items\"", "\"items of it\"", "`units.value.cache.entries` is not a unit: `items of it`"),
      ("1000.5", "1e300", "has a number that is too large"),
      ("\"level\" : -3.75", "\"level\" : -1.2e18", "has a number that is too large"),
    ])
  func malformedBaseline(valid: String, malformed: String, problem: String) throws {
    let whole = String(decoding: baseline, as: UTF8.self)
    try #require(whole.contains(valid))
    let error = try #require(throws: FileError.self) {
      try BaselineFile.decode(Array(whole.replacing(valid, with: malformed).utf8), path: "b.json")
    }
    #expect(error.problem.contains(problem), "\(error.problem)")
  }

  @Test(
    "A malformed run line is rejected with its location",
    arguments: [
      ("\"items\"", "\"it ems\"", "metrics[0].unit` is not a unit: `it ems`"),
      ("\"items\"", "\"<b>\"", "metrics[0].unit` is not a unit: `<b>`"),
      ("\"unit\":\"bytes\"", "\"unit\":\"<b>\"", ".unit` is not a unit: `<b>`"),
      ("\"limit\":1000", "\"limit\":-1", "metrics[0].tolerance.limit` is negative"),
      ("\"limit\":1000", "\"limit\":\"1000\"", "metrics[0].tolerance.limit` is not a number"),
    ])
  func malformedLine(valid: String, malformed: String, problem: String) throws {
    let whole = String(decoding: line, as: UTF8.self)
    try #require(whole.contains(valid))
    let error = try #require(throws: FileError.self) {
      try RunLine.decode(Array(whole.replacing(valid, with: malformed).utf8), path: "runs.jsonl", line: 1)
    }
    #expect(error.problem.contains(problem), "\(error.problem)")
  }
}
