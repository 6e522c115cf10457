import FoundationEssentials
import GateCore
import GateHistory
import Testing

@Suite("What targets report themselves, in a history")
struct ReportedValueTests {
  private static let entries = MetricName.value("cache.entries")
  private static let load = ScenarioName("load")

  /// A run whose target reported a value in some unit.
  private static func run(_ number: Int, _ value: Double, _ unit: String?, limit: Double? = nil) -> RunRecord {
    var run = Given.run(number)
    run.scenarios[0].metrics.append(
      MetricRecord(
        metric: entries, reported: unit, figures: .init(median: value, low: value - 0.25, high: value + 0.5, count: 5),
        judgement: .init(verdict: .pass, baseline: value - 1.5, change: 1.5, allowed: 2.25, limit: limit)))
    return run
  }

  /// The target told items at first, seconds later, and items for a while in between.
  private static let runs = [
    run(1, 1000, "items", limit: 1500), run(2, 1010.5, "items", limit: 1500.75), run(3, 0.0125, "seconds", limit: 0.25),
    run(4, -3, "items"), run(5, 0.013, "seconds", limit: 90),
  ]

  @Test("Values come back with their units, fractions, limits and what is below zero")
  func roundTrip() throws {
    let folder = try ScratchFolder()
    try folder.open().add(Self.runs)
    let kept = try folder.open().allRuns()
    #expect(kept == Self.runs)
    #expect(kept.map { $0.scenarios[0].metrics[1].reported } == ["items", "items", "seconds", "items", "seconds"])
    #expect(kept.map { $0.scenarios[0].metrics[1].judgement?.limit } == [1500, 1500.75, 0.25, nil, 90])
  }

  @Test("What one history gives another one takes, and knows it the next time")
  func handedOn() throws {
    let (first, second) = (try ScratchFolder(), try ScratchFolder())
    try first.open().add(Self.runs.reversed())
    let handedOn = try first.open().allRuns()
    let history = try second.open()
    #expect(try history.add(handedOn).added == 5)
    let again = try history.add(handedOn)
    #expect(again.added == 0 && again.known == 5 && again.conflicts.isEmpty)
    #expect(try history.allRuns() == Self.runs)
  }

  @Test("A series is of one unit; another unit is another series, and so is none")
  func series() throws {
    let folder = try ScratchFolder()
    let history = try folder.open()
    try history.add(Self.runs + [Self.run(6, 7, nil)])
    func medians(_ unit: String?) throws -> [Double?] {
      try history.series(of: Self.entries, reported: unit, in: .init(Self.load)).map(\.record.figures?.median)
    }
    #expect(try medians("items") == [1000, 1010.5, -3])
    #expect(try medians("seconds") == [0.0125, 0.013])
    #expect(try medians(nil) == [7])
    #expect(try medians("bytes") == [])
    let points = try history.series(of: Self.entries, reported: "seconds", in: .init(Self.load))
    #expect(points.map(\.record) == [Self.runs[2], Self.runs[4]].map { $0.scenarios[0].metrics[1] })
    // Memory has its unit by its name.
    #expect(try history.series(of: .peakRSS, in: .init(Self.load)).count == 6)
    #expect(try history.series(of: .peakRSS, reported: "items", in: .init(Self.load)).isEmpty)
  }

  @Test(
    "The trend's course of a value is that of the unit that was told last",
    arguments: [
      (5, "seconds", [nil, nil, 0.0125, nil, 0.013], [nil, nil, 0.25, nil, 90]),
      (4, "items", [1000, 1010.5, nil, -3], [1500, 1500.75, nil, nil]),
      (2, "items", [1000, 1010.5], [1500, 1500.75]),
    ] as [(Int, String, [Double?], [Double?])])
  func trend(count: Int, unit: String, medians: [Double?], limits: [Double?]) throws {
    let folder = try ScratchFolder()
    let history = try folder.open()
    try history.add(Self.runs.prefix(count) + [])
    let course = try #require(try history.trend(madeAt: Given.instant(9), links: BuildLinks()).courses.first)
    #expect(course.metrics.map(\.metric) == [.peakRSS, Self.entries])
    let value = try #require(course.metrics.last)
    #expect(value.unit == unit)
    #expect(value.points.map { $0?.median } == medians)
    #expect(value.points.map { $0?.judgement?.limit } == limits)
    #expect(course.metrics[0].points.count { $0 != nil } == count)
  }

  @Test("A value that was judged and could not be had keeps its judgement and its unit")
  func missing() throws {
    var run = Self.run(1, 0, "items", limit: 10)
    run.scenarios[0].metrics[1].figures = nil
    let folder = try ScratchFolder()
    try folder.open().add([run])
    #expect(try folder.open().allRuns() == [run])
  }

  @Test(
    "A metric of a later version keeps its name, whatever is in it",
    arguments: ["cpu seconds", "phase.load.new metric", "io", "items"])
  func laterMetrics(name: String) throws {
    var run = Self.run(1, 5, "items")
    run.scenarios[0].metrics.append(
      MetricRecord(metric: MetricName(name), figures: .init(median: 1, low: 0, high: 2, count: 3)))
    run.scenarios[0].metrics.sort { MetricRecord.isShownBefore($0.metric, $1.metric) }
    let folder = try ScratchFolder()
    try folder.open().add([run])
    #expect(try folder.open().allRuns() == [run])
  }

  @Test("A finished run leaves each value in its unit, that of the baseline where no repetition had it")
  func ofResult() throws {
    var repetition = RepetitionResult(
      end: End(.exited, code: 0), duration: .zero, processes: 1, metrics: [.peakRSS: 4096, Self.entries: 17])
    repetition.units = [Self.entries: "items"]
    let gone = MetricResult(
      rule: GateRule(metric: .value("queue.wait"), tolerance: nil, limit: .time(.milliseconds(1500))),
      unit: "seconds", verdict: .inconclusive, reason: "not reported")
    let scenario = ScenarioResult(
      name: Self.load, verdict: .inconclusive, environment: Given.environment, repetitions: [repetition],
      metrics: [gone])
    let folder = try ScratchFolder()
    let history = try folder.open()
    try history.append(RunResult(run: Given.run(1).run, environment: Given.environment, scenarios: [scenario]))
    let kept = try #require(try history.allRuns().first?.scenarios.first)
    #expect(
      kept.metrics.map { "\($0.metric) \($0.reported ?? "-")" } == [
        "peak_rss -", "value.cache.entries items", "value.queue.wait seconds",
      ])
    #expect(kept.metrics.last?.judgement?.limit == 1.5)
    #expect(kept.metrics.last?.figures == nil)
  }

  @Test("Pruning takes the names of values that nobody has any more, and what is left is whole")
  func prune() throws {
    let folder = try ScratchFolder()
    let history = try folder.open()
    try history.add(Self.runs)
    #expect(try history.prune(keeping: .latest(1)) == 4)
    #expect(try history.allRuns() == [Self.runs[4]])
    #expect(try history.series(of: Self.entries, reported: "items", in: .init(Self.load)).isEmpty)
  }
}
