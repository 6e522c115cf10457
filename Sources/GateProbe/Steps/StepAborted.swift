import GateCore

/// Why the script of a repetition was aborted; the repetition knows the current part.
enum StepAborted: Error, Equatable {
  /// Includes the last output of the program that failed.
  case failed(Failure.Problem, output: String = "")
  /// The target ended before it should have.
  case targetEnded
  /// The target was not ready in time.
  case notReady(End.Timeout)
  /// The scenario's timeout has expired.
  case outOfTime
  /// The runner was interrupted.
  case interrupted

  init(_ failure: SystemFailure) {
    self = .failed(.system(failure: failure))
  }

  init(_ error: LaunchError) {
    self = .failed(.launch(error: error))
  }
}

extension Failure.Part {
  /// A part with the first line of its description, cut at 200 characters.
  init(_ kind: Kind, at path: [Index] = [], doing text: String) {
    let line = text.prefix { !$0.isNewline }.prefix(200)
    let isCut = line.endIndex != text.endIndex
    self.init(kind, at: path, text: String(line).escapingControls + (isCut ? " …" : ""))
  }
}
