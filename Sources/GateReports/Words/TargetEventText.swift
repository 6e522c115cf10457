import GateCore

extension TargetEvent {
  private static let loopText = "the target was caught in a loop"

  /// Whether a text of a file that stores texts only is that of a loop.
  package static func isLoop(_ text: String) -> Bool { text.hasPrefix(loopText) }

  /// The event as a sentence.
  package var displayText: String {
    switch kind {
    case .loop(let name, let calls, let turns):
      "\(Self.loopText): `\(name)` was called \(calls) times in one turn of its work"
        + (turns > 1 ? ", and in \(turns - 1) more" : "")
    case .launch(let reason): "by its own account the target was started because: \(reason)"
    case .launchFailures(let count):
      "by its own account the \(count == 1 ? "launch" : "\(count) launches") before failed while starting"
    case .activity(let word): "by its own account the target was \(word) when it ended"
    }
  }
}
