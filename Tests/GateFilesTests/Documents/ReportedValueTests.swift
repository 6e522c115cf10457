import FoundationEssentials
import GateCore
import Testing

@testable import GateFiles

@Suite("What a target reports itself, in documents")
struct ReportedValueTests {
  private typealias Example = ReportedExamples
  private let result = ResultFile.encode(ReportedExamples.result)
  private let baseline = BaselineFile.encode(ReportedExamples.baseline)
  private let line = RunLine.encode(ReportedExamples.result.summary)

  @Test("A result keeps figures, units, events and rules with amounts of every kind")
  func resultRoundTrip() throws {
    let read = try ResultFile.decode(result, path: "result.json")
    #expect(read == Example.result)
    #expect(ResultFile.encode(read) == result)
  }

  @Test("A result says the unit of each figure, and what the amounts of a rule are where they are no sizes")
  func resultWords() throws {
    let text = String(decoding: result, as: UTF8.self).replacing(/\s+/, with: " ")
    for part in [
      #""units" : { "value.balance" : "EUR/day", "value.cache.entries" : "items", "value.heap" : "bytes", "#
        + #""value.queue.wait" : "seconds" }"#,
      #""units" : { "value.cache.entries" : "items" }"#,
      #"{ "atSeconds" : 0, "kind" : { "launch" : { "reason" : "out-of-memory.active.cgroup-counter" } } }"#,
      #"{ "atSeconds" : 0.001234567, "kind" : { "launchFailures" : { "_0" : 3 } } }"#,
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

  @Test("A result of a target that reports nothing says nothing of it")
  func silent() {
    let text = String(decoding: ResultFile.encode(DocumentExamples.result), as: UTF8.self)
    for key in ["units", "targetEvents", "amounts"] { #expect(!text.contains("\"\(key)\"")) }
  }

  @Test("A baseline keeps fractions, what is below zero, and units; it is written again with the same bytes")
  func baselineRoundTrip() throws {
    let read = try BaselineFile.decode(baseline, path: "b.json")
    #expect(read == Example.baseline)
    #expect(BaselineFile.encode(read) == baseline)
    let text = String(decoding: baseline, as: UTF8.self)
    #expect(text.contains(#""level" : 900.25"#) && text.contains(#""level" : 24000000"#))
    #expect(text.contains(#""level" : -3.75"#))
  }

  @Test("A baseline without values has the bytes that it had before there were any")
  func baselineAsBefore() {
    var plain = Example.baseline
    for metric in Example.units.keys { (plain.metrics[metric], plain.anchors[metric]) = (nil, nil) }
    plain.units = [:]
    #expect(String(decoding: BaselineFile.encode(plain), as: UTF8.self) == DocumentGolden.text("baseline.json"))
  }

  @Test("What is approved of a result has the result's units, and can be read again")
  func approved() throws {
    let approval = Example.baseline.approval
    var approved = Baseline(of: Example.result.scenarios[0], approval: approval)
    #expect(approved.units == Example.units)
    // Somebody's own program wrote the result, without units.
    var bare = Example.result.scenarios[0]
    for index in bare.repetitions.indices { bare.repetitions[index].units = [:] }
    bare.metrics = []
    approved = Baseline(of: bare, approval: approval)
    #expect(approved.units == [:])
    #expect(try BaselineFile.decode(BaselineFile.encode(approved), path: "b.json") == approved)
  }

  @Test("A run's line has the unit of every value, and comes back as it was")
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

  @Test("A value that nobody reported has no unit, and its line is read")
  func unitless() throws {
    var result = Example.result
    result.scenarios[0].metrics = [
      MetricResult(
        rule: Example.rules[0], unit: "", verdict: .inconclusive, reason: .unavailable(.notReported(in: 0, of: 2)))
    ]
    result.scenarios[0].ungated = []
    #expect(try RunLine.decode(RunLine.encode(result.summary), path: "", line: 1) == result.summary)
  }

  @Test("A unit of what is no value of the target's, or of none that is there, is left out")
  func otherUnits() throws {
    let strange = String(decoding: result, as: UTF8.self).replacing(
      #""units" : {"#, with: #""units" : {"peak_rss": "pages", "value.other": "items", "growth": "a b", "#)
    #expect(try ResultFile.decode(Array(strange.utf8), path: "r.json") == Example.result)
  }

  @Test("Whatever a target tells, the result that comes of it is read again")
  func wildTarget() throws {
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
      #expect(read.scenarios[0].repetitions[0].events.contains { $0.isLoop }, "a loop was lost among other events")
      let line = RunLine.encode(result.summary)
      #expect(RunLine.encode(try RunLine.decode(line, path: "", line: 1)) == line)
      let baseline = Baseline(of: result.scenarios[0], approval: Example.baseline.approval)
      #expect(try BaselineFile.decode(BaselineFile.encode(baseline), path: "b.json").units == baseline.units)
    }
  }

  @Test("A hundred events are kept, and one more is refused")
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

  /// A sound part, what somebody made of it, and what is said.
  static let hostileResults: [(what: String, sound: String, spoilt: String, problem: String)] = [
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
      "a unit that is no text", #"balance" : "EUR/day""#, #"balance" : 7"#,
      "repetitions[0].units.value.balance` is not a string"
    ),
    ("units that are no object", #""units" : {"#, #""units": [], "x": {"#, "repetitions[0].units` is not an object"),
    (
      "an unknown event", "\"launchFailures\"", "\"party\"",
      "repetitions[0].targetEvents[1].kind` is not a known value"
    ),
    ("an event without a kind", #""kind" : {"#, #""sort" : {"#, "targetEvents[0].kind` is missing"),
    ("a loop without a name", #""name" : "Layout.pass""#, #""of" : "x""#, "loop.name` is missing"),
    (
      "a loop whose name steers a terminal", "Layout.pass", #"\u001b[2J"#,
      "loop.name` contains a control character"
    ),
    ("a loop of less than nothing", "6000", "-1", "loop.calls` is negative"),
    ("half a call", "6000", "0.5", "loop.calls` is not a whole number"),
    ("more calls than there are", "6000", "1.2e18", "has a number that is too large"),
    (
      "a launch without a reason", #""reason" : "out-of"#, #""why" : "out-of"#,
      "targetEvents[0].kind.launch.reason` is missing"
    ),
    (
      "an event before the start", #""atSeconds" : 0.012"#, #""atSeconds" : -0.012"#,
      "targetEvents[2].atSeconds` is negative"
    ),
    (
      "events that are no list", #""targetEvents" : ["#, #""targetEvents" : 5, "x" : ["#,
      "repetitions[0].targetEvents` is not a list"
    ),
    ("a value beyond 1 EiB", "1048576.5", "1.2e18", "has a number that is too large"),
    ("a value below minus 1 EiB", "1048576.5", "-1.2e18", "has a number that is too large"),
    ("a value that is a text", "1048576.5", "\"many\"", "metrics.value.heap` is not a number"),
    (
      "amounts of an unknown kind", #""amounts" : "seconds""#, #""amounts" : "furlongs""#,
      "amounts` is `furlongs`, expected one of seconds, number"
    ),
    ("a limit below zero", #""limit" : 1000"#, #""limit" : -1000"#, "limit` is negative"),
    ("a limit of time without end", #""limit" : 90"#, #""limit" : 1e18"#, "limit` is too large"),
  ]

  @Test("A spoiled result is refused with its place", arguments: hostileResults)
  func hostile(what: String, sound: String, spoilt: String, problem: String) throws {
    let whole = String(decoding: result, as: UTF8.self)
    try #require(whole.contains(sound), "the result has no \(sound)")
    let error = try #require(throws: FileError.self, "\(what)") {
      try ResultFile.decode(Array(whole.replacing(sound, with: spoilt, maxReplacements: 1).utf8), path: "r.json")
    }
    #expect(error.problem.contains(problem), "\(error.problem)")
  }

  @Test(
    "A spoiled baseline is refused with its place",
    arguments: [
      ("\"items\"", "\"items of it\"", "`units.value.cache.entries` is not a unit: `items of it`"),
      ("1000.5", "1e300", "has a number that is too large"),
      ("\"level\" : -3.75", "\"level\" : -1.2e18", "has a number that is too large"),
    ])
  func hostileBaseline(sound: String, spoilt: String, problem: String) throws {
    let whole = String(decoding: baseline, as: UTF8.self)
    try #require(whole.contains(sound))
    let error = try #require(throws: FileError.self) {
      try BaselineFile.decode(Array(whole.replacing(sound, with: spoilt, maxReplacements: 1).utf8), path: "b.json")
    }
    #expect(error.problem.contains(problem), "\(error.problem)")
  }

  @Test(
    "A spoiled line is refused with its place",
    arguments: [
      ("\"items\"", "\"it ems\"", "metrics[0].unit` is not a unit: `it ems`"),
      ("\"items\"", "\"<b>\"", "metrics[0].unit` is not a unit: `<b>`"),
      ("\"limit\":1000", "\"limit\":-1", "metrics[0].tolerance.limit` is negative"),
      ("\"limit\":1000", "\"limit\":\"1000\"", "metrics[0].tolerance.limit` is not a number"),
    ])
  func hostileLine(sound: String, spoilt: String, problem: String) throws {
    let whole = String(decoding: line, as: UTF8.self)
    try #require(whole.contains(sound))
    let error = try #require(throws: FileError.self) {
      try RunLine.decode(Array(whole.replacing(sound, with: spoilt).utf8), path: "runs.jsonl", line: 1)
    }
    #expect(error.problem.contains(problem), "\(error.problem)")
  }
}
