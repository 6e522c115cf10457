import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("Reported values in a history")
struct ReportedValueTests {
  private static let entries = MetricName.value("cache.entries")
  private static let load = ScenarioName("load")

  /// A run with a reported value in this unit.
  private static func run(_ number: Int, _ value: Double?, _ unit: String, limit: Amount? = nil) -> RunSummary {
    var run = Given.run(number)
    let known = value ?? 0
    run.scenarios[0].metrics.append(
      Given.metric(
        entries, value, from: known - 0.25, to: known + 0.5, unit: unit, .pass,
        baseline: value.map { ValueSummary(median: $0 - 1.5, count: 5) }, allowed: 2.25, limit: limit))
    return run
  }

  /// The target reported items first, then seconds, items and seconds.
  private static let runs = [
    run(1, 1000, "items", limit: .number(1500)), run(2, 1010.5, "items", limit: .number(1500.75)),
    run(3, 0.0125, "seconds", limit: .time(.milliseconds(250))), run(4, -3, "items"),
    run(5, 0.013, "seconds", limit: .time(.seconds(90))),
  ]

  @Test("Values are read back with their units, fractions, limits and signs", arguments: Store.allCases)
  func roundTrip(store: Store) throws {
    let folder = try ScratchFolder(store)
    try folder.open().append(Self.runs)
    let kept = try folder.open().allRuns()
    #expect(kept == Self.runs)
    #expect(kept.map { $0.scenarios[0].metrics[1].unit } == ["items", "items", "seconds", "items", "seconds"])
    #expect(kept.map { $0.scenarios[0].metrics[1].rule.limit?.value } == [1500, 1500.75, 0.25, nil, 90])
  }

  @Test("The runs of a history can be added to another, and are recognized when added again", arguments: Store.allCases)
  func copied(store: Store) throws {
    let (first, second) = (try ScratchFolder(store), try ScratchFolder(store))
    try first.open().append(Self.runs.reversed())
    let copies = try first.open().allRuns()
    let history = try second.open()
    #expect(try history.append(copies).added == 5)
    let again = try history.append(copies)
    #expect(again.added == 0 && again.known == 5 && again.conflicts.isEmpty)
    #expect(try history.allRuns() == Self.runs)
  }

  @Test(
    "A series has one unit; values with another unit, or without one, are another series", arguments: Store.allCases)
  func series(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    try history.append(Self.runs + [Self.run(6, 7, "")])
    func medians(_ unit: String) throws -> [Double?] {
      try history.series(of: Self.entries, unit: unit, in: .init(Self.load)).map(\.metric.current?.median)
    }
    #expect(try medians("items") == [1000, 1010.5, -3])
    #expect(try medians("seconds") == [0.0125, 0.013])
    #expect(try medians("") == [7])
    #expect(try medians("bytes") == [])
    let points = try history.series(of: Self.entries, unit: "seconds", in: .init(Self.load))
    #expect(points.map(\.metric) == [Self.runs[2], Self.runs[4]].map { $0.scenarios[0].metrics[1] })
    // The unit of other metrics follows from their name.
    #expect(try history.series(of: .peakRSS, unit: "items", in: .init(Self.load)).count == 6)
  }

  @Test(
    "The trend of a value has the unit that was reported last",
    arguments: [
      (5, "seconds", [nil, nil, 0.0125, nil, 0.013], [nil, nil, 0.25, nil, 90]),
      (4, "items", [1000, 1010.5, nil, -3], [1500, 1500.75, nil, nil]),
      (2, "items", [1000, 1010.5], [1500, 1500.75]),
    ] as [(Int, String, [Double?], [Double?])])
  func trend(count: Int, unit: String, medians: [Double?], limits: [Double?]) throws {
    let folder = try ScratchFolder()
    let history = try folder.open()
    try history.append(Self.runs.prefix(count) + [])
    let series = try #require(try history.trend(createdAt: Given.instant(9), links: BuildLinks()).series.first)
    #expect(series.metrics.map(\.metric) == [.peakRSS, Self.entries])
    let value = try #require(series.metrics.last)
    #expect(value.unit == unit)
    #expect(value.points.map { $0?.median } == medians)
    #expect(value.points.map { $0?.judgement?.limit } == limits)
    #expect(series.metrics[0].points.count { $0 != nil } == count)
  }

  @Test("A judged metric without values keeps its verdict and unit", arguments: Store.allCases)
  func missing(store: Store) throws {
    let run = Self.run(1, nil, "items", limit: .number(10))
    let folder = try ScratchFolder(store)
    try folder.open().append([run])
    #expect(try folder.open().allRuns() == [run])
  }

  @Test(
    "A metric of a later version keeps its name",
    arguments: ["cpu seconds", "phase.load.new metric", "io", "items"])
  func laterMetrics(name: String) throws {
    var run = Self.run(1, 5, "items")
    run.scenarios[0].ungated = [Given.metric(MetricName(name), 1, from: 0, to: 2)]
    let folder = try ScratchFolder()
    try folder.open().append([run])
    #expect(try folder.open().allRuns() == [run])
  }

  @Test(
    "For a judged result, values are stored with their unit, or the baseline's if no repetition has one",
    arguments: Store.allCases)
  func ofResult(store: Store) throws {
    var repetition = RepetitionResult(
      end: End(.exited, code: 0), duration: .zero, processes: 1, metrics: [.peakRSS: 4096, Self.entries: 17])
    repetition.units = [Self.entries: "items"]
    let missing = MetricName.value("queue.wait")
    let scenario = ScenarioMeasurement(
      name: Self.load, environment: Given.environment,
      gate: Gate(rules: [GateRule(metric: missing, tolerance: nil, limit: .time(.milliseconds(1500)))]),
      repetitions: [repetition])
    let baseline = Baseline(
      scenario: Self.load, environment: Given.environment.name, fingerprint: Given.fingerprint, metrics: [missing: [1]],
      units: [missing: "seconds"])
    let judged = scenario.judged(against: .baseline(baseline))
    let history = try ScratchFolder(store).open()
    try history.append([RunResult(run: Given.run(1).run, environment: Given.environment, scenarios: [judged]).summary])
    let stored = try #require(try history.allRuns().first?.scenarios.first)
    #expect(stored.metrics.map { "\($0.metric) \($0.unit)" } == ["value.queue.wait seconds"])
    #expect(stored.ungated.map { "\($0.metric) \($0.unit)" } == ["peak_rss bytes", "value.cache.entries items"])
    #expect(stored.metrics[0].rule.limit?.value == 1.5 && stored.metrics[0].current == nil)
  }

  @Test("Pruning removes unused names, and the remaining runs are complete", arguments: Store.allCases)
  func prune(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    try history.append(Self.runs)
    #expect(try history.prune(keeping: .latest(1)) == 4)
    #expect(try history.allRuns() == [Self.runs[4]])
    #expect(try history.series(of: Self.entries, unit: "items", in: .init(Self.load)).isEmpty)
  }
}
