import Foundation
import Testing

@testable import GateCore

@Suite("Verdicts on the tests of a suite")
struct SuiteTests {
  private func mebibytes(_ count: Int64) -> Bytes { .mebibytes(count) }

  private func run(
    _ name: String, peak: Int64, kept: Int64 = 0, _ outcome: TestRun.Outcome = .passed
  ) -> [TestEvent] {
    let test = SuiteTest(name)
    return [
      TestEvent(.begin(isReset: true), of: test, resident: mebibytes(30), peak: mebibytes(30)),
      TestEvent(
        .end(outcome, after: .seconds(1)), of: test, resident: mebibytes(30 + kept), peak: mebibytes(30 + peak)),
    ]
  }

  private func baseline(_ tests: [String: TestFigures]) -> SuiteBaseline {
    let approval = Approval(at: .now, by: "somebody", commit: nil, reason: nil, run: "1")
    return SuiteBaseline(
      suite: ScenarioName("tests"), environment: "here", framework: "pytest", command: ["pytest"],
      approval: approval, tests: tests.mapValues { SuiteBaseline.Entry($0) })
  }

  private func figures(_ peak: Int64, kept: Int64 = 0) -> TestFigures {
    TestFigures(peak: mebibytes(peak), kept: mebibytes(kept))
  }

  @Test("A test needs what its process held more at the peak than at its begin, and keeps what it did not give back")
  func figuresOfRun() throws {
    var log = TestLog()
    log.add(run("a", peak: 50, kept: 20), process: 7)
    let found = try #require(log.runs.first)
    #expect(found.figures == figures(50, kept: 20) && found.before == mebibytes(30) && found.isExact)
    #expect(found.peakResident == mebibytes(80) && found.process == 7)
  }

  @Test("A test that did not end is unfinished, and one that is reported twice or within another is ambiguous")
  func brokenLogs() {
    var log = TestLog()
    log.add(run("a", peak: 1) + run("a", peak: 2) + [run("b", peak: 1)[0]] + run("c", peak: 1), process: 1)
    log.add([run("d", peak: 1)[1]] + [run("e", peak: 1)[0]], process: 2)
    #expect(log.ambiguous == ["a", "b", "c", "d"] && log.faults == 1)
    let results = SuiteComparison(with: nil).results(of: log)
    #expect(results.filter { $0.reason == .ambiguous }.map(\.test.name) == ["a", "b", "c"])
    #expect(results.last?.verdict == .failed && results.last?.reason == .outcome(outcome: .unfinished))
  }

  @Test(
    "Only a rise beyond the tolerance makes a suspect, of what is kept if that is most of it",
    arguments: [
      (31, 0, 31, 0, Verdict.pass, TestMetric?.none), (31, 0, 32, 0, .pass, nil), (31, 0, 33, 0, .inconclusive, .peak),
      (1, 0, 21, 20, .inconclusive, .kept), (1, 0, 60, 5, .inconclusive, .peak), (60, 0, 20, 0, .improved, .peak),
    ])
  func firstStage(
    _ before: Int, _ keptBefore: Int, _ now: Int, _ kept: Int, verdict: Verdict, metric: TestMetric?
  ) throws {
    var log = TestLog()
    log.add(run("a", peak: Int64(now), kept: Int64(kept)), process: 1)
    let base = baseline(["a": figures(Int64(before), kept: Int64(keptBefore)), "gone": figures(1)])
    let comparison = SuiteComparison(with: base.tests)
    let result = try #require(comparison.results(of: log).first)
    #expect(result.verdict == verdict)
    switch result.reason {
    case .suspected(let found, _, _), .fallen(let found, _, _): #expect(found == metric)
    default: #expect(metric == nil)
    }
    #expect(comparison.missing(from: log) == ["gone"])
  }

  @Test("Objects that a test keeps in memory that was free before make it a suspect, if they were counted before")
  func objects() throws {
    let test = SuiteTest("a")
    var log = TestLog()
    log.add(
      [
        TestEvent(.begin(isReset: true), of: test, resident: mebibytes(30), peak: mebibytes(30)),
        TestEvent(
          .end(.passed, after: .seconds(1)), of: test, resident: mebibytes(30), peak: mebibytes(31),
          objects: mebibytes(4)),
      ], process: 1)
    func reason(_ before: TestFigures) -> TestReason? {
      SuiteComparison(with: baseline(["a": before]).tests).results(of: log).first?.reason
    }
    let counted = TestFigures(peak: mebibytes(1), objects: mebibytes(1))
    #expect(reason(counted) == .suspected(metric: .objects, from: mebibytes(1), to: mebibytes(4)))
    #expect(reason(figures(1)) == nil)
  }

