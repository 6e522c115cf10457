import Foundation
import GateCore
import Statistics
import Testing

@Suite("The courses of a trend")
struct TrendTests {
  private static let approvals = (0..<4).map { number in
    Baseline.Approval(at: instant(number), by: "ann", commit: "c\(number)", reason: "agreed", run: "run-\(number)")
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

  /// One scenario's runs, an hour apart, whose peak is given in KiB; each run passes against the baseline that is named.
  private struct Given {
    var peaks: [Double]
    var branch: (Int) -> String? = { _ in "main" }
    var environment: (Int) -> Int = { _ in 0 }
    var verdict: (Int) -> Verdict = { _ in .pass }
    var approval: (Int) -> Int = { _ in 0 }
    var baseline: (Int) -> Double = { _ in 100_000 }
    var troubles: (Int) -> [ScenarioRecord.Trouble] = { _ in [] }

    var trend: Trend {
      let inventory = TrendInventory(
        runs: peaks.indices.map { place in
          RunInfo(id: "run-\(place)", startedAt: instant(place), commit: "commit-\(place)", branch: branch(place))
        },
        environments: [
          TrendTests.environment("a"), TrendTests.environment("a", kernel: "6.19"), TrendTests.environment("b"),
        ],
        approvals: approvals
      )
      let rows = peaks.indices.map { place in
        ScenarioTrack.Row(
          run: place, environment: environment(place), verdict: verdict(place), tags: ["server"],
          approval: approval(place), troubles: troubles(place))
      }
      var column = ScenarioTrack.Column(metric: .peakRSS, rows: peaks.count)
      for (place, peak) in peaks.enumerated() {
        column[place] = MetricCourse.Point(
          median: peak * 1024, low: peak * 1024 - 4096, high: peak * 1024 + 4096,
          judgement: .init(verdict: .pass, baseline: baseline(place) * 1024, allowed: 3_000 * 1024))
      }
      let track = ScenarioTrack(
        name: ScenarioName("load"), rows: rows, columns: [column])
      let maker = CourseMaker(inventory)
      return maker.trend(of: maker.courses(of: track), madeAt: instant(0), links: BuildLinks())
    }
  }

  /// Values around levels, each held for so many runs; the noise is 0.3 % and the same each time.
  private static func levels(_ levels: (Double, Int)...) -> [Double] {
    var random = SeededNumbers(seed: 7)
    return levels.flatMap { level, count in
      (0..<count).map { _ in (level * (1 + 0.003 * (Double(random.next() % 2001) / 1000 - 1))).rounded() }
    }
  }

  private func steps(_ given: Given) throws -> [MetricCourse.Step] {
    try #require(given.trend.courses.first?.metrics.first).steps
  }

  @Test("Each environment and branch has a course of its own, the main branch first")
  func courses() {
    var given = Given(peaks: Self.levels((100_000, 40)))
    given.branch = { $0 % 4 == 3 ? "topic" : "main" }
    given.environment = { $0 % 2 == 0 ? 0 : 2 }
    let trend = given.trend
    #expect(trend.courses.map { [$0.environment, $0.branch] } == [["a", "main"], ["b", "main"], ["b", "topic"]])
    #expect(trend.courses.map(\.runCount) == [20, 10, 10])
    #expect(trend.courses.allSatisfy { $0.tags == ["server"] })
    #expect(trend.hiddenBranches == 0)
  }

  @Test("Of many branches the main one and the latest six are shown, and no run of another")
  func manyBranches() {
    var given = Given(peaks: Self.levels((100_000, 60)))
    given.branch = { $0 % 2 == 0 ? "trunk" : "topic-\($0)" }
    let trend = given.trend
    #expect(trend.courses.map(\.branch) == ["trunk"] + stride(from: 59, to: 47, by: -2).map { "topic-\($0)" })
    #expect(trend.hiddenBranches == 24)
    #expect(trend.runCount == 60)
    #expect(trend.runs.count == 36)
    let branches = trend.courses.flatMap { course in course.entries.map { trend.runs[$0.run].branch == course.branch } }
    #expect(branches.allSatisfy { $0 })
  }

  @Test("A step that nothing explains is open, and names the first run of the new level")
  func openStep() throws {
    let trend = Given(peaks: Self.levels((100_000, 30), (106_000, 20))).trend
    let step = try #require(trend.courses[0].metrics[0].steps.first)
    #expect(trend.runs[trend.courses[0].entries[step.entry].run].commit == "commit-30")
    #expect(abs(step.after / step.before - 1.06) < 0.005)
    #expect(step.isOpen && step.cause == nil && step.chance < 0.001)
  }

  @Test("A step within the tolerance is none")
  func smallStep() throws {
    #expect(try steps(Given(peaks: Self.levels((100_000, 30), (102_000, 20)))).isEmpty)
  }

  @Test("A rise that was taken back is marked and not open", arguments: [101_000, 99_000] as [Double])
  func takenBack(level: Double) throws {
    let steps = try steps(Given(peaks: Self.levels((100_000, 30), (108_000, 20), (level, 20))))
    #expect(steps.map(\.entry) == [30, 50])
    #expect(steps.allSatisfy { !$0.isOpen })
  }

  @Test("A baseline of the new level explains a step, whether it came with it or later", arguments: [30, 42])
  func approvedStep(from run: Int) throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    given.approval = { $0 >= run ? 1 : 0 }
    given.baseline = { $0 >= run ? 106_000 : 100_000 }
    let step = try #require(try steps(given).first)
    #expect(step.cause == .approval(Self.approvals[1]))
    #expect(!step.isOpen && step.stands)
  }

