import Foundation
@testable import GateCore
import Testing

@Suite("Events of a trend")
struct TrendEventTests {
  private static func instant(_ hours: Int) -> Date {
    Date(timeIntervalSince1970: Double(1_767_225_600 + hours * 3600))
  }

  private static let kernel = Fingerprint.Difference(field: .kernel, baseline: "6.1", current: "6.6")

  /// A history of hourly runs, each of a commit of its own.
  private struct Given {
    var runs: [RunInfo]
    var series: [ScenarioSeries] = []

    init(runs count: Int = 60, commit: (Int) -> Int = { $0 }) {
      runs = (0..<count).map { index in
        RunInfo(
          id: "run-\(index)", startedAt: instant(index), commit: "c0ffee\("\(1000 + commit(index))".suffix(3))",
          branch: "main")
      }
    }

    /// Adds a scenario with steps from 100 by these percentages, at the runs with these indices.
    mutating func add(
      _ name: String, environment: String = "linux", measured: [Int]? = nil, steps: [(run: Int, percent: Double)],
      possible slack: Int = 0, outliers: [Int] = [], change: Int? = nil, creep: Creep? = nil,
      approval: Approval? = nil
    ) {
      let measured = measured ?? Array(runs.indices)
      func index(_ run: Int) -> Int { measured.firstIndex { $0 >= run } ?? measured.count - 1 }
      var level = 100.0
      let shifts = steps.map { step in
        let (before, index) = (level, index(step.run))
        level *= 1 + step.percent / 100
        return LevelShift(
          index: index, dates: max(1, index - slack)...min(measured.count - 1, index + slack), before: before,
          after: level, chance: 0.001, explanation: approval.map { .approval($0) }, persists: true)
      }
      let point = MetricSeries.Point(median: 100, low: 100, high: 100)
      series.append(
        ScenarioSeries(
          name: ScenarioName(name), environment: environment, branch: "main", runCount: measured.count,
          runs: measured.map { ScenarioSeries.Run(index: $0, verdict: .pass) },
          metrics: [
            MetricSeries(
              metric: .peakRSS, unit: "bytes", points: measured.map { _ in point }, shifts: shifts, creep: creep,
              outliers: outliers.map(index))
          ],
          environmentChanges: change.map { [.init(index: index($0), differences: [kernel])] } ?? []))
    }

    var trend: Trend {
      var trend = Trend(createdAt: instant(0), runs: runs, runCount: runs.count, series: series)
      trend.findEvents()
      return trend
    }
  }

  /// The index of the run before an event and that of the run after it.
  private func dates(_ event: TrendEvent?) -> [Int?] {
    [event?.before?.id, event?.after.id].map { $0.flatMap { Int($0.dropFirst(4)) } }
  }

  @Test("Single bad runs beside a step do not make its date uncertain")
  func datesBesideBadRuns() {
    let values = (0..<60).map { $0 == 27 || $0 == 28 ? 130 : $0 < 30 ? 100.0 : 105 }
    let series = MetricSeries(
      metric: .peakRSS, unit: "bytes", points: values.map { .init(median: $0, low: $0, high: $0) },
      shifts: [LevelShift(index: 30, before: 100, after: 105, chance: 0.001, persists: true)], outliers: [27, 28])
    #expect(series.withStepDates { _ in true }.shifts.map(\.dates) == [30...30])
  }

  @Test("The steps of an event are at its commit as far as noise allows, and in all other cases where they were found")
  func stepsAtEvents() throws {
    var given = Given()
    for number in 0..<4 { given.add("load-\(number)", steps: [(30, 5)]) }
    given.add("late", steps: [(32, 5)], possible: 2)
    given.add("other", steps: [(33, 5)], possible: 1)
    let trend = given.trend
    #expect(trend.events.map { $0.scenarios.count } == [1, 5])
    #expect(trend.series.map { $0.metrics[0].shifts.map(\.index) } == [[30], [30], [30], [30], [30], [33]])
    #expect(trend.events.flatMap(\.changes).allSatisfy { [30, 33].contains($0.run) })
    #expect(trend.eventsOfSteps.count == 6)
  }