  @Test("A limit decides without a baseline")
  func limit() throws {
    var log = TestLog()
    log.add(run("a", peak: 50) + run("b", peak: 5) + run("c", peak: 99, .skipped), process: 1)
    let limits = [SuiteRule.Limit(mebibytes(40)), .init(mebibytes(4), of: "b*"), .init(mebibytes(9), of: "d")]
    let results = SuiteComparison(with: nil, limits: [limits[0]]).results(of: log)
    #expect(results.map(\.verdict) == [.regression, .noBaseline, .skipped])
    let comparison = SuiteComparison(with: nil, limits: limits)
    #expect(comparison.results(of: log).map(\.verdict) == [.regression, .regression, .skipped])
    #expect(comparison.unusedLimits(for: log) == ["d"])
  }

  private static let environment = EnvironmentInfo(
    name: "here",
    fingerprint: Fingerprint(
      architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "off", measurement: "sampled", kernel: "6.1",
      libc: "glibc"))

  private var emptySuite: SuiteResult {
    SuiteResult(name: ScenarioName("tests"), framework: "pytest", command: ["pytest"], environment: Self.environment)
  }

  @Test("A skipped test does not count in the figures of the suite, and those of the baseline stand beside them")
  func skipped() throws {
    var log = TestLog()
    log.add(run("a", peak: 2) + run("b", peak: 9, .skipped), process: 1)
    var suite = SuiteResult(
      name: ScenarioName("unit"), framework: "junit", command: ["mvn"], environment: Self.environment,
      hasBaseline: true, tests: SuiteComparison(with: baseline(["a": figures(2)]).tests).results(of: log))
    let heaviest = ScenarioResult(of: suite).metrics.first { $0.metric == SuiteMetric.heaviest.name }
    #expect(heaviest?.current?.median == heaviest?.baseline?.median && heaviest?.baseline != nil)
    suite.hasBaseline = false
    #expect(ScenarioResult(of: suite).metrics.allSatisfy { $0.baseline == nil })
  }

  @Test("A suite that ended in the middle names the tests that had begun")
  func crash() throws {
    var log = TestLog()
    log.add(run("a", peak: 1) + [run("b", peak: 1)[0]], process: 1)
    var suite = SuiteResult(
      name: ScenarioName("unit"), framework: "pytest", command: ["pytest"], environment: Self.environment,
      tests: SuiteComparison(with: nil).results(of: log))
    suite.problems = [.failed(failure: Failure(problem: .signalNotSent))]
    #expect(ScenarioResult(of: suite).failure?.part == Failure.Part(.test, text: "b"))
    suite.tests.removeLast()
    #expect(ScenarioResult(of: suite).failure?.part == Failure.Part(.suite))
  }

  private func suspect(from before: TestFigures, to now: Int64) throws -> SuspectDecision {
    var log = TestLog()
    log.add(run("a", peak: now), process: 1)
    let result = try #require(SuiteComparison(with: baseline(["a": before]).tests).results(of: log).first)
    return try #require(SuspectDecision(result, tolerance: .standard))
  }

  @Test("A rise counts if the test shows it alone, in a second run of the suite, and no other test needs less")
  func secondStage() throws {
    let decision = try suspect(from: figures(2), to: 30)
    let alone = [figures(31), figures(30)]
    func verdict(again: Int64, moved: Int64) -> Verdict {
      decision.decided(alone: alone, again: figures(again), moved: mebibytes(moved)).verdict
    }
    #expect(verdict(again: 30, moved: 0) == .regression)
    #expect(verdict(again: 2, moved: 0) == .pass)
    #expect(verdict(again: 30, moved: 28) == .inconclusive)
    #expect(decision.notRepeated(alone: alone).verdict == .pass)
    #expect(decision.notRunAlone.verdict == .inconclusive)
    #expect(decision.explainsRise(figures(16)) && !decision.explainsRise(figures(15)))
  }

  @Test("A rise no larger than the difference between equal runs passes, and an approval then allows that difference")
  func variation() throws {
    let decision = try suspect(from: figures(2), to: 30)
    func result(again: Int64, alone: [Int64]) -> TestResult {
      decision.decided(alone: alone.map { figures($0) }, again: figures(again), moved: .zero)
    }
    // The first run alone loads other files than the later ones.
    #expect(result(again: 30, alone: [12, 30, 30]).verdict == .regression)
    #expect(result(again: 29, alone: [29, 25, 30]).verdict == .regression)
    let byAlone = result(again: 30, alone: [30, 12, 40]), bySuite = result(again: 16, alone: [16, 16, 16])
    #expect(byAlone.verdict == .pass && byAlone.spread?.peak == mebibytes(28))
    #expect(bySuite.verdict == .pass && bySuite.spread?.peak == mebibytes(14))

    var suite = emptySuite
    suite.tests = [bySuite]
    let base = baseline(["a": figures(2)])
    let next = try #require(SuiteBaseline(of: suite, replacing: base, approval: base.approval).tests["a"])
    #expect(next.figures == figures(2) && next.spread?.peak == mebibytes(14))
    #expect(next.rise(of: .peak, to: figures(17), beyond: .standard) == nil)
    #expect(next.rise(of: .peak, to: figures(18), beyond: .standard) != nil)
    #expect(next.rise(of: .kept, to: figures(4, kept: 4), beyond: .standard) != nil)
  }

