import FoundationEssentials
import GateCore

/// The age of a result's baselines.
struct BaselineAge {
  private let ages: ClosedRange<Int>
  private let commits: ClosedRange<Int>?

  /// In days; after this time many small changes may have added up.
  private static let old = 90

  var isOld: Bool { ages.upperBound >= Self.old }

  /// nil without a comparison with an approved baseline.
  init?(of result: RunResult) {
    let days = result.scenarios.compactMap(\.approval).map { approval in
      max(0, Int(result.run.startedAt.timeIntervalSince(approval.at) / 86_400))
    }
    guard let youngest = days.min(), let oldest = days.max() else { return nil }
    ages = youngest...oldest
    let counts = result.scenarios.compactMap { $0.reference?.commitsSinceApproval }
    commits = counts.min().flatMap { fewest in counts.max().map { fewest...$0 } }
  }

  /// As in `approved 12 days ago, 31 commits since`; with advice if a baseline is old.
  var text: String {
    let age = ages.upperBound == 0 ? "today" : "\(words(ages, "day")) ago"
    let since = commits.map { ", \(words($0, "commit")) since" } ?? ""
    let advice = isOld ? "; approve a current result (`--force`)" : ""
    return "approved \(age)\(since)\(advice)"
  }

  private func words(_ range: ClosedRange<Int>, _ noun: String) -> String {
    let last = Format.count(range.upperBound, noun)
    return range.lowerBound == range.upperBound ? last : "\(range.lowerBound) to \(last)"
  }
}
