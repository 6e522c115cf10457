import FoundationEssentials
import GateCore

/// A run that another tool has measured: the peak memory of each of its benchmarks.
struct ForeignRun {
  /// Its name stands for the method of measurement.
  var tool: ForeignTool
  /// The machine and what else tells apart series of the tool.
  var environment: [String]
  var startedAt: Date
  var commit: String?
  var subject: String?
  var branch: String?
  var architecture = ""
  /// 1 if the tool does not say.
  var cpus = 1
  var kernel = ""
  /// In bytes; of several with one name, the first counts.
  var peaks: [(name: String, bytes: Double)]

  /// The run as the history stores it; importing it twice gives the same ID.
  var summary: RunSummary {
    let info = EnvironmentInfo(
      name: tool.environment(environment),
      fingerprint: Fingerprint(
        architecture: architecture, pageSize: Int(Bytes.usualPage.count), cpus: cpus, aslr: "", thp: "",
        measurement: tool.rawValue, kernel: kernel, libc: "", swap: ""))
    let parts = [tool.rawValue, commit ?? ""] + environment
    let id = RunIdentifier.make(at: startedAt, of: parts.joined(separator: "\n"))
    let run = RunInfo(id: id, startedAt: startedAt, commit: commit, subject: subject, branch: branch)
    var seen: Set<String> = []
    let scenarios = peaks.compactMap { name, bytes -> ScenarioSummary? in
      guard seen.insert(name).inserted, let scenario = try? ScenarioName(coded: name) else { return nil }
      return ScenarioSummary(
        name: scenario, verdict: .noBaseline, environment: info, repetitionCount: 1,
        metrics: [
          MetricResult(
            rule: GateRule(metric: .peakRSS, tolerance: nil), unit: "bytes", verdict: .noBaseline,
            current: ValueSummary(median: bytes.rounded(), count: 1))
        ])
    }
    return RunSummary(run: run, environment: info, scenarios: scenarios)
  }
}
