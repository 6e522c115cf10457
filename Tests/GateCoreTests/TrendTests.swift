import Foundation
@testable import GateCore
import Statistics
import Testing

@Suite("Series of a trend")
struct TrendTests {
  private static let approvals = (0..<4).map { number in
    Approval(at: instant(number), by: "ann", commit: "c\(number)", reason: "agreed", run: "run-\(number)")
  }

  private static func instant(_ hours: Int) -> Date {
    Date(timeIntervalSince1970: Double(1_767_225_600 + hours * 3600))
  }

  private static func environment(_ name: String, kernel: String = "6.18") -> EnvironmentInfo {
    EnvironmentInfo(
      name: name,
      fingerprint: Fingerprint(
        architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
        kernel: kernel, libc: "glibc 2.36")
    )
  }

  /// Hourly runs of a scenario with peaks in KiB; each run passes against its baseline.
  private struct Given {
    var peaks: [Double]
    var branch: (Int) -> String? = { _ in "main" }
    var environment: (Int) -> Int = { _ in 0 }
    var verdict: (Int) -> Verdict = { _ in .pass }
    var approval: (Int) -> Int? = { _ in 0 }
    var baseline: (Int) -> Double = { _ in 100_000 }
    var failures: (Int) -> [FailedRepetition] = { _ in [] }

    var trend: Trend {
      let source = TrendSource(
        runs: peaks.indices.map { index in
          RunInfo(id: "run-\(index)", startedAt: instant(index), commit: "commit-\(index)", branch: branch(index))
        },
        environments: [
          TrendTests.environment("a"), TrendTests.environment("a", kernel: "6.19"), TrendTests.environment("b"),
        ],
        approvals: approvals
      )
      let runs = peaks.indices.map { index in
        var run = ScenarioHistory.Run(index: index, environment: environment(index), verdict: verdict(index))
        (run.tags, run.approval, run.failedRepetitions) = (["server"], approval(index), failures(index))
        return run
      }
      var column = ScenarioHistory.Column(metric: .peakRSS, count: peaks.count)
      for (index, peak) in peaks.enumerated() {
        column[index] = MetricSeries.Point(
          median: peak * 1024, low: peak * 1024 - 4096, high: peak * 1024 + 4096,
          judgement: .init(verdict: .pass, baseline: baseline(index) * 1024, allowed: 3_000 * 1024))
      }
      var history = ScenarioHistory(name: ScenarioName("load"), runs: runs)
      history.columns = [column]
      let builder = SeriesBuilder(source, latest: peaks.count)
      return builder.trend(of: builder.series(of: history), createdAt: instant(0), links: BuildLinks())
    }
  }

  /// Values around these levels, each held for some runs, with a reproducible noise of 0.3 %.
  private static func levels(_ levels: (Double, Int)...) -> [Double] {
    var random = SeededNumbers(seed: 7)
    return levels.flatMap { level, count in
      (0..<count).map { _ in (level * (1 + 0.003 * (Double(random.next() % 2001) / 1000 - 1))).rounded() }
    }
  }

  private func shifts(_ given: Given) throws -> [LevelShift] {
    try #require(given.trend.series.first?.metrics.first).shifts
  }

  @Test("Each environment and branch has its own series, the main branch first")
  func series() {
    var given = Given(peaks: Self.levels((100_000, 40)))
    given.branch = { $0 % 4 == 3 ? "topic" : "main" }
    given.environment = { $0 % 2 == 0 ? 0 : 2 }
    let trend = given.trend
    #expect(trend.series.map { [$0.environment, $0.branch] } == [["a", "main"], ["b", "main"], ["b", "topic"]])
    #expect(trend.series.map(\.runCount) == [20, 10, 10])
    #expect(trend.series.allSatisfy { $0.tags == ["server"] })
    #expect(trend.hiddenBranches == 0)
  }

  @Test("Of many branches only the main branch and the latest six are shown")
  func manyBranches() {
    var given = Given(peaks: Self.levels((100_000, 60)))
    given.branch = { $0 % 2 == 0 ? "trunk" : "topic-\($0)" }
    let trend = given.trend
    #expect(trend.series.map(\.branch) == ["trunk"] + stride(from: 59, to: 47, by: -2).map { "topic-\($0)" })
    #expect(trend.hiddenBranches == 24)
    #expect(trend.runCount == 60)
    #expect(trend.runs.count == 36)
    let branches = trend.series.flatMap { series in series.runs.map { trend.runs[$0.index].branch == series.branch } }
    #expect(branches.allSatisfy { $0 })
  }

  @Test("An unexplained rise has the first run of the new level")
  func unexplainedRise() throws {
    let trend = Given(peaks: Self.levels((100_000, 30), (106_000, 20))).trend
    let shift = try #require(trend.series[0].metrics[0].shifts.first)
    #expect(trend.runs[trend.series[0].runs[shift.index].index].commit == "commit-30")
    #expect(abs(shift.after / shift.before - 1.06) < 0.005)
    #expect(shift.isUnexplainedRise && shift.explanation == nil && shift.chance < 0.001)
  }

  @Test("A shift within the tolerance is not reported")
  func smallShift() throws {
    #expect(try shifts(Given(peaks: Self.levels((100_000, 30), (102_000, 20)))).isEmpty)
  }

  @Test("A reverted rise is marked as such and needs no attention", arguments: [101_000, 99_000] as [Double])
  func reverted(level: Double) throws {
    let shifts = try shifts(Given(peaks: Self.levels((100_000, 30), (108_000, 20), (level, 20))))
    #expect(shifts.map(\.index) == [30, 50])
    #expect(shifts.allSatisfy { !$0.isUnexplainedRise })
  }

