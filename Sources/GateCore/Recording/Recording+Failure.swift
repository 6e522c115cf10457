extension Recording {
  /// Why the repetition does not count for its scenario; nil if it does.
  ///
  /// A loop that the target reported takes precedence over the failures that it causes.
  package func failure(in scenario: Scenario, loop: TargetEvent?) -> Failure? {
    let unaccepted = scenario.accepts(end) ? nil : end
    var failure = failure
    if let loop {
      failure = Failure(problem: .loop(event: loop, other: failure), place: scenario.place, output: outputTail)
    } else {
      if failure == nil, unaccepted != nil {
        failure = Failure(
          problem: .unexpectedEnd(expected: scenario.expectedEnd), place: scenario.place, output: outputTail)
      }
      failure?.activity = marks.lastActivity?.word
    }
    failure?.end = unaccepted
    return failure
  }
}

extension Scenario {
  /// The accepted ends, from the project file or the default.
  fileprivate var expectedEnd: ExpectedEnd {
    expect ?? ExpectedEnd(exits: [0], signals: ending == .steps && !target.runsAlready ? [stop.signal] : [])
  }
}
