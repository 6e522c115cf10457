import FoundationEssentials
import GateCore

/// A run as OpenMetrics 1.0 text for monitoring systems (openmetrics.io).
enum OpenMetricsReport {
  static let row = ReportFormatRow(
    purpose: "GitLab's metrics reports, Prometheus", fileExtension: "txt", hasOwnEscapes: false
  ) { result, _ in
    text(result.summary)
  }

  /// The metric families of the run; without a run only `# EOF`.
  ///
  /// Each metric is a gauge named after itself and its unit, as in `highwater_peak_rss_bytes`, with the scenario, the
  /// environment and a phase as labels. Reported values are `highwater_value`, with their name and unit as labels.
  /// `…_baseline_bytes` is the reference of the comparison. Events are gauges whose value is the time of their run.
  static func text(_ summary: RunSummary?, events: [TrendEvent] = []) -> String {
    guard let summary else { return "# EOF\n" }
    var families: [Family] = []
    func add(_ name: String, _ help: String, unit: String = "", _ labels: [(String, String)], _ value: String) {
      let sample = "\(name)\(text(of: labels)) \(value)"
      if let index = families.firstIndex(where: { $0.name == name }) {
        families[index].samples.append(sample)
      } else {
        families.append(Family(name: name, help: help, unit: unit, samples: [sample]))
      }
    }
    let run = summary.run
    add(
      "highwater_run_started_timestamp_seconds", "Start time of the latest run", unit: "seconds",
      [("commit", run.commit ?? ""), ("branch", run.branch ?? "")],
      Decimals.text(run.startedAt.timeIntervalSince1970, places: 3)
    )
    for scenario in summary.scenarios {
      let labels = [("scenario", scenario.name.text), ("environment", scenario.environment.name)]
      for verdict in Verdict.allCases {
        add(
          "highwater_verdict", "1 for the verdict of the scenario, 0 for the others",
          labels + [("verdict", verdict.rawValue)], verdict == scenario.verdict ? "1" : "0")
      }
      for metric in scenario.allMetrics {
        let (name, part) = metric.metric.parts
        // A family has one unit, but targets report values in many.
        let unit = metric.metric.isValue ? "" : metric.unit.replacing("/", with: "_per_")
        let all = labels + part + (metric.metric.isValue && !metric.unit.isEmpty ? [("unit", metric.unit)] : [])
        let ending = unit.isEmpty ? "" : "_\(unit)"
        if let median = metric.current?.median {
          add("highwater_\(name)\(ending)", "Median of the repetitions: \(name)", unit: unit, all, "\(median)")
        }
        if let baseline = metric.baseline?.median {
          add("highwater_\(name)_baseline\(ending)", "Median of the baseline: \(name)", unit: unit, all, "\(baseline)")
        }
      }
    }
    for event in events {
      add(
        "highwater_event_timestamp_seconds",
        "Start time of the first run after an event, or of that since which memory creeps up", unit: "seconds",
        [
          ("event", event.id), ("kind", event.kind.rawValue), ("state", event.state.rawValue),
          ("branch", event.branch ?? ""), ("text", event.displayText),
        ],
        Decimals.text(event.start.startedAt.timeIntervalSince1970, places: 3))
    }
    return families.map(\.text).joined() + "# EOF\n"
  }

  private struct Family {
    let name: String
    let help: String
    let unit: String
    var samples: [String]

    var text: String {
      let unitLine = unit.isEmpty ? "" : "# UNIT \(name) \(unit)\n"
      return "# TYPE \(name) gauge\n\(unitLine)# HELP \(name) \(help).\n" + samples.map { $0 + "\n" }.joined()
    }
  }

  private static func text(of labels: [(String, String)]) -> String {
    "{" + labels.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",") + "}"
  }

  /// Escapes the three characters that the format requires; replaces other control characters.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? "\u{FFFD}" : scalar)
      }
    }
  }
}

extension MetricName {
  /// The metric's name in OpenMetrics form, with its phase or reported name as a label.
  fileprivate var parts: (name: String, label: [(String, String)]) {
    if isInstances { return ("instances", [("class", reportedName)]) }
    if isValue { return ("value", [("name", reportedName)]) }
    if let (phase, metric) = inPhase { return ("phase_" + metric.text, [("phase", phase)]) }
    let plain = text.unicodeScalars.map { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)) ? Character(scalar) : "_"
    }
    return (String(plain), [])
  }
}