  @Test("A baseline of another level explains nothing")
  func otherApproval() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    given.approval = { $0 >= 35 ? 1 : 0 }
    given.baseline = { $0 >= 35 ? 101_000 : 100_000 }
    #expect(try #require(try steps(given).first).isOpen)
  }

  @Test("A machine that changed with the step explains it, and is marked")
  func otherMachine() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (106_000, 20)))
    given.environment = { $0 >= 30 ? 1 : 0 }
    let course = given.trend.courses[0]
    let difference = Fingerprint.Difference(field: .kernel, baseline: "6.18", current: "6.19")
    #expect(course.metrics[0].steps.first?.cause == .environment([difference]))
    #expect(course.environmentChanges == [.init(entry: 30, differences: [difference])])
  }

  @Test("A slow rise is creep, and no step")
  func creep() throws {
    let noise = Self.levels((100_000, 80))
    let peaks = noise.enumerated().map { $1 * (1 + 0.001 * Double(max(0, $0 - 20))) }
    let metric = try #require(Given(peaks: peaks).trend.courses.first?.metrics.first)
    #expect(metric.creep != nil)
    #expect(metric.steps.isEmpty)
  }

  @Test("A step is no creep")
  func stepIsNoCreep() throws {
    let metric = try #require(
      Given(peaks: Self.levels((100_000, 30), (106_000, 20))).trend.courses.first?.metrics.first)
    #expect(metric.creep == nil)
  }

  @Test("Runs that failed say nothing of a level")
  func failedRuns() throws {
    var given = Given(peaks: Self.levels((100_000, 30), (150_000, 6), (100_000, 20)))
    given.verdict = { (30..<36).contains($0) ? .failed : .pass }
    #expect(try steps(given).isEmpty)
  }

  @Test("A baseline is marked at the first run that was held against it")
  func approvalMarks() {
    var given = Given(peaks: Self.levels((100_000, 30)))
    given.approval = { $0 / 10 }
    let marks = given.trend.courses[0].approvals
    #expect(marks.map(\.entry) == [0, 10, 20])
    #expect(marks.map(\.approval) == Array(Self.approvals[0..<3]))
  }

  @Test("Ten thousand runs are thinned to some hundred; steps, peaks and bad ends stay, and ranges lose nothing")
  func thinning() throws {
    var peaks = Self.levels((100_000, 3000), (106_000, 4000), (101_000, 3000))
    peaks[1234] = 250_000
    peaks[5678] = 50_000
    var given = Given(peaks: peaks)
    given.troubles = { $0 == 777 ? [.init(repetition: 2, end: End(.oom))] : [] }
    let trend = given.trend
    let course = trend.courses[0]
    let metric = course.metrics[0]
    let numbers = course.entries.map { Int(trend.runs[$0.run].id.dropFirst(4)) ?? -1 }
    #expect(course.entries.count <= 600)
    #expect(course.runCount == 10_000)
    #expect(numbers.contains(1234) && numbers.contains(5678) && numbers.contains(777))
    #expect(numbers.suffix(240) == Array(9760..<10_000))
    #expect(metric.steps.map { numbers[$0.entry] } == [3000, 7000])
    #expect(metric.steps.map { numbers[$0.entry - 1] } == [2999, 6999])
    #expect(course.entries.map { 1 + $0.folded }.reduce(0, +) == 10_000)
    #expect(metric.points.compactMap { $0?.high }.max() == 256_004_096.0)
    #expect(metric.points.compactMap { $0?.low }.min() == 51_195_904.0)
    for (place, point) in metric.points.enumerated() {
      let last = numbers[place]
      let stretch = peaks[(last - course.entries[place].folded)...last].map { $0 * 1024 }
      #expect(point?.high == (stretch.max() ?? 0) + 4096 && point?.low == (stretch.min() ?? 0) - 4096)
    }
  }
}
