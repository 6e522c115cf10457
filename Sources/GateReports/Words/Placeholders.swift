import GateCore

// Words of values that are still texts; each goes when its type becomes an enum with words of its own.

extension Failure {
  /// As in ``repetition 2 of 5, step 3 `run: redis-cli ping`: exited with code 1 (expected 0)``.
  var displayText: String { "\(subject): \(problem)" }

  /// Whether its text says how the target ended.
  func names(_ end: End) -> Bool {
    end.kind == .startFailed || problem.contains(end.displayText) || end.detail.map(problem.contains) ?? false
  }
}

extension End {
  var proofText: String? { proof }
  var detailText: String? { detail }
}

enum NoteWords {
  static func text(of note: RecordingNote) -> String { "\(note)" }
  static func isRoutine(_ note: RecordingNote) -> Bool { false }
}
