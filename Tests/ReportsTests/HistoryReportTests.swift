import FoundationEssentials
import GateCore
import Testing

@testable import GateApplication

@Suite("The list of past runs")
struct HistoryReportTests {
  private static func run(_ number: Int, _ branch: String?, _ verdicts: [Verdict], peaks: [Double]) -> RunSummary {
    let environment = EnvironmentInfo(
      name: "linux-x86_64-2cpu-traced",
      fingerprint: Fingerprint(
        architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
        kernel: "6.18", libc: "glibc 2.36"))
    func metric(_ name: MetricName, _ median: Double, unit: String = "bytes") -> MetricResult {
      MetricResult(
        rule: GateRule(metric: name, tolerance: nil, severity: .off), unit: unit, verdict: .skipped,
        current: ValueSummary(median: median, count: 5))
    }
    let scenarios = zip(["load", "say \"hi\"\n\\"], zip(verdicts, peaks)).map { name, peak in
      let change = peak.1 - 20_000_000
      return ScenarioSummary(
        name: ScenarioName(name), verdict: peak.0, environment: environment, repetitionCount: 5,
        growthIsPerIteration: true,
        metrics: [
          MetricResult(
            rule: GateRule(metric: .peakRSS, tolerance: nil), unit: "bytes", verdict: peak.0,
            baseline: ValueSummary(median: 20_000_000, count: 5), current: ValueSummary(median: peak.1, count: 5),
            change: .init(absolute: change, percent: change / 200_000, low: change, high: change))
        ],
        ungated: [
          metric(.growth, 12.5, unit: "bytes/iteration"), metric(.phase("load", .steadyRSS), 1_048_576),
        ])
    }
    let commit = branch.map { _ in "9437a5f0c0ffee\(number)" }
    let at = Date(timeIntervalSince1970: 1_767_323_045.678 + Double(number) * 3600)
    return RunSummary(
      run: RunInfo(id: "\(number)", startedAt: at, commit: commit, branch: branch), environment: environment,
      scenarios: scenarios)
  }

  private let runs = [
    run(1, "main", [.pass, .improved], peaks: [20_100_000, 18_000_000]),
    run(2, "feature/a-name-that-is-much-too-long-for-a-column", [.regression], peaks: [25_000_000]),
    run(3, nil, [.noBaseline, .pass], peaks: [20_000_000, 20_000_000]),
    run(4, "evil\u{1b}[31m", [.pass], peaks: [20_000_000]),
  ]

  @Test("The list has a line for each run and fits 80 columns")
  func list() throws {
    let text = HistoryReport.text(runs, of: [], style: TerminalStyle(width: 80))
    try Golden.expect(text, "history.txt")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(HistoryReport.text([], of: [], style: TerminalStyle(width: 80)).isEmpty)
  }

  @Test("A commit with uncommitted changes is marked, and the line still fits")
  func dirty() {
    var marked = runs
    marked[1].run.isDirty = true
    let text = HistoryReport.text(marked, of: [], style: TerminalStyle(width: 80))
    #expect(text.contains("9437a5f0c-dirty  ") && text.contains("9437a5f0c  "))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test("With a scenario filter, verdict and change refer to the named scenarios")
  func named() {
    let text = HistoryReport.text([runs[0]], of: [ScenarioName("load")], style: TerminalStyle(width: 80))
    #expect(text.contains("pass") && text.contains("+0.5 %") && !text.contains("improved"))
  }

  @Test("OpenMetrics text has a unit for each metric, escaped labels and a final `# EOF`")
  func openMetrics() throws {
    try Golden.expect(OpenMetricsReport.text(runs[0]), "history.openmetrics")
    #expect(OpenMetricsReport.text(nil) == "# EOF\n")
  }

  @Test("OpenMetrics text has a gauge for each event, whose value is its time")
  func openMetricsOfEvents() {
    let lines = OpenMetricsReport.text(runs[0], events: EventReportTests.events).split(separator: "\n")
    let events = lines.filter { $0.hasPrefix("highwater_event_timestamp_seconds{") }
    #expect(events.count == EventReportTests.events.count)
    let start = #"highwater_event_timestamp_seconds{event="4f2a91c13",kind="rise",state="resolved","#
    #expect(events.last?.hasPrefix(start) == true)
    #expect(events.last?.contains(#"text="rise, +7.0\#u{A0}MiB (+7.0\#u{A0}%) in evil\#u{FFFD}[31m"#) == true)
  }
}
