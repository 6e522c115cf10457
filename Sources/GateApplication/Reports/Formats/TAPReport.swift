import GateCore

/// A run in the Test Anything Protocol, version 13, which every consumer of version 14 reads, too.
enum TAPReport {
  static let row = ReportFormatRow(
    purpose: "consumers of the Test Anything Protocol", fileExtension: "tap", hasOwnEscapes: false
  ) { result, context in
    text(result, context: context)
  }

  static func text(_ result: RunResult, context: SummaryContext) -> String {
    let tests = result.scenarios.enumerated().map { index, scenario in
      test(scenario, number: index + 1, context: context)
    }
    return (["TAP version 13", "1..\(tests.count)"] + tests.flatMap(\.self)).map { $0 + "\n" }.joined()
  }

  private static func test(_ scenario: ScenarioResult, number: Int, context: SummaryContext) -> [String] {
    let isOK = scenario.verdict.exitCode == .pass || scenario.verdict == .noBaseline
    let message = scenario.message(in: context)
    let isSkipped = [.noBaseline, .skipped].contains(scenario.verdict)
    let directive = isSkipped ? " # SKIP \(message)" : ""
    return ["\(isOK ? "ok" : "not ok") \(number) - \(description(scenario.name.text))\(directive)"]
      + (isSkipped ? [] : diagnostics(of: scenario, message))
  }

  /// A `#` would begin a directive, and a backslash keeps the next character.
  private static func description(_ name: String) -> String {
    TerminalText.safe(name).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }

  /// A YAML block; its texts are JSON strings, which are YAML as well.
  private static func diagnostics(of scenario: ScenarioResult, _ message: String) -> [String] {
    let metrics = scenario.verdict == .failed ? [] : scenario.metrics
    let values = metrics.flatMap { metric -> [String] in
      let known: [(String, Double?)] = [
        ("now", metric.current?.median), ("baseline", metric.baseline?.median), ("allowed", metric.allowed),
      ]
      let lines = known.compactMap { name, value in value.map { "      \(name): \(Decimals.short($0))" } }
      return ["    \(quoted(metric.metric.text)):"] + lines
        + ["      unit: \(quoted(metric.unit))", "      verdict: \(metric.verdict.rawValue)"]
    }
    return ["  ---", "  verdict: \(scenario.verdict.rawValue)", "  message: \(quoted(message))"]
      + (values.isEmpty ? [] : ["  metrics:"] + values) + ["  ..."]
  }

  private static func quoted(_ text: String) -> String {
    let safe = TerminalText.withPlainSpaces(TerminalText.safe(text))
    return "\"" + safe.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
