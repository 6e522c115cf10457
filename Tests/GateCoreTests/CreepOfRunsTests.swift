import FoundationEssentials
import GateCore
import Testing

@Suite("Creep over runs")
struct CreepOfRunsTests {
  /// Runs a day apart with these peaks in MiB, under the approvals by their numbers.
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
        record: MetricRecord(
          metric: .peakRSS, figures: .init(median: value, low: value, high: value, count: 5),
          judgement: .init(verdict: .pass, baseline: approved.mebibytes * 1_048_576)),
        approval: Baseline.Approval(at: at, by: "ann", commit: nil, reason: nil, run: "\(approved.approval)")
      )
    }
  }

  private let rising = Array(repeating: 100.0, count: 10) + (1...20).map { 100 + Double($0) * 0.4 }

  @Test("Small rises of many runs are told with their sum and where they began")
  func reported() throws {
    var rising = points(rising)
    // Approvals differ by their instants; here one holds for all.
    let approval = rising[0].approval
    for index in rising.indices { rising[index].approval = approval }
    let creep = try #require(CreepOfRuns(rising, tolerance: .standard))
    #expect(
      creep.sentence(unit: "bytes")
        == "peak_rss has crept up by 7.2 MiB (+7.2 %) over 24 runs, none of which rose by more than the tolerance, "
        + "from 100.0 MiB (1970-01-06, commit c5)"
    )
  }

  @Test("An approval of more than the tolerance was a deliberate step: what was before does not count")
  func deliberateStep() {
    let values = rising + Array(repeating: 108, count: 20)
    #expect(CreepOfRuns(points(values), tolerance: .standard) != nil)
    #expect(CreepOfRuns(points(values) { $0 < 30 ? (100, 0) : (108, 1) }, tolerance: .standard) == nil)
    // One within the tolerance was not.
    #expect(CreepOfRuns(points(rising) { $0 < 15 ? (100, 0) : (102, 1) }, tolerance: .standard) != nil)
  }

  @Test("Runs that failed do not count")
  func failedRuns() {
    #expect(CreepOfRuns(points(rising), tolerance: .standard) != nil)
    #expect(CreepOfRuns(points(rising, verdict: { $0 < 15 ? .pass : .failed }), tolerance: .standard) == nil)
  }

  @Test("What came by a step is no creep")
  func step() {
    let values = Array(repeating: 100.0, count: 15) + Array(repeating: 110, count: 20)
    #expect(CreepOfRuns(points(values), tolerance: .standard) == nil)
  }

  @Test("Nothing creeps in no runs, and a rate has no level that could")
  func noLevel() {
    #expect(CreepOfRuns([], tolerance: .standard) == nil)
    var growth = points(rising)
    for index in growth.indices { growth[index].record.metric = .growth }
    #expect(CreepOfRuns(growth, tolerance: .standard) == nil)
  }
}
