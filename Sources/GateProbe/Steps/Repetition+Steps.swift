import GateCore
import HTTPTransfer
import LinuxSystem

extension Repetition {
  /// Runs the steps of the scenario.
  func runSteps(of run: TargetRun) throws(StepAborted) {
    try perform(scenario.steps, at: Position(isLast: true), run)
  }

  /// Where a step stands in the script.
  private struct Position {
    /// The path of the enclosing turn, and of the step in it.
    var path: [Failure.Part.Index] = []
    /// Whether the script ends with it.
    var isLast: Bool

    func inside(_ index: Failure.Part.Index, isLast: Bool) -> Position {
      Position(path: path + [index], isLast: self.isLast && isLast)
    }
  }

  private func perform(_ steps: [Step], at position: Position, _ run: TargetRun) throws(StepAborted) {
    for (index, step) in steps.enumerated() {
      let number = index + 1
      try perform(step, at: position.inside(.step(number: number, of: steps.count), isLast: number == steps.count), run)
    }
  }

  private func perform(_ step: Step, at position: Position, _ run: TargetRun) throws(StepAborted) {
    let action = step.action
    begin(Failure.Part(.step, at: position.path, doing: step.description(in: scenario)), at: step.place)
    run.refresh()
    if run.hasEnded {
      guard scenario.ending == .exit, action.isPassive else {
        listener.catchUp()
        throw .failed(.targetEnded(status: run.status, isBefore: true), output: run.output.tail.text)
      }
      return noteSkippedSteps()
    }
    do throws(StepAborted) {
      try perform(action, at: position, run)
    } catch .targetEnded where action.isPassive && action.turns.steps.isEmpty && mayOutlive(position) {
      if !position.isLast { noteSkippedSteps() }
    }
  }

  /// Whether a step may finish after the target's end.
  private func mayOutlive(_ position: Position) -> Bool { position.isLast || scenario.ending == .exit }

  private func perform(_ action: Step.Action, at position: Position, _ run: TargetRun) throws(StepAborted) {
    switch action {
    case .phase(let name): addMark(.phase(name), of: run)
    case .mark(let name): addMark(.mark(name), of: run)
    case .wait(let time):
      try timed(\.waiting) { () throws(StepAborted) in _ = try watch(until: .after(time), of: run) { nil as Void? } }
    case .settle(let time):
      try timed(\.settling) { () throws(StepAborted) in try settle(within: time, run) }
    case .signal(let signal): try send(signal, to: run)
    case .send(let text): try send(text, to: run)
    case .expectOutput(let pattern, let time): try expect(pattern, within: time, run)
    case .http(let call): try send(call, mayOutlive: mayOutlive(position), run)
    case .run(let client):
      let time = min(client.within ?? scenario.timeout, scenario.timeout)
      try require(
        client.command, exits: client.exits, within: time, of: run,
        atTargetEnd: mayOutlive(position) ? .proceed : .abort)
    case .repeat(let times, let steps): try perform(steps, times: times, at: position, run)
    }
  }

  /// A turn that contains another `repeat` is not an iteration itself: its work would be counted twice.
  private func perform(
    _ steps: [Step], times: Int, at position: Position, _ run: TargetRun
  ) throws(StepAborted) {
    let isInnermost = steps.allSatisfy(\.action.turns.steps.isEmpty)
    for turn in stride(from: 1, through: times, by: 1) {
      try perform(steps, at: position.inside(.turn(number: turn, of: times), isLast: turn == times), run)
      run.refresh()
      if run.hasEnded, scenario.ending == .exit, steps.allSatisfy(\.action.isPassive) { return noteSkippedSteps() }
      if isInnermost { run.marks.add(.iteration) }
    }
  }

  private func addMark(_ event: Mark.Event, of run: TargetRun) {
    run.marks.add(event)
    run.sampler.takeComposition()
  }

  private func noteSkippedSteps() {
    let isNoted = notes.contains { if case .stepsSkipped = $0 { true } else { false } }
    if !isNoted { notes.append(.stepsSkipped(from: current.part)) }
  }
}

// MARK: - The steps

extension Repetition {
  private func send(_ signal: Signal, to run: TargetRun) throws(StepAborted) {
    guard run.send(signal) else {
      let isRefused = run.isAttached && !run.hasEnded
      throw .failed(isRefused ? .attach(error: .signalNotPermitted(pid: run.processTree.leader)) : .signalNotSent)
    }
  }

