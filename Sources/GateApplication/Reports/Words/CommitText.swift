import GateCore

/// Commits as text.
enum CommitText {
  /// As in `4f2a91c0d`, or as in `4f2a91c0d-dirty` with uncommitted changes, like `git describe --dirty`.
  static func short(_ commit: String, isDirty: Bool = false, digits: Int = 9) -> String {
    String(commit.prefix(digits)) + (isDirty ? "-dirty" : "")
  }
}

extension RunInfo {
  /// The commit as ``CommitText/short(_:isDirty:digits:)`` writes it; nil if it is unknown.
  func commitText(digits: Int = 9) -> String? {
    commit.map { CommitText.short($0, isDirty: isDirty, digits: digits) }
  }
}