  @Test("Steps of many scenarios at one commit are one event, with its share and its sizes")
  func common() throws {
    var given = Given()
    for number in 0..<8 { given.add("load-\(number)", steps: [(30, Double(number + 1))]) }
    for number in 0..<2 { given.add("idle-\(number)", steps: []) }
    let events = given.trend.events
    let event = try #require(events.first)
    #expect(events.count == 1 && event.kind == .rise && event.needsAttention)
    #expect(event.scenarios.count == 8 && event.measured == 10)
    #expect(event.scenarios.first == ScenarioName("load-7"))
    #expect(abs((event.medianPercent ?? 0) - 4.5) < 1e-9 && abs((event.medianSize ?? 0) - 4.5) < 1e-9)
    #expect(dates(event) == [29, 30] && event.id == "c0ffee030")
  }

  @Test(
    "A few falls among many rises do not make an event mixed",
    arguments: [(19, 1, TrendEvent.Kind.rise), (4, 2, .mixed), (0, 3, .fall)])
  func kinds(rises: Int, falls: Int, kind: TrendEvent.Kind) {
    var given = Given()
    for number in 0..<rises { given.add("up-\(number)", steps: [(30, 5)]) }
    for number in 0..<falls { given.add("down-\(number)", steps: [(30, -5)]) }
    #expect(given.trend.events.map(\.kind) == [kind])
  }

  @Test("Steps whose noise allows the same commit are one event, dated where most of them are certain")
  func uncertainDates() {
    var given = Given()
    for number in 0..<6 { given.add("quiet-\(number)", steps: [(30, 5)]) }
    given.add("early", steps: [(28, 5)], possible: 2)
    given.add("late", steps: [(31, 5)], possible: 1)
    let events = given.trend.events
    #expect(events.map(\.scenarios.count) == [8])
    #expect(dates(events.first) == [29, 30])
  }

  @Test("Certain steps at neighbouring commits are different events")
  func neighbours() {
    var given = Given()
    for number in 0..<3 { given.add("a-\(number)", steps: [(30, 5)]) }
    for number in 0..<2 { given.add("b-\(number)", steps: [(31, 5)]) }
    let events = given.trend.events
    #expect(events.map(\.scenarios.count) == [2, 3])
    #expect(events.map { dates($0)[1] } == [31, 30])
  }

  @Test("A chain of neighbouring dates does not join distant ones")
  func chain() {
    var given = Given()
    for run in 10..<40 { given.add("load-\(run)", steps: [(run, 5)], possible: 1) }
    let events = given.trend.events
    #expect(events.count == 10 && events.allSatisfy { $0.scenarios.count == 3 })
    for event in events {
      let runs = event.scenarios.compactMap { Int($0.text.dropFirst(5)) }
      #expect((runs.max() ?? 0) - (runs.min() ?? 0) <= 2)
    }
  }

  @Test("Scenarios of different runs share the commits between their runs")
  func differentRuns() throws {
    var given = Given()
    given.add("every", steps: [(30, 5)])
    given.add("nightly", measured: Array(stride(from: 3, to: 60, by: 10)), steps: [(33, 6)])
    given.add("other", measured: Array(stride(from: 0, to: 60, by: 4)), steps: [(32, 7)])
    let events = given.trend.events
    #expect(events.map(\.scenarios.count) == [3])
    #expect(dates(events.first) == [29, 30])
    given.series.removeFirst()
    #expect(dates(given.trend.events.first) == [28, 32])
  }

  @Test("Environments that measure the same commits in different runs share an event")
  func environments() {
    // Each commit has two runs, one for each environment.
    var given = Given(commit: { $0 / 2 })
    given.add("load", environment: "a", measured: Array(stride(from: 0, to: 60, by: 2)), steps: [(30, 5)])
    given.add("load", environment: "b", measured: Array(stride(from: 1, to: 60, by: 2)), steps: [(31, 6)])
    let events = given.trend.events
    #expect(events.count == 1 && events.first?.scenarios.count == 1 && events.first?.changes.count == 2)
    #expect(events.first?.measured == 1)
  }

