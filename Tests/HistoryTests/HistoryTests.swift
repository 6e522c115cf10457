import Dispatch
import FoundationEssentials
@testable import GateApplication
@testable import GateCore
import Statistics
import Synchronization
import Testing

@Suite("The history")
struct HistoryTests {
  @Test("Stored runs are read back with every field, also after reopening the file", arguments: Store.allCases)
  func roundTrip(store: Store) throws {
    let folder = try ScratchFolder(store)
    #expect(try folder.open().append([Given.richRun]).added == 1)
    #expect(try folder.open().allRuns() == [Given.richRun])
    #expect(try folder.open().runs(latest: 5) == [Given.richRun])
  }

  @Test(
    "For a judged result, values, verdicts, failed repetitions and the approval are stored", arguments: Store.allCases)
  func ofResult(store: Store) throws {
    let repetitions = [10, 30, 20].map { value in
      RepetitionResult(
        end: End(value == 30 ? .crash : .exited, code: 0), duration: .zero, processes: 1,
        metrics: [.peakRSS: value, .treePeak: value * 2], phases: [.init(name: "load", metrics: [.peakRSS: value])])
    }
    let gate = Gate(rules: [
      GateRule(
        metric: .peakRSS, tolerance: .bounds(relative: Percent(3), absolute: .kibibytes(512)), limit: .size(Bytes(15)))
    ])
    let baseline = Baseline(
      scenario: ScenarioName("load"), environment: Given.environment.name, fingerprint: Given.fingerprint,
      metrics: [.peakRSS: [7, 8, 9, 8, 8]], approval: Given.approval(3))
    let scenario = ScenarioMeasurement(
      name: ScenarioName("load"), environment: Given.environment, gate: gate, repetitions: repetitions)
    let history = try ScratchFolder(store).open()
    let judged = scenario.judged(against: .baseline(baseline))
    try history.append([RunResult(run: Given.run(1).run, environment: Given.environment, scenarios: [judged]).summary])

    let stored = try #require(try history.allRuns().first?.scenarios.first)
    let values = { (median: Double) in ValueSummary(median: median, count: 3, range: median / 2...median * 1.5) }
    let peak = try #require(stored.metrics.first)
    #expect(stored.metrics.map(\.metric) == [.peakRSS] && peak.current == values(20))
    #expect(peak.verdict == .regression && peak.rule.limit == .size(Bytes(15)) && peak.allowed == 524_288)
    #expect(peak.baseline == ValueSummary(median: 8, count: 5) && peak.change?.absolute == 12)
    #expect(stored.ungated.map(\.metric.text) == ["tree_peak", "phase.load.peak_rss"])
    #expect(stored.ungated.map(\.current) == [values(40), values(20)])
    #expect(stored.ungated.allSatisfy { $0.verdict == .skipped && !$0.isGated })
    #expect(stored.failedRepetitions == [.init(number: 2, end: End(.crash, code: 0))])
    #expect(stored.approval == Given.approval(3))
  }

  @Test("A verdict of a later version says nothing for certain")
  func laterVerdict() {
    #expect(Verdict(stored: "no-baseline") == .noBaseline && Verdict(stored: "fuzzy") == .inconclusive)
  }

  @Test("A non-finite number is not stored", arguments: Store.allCases)
  func notFinite(store: Store) throws {
    var run = Given.run(1)
    run.scenarios[0].metrics[0].allowed = .infinity
    let history = try ScratchFolder(store).open()
    try history.append([run])
    #expect(try history.allRuns()[0].scenarios[0].metrics[0].allowed == nil)
  }

  @Test("Adding a stored run again changes nothing, alone or among others", arguments: Store.allCases)
  func idempotent(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    let runs = (1...5).map { Given.run($0) }
    #expect(try history.append(runs).added == 5)
    let again = try history.append(Array(runs.reversed()) + [Given.run(6)] + [Given.run(6)])
    #expect(again.added == 1 && again.known == 6 && again.conflicts.isEmpty)
    #expect(try history.allRuns() == runs + [Given.run(6)])
  }

  @Test(
    "The order and grouping of additions do not matter, even for conflicting runs with one ID",
    arguments: Store.allCases)
  func orderIndependent(store: Store) throws {
    let runs =
      (1...40).map { Given.run($0, branch: $0.isMultiple(of: 3) ? nil : "b\($0 % 2)", peak: Double($0) * 1000) }
      + [7, 20].map { Given.run($0, peak: 99_000_000) } + [Given.richRun]
    var numbers = SeededNumbers(seed: 42)
    var seen: [[RunSummary]] = []
    for _ in 0..<12 {
      let folder = try ScratchFolder(store)
      let history = try folder.open()
      var rest = runs + runs
      while !rest.isEmpty {
        let batch = (0...numbers.next(below: 20)).compactMap { _ in
          rest.isEmpty ? nil : rest.remove(at: numbers.next(below: rest.count))
        }
        try history.append(batch)
      }
      seen.append(try history.allRuns())
    }
    #expect(seen[0].count == 40)
    #expect(Given.firstValue(seen[0][6]) == 99_000_000)
    #expect(seen.allSatisfy { $0 == seen[0] })
  }

