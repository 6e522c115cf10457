extension Recording {
  /// Why the repetition cannot count for its scenario; nil where it can.
  ///
  /// A loop that the target reported comes first: what else failed followed from that.
  package func failure(in scenario: Scenario, loop: TargetEvent?) -> Failure? {
    let unaccepted = scenario.accepts(end) ? nil : end
    var failure = failure
    if let loop {
      failure = Failure(problem: .loop(loop, other: failure), place: scenario.place, output: outputTail)
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
  /// The ends that it accepts, where the file says so or by default.
  fileprivate var expectedEnd: ExpectedEnd {
    expect ?? ExpectedEnd(exits: [0], signals: ending == .steps ? [stop.signal] : [])
  }
}
