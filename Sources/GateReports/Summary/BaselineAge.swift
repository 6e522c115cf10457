import FoundationEssentials
import GateCore

/// How long ago the baselines were approved that a result was held against.
struct BaselineAge {
  private let ages: ClosedRange<Int>
  private let commits: ClosedRange<Int>?

  /// From here on a baseline is called old: what a program needs changes by small steps in so many days.
  private static let old = 90

  /// nil where nothing was held against an approved baseline.
  init?(of result: RunResult) {
    let days = result.scenarios.compactMap(\.approval).map { approval in
      max(0, Int(result.run.startedAt.timeIntervalSince(approval.at) / 86_400))
    }
    guard let youngest = days.min(), let oldest = days.max() else { return nil }
    ages = youngest...oldest
    let counts = result.scenarios.compactMap(\.commitsSinceApproval)
    commits = counts.min().flatMap { fewest in counts.max().map { fewest...$0 } }
  }

  /// As in `approved 12 days ago, 31 commits since`.
  var text: String {
    let age = ages.upperBound == 0 ? "today" : "\(words(ages, "day")) ago"
    let since = commits.map { ", \(words($0, "commit")) since" } ?? ""
    let advice = ages.upperBound >= Self.old ? "; approve anew what is current" : ""
    return "approved \(age)\(since)\(advice)"
  }

  private func words(_ range: ClosedRange<Int>, _ noun: String) -> String {
    let last = Format.count(range.upperBound, noun)
    return range.lowerBound == range.upperBound ? last : "\(range.lowerBound) to \(last)"
  }
}
