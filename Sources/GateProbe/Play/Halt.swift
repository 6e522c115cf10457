import GateCore

/// Why the script of a repetition did not go on; what was under way is kept by the repetition.
enum Halt: Error, Equatable {
  /// In the words of a failure, with what would heal it and the last output of the program that failed.
  case failed(String, hint: String? = nil, output: String = "")
  /// The target ended before it should have.
  case targetEnded
  /// The target was not up in time; in the words of an end's detail.
  case notReady(String)
  /// The scenario's timeout has passed.
  case outOfTime
  /// The runner was asked to end.
  case interrupted

  /// A call to the kernel that failed is a failure of the part that needed it.
  init(_ error: SystemError) {
    self = .failed(error.problem)
  }

  init(_ error: LaunchError) {
    self = .failed(error.problem, hint: error.hint)
  }
}

/// A part of a repetition, for messages.
struct Part: Equatable {
  enum Kind: String {
    case setup, ready, start, step, end, stop, teardown
  }

  let kind: Kind
  /// As in ``step 3 of 7 `run: redis-cli ping` ``.
  let subject: String
  let place: SourcePlace?

  /// Makes a subject of the name, or the kind's own one, and of the first line of what is done.
  init(_ kind: Kind, named name: String? = nil, _ text: String? = nil, place: SourcePlace?) {
    let line = text.map { text in
      let first = text.prefix { !$0.isNewline }.prefix(200)
      return " `\(String(first).spellingOutControls)\(first.endIndex == text.endIndex ? "" : " …")`"
    }
    self.kind = kind
    self.place = place
    subject = (name ?? kind.rawValue) + (line ?? "")
  }
}
