import FoundationEssentials
import Testing

@testable import GateApplication
@testable import GateCore

@Suite("The list of events")
struct EventReportTests {
  private static func run(_ hour: Int, _ commit: String?) -> RunInfo {
    RunInfo(
      id: "0198c0de-0000-7000-8000-0000000000\(10 + hour)",
      startedAt: Date(timeIntervalSince1970: 1_767_323_045 + Double(hour) * 3600), commit: commit,
      subject: "Change \(hour) \u{1b}[31m", branch: "main")
  }

  private static func change(
    _ name: String, to percent: Double, metric: MetricName = .peakRSS, series: Int = 0, persists: Bool = true,
    approval: Approval? = nil
  ) -> TrendEvent.Change {
    TrendEvent.Change(
      series: series, scenario: ScenarioName(name), environment: "linux", metric: metric, unit: "bytes",
      before: 104_857_600, after: 104_857_600 * (1 + percent / 100), chance: 0.001, run: 3, approval: approval,
      persists: persists)
  }

  private static func event(
    _ kind: TrendEvent.Kind, hour: Int, _ changes: [TrendEvent.Change], cause: TrendEvent.Cause = .init()
  ) -> TrendEvent {
    TrendEvent(
      id: "4f2a91c\(10 + hour)", kind: kind, branch: "main", before: run(hour - 1, "4f2a91c\(9 + hour)"),
      after: run(hour, "4f2a91c\(10 + hour)"), changes: changes, measured: 40, cause: cause)
  }

  private static let kernel = Fingerprint.Difference(field: .kernel, baseline: "6.1.0-18", current: "6.6.13-cloud")
  private static let approval = Approval(
    at: Date(timeIntervalSince1970: 1_767_323_045), by: "Ada", commit: nil, reason: "the new cache", run: "1")

  static var events: [TrendEvent] {
    let many = (0..<38).map { change("load-\($0)", to: 15 - Double($0) / 8, series: $0) }
    return [
      event(.creep, hour: 9, [change("session-churn", to: 4)]),
      event(.rise, hour: 8, many),
      event(.environment, hour: 6, many, cause: .init(environment: [kernel])),
      event(.fall, hour: 5, [change("a-scenario-whose-name-is-much-too-long-for-a-column[size=1024]", to: -12)]),
      event(.rise, hour: 4, [change("load-0", to: 15, approval: approval), change("load-1", to: 14, series: 1)]),
      event(.rise, hour: 3, [change("evil\u{1b}[31m", to: 7, persists: false)]),
    ]
  }

  @Test("The list has a line for each event, the latest last, and fits 80 columns")
  func list() throws {
    let text = EventReport.text(Self.events, isDetailed: false, style: TerminalStyle(width: 80))
    try Golden.expect(text, "events.txt")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(EventReport.text([], isDetailed: false, style: TerminalStyle(width: 80)).isEmpty)
  }

  @Test("In detail each event has its largest changes, and commands to copy if a commit can have caused it")
  func details() throws {
    try Golden.expect(
      EventReport.text(Self.events, isDetailed: true, style: TerminalStyle(width: 80)), "events-verbose.txt")
  }

  @Test("The size of one change is an amount and its percentage; of several it is the median percentage or a range")
  func size() {
    func text(_ changes: TrendEvent.Change...) -> String {
      TerminalText.withPlainSpaces(Self.event(.rise, hour: 3, changes).sizeText)
    }
    func change(_ before: Double, _ after: Double, unit: String = "bytes", series: Int) -> TrendEvent.Change {
      TrendEvent.Change(
        series: series, scenario: ScenarioName("load-\(series)"), environment: "linux", metric: .peakRSS, unit: unit,
        before: before, after: after, persists: true)
    }
    let mebibyte = 1_048_576.0
    #expect(text(change(mebibyte, 3 * mebibyte, series: 0)) == "+2.0 MiB (+200.0 %)")
    let small = change(mebibyte, 3 * mebibyte, series: 0)
    #expect(text(small, change(1000 * mebibyte, 1100 * mebibyte, series: 1)) == "median +105.0 %")
    let first = change(0, mebibyte, series: 0)
    #expect(text(first, change(0, 5 * mebibyte, series: 1)) == "+1.0 MiB to +5.0 MiB")
    #expect(text(first, change(0, 5, unit: "items", series: 1)) == "")
    let event = Self.event(.rise, hour: 3, [change(0, 1, series: 0), change(0, 5, unit: "items", series: 1)])
    #expect(TerminalText.withPlainSpaces(event.displayText) == "rise, 2 of 40 scenarios: unexplained")
  }

  @Test("Creep is dated to the run since which it lasts")
  func creep() {
    let event = Self.event(.creep, hour: 30, [Self.change("session-churn", to: 4)])
    var first = event
    first.before = Self.run(0, "4f2a91c0dcafe")
    #expect(
      TerminalText.withPlainSpaces(first.displayText)
        == "creep since 2026-01-02 (4f2a91c0d), +4.0 MiB (+4.0 %) in session-churn: unexplained")
    first.before = nil
    #expect(first.displayText.hasPrefix("creep since 2026-01-03 (4f2a91c40), "))
    let text = EventReport.text([event], isDetailed: true, style: TerminalStyle(width: 80))
    #expect(text.contains("2026-01-03 08:04 to 2026-01-03 09:04 on main\n"), "\(text)")
  }

  @Test("Without two commits there is nothing to search")
  func withoutCommits() {
    var event = Self.event(.rise, hour: 3, [Self.change("load", to: 5)])
    for commit in [nil, "main; rm -rf /", event.after.commit] {
      event.before?.commit = commit
      #expect(event.logCommand == nil && event.bisectCommand == nil)
    }
  }
}
