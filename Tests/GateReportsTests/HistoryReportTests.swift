import FoundationEssentials
import GateCore
import GateReports
import Testing

@Suite("What is said of the history")
struct HistoryReportTests {
  private static func run(_ number: Int, _ branch: String?, _ verdicts: [Verdict], peaks: [Double]) -> RunRecord {
    let environment = EnvironmentInfo(
      name: "linux-x86_64-2cpu-traced",
      fingerprint: Fingerprint(
        architecture: "x86_64", pageSize: 4096, cpus: 2, aslr: "off", thp: "madvise", measurement: "traced",
        kernel: "6.18", libc: "glibc 2.36"))
    let scenarios = zip(["load", "say \"hi\"\n\\"], zip(verdicts, peaks)).map { name, figures in
      ScenarioRecord(
        name: ScenarioName(name), verdict: figures.0, environment: environment, repetitions: 5,
        growthIsPerIteration: true,
        metrics: [
          MetricRecord(
            metric: .peakRSS,
            figures: .init(median: figures.1, low: figures.1, high: figures.1, count: 5),
            judgement: .init(verdict: figures.0, baseline: 20_000_000, change: figures.1 - 20_000_000)),
          MetricRecord(metric: .growth, figures: .init(median: 12.5, low: 0, high: 20, count: 5)),
          MetricRecord(
            metric: .phase("load", .steadyRSS), figures: .init(median: 1_048_576, low: 1, high: 2, count: 5)),
        ])
    }
    let commit = branch.map { _ in "9437a5f0c0ffee\(number)" }
    let at = Date(timeIntervalSince1970: 1_767_323_045.678 + Double(number) * 3600)
    return RunRecord(
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

  @Test("Of named scenarios the verdict and the change are theirs")
  func named() {
    let text = HistoryReport.text([runs[0]], of: [ScenarioName("load")], style: TerminalStyle(width: 80))
    #expect(text.contains("pass") && text.contains("+0.5 %") && !text.contains("improved"))
  }

  @Test("OpenMetrics text names each metric with its unit, escapes labels and ends with its mark")
  func openMetrics() throws {
    try Golden.expect(OpenMetricsReport.text(runs[0]), "history.openmetrics")
    #expect(OpenMetricsReport.text(nil) == "# EOF\n")
  }
}
