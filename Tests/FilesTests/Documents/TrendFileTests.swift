import FoundationEssentials
import Testing

@testable import GateApplication
@testable import GateCore

@Suite("A trend as JSON")
struct TrendFileTests {
  private static func trend() -> Trend {
    let runs = (0..<6).map { index in
      RunInfo(
        id: "01a200e2-ec45-7395-8ac1-00000000000\(index)",
        startedAt: Date(timeIntervalSince1970: 1_767_323_045.678 + Double(index) * 3600),
        commit: "4f2a91c0\(index)", isDirty: index == 4, subject: "Change \(index)", branch: "main")
    }
    let approval = Approval(
      at: runs[4].startedAt, by: "Ada", commit: runs[4].commit, reason: "new cache", run: runs[4].id)
    func series(_ name: String, from level: Double, to next: Double, approval: Approval?) -> ScenarioSeries {
      let points = (0..<6).map { index -> MetricSeries.Point in
        let value = index < 3 ? level : next
        return .init(
          median: value, low: value, high: value, judgement: .init(verdict: .pass, baseline: level, allowed: 524_288))
      }
      let shift = LevelShift(
        index: 3, before: level, after: next, chance: 0.001, explanation: approval.map { .approval($0) }, persists: true
      )
      let creep = Creep(
        metric: .steadyRSS, unit: "bytes", rise: 65_536,
        anchor: Anchor(level: 1_048_576, at: runs[1].startedAt, commit: runs[1].commit), span: .runs(count: 4))
      return ScenarioSeries(
        name: ScenarioName(name), tags: ["server"], environment: "linux-x86_64-2cpu", branch: "main", runCount: 6,
        runs: (0..<6).map { .init(index: $0, verdict: .pass) },
        metrics: [
          MetricSeries(metric: .peakRSS, unit: "bytes", points: points, shifts: [shift], outliers: [1]),
          MetricSeries(metric: .steadyRSS, unit: "bytes", points: points.map { _ in nil }, creep: creep),
        ])
    }
    var trend = Trend(
      createdAt: Date(timeIntervalSince1970: 1_767_400_000), runs: runs, runCount: 6,
      series: [
        series("redis-load", from: 20_971_520, to: 23_068_672, approval: approval),
        series("say 'hi'", from: 10_485_760, to: 12_582_912, approval: nil),
      ])
    trend.findEvents()
    return trend
  }

  @Test("The file matches the golden file")
  func golden() throws {
    try DocumentGolden.expect(TrendFile.encode(Self.trend()), toBe: "trend.json")
  }
}
