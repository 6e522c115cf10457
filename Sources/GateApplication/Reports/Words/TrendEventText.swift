import GateCore

extension TrendEvent {
  /// As in `+9.2 MiB (+12.6 %)` of one change, or as in `median +12.6 %` of several; of levels that were zero as in
  /// `+1.2 MiB to +9.2 MiB`.
  ///
  /// A median of the amounts would belong to another scenario than that of the percentages.
  var sizeText: String {
    let changes = mainChanges
    func difference(_ change: Change) -> String { Format.difference(change.size, unit: change.unit) }
    if changes.count == 1 { return difference(changes[0]) + Format.bracketedPercent(changes[0].percent) }
    let percent = Format.percent(medianPercent)
    guard percent.isEmpty else { return "median \(percent)" }
    let sorted = changes.sorted { $0.size < $1.size }
    guard medianSize != nil, let least = sorted.first, let most = sorted.last else { return "" }
    return "\(difference(least)) to \(difference(most))"
  }

  /// As in `40 of 41 scenarios`, or the name of the only one.
  var scopeText: String {
    let scenarios = scenarios
    guard scenarios.count > 1 || measured > 1, let first = scenarios.first else { return scenarios.first?.text ?? "" }
    return scenarios.count == 1 && measured > 1
      ? first.text : "\(scenarios.count) of \(Format.count(measured, "scenario"))"
  }

  /// As in `median +12.6 % in 40 of 41 scenarios`.
  private var extentText: String {
    let size = sizeText
    return size.isEmpty ? scopeText : "\(size) in \(scopeText)"
  }

  /// As in `rise, median +12.6 % in 40 of 41 scenarios: unexplained`, or as in `creep since 2026-01-02 (4f2a91c0d), …`.
  var displayText: String {
    let commit = start.commitText().map { " (\($0))" } ?? ""
    let since = kind == .creep ? " since \(start.startedAt.day)\(commit)" : ""
    return "\(kind.rawValue)\(since), \(extentText): \(causeText)"
  }

  /// As in `unexplained`, or as in `environment changed: kernel 6.1 → 6.6; approved by Ada: the new cache`.
  var causeText: String {
    let environment = cause.environment.isEmpty ? nil : "environment changed: \(cause.environment.displayText)"
    let decisions = [acknowledgement?.displayText, environment] + approvals.map(\.shortText)
    let texts = (decisions + [partText, functionText]).compactMap(\.self)
    let known = texts.isEmpty ? [kind == .fall ? "unexplained fall" : "unexplained"] : texts
    return (known + (isResolved ? ["reverted since"] : [])).joined(separator: "; ")
  }

  /// ``causeText`` for a table's cell.
  var shortCauseText: String {
    if isResolved { return "reverted" }
    if let acknowledgement { return "acknowledged by \(acknowledgement.by)" }
    if !cause.environment.isEmpty { return cause.environment.displayText }
    return needsAttention || approvals.isEmpty
      ? functionText ?? "unexplained" : "approved by \(approvals[0].by)"
  }

  /// As in `12 of 40 scenarios not approved`.
  private var partText: String? {
    let count = scenarios.count
    guard approvedCount > 0, approvedCount < count else { return nil }
    return "\(count - approvedCount) of \(Format.count(count, "scenario")) not approved"
  }

  private var functionText: String? {
    cause.explanation?.finding.culprit.map { $0.change.function.displayText }
  }

  /// The command that lists the commits that can have caused it; nil if they are unknown or none.
  var logCommand: [String]? {
    commits.map { ["git", "log", "--oneline", "\($0.good)..\($0.bad)"] }
  }

  /// The command that searches for the commit, with the scenario that changed most; nil if no commit caused it, or if
  /// memory fell.
  ///
  /// A scenario that another tool has measured is unknown to the project.
  var bisectCommand: [String]? {
    guard let commits, kind == .rise || kind == .mixed || kind == .creep,
      let change = mainChanges.first(where: {
        $0.size > 0 && !$0.metric.isCounted && !ForeignTool.hasMeasured(in: $0.environment)
      })
    else { return nil }
    return ["highwater", "bisect", "--good", commits.good, "--bad", commits.bad, "--metric", change.metric.text]
      + (kind == .creep ? ["--all-steps"] : []) + [change.scenario.text]
  }

  private var commits: (good: String, bad: String)? {
    guard let good = before?.commit, let bad = after.commit, CommitID.isHash(good), CommitID.isHash(bad),
      !CommitID.areSame(good, bad)
    else { return nil }
    return (good, bad)
  }
}

extension Acknowledgement {
  /// As in `acknowledged by Ada: the new cache`.
  var displayText: String { "acknowledged by \(by): \(reason)" }
}

extension TrendEvent.Change {
  /// As in `peak_rss 60.2 MiB → 69.4 MiB (+15.3 %)`.
  var displayText: String {
    let levels = [before, after].map { Format.amount($0, unit: unit) }
    return "\(metric) \(levels[0]) → \(levels[1])" + Format.bracketedPercent(percent)
  }
}