  @Test(
    "Concurrent writers, each with its own connection, lose nothing", .timeLimit(.minutes(60)),
    arguments: Store.allCases
  )
  func severalWriters(store: Store) throws {
    let folder = try ScratchFolder(store)
    let (writers, runs) = (6, 25)
    let errors = Mutex<[String]>([])
    // They also create the file at the same time.
    DispatchQueue.concurrentPerform(iterations: writers) { writer in
      do {
        let history = try folder.open()
        for number in 0..<runs { try history.append([Given.run(writer * 1000 + number)]) }
      } catch {
        errors.withLock { $0.append("\(error)") }
      }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(try folder.open().allRuns().count == writers * runs)
    #expect(try folder.names() == (store == .sqlite ? ["history.sqlite"] : []))
  }

  // MARK: Queries

  @Test(
    "A series has a scenario's values of a metric in order of time, whatever the order of additions",
    arguments: Store.allCases)
  func series(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    try history.append([3, 1, 2].map { Given.run($0, peak: Double($0)) } + [Given.run(4, of: "other", peak: 4)])
    let points = try history.series(of: .peakRSS, unit: "bytes", in: .init(ScenarioName("load")))
    #expect(points.map(\.metric.current?.median) == [1, 2, 3])
    #expect(points.map(\.run.commit) == ["commit-1", "commit-2", "commit-3"])
    #expect(points[0].metric == Given.run(1, peak: 1).scenarios[0].metrics[0])
    #expect(points[0].approval == Given.approval(0) && points[0].verdict == .pass)
    #expect(try history.series(of: .steadyRSS, unit: "bytes", in: .init(ScenarioName("load"))).isEmpty)
    #expect(
      try history.series(of: .peakRSS, unit: "bytes", in: .init(ScenarioName("load"), latest: 2)).map(\.run.id)
        == [2, 3].map(Given.identifier))
  }

  @Test("A series is limited to its environment and branch, including the unknown branch", arguments: Store.allCases)
  func selection(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    var otherEnvironment = Given.environment
    otherEnvironment.name = "elsewhere"
    try history.append([
      Given.run(1), Given.run(2, branch: nil), Given.run(3, branch: "topic"), Given.run(4, in: otherEnvironment),
    ])
    func runs(_ environment: String?, _ branch: History.Selection.Branch) throws -> [String] {
      try history.series(
        of: .peakRSS, unit: "bytes", in: .init(ScenarioName("load"), environment: environment, branch: branch)
      ).map(\.run.id)
    }
    #expect(try runs(nil, .any).count == 4)
    #expect(try runs(nil, .named(nil)) == [Given.identifier(2)])
    #expect(try runs(nil, .named("topic")) == [Given.identifier(3)])
    #expect(try runs("elsewhere", .any) == [Given.identifier(4)])
    #expect(try runs(Given.environment.name, .named("main")) == [Given.identifier(1)])
    #expect(try runs(nil, .named("no'body\" --")).isEmpty)
  }

  @Test("The verdicts of a scenario are listed oldest first, or only the latest", arguments: Store.allCases)
  func verdicts(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    let reported: [Verdict] = [.pass, .regression, .inconclusive, .improved]
    try history.append(zip(1..., reported).map { Given.run($0, verdict: $1) })
    #expect(try history.verdicts(in: .init(ScenarioName("load"))) == reported)
    #expect(try history.verdicts(in: .init(ScenarioName("load"), latest: 2)) == [.inconclusive, .improved])
    #expect(try history.verdicts(in: .init(ScenarioName("unknown"))).isEmpty)
  }

  @Test("The latest runs can be limited to named scenarios", arguments: Store.allCases)
  func latestRuns(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    #expect(try history.isEmpty())
    try history.append((1...9).map { Given.run($0, of: $0.isMultiple(of: 4) ? "rare" : "load") })
    #expect(try !history.isEmpty())
    #expect(try history.runs(latest: 2).map(\.run.id) == [8, 9].map(Given.identifier))
    #expect(try history.runs(latest: 5, of: [ScenarioName("rare")]).map(\.run.id) == [4, 8].map(Given.identifier))
  }

  // MARK: Pruning