  @Test("Two steps of a scenario are two events, even if their dates are uncertain")
  func twoSteps() {
    var given = Given()
    given.add("load", steps: [(30, 5), (32, 5)], possible: 3)
    #expect(given.trend.events.count == 2)
  }

  @Test("Steps at one change of the environment are one event, in whichever run each scenario met it")
  func environmentChange() throws {
    var given = Given()
    for run in 30..<36 { given.add("load-\(run)", steps: [(run, 5)], change: run) }
    given.add("other", steps: [(33, 5)])
    let events = given.trend.events
    let event = try #require(events.first { $0.kind == .environment })
    #expect(events.count == 2 && event.scenarios.count == 6 && event.cause.environment == [Self.kernel])
    #expect(!event.needsAttention && dates(event) == [29, 35])
  }

  @Test("The same change of the environment weeks later is another event")
  func secondRollout() {
    var given = Given(runs: 1000)
    given.add("a", steps: [(30, 5)], change: 30)
    given.add("b", steps: [(30 + 15 * 24, 5)], change: 30 + 15 * 24)
    #expect(given.trend.events.map(\.kind) == [.environment, .environment])
  }

  @Test("An approved event needs no attention, and names each approval once")
  func approved() {
    var given = Given()
    let approval = Approval(at: Self.instant(31), by: "Ada", commit: nil, reason: "new cache", run: "run-30")
    for number in 0..<3 { given.add("load-\(number)", steps: [(30, 5)], approval: approval) }
    let event = given.trend.events.first
    #expect(event?.approvals == [approval] && event?.needsAttention == false)
    given.add("other", steps: [(30, 5)])
    #expect(given.trend.events.first?.needsAttention == true)
  }

  @Test("A run in which many scenarios are outliers is set aside: the step begins in the next run")
  func setAside() {
    var given = Given()
    for number in 0..<6 { given.add("load-\(number)", steps: [(31, 5)], outliers: [30]) }
    for number in 0..<4 { given.add("other-\(number)", steps: [(30, 5)]) }
    let trend = given.trend
    #expect(trend.setAside == [30])
    #expect(trend.events.map(\.scenarios.count) == [10])
    #expect(dates(trend.events.first) == [29, 31])
  }

  @Test("Outliers of few scenarios set no run aside")
  func fewOutliers() {
    var given = Given()
    for number in 0..<2 { given.add("load-\(number)", steps: [], outliers: [30]) }
    #expect(given.trend.setAside.isEmpty)
    for number in 2..<5 { given.add("load-\(number)", steps: [], outliers: [40]) }
    for number in 5..<9 { given.add("load-\(number)", steps: []) }
    #expect(given.trend.setAside.isEmpty)
  }

  @Test("Creep of several scenarios is one event if it overlaps for the most part")
  func creep() {
    func creep(from run: Int) -> Creep {
      Creep(
        metric: .peakRSS, unit: "bytes", rise: 4, anchor: Anchor(level: 100, at: Self.instant(run), commit: nil),
        span: .runs(count: 59 - run))
    }
    var given = Given()
    for run in [5, 10, 20, 50] { given.add("load-\(run)", steps: [], creep: creep(from: run)) }
    let events = given.trend.events
    #expect(Set(events.map(\.scenarios.count)) == [3, 1] && events.allSatisfy { $0.kind == .creep })
    #expect(Set(events.map(\.id)) == ["creep", "creep-2"])
    #expect(events.first { $0.scenarios.count == 3 }.map(dates) == [5, 59])
  }

  @Test("A step back to the old level resolves an event")
  func resolved() {
    var given = Given()
    given.add("load", steps: [(30, 5)])
    given.series[0].metrics[0].shifts[0].persists = false
    #expect(given.trend.events.first?.isResolved == true)
    #expect(given.trend.events.first?.needsAttention == false)
  }

  // MARK: Acknowledgements

