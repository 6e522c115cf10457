import Digests
import FoundationEssentials
import GateCore

/// A run as GitLab's code quality report, which a merge request shows at the lines that it names: the changed line on the
/// call stack if there is one, else the scenario's line in the project file.
///
/// Each metric that got worse is one issue, and so is each scenario that could not be judged.
enum CodeQualityReport {
  static let row = ReportFormatRow(
    purpose: "GitLab's code quality widget in merge requests", fileExtension: "json", hasOwnEscapes: true
  ) { result, context in
    text(result, context: context)
  }

  static func text(_ result: RunResult, context: SummaryContext) -> String {
    let issues = result.scenarios.flatMap { scenario in
      findings(on: scenario, context: context).map { Issue($0, on: scenario, context: context) }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(issues) else { preconditionFailure("texts and whole numbers always encode") }
    // `##[error]` would be a command in the log of a CI system.
    return String(decoding: data, as: UTF8.self).replacing("##", with: "#\\u0023") + "\n"
  }

  /// What is wrong with a scenario, or with one of its metrics.
  private struct Finding {
    let verdict: Verdict
    var metric: MetricName?
    let severity: Severity
    let message: String
  }

  private enum Severity: String, Encodable {
    case info, minor, major, critical
  }

  private static func findings(on scenario: ScenarioResult, context: SummaryContext) -> [Finding] {
    func whole(_ severity: Severity) -> Finding {
      Finding(verdict: scenario.verdict, severity: severity, message: scenario.message(in: context))
    }
    let rises = scenario.metrics.filter { $0.verdict == .regression }.map { metric in
      Finding(
        verdict: .regression, metric: metric.metric, severity: metric.isWarning ? .minor : .major,
        message: scenario.message(on: metric))
    }
    return switch scenario.verdict {
    case .failed: [whole(.critical)]
    case .inconclusive: rises + [whole(.minor)]
    case .noBaseline: rises + [whole(.info)]
    case .pass, .improved, .regression, .skipped: rises
    }
  }

  /// The keys that GitLab requires.
  private struct Issue: Encodable {
    enum CodingKeys: String, CodingKey {
      case description, fingerprint, severity, location
      case check = "check_name"
    }

    struct Location: Encodable {
      let path: String
      let lines: [String: Int]
    }

    let description: String
    let check: String
    let fingerprint: String
    let severity: Severity
    let location: Location

    init(_ finding: Finding, on scenario: ScenarioResult, context: SummaryContext) {
      description = "\(TerminalText.safe(scenario.name.text)): \(finding.message)"
      check = "memory-\(finding.verdict.rawValue)"
      severity = finding.severity
      let place = scenario.changedPlace ?? context.places[scenario.name]
      location = Location(
        path: place?.file ?? context.projectFile ?? "highwater.yml", lines: ["begin": max(1, place?.line ?? 1)])
      // The same in the next run, whatever the values and the line are then.
      let key = [check, scenario.name.text, scenario.environment.name, finding.metric?.text ?? ""]
      fingerprint = SHA256.hexadecimal(SHA256.digest(of: Array(key.joined(separator: "\0").utf8)))
    }
  }
}
