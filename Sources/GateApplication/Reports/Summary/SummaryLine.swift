import GateCore

/// The run in short, as in `2 of 14 scenarios regressed, 1 failed` or `14 scenarios pass`.
func summaryLine(_ result: RunResult) -> String {
  TerminalText.withPlainSpaces(SummaryLine(result).text(of: result.run))
}

private struct SummaryLine {
  let total: Int
  let counts: [Verdict: Int]
  let warnings: Int

  init(_ result: RunResult) {
    total = result.scenarios.count
    counts = result.scenarios.reduce(into: [:]) { $0[$1.verdict, default: 0] += 1 }
    warnings = result.scenarios.count { $0.metrics.contains(where: \.isWarning) }
  }

  /// The worst first.
  private static let problems: [Verdict] = [.regression, .failed, .noBaseline, .inconclusive]

  /// With the shard of a part of a run, as in `3 scenarios pass (shard 2 of 4)`.
  func text(of run: RunInfo) -> String {
    guard run.isPartial, let shard = run.shard else { return text }
    let name = "shard \(shard.index) of \(shard.count)"
    return total > 0 ? "\(text) (\(name))" : "\(name) has no scenarios"
  }

  private var text: String {
    guard total > 0 else { return "no scenarios" }
    let problems = Self.problems.compactMap { verdict in counts[verdict].map { (verdict, $0) } }
    let improved = counts[.improved].map { [problems.isEmpty ? "\($0) of them improved" : "\($0) improved"] } ?? []
    let skipped = counts[.skipped].map { ["\($0) skipped"] } ?? []
    let warned = warnings > 0 ? ["\(warnings) with a warning"] : []
    let passed = (counts[.pass] ?? 0) + (counts[.improved] ?? 0)
    guard let (worst, count) = problems.first else {
      guard passed > 0 else { return Format.count(total, "scenario") + " skipped" }
      let head = Format.count(passed, "scenario") + (passed == 1 ? " passes" : " pass")
      return ([head] + (passed == 1 ? improved.map { _ in "improved" } : improved) + skipped + warned)
        .joined(separator: ", ")
    }
    let head = "\(count) of \(total) \(total == 1 ? "scenario" : "scenarios") \(Self.predicate(worst, count))"
    let others = problems.dropFirst().map { Self.short($0, $1) }
    return ([head] + others + improved + skipped + warned).joined(separator: ", ")
  }

  private static func predicate(_ verdict: Verdict, _ count: Int) -> String {
    switch verdict {
    case .regression: "regressed"
    case .failed: "failed"
    case .noBaseline: count == 1 ? "has no baseline" : "have no baseline"
    case .inconclusive: count == 1 ? "is inconclusive" : "are inconclusive"
    case .pass, .improved, .skipped: verdict.rawValue
    }
  }

  private static func short(_ verdict: Verdict, _ count: Int) -> String {
    switch verdict {
    case .regression: "\(count) regressed"
    case .noBaseline: "\(count) without a baseline"
    case .failed, .inconclusive, .pass, .improved, .skipped: "\(count) \(verdict.rawValue)"
    }
  }
}
