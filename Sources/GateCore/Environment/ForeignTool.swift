/// The other tools whose results the history takes.
package enum ForeignTool: String, Sendable, CaseIterable {
  case asv
  case benchmarkAction = "github-action-benchmark"
  case googleBenchmark = "google-benchmark"

  /// The name of the environment of its results; the parts tell its series apart, such as a machine.
  package func environment(_ parts: [String]) -> String {
    let text = parts.joined(separator: "-").map { PlainName.isValid("a\($0)") ? $0 : "-" }
    return String((prefix + String(text)).prefix(100))
  }

  private var prefix: String { "\(rawValue)-" }

  /// Whether an environment is of results of these tools, which no scenario can measure again.
  package static func hasMeasured(in environment: String) -> Bool {
    allCases.contains { environment.hasPrefix($0.prefix) }
  }
}