  @Test("Pruning keeps the latest runs, or the runs since a time, complete", arguments: Store.allCases)
  func prune(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    try history.append((1...300).map { Given.run($0, branch: "branch-\($0)", of: "scenario-\($0)") })
    #expect(try history.prune(keeping: .latest(10)) == 290)
    #expect(try history.allRuns() == (291...300).map { Given.run($0, branch: "branch-\($0)", of: "scenario-\($0)") })
    #expect(try history.prune(keeping: .since(Given.instant(296))) == 5)
    #expect(try history.allRuns().count == 5)
    #expect(try history.prune(keeping: .latest(5)) == 0)
    // A pruned run can be added again.
    #expect(try history.append([Given.run(1)]).added == 1)
    let after = try folder.open()
    #expect(try after.prune(keeping: .latest(1)) == 5)
  }

  @Test("The trend has every run of each scenario in order of time, with all stored fields", arguments: Store.allCases)
  func trend(store: Store) throws {
    let folder = try ScratchFolder(store)
    let history = try folder.open()
    var runs = (1...30).map { Given.run($0, peak: 24_207_360 + Double($0 % 3) * 4096) }
    runs += (31...40).map { Given.run($0, branch: "topic", of: "other") }
    try history.append(runs.reversed())
    try history.append(
      [Given.richRun].map { run in
        var run = run
        run.run.id = Given.identifier(99)
        run.run.startedAt = Given.instant(99)
        return run
      })
    let trend = try history.trend(createdAt: Given.instant(100), links: BuildLinks())
    #expect(trend.runCount == 41)
    #expect(trend.runs.map(\.startedAt) == trend.runs.map(\.startedAt).sorted())
    #expect(
      trend.series.map { "\($0.name) \($0.branch ?? "-") \($0.runCount)" } == [
        "crasher[size=1] main 1", "load main 31", "other topic 10",
      ])
    let load = trend.series[1]
    #expect(load.tags == ["server", "slow"])
    #expect(load.runs.last?.composition == Given.richRun.scenarios[0].composition)
    #expect(load.approvals.map(\.approval) == [Given.approval(0)])
    let peak = try #require(load.metrics.first { $0.metric == .peakRSS })
    let stored = runs.prefix(30).compactMap { $0.scenarios[0].metrics[0] }
    #expect(peak.points.prefix(30).map { $0?.median } == stored.map { $0.current?.median })
    #expect(peak.points.prefix(30).map { $0?.low } == stored.map { $0.current?.range?.lowerBound })
    #expect(
      peak.points.prefix(30).map { $0?.judgement }
        == stored.map { .init(verdict: $0.verdict, baseline: $0.baseline?.median, allowed: $0.allowed) })
    #expect(load.metrics.map(\.metric) == [.peakRSS, .growth, .phase("load", .peakRSS)])
    #expect(trend.series[0].runs[0].failedRepetitions == Given.richRun.scenarios[1].failedRepetitions)
    #expect(trend.series[0].runs[0].explanation == Given.richRun.scenarios[1].explanation)
    #expect(trend.series[0].environment == "limited")
  }

  @Test(
    "A trend of the latest runs has those of each branch, in whatever order they were added", arguments: Store.allCases)
  func latestTrend(store: Store) throws {
    let history = try ScratchFolder(store).open()
    try history.append([Given.run(20), Given.run(3, branch: "topic"), Given.run(2, branch: "topic")])
    try history.append((4...19).reversed().map { Given.run($0) } + [Given.run(1, branch: "topic")])
    func trend(latest: Int) throws -> Trend {
      try history.trend(latest: latest, createdAt: Given.instant(30), links: BuildLinks())
    }
    let latest = try trend(latest: 3)
    #expect((latest.runCount, latest.olderRuns) == (20, 14))
    #expect(latest.series.map(\.branch) == ["main", "topic"] && latest.series.allSatisfy { $0.runCount == 3 })
    #expect(latest.runs.map(\.startedAt) == [1, 2, 3, 18, 19, 20].map(Given.instant))
    let peaks = latest.series.flatMap { $0.metrics[0].points.map { $0?.median } }
    let all = try trend(latest: 20)
    #expect(all.olderRuns == 0 && all.series.map(\.runCount) == [17, 3])
    #expect(peaks == all.series.flatMap { $0.metrics[0].points.suffix(3).map { $0?.median } })
  }

  @Test("A history without runs has a trend without series", arguments: Store.allCases)
  func emptyTrend(store: Store) throws {
    let folder = try ScratchFolder(store)
    let trend = try folder.open().trend(createdAt: Given.instant(0), links: BuildLinks())
    #expect(trend == Trend(createdAt: Given.instant(0), runs: [], runCount: 0, series: []))
  }
}
