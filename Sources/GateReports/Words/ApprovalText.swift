import FoundationEssentials
import GateCore

extension ApprovalChange.SkipReason {
  var displayText: String {
    switch self {
    case .failed(let failure): "it failed: \(failure.displayText)"
    case .noRepetitions: "it has no repetitions"
    case .noPeak: "it has no peak_rss"
    }
  }
}

extension Approval {
  /// As in `approved by Ada on 2026-01-02: the new cache`.
  var displayText: String {
    "approved by \(by) on \(at.day)" + (reason.map { ": \($0)" } ?? ", no reason given")
  }
}
