import GateCore

extension Repetition {
  /// How long a target has, when the runner is interrupted, before it is killed.
  private static let interruptedGrace = Duration.seconds(2)
  /// How long a killed process may take to be gone; one that the kernel holds up may never be.
  private static let killTime = Duration.seconds(5)
  /// How long processes that outlive the main one have to end by themselves.
  private static let exitGracePeriod = Duration.milliseconds(200)

  /// What the script resulted in.
  private struct Outcome {
    var failure: Failure?
    var action = EndEvidence.RunnerAction.none
  }

  /// Runs the script with a target that has just been started, until nothing is left of it.
  func measure(_ run: TargetRun) -> Recording {
    let outcome = perform(run)
    let duration = (run.endedAt ?? .now()) - run.start
    run.sampler.stop()
    if case .timeout = outcome.action {} else { noteSurvivors(of: run) }
    noteUnkillable(run.processTree.killAll())
    run.refresh()
    listener.catchUp()
    let report = run.sampler.report()
    let end = End(deciding: run.evidence(outcome.action, report))
    run.processTree.release()
    let marks = run.marks.finish(at: duration)
    return Recording(
      method: settings.method,
      samples: report.samples,
      marks: marks.marks,
      processes: report.processes,
      composition: report.composition ?? run.lastComposition(in: report),
      compositions: report.compositions,
      treeMethod: report.treeMethod,
      pageSize: PageSize.bytes,
      end: end,
      failure: outcome.failure,
      duration: duration,
      stopRequested: run.stopRequested,
      widestGap: report.widestGap,
      unknownMarks: marks.unknownLines,
      outputTail: run.output.tail.text,
      notes: report.notes + [marks.note, run.output.fileFailure.map { .outputNotStored($0) }].compactMap(\.self)
    )
  }

  private func perform(_ run: TargetRun) -> Outcome {
    do throws(StepAborted) {
      try awaitReadiness(of: run)
      try playSteps(run)
      begin(Failure.Part(.end))
      if scenario.ending == .exit {
        try awaitEnd(of: run)
      } else {
        begin(Failure.Part(.stop))
        try stop(run, within: scenario.stop.within)
      }
      return Outcome(action: run.stopRequested == nil ? .none : .stop)
    } catch {
      return finish(run, after: error)
    }
  }

  /// Without a script that could still write to it, the target's standard input is closed: `cat` ends by that.
  private func awaitEnd(of run: TargetRun) throws(StepAborted) {
    run.input = nil
    while try watch(until: run.deadline, of: run, atTargetEnd: .proceed, { run.hasEnded ? () : nil }) == nil {}
  }

  /// Ends the target after the script was aborted.
  private func finish(_ run: TargetRun, after reason: StepAborted) -> Outcome {
    var outcome = Outcome(failure: failure(for: reason, of: run))
    if case .notReady(let timeout) = reason { outcome.action = .timeout(timeout) }
    // A target that had ended by then ended as it did: it was a client that took too long.
    if reason == .outOfTime, !run.hasEnded {
      outcome.action = .timeout(.notEnded(within: scenario.timeout))
    }
    end(run, after: reason)
    if outcome.action == .none, run.stopRequested != nil { outcome.action = .stop }
    return outcome
  }

  private func end(_ run: TargetRun, after reason: StepAborted) {
    do throws(StepAborted) {
      if reason != .outOfTime, reason != .interrupted { return try stop(run, within: scenario.stop.within) }
    } catch {
      return end(run, after: error)
    }
    isCancellable = false
    if reason == .interrupted {
      try? stop(run, within: min(Self.interruptedGrace, scenario.stop.within))
    } else {
      run.sampler.takeFinalComposition()
      try? kill(run)
    }
    isCancellable = true
  }

  /// Asks the target to end, and kills it when it does not.
  private func stop(_ run: TargetRun, within grace: Duration) throws(StepAborted) {
    run.refresh()
    guard !run.hasEnded else { return }
    run.sampler.takeFinalComposition()
    let signal = scenario.stop.signal
    // With a reading just then, nothing of the last phase can hide between the last reading and its end.
    let lastReading = run.sampler.sweep()
    if run.send(signal) {
      run.stopRequested = run.stopRequested ?? lastReading
      run.input = nil
      let ended: Void? = try watch(until: .after(grace), of: run, atTargetEnd: .proceed) { run.hasEnded ? () : nil }
      if ended != nil { return }
      notes.append(.killedAfterStop(signal, grace: grace))
    }
    try kill(run)
  }

  /// Kills the main process, or everything where there is none, and waits until it has gone.
  private func kill(_ run: TargetRun) throws(StepAborted) {
    run.refresh()
    guard !run.hasEnded else { return }
    if !run.send(.kill) { noteUnkillable(run.processTree.killAll()) }
    _ = try watch(until: .after(Self.killTime), of: run, atTargetEnd: .proceed) {
      run.hasEnded || run.processTree.isEmpty ? () : nil
    }
  }

  /// Notes processes that outlive the main one; they are killed then.
  private func noteSurvivors(of run: TargetRun) {
    let deadline = MonotonicTime.after(Self.exitGracePeriod)
    var left: [ProcessTree.Member] = []
    repeat {
      run.processTree.collect()
      left = run.processTree.isEmpty ? [] : run.processTree.members()
      if left.isEmpty { return }
      Polling.wait(toRead: [run.processTree.reportDescriptor], atMost: min(Self.tick, deadline.remaining))
    } while !deadline.hasPassed
    let first = left.prefix(5).map { RecordingNote.Survivor(command: $0.command.spellingOutControls, pid: $0.pid) }
    notes.append(.survivors(count: left.count, first: first))
  }
}

extension TargetRun {
  /// What the main process consisted of at its end, as far as that is known.
  fileprivate func lastComposition(in report: SamplingReport) -> Composition? {
    guard let memory = report.samples.last(where: { $0.main != nil })?.main else { return nil }
    let atEnd = main == processTree.leader ? instruments.composition(with: memory) : nil
    return atEnd ?? report.compositions.last { !$0.composition.libraries.isEmpty }?.composition
      ?? Composition(anonymous: memory.anonymous, file: memory.file, shared: memory.shared)
  }
}

// MARK: - Failures

extension Repetition {
  /// The failure of the part that was under way.
  func failure(for reason: StepAborted, of run: TargetRun?) -> Failure {
    let (part, place) = underWay
    var output = run?.output.tail.text ?? ""
    let problem: Failure.Problem
    switch reason {
    case .failed(let cause, let outputOfProgram): (problem, output) = (cause, outputOfProgram)
    case .targetEnded:
      let rule = run?.main == nil && run?.status == .exited(0) ? scenario.target.main : nil
      problem = rule.map { .noMainProcess($0.asRule) } ?? .targetEnded(run?.status, isBefore: false)
    case .notReady(let timeout): problem = .timeout(timeout)
    case .outOfTime where part.kind == .end: problem = .timeout(.notEnded(within: scenario.timeout))
    case .outOfTime: problem = .outOfTime(after: scenario.timeout)
    case .interrupted: problem = .interrupted
    }
    return Failure(part: part, problem: problem, place: place, output: output)
  }
}