  @Test("A baseline of the new level explains a shift, in the same run or later", arguments: [30, 42])
  func approvedShift(from run: Int) throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    given.approval = { $0 >= run ? 1 : 0 }
    given.baseline = { $0 >= run ? 106_000 : 100_000 }
    let shift = try #require(try shifts(given).first)
    #expect(shift.explanation == .approval(Self.approvals[1]))
    #expect(!shift.isUnexplainedRise && shift.persists)
  }

  @Test("A baseline of another level does not explain a shift")
  func otherApproval() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    given.approval = { $0 >= 35 ? 1 : 0 }
    given.baseline = { $0 >= 35 ? 101_000 : 100_000 }
    #expect(try #require(try shifts(given).first).isUnexplainedRise)
  }

  @Test("A change of the machine in the same run explains a shift and is marked")
  func otherMachine() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    given.environment = { $0 >= 30 ? 1 : 0 }
    let series = given.trend.series[0]
    let difference = Fingerprint.Difference(field: .kernel, baseline: "6.18", current: "6.19")
    #expect(series.metrics[0].shifts.first?.explanation == .environment([difference]))
    #expect(series.environmentChanges == [.init(index: 30, differences: [difference])])
  }

  @Test("A slow rise is creep and not a shift")
  func creep() throws {
    let noise = Self.levels((100_000, 80))
    let peaks = noise.enumerated().map { $1 * (1 + 0.001 * Double(max(0, $0 - 20))) }
    let metric = try #require(Given(peaks: peaks).trend.series.first?.metrics.first)
    #expect(metric.creep != nil)
    #expect(metric.shifts.isEmpty)
  }

  @Test("A shift is not creep")
  func shiftIsNoCreep() throws {
    let metric = try #require(
      Given(peaks: Self.levels((100_000, 30), (106_000, 20))).trend.series.first?.metrics.first)
    #expect(metric.creep == nil)
  }

  @Test("Failed runs do not count")
  func failedRuns() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (150_000, 6), (100_000, 20)))
    given.verdict = { (30..<36).contains($0) ? .failed : .pass }
    #expect(try shifts(given).isEmpty)
  }

  @Test("Single bad runs are marked, but not those of failed runs")
  func outliers() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    for run in [12, 20, 21, 40] { given.peaks[run] *= 1.3 }
    given.verdict = { $0 == 12 ? .failed : .pass }
    let metric = try #require(given.trend.series.first?.metrics.first)
    #expect(metric.outliers == [20, 21, 40])
    #expect(metric.levels.isEmpty)
  }

  @Test("The levels that a program alternates between are known")
  func levels() throws {
    let noise = Self.levels((100_000, 60))
    var random = SeededNumbers(seed: 3)
    let peaks = noise.map { random.nextShare() < 0.4 ? $0 * 1.1 : $0 }
    let metric = try #require(Given(peaks: peaks).trend.series.first?.metrics.first)
    #expect(metric.shifts.isEmpty && metric.levels.count == 2)
    #expect(zip(metric.levels, [100_000 * 1024, 110_000 * 1024]).allSatisfy { abs($0 / $1 - 1) < 0.003 })
  }

  @Test("A baseline is marked at the first run compared with it")
  func approvalMarks() {
    var given = Given(peaks: Self.levels((100_000, 30)))
    given.approval = { $0 / 10 }
    let marks = given.trend.series[0].approvals
    #expect(marks.map(\.index) == [0, 10, 20])
    #expect(marks.map(\.approval) == Array(Self.approvals[0..<3]))
  }

  @Test("The first run of a long series need not be shown")
  func firstRunOmitted() throws {
    let given = Given(peaks: (0..<700).map { [100_000, 100_004, 99_996][$0 % 3] }, approval: { _ in nil })
    let run = try #require(given.trend.series.first?.runs.first)
    #expect(run.omitted == 1 && run.index == 0)
  }

  @Test("Ten thousand runs are downsampled to a few hundred; shifts, peaks, failures and ranges are kept")
  func downsampling() throws {
    var peaks = Self.levels((100_000, 3000), (106_000, 4000), (101_000, 3000))
    peaks[1234] = 250_000
    peaks[5678] = 50_000
    var given = Given(peaks: peaks)
    given.failures = { $0 == 777 ? [.init(number: 2, end: End(.oom))] : [] }
    let trend = given.trend
    let series = trend.series[0]
    let metric = series.metrics[0]
    let numbers = series.runs.map { Int(trend.runs[$0.index].id.dropFirst(4)) ?? -1 }
    #expect(series.runs.count <= 600)
    #expect(series.runCount == 10_000)
    #expect(numbers.contains(1234) && numbers.contains(5678) && numbers.contains(777))
    #expect(numbers.suffix(240) == Array(9760..<10_000))
    #expect(metric.shifts.map { numbers[$0.index] } == [3000, 7000])
    #expect(metric.shifts.map { numbers[$0.index - 1] } == [2999, 6999])
    #expect(metric.outliers.map { numbers[$0] } == [1234, 5678])
    #expect(series.runs.map { 1 + $0.omitted }.reduce(0, +) == 10_000)
    #expect(metric.points.compactMap { $0?.high }.max() == 256_004_096.0)
    #expect(metric.points.compactMap { $0?.low }.min() == 51_195_904.0)
    for (index, point) in metric.points.enumerated() {
      let last = numbers[index]
      let stretch = peaks[(last - series.runs[index].omitted)...last].map { $0 * 1024 }
      #expect(point?.high == (stretch.max() ?? 0) + 4096 && point?.low == (stretch.min() ?? 0) - 4096)
    }
  }
}
