import GateCore

extension TargetEvent {
  /// The event as a sentence.
  var displayText: String { kind.displayText }
}

extension TargetEvent.Kind {
  /// The event as a sentence.
  var displayText: String {
    switch self {
    case .loop(let name, let calls, let turns):
      "the target reported a loop: `\(name)` was called \(calls) times in one turn"
        + (turns > 1 ? ", and in \(turns - 1) more" : "")
    case .launch(let reason): "the target reported why it was started: \(reason)"
    case .launchFailures(let count):
      "the target reported that the \(count == 1 ? "launch" : "\(count) launches") before failed while starting"
    case .activity(let word): "the target reported that it was \(word) when it ended"
    }
  }
}
