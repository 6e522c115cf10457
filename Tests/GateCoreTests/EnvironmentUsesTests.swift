import FoundationEssentials
import Testing

@testable import GateCore

@Suite("The use of environments")
struct EnvironmentUsesTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private static func day(_ days: Int) -> Date { now.addingTimeInterval(-Double(days) * 86400) }

  private static func run(_ environment: String, days: Int) -> RunSummary {
    var info = Given.environment()
    info.name = environment
    let scenario = Given.measurements([.peakRSS: [1]], in: info).judged(against: .missing)
    return RunResult(
      run: RunInfo(id: "\(days)", startedAt: day(days)), environment: info, scenarios: [scenario]
    ).summary
  }

  private static func baseline(_ environment: String, approved days: Int) -> Baseline {
    var baseline = Given.baseline([.peakRSS: [1]])
    baseline.environment = environment
    baseline.approval?.at = day(days)
    return baseline
  }

  private static let baselines = [
    baseline("new", approved: 10), baseline("used", approved: 300), baseline("old", approved: 200),
    baseline("old", approved: 250), baseline("older", approved: 300),
  ]

  @Test("Environments without a check or an approval for 90 days are unused, the longest unused first")
  func unused() {
    var uses = EnvironmentUses()
    for run in [Self.run("used", days: 300), Self.run("used", days: 89), Self.run("old", days: 90)] { uses.add(run) }
    #expect(
      uses.unused(of: Self.baselines, at: Self.now) == [
        .init(name: "older", scenarios: 1, lastUse: Self.day(300)),
        .init(name: "old", scenarios: 2, lastUse: Self.day(90)),
      ])
  }

  @Test("A history that is younger than 90 days, or empty, says nothing of the time before")
  func young() {
    var uses = EnvironmentUses()
    #expect(uses.unused(of: Self.baselines, at: Self.now).isEmpty)
    uses.add(Self.run("used", days: 80))
    #expect(uses.unused(of: Self.baselines, at: Self.now).isEmpty)
  }
}
