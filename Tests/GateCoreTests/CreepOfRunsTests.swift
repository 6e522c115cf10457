import FoundationEssentials
import GateCore
import Testing

@Suite("Creep over runs")
struct CreepOfRunsTests {
  /// Runs a day apart with these peaks in MiB, compared with numbered approvals.
  private func points(
    _ peaks: [Double],
    baseline: (Int) -> (mebibytes: Double, approval: Int) = { _ in (100, 0) },
    verdict: (Int) -> Verdict = { _ in .pass }
  ) -> [SeriesPoint] {
    peaks.enumerated().map { day, peak in
      let value = peak * 1_048_576
      let approved = baseline(day)
      let at = Date(timeIntervalSince1970: Double(day) * 86_400)
      return SeriesPoint(
        run: RunInfo(id: "\(day)", startedAt: at, commit: "c\(day)"),
        verdict: verdict(day),
        metric: MetricResult(
          rule: GateRule(metric: .peakRSS, tolerance: nil), unit: "bytes", verdict: .pass,
          baseline: ValueSummary(median: approved.mebibytes * 1_048_576, count: 5),
          current: ValueSummary(median: value, count: 5)),
        approval: Approval(at: at, by: "ann", commit: nil, reason: nil, run: "\(approved.approval)")
      )
    }
  }

  private let rising = Array(repeating: 100.0, count: 10) + (1...20).map { 100 + Double($0) * 0.4 }

  @Test("Small rises over many runs add up from their start")
  func reported() throws {
    var rising = points(rising)
    // Approvals differ in their time; all runs share one here.
    let approval = rising[0].approval
    for index in rising.indices { rising[index].approval = approval }
    let creep = try #require(Creep(over: rising))
    #expect((creep.rise / 104_857.6).rounded() == 72 && creep.span == .runs(count: 24) && creep.unit == "bytes")
    #expect(creep.anchor == Anchor(level: 104_857_600, at: Date(timeIntervalSince1970: 5 * 86_400), commit: "c5"))
  }

  @Test("The tolerance is the latest allowed change")
  func tolerance() {
    var points = points(rising)
    points[25].metric.allowed = 8 * 1_048_576
    #expect(Creep(over: points) == nil)
    // The rise of 7.2 MiB also has to exceed the noise, which a rise that begins within the series adds to.
    points[28].metric.allowed = 5 * 1_048_576
    #expect(Creep(over: points) != nil)
  }

  @Test("Only the latest two hundred runs count")
  func latestRuns() {
    let values = rising + Array(repeating: 108, count: 200)
    #expect(Creep(over: points(Array(values.dropLast(20)))) != nil)
    #expect(Creep(over: points(values)) == nil)
  }

  @Test("Runs before an approved rise above the tolerance do not count")
  func approvedRise() {
    let values = rising + Array(repeating: 108, count: 20)
    #expect(Creep(over: points(values)) != nil)
    #expect(Creep(over: points(values) { $0 < 30 ? (100, 0) : (108, 1) }) == nil)
    // An approved rise within the tolerance does not reset the start.
    #expect(Creep(over: points(rising) { $0 < 15 ? (100, 0) : (102, 1) }) != nil)
  }

  @Test("Failed runs do not count")
  func failedRuns() {
    #expect(Creep(over: points(rising)) != nil)
    #expect(Creep(over: points(rising, verdict: { $0 < 15 ? .pass : .failed })) == nil)
  }

  @Test("A level shift is not creep")
  func levelShift() {
    let values = Array(repeating: 100.0, count: 15) + Array(repeating: 110, count: 20)
    #expect(Creep(over: points(values)) == nil)
  }

  @Test("An empty series and a rate have no creep")
  func noLevel() {
    #expect(Creep(over: []) == nil)
    var growth = points(rising)
    for index in growth.indices { growth[index].metric.rule.metric = .growth }
    #expect(Creep(over: growth) == nil)
  }
}
