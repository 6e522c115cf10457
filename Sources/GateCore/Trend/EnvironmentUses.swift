package import FoundationEssentials

/// When each environment was last used by a check, from the runs of a history.
package struct EnvironmentUses: Sendable, Equatable {
  /// An environment with baselines that no check has used for long.
  package struct Unused: Sendable, Equatable {
    package var name: String
    /// How many scenarios have a baseline for it.
    package var scenarios: Int
    /// The last check there, or the last approval if that is later or no check is known.
    package var lastUse: Date
  }

  /// A machine that no check has used for a quarter of a year is taken to be gone.
  package static let longestPause: TimeInterval = 90 * 24 * 3600

  private var last: [String: Date] = [:]
  private var begin: Date?

  package init() {}

  package mutating func add(_ run: RunSummary) {
    let date = run.run.startedAt
    begin = min(begin ?? date, date)
    for name in Set(run.scenarios.map(\.environment.name)) { last[name] = max(last[name] ?? date, date) }
  }

  /// The environments of these baselines that were not used for ``longestPause``, the longest unused first; none if the
  /// history is younger.
  package func unused(of baselines: [Baseline], at now: Date) -> [Unused] {
    guard let begin, now.timeIntervalSince(begin) >= Self.longestPause else { return [] }
    return Dictionary(grouping: baselines, by: \.environment).compactMap { name, baselines in
      let dates = baselines.compactMap { $0.approval?.at } + [last[name] ?? begin]
      let lastUse = dates.max() ?? begin
      guard now.timeIntervalSince(lastUse) >= Self.longestPause else { return nil }
      return Unused(name: name, scenarios: baselines.count, lastUse: lastUse)
    }
    .sorted { ($0.lastUse, $0.name) < ($1.lastUse, $1.name) }
  }
}
