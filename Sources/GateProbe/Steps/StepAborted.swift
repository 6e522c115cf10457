import GateCore

/// Why the script of a repetition was aborted; the repetition knows the part that was under way.
enum StepAborted: Error, Equatable {
  /// With the last output of the program that failed.
  case failed(Failure.Problem, output: String = "")
  /// The target ended before it should have.
  case targetEnded
  /// The target was not up in time.
  case notReady(End.Timeout)
  /// The scenario's timeout has passed.
  case outOfTime
  /// The runner was asked to end.
  case interrupted

  init(_ failure: SystemFailure) {
    self = .failed(.system(failure))
  }

  init(_ error: LaunchError) {
    self = .failed(.launch(error))
  }
}

extension Failure.Part {
  /// A part with the first line of what is done, at most 200 characters of it.
  init(_ kind: Kind, at path: [Index] = [], doing text: String) {
    let line = text.prefix { !$0.isNewline }.prefix(200)
    let isCut = line.endIndex != text.endIndex
    self.init(kind, at: path, text: String(line).spellingOutControls + (isCut ? " …" : ""))
  }
}