  /// Searches for the pattern after the last match of an `expect` step, or from the start of the output.
  ///
  /// So earlier output counts, too, also output that `ready: {log: …}` has matched.
  private func expect(_ pattern: Pattern, within time: Duration, _ run: TargetRun) throws(StepAborted) {
    guard let match = try find(pattern, from: run.searchPosition, by: .after(time), run) else {
      let problem = Failure.Problem.outputMissing(within: time, onlyLatestSearched: run.output.hasDropped)
      throw .failed(problem, output: run.output.tail.text)
    }
    run.searchPosition = match
    run.output.discard(before: match)
  }

  /// Waits for output that matches; the position after the match, or nil after the deadline.
  func find(
    _ pattern: Pattern,
    from position: OutputLog.Position,
    by deadline: MonotonicTime,
    _ run: TargetRun
  ) throws(StepAborted) -> OutputLog.Position? {
    var search = OutputSearch(for: pattern, from: position) { [interruption] in
      interruption.signal != nil || deadline.hasPassed || run.deadline.hasPassed
    }
    defer { if search.hasSkipped { notes.append(.patternTooSlow(pattern: pattern.source)) } }
    return try watch(until: deadline, on: [outputArrived.descriptor], of: run) {
      outputArrived.lower()
      return run.output.find(with: &search)
    }
  }

  /// Writes the text to the target's standard input; waits until the target has read enough of it.
  private func send(_ text: String, to run: TargetRun) throws(StepAborted) {
    guard let input = run.input else { throw .failed(.stdinNotPiped) }
    var rest = Array(text.utf8)[...]
    _ = try watch(until: run.deadline, toWrite: [input.number], of: run) { () throws(StepAborted) -> Void? in
      switch input.write(rest.prefix(65_536)) {
      case .bytes(let count): rest = rest.dropFirst(count)
      case .full: break
      case .failed: throw .failed(.stdinClosed)
      }
      return rest.isEmpty ? () : nil
    }
  }

  private func settle(within time: Duration, _ run: TargetRun) throws(StepAborted) {
    let start = run.age
    var latest: Settling?
    let steady: Void? = try watch(until: .after(time), pause: .milliseconds(50), of: run) { () -> Void? in
      latest = Settling(of: run.sampler.recent(Settling.maxSamples), since: start)
      return latest?.isSteady == true ? () : nil
    }
    if steady != nil { return run.settled = latest?.window }
    throw .failed(latest.map { .notSettled(within: time, moved: $0.moved) } ?? .tooFewSamples(within: time))
  }

  private func send(_ call: Step.HTTPCall, mayOutlive: Bool, _ run: TargetRun) throws(StepAborted) {
    let url = scenario.shown(url: call.url)
    for turn in stride(from: 1, through: call.times, by: 1) {
      let response = httpClient().status(of: HTTPRequest(call, within: run.deadline.remaining)) { [self] in
        run.refresh()
        return isInterrupted || (run.hasEnded && !mayOutlive)
      }
      let problem: Failure.HTTPProblem
      switch response {
      case .success(let status) where call.accepts(status): continue
      case .success(let status): problem = .status(code: status, expected: call.expectedStatus)
      case .failure(let failure) where failure.code == .refused && scenario.ready == nil:
        problem = .notListening(reason: failure.problem)
      case .failure(let failure): problem = .noAnswer(reason: failure.problem)
      }
      try checkStillRunning(run, mayOutlive: mayOutlive)
      throw .failed(
        .http(url: url, problem: problem, request: turn, of: call.times), output: run.output.tail.text)
    }
  }

  /// Aborts if an interruption, the timeout or the target's end made the request fail.
  private func checkStillRunning(_ run: TargetRun, mayOutlive: Bool) throws(StepAborted) {
    if isInterrupted { throw .interrupted }
    if run.deadline.hasPassed { throw .outOfTime }
    if run.hasEnded, !mayOutlive { throw .targetEnded }
  }
}

extension Step.HTTPCall {
  fileprivate func accepts(_ status: Int) -> Bool {
    expectedStatus.map { $0 == status } ?? (200...299).contains(status)
  }
}