  private func acknowledged(_ trend: Trend, _ acknowledgements: [Acknowledgement]) -> [Bool] {
    var trend = trend
    trend.apply(acknowledgements)
    return trend.events.map { $0.acknowledgement != nil }
  }

  private static func given(step run: Int, runs: Int = 60, _ percent: Double = 5, name: String = "load") -> Given {
    var given = Given(runs: runs)
    given.add(name, steps: [(run, percent)])
    return given
  }

  @Test(
    "An event stays acknowledged if more runs shift its date a little",
    arguments: [(30, true), (28, true), (32, true), (27, false), (33, false)])
  func shiftedDate(run: Int, isKnown: Bool) throws {
    let event = try #require(Self.given(step: 30).trend.events.first)
    let acknowledgement = Acknowledgement(of: event, at: Self.instant(60), by: "Ada", reason: "known")
    var later = Self.given(step: run, runs: 90).trend
    #expect(acknowledged(later, [acknowledgement]) == [isKnown])
    later.apply([acknowledgement])
    #expect(later.series[0].metrics[0].shifts[0].isUnexplainedRise == !isKnown)
    #expect(later.events[0].needsAttention == !isKnown && later.events[0].state == (isKnown ? .acknowledged : .new))
  }

  @Test("An acknowledgement counts for one event of its kind, scenario and branch only")
  func otherEvents() throws {
    let event = try #require(Self.given(step: 30).trend.events.first)
    let acknowledgement = Acknowledgement(of: event, at: Self.instant(60), by: "Ada", reason: "known")
    var two = Given()
    two.add("load", steps: [(30, 5), (32, 5)])
    #expect(acknowledged(two.trend, [acknowledgement]) == [false, true])
    #expect(acknowledged(Self.given(step: 30, -5).trend, [acknowledgement]) == [false])
    #expect(acknowledged(Self.given(step: 30, name: "other").trend, [acknowledgement]) == [false])
    var elsewhere = acknowledgement
    elsewhere.branch = "topic"
    #expect(acknowledged(Self.given(step: 30).trend, [elsewhere]) == [false])
  }

  @Test("An event is news in the run that shows it, and only once, if it needs attention")
  func news() throws {
    var earlier = Self.given(step: 30).trend
    earlier.events = []
    let first = Self.given(step: 30).trend
    #expect(first.news(since: earlier).map(\.id) == first.events.map(\.id))
    #expect(Self.given(step: 31, runs: 61).trend.news(since: first).isEmpty)
    #expect(Self.given(step: 30, -5).trend.news(since: earlier).isEmpty)
    var two = Given(runs: 90)
    two.add("load", steps: [(30, 5), (80, 5)])
    #expect(two.trend.news(since: first).map(\.after.id) == ["run-80"])
    let event = try #require(first.events.first)
    var acknowledged = first
    acknowledged.apply([Acknowledgement(of: event, at: Self.instant(60), by: "Ada", reason: "known")])
    #expect(acknowledged.news(since: earlier).isEmpty)
  }

  @Test("A step without noise has one date, and a step in noise a few")
  func stepDates() throws {
    func dates(_ values: [Double], at index: Int) throws -> ClosedRange<Int> {
      let points = values.map { MetricSeries.Point(median: $0, low: $0, high: $0) }
      let shift = LevelShift(index: index, before: 100, after: 105, chance: 0.001, persists: true)
      let series = MetricSeries(metric: .peakRSS, unit: "bytes", points: points, shifts: [shift])
      return try #require(series.withStepDates { _ in true }.shifts[0].dates)
    }
    let exact = (0..<40).map { $0 < 20 ? 100.0 : 105 }
    #expect(try dates(exact, at: 20) == 20...20)
    let noise = [3, -2, 4, -4, 1, -3, 2, -1].map(Double.init)
    let noisy = exact.enumerated().map { $1 + noise[$0 % noise.count] }
    let range = try dates(noisy, at: 20)
    #expect(range.contains(20) && range.count > 1 && range.count <= 11)
  }
}