  @Test("A test that needs less needs it in another equal run as well, or varies")
  func falls() throws {
    var log = TestLog()
    log.add(run("a", peak: 20), process: 1)
    let result = try #require(SuiteComparison(with: baseline(["a": figures(40)]).tests).results(of: log).first)
    #expect(result.verdict == .improved && result.withoutFall(by: figures(21), beyond: .standard) == nil)
    let varies = try #require(result.withoutFall(by: figures(39), beyond: .standard))
    #expect(varies.verdict == .pass && varies.spread?.peak == mebibytes(19))
  }

  @Test("Two first runs of a suite are compared, and in Java half of the garbage in a peak is allowed")
  func firstRuns() throws {
    func log(_ peak: Int64, kept: Int64) -> TestLog {
      var log = TestLog()
      log.add(run("a", peak: peak, kept: kept) + run("b", peak: 3), process: 1)
      return log
    }
    var suite = emptySuite
    suite.tests = SuiteComparison(with: nil).results(of: log(50, kept: 2))
    suite.findSpreads(with: log(40, kept: 2))
    #expect(suite.tests.map(\.spread) == [figures(10), nil])
    let entry = SuiteBaseline.Entry(figures(102, kept: 2))
    #expect(entry.allowed(of: .peak, .java) == mebibytes(50) + Bytes(clampedFrom: 5.1 * 1_048_576))
    #expect(entry.allowed(of: .kept, .java) == mebibytes(5))
    #expect(SuiteBaseline.Entry(figures(1)).allowed(of: .peak, .java) == mebibytes(10))
  }

  @Test("The runs alone of another commit decide, if there are any")
  func otherCommit() throws {
    let decision = try suspect(from: figures(2), to: 30)
    #expect(decision.decided(alone: [figures(31)], before: [figures(30), figures(31)]).verdict == .pass)
    #expect(decision.decided(alone: [figures(31)], before: [figures(3)]).verdict == .regression)
    #expect(decision.decided(alone: [figures(31)], before: []).verdict == .inconclusive)
  }

  @Test("The cause is the last test without which another one needs no more", arguments: [1, 2, 7, 99, 100])
  func causes(place: Int) {
    let names = (0..<100).map { "t\($0)" }
    let culprit = names[names.count - place]
    var search = CauseSearch(before: names)
    var runs = 0
    while let next = search.next {
      search.add(needsMore: next.contains(culprit))
      runs += 1
    }
    #expect(search.cause == culprit && runs <= 14)
    var vain = CauseSearch(before: names)
    while vain.next != nil { vain.add(needsMore: false) }
    #expect(vain.cause == nil)
    #expect(CauseSearch(before: []).next == nil)
  }

  @Test("An approval changes the lines of changed, new and removed tests only")
  func approvals() {
    var log = TestLog()
    log.add(
      run("grown", peak: 50) + run("same", peak: 11) + run("new", peak: 3) + run("bad", peak: 9, .failed), process: 1)
    let base = baseline(["grown": figures(2), "same": figures(10), "gone": figures(1), "bad": figures(4)])
    var result = emptySuite
    result.tests = SuiteComparison(with: base.tests).results(of: log)
    let next = SuiteBaseline(of: result, replacing: base, approval: base.approval)
    let expected: [String: Int64] = ["grown": 50, "same": 10, "new": 3, "bad": 4]
    #expect(next.tests.mapValues(\.peak) == expected.mapValues { mebibytes($0) })
    // A suite that stops at a failure has not removed what it did not run.
    result.missing = ["gone"]
    #expect(SuiteBaseline(of: result, replacing: base, approval: base.approval).tests["gone"] != nil)
    // Another command has run other tests, and a baseline stays that of the one that ran all of them.
    result.tests.removeLast()
    (result.command, result.approvedCommand) = (["pytest", "-k", "same"], base.command)
    let kept = SuiteBaseline(of: result, replacing: base, approval: base.approval)
    #expect(kept.tests["gone"] != nil && kept.command == ["pytest"])
    let change = SuiteBaselineChange(from: base, to: next)
    #expect(change.added == 1 && change.changed == 1 && change.removed == 1 && change.total == 4)
  }
}
