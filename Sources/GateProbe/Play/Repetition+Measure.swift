import GateCore

extension Repetition {
  /// How long a target has, when the runner is interrupted, before it is killed.
  private static let interruptedGrace = Duration.seconds(2)
  /// How long a killed process may take to be gone; one that the kernel holds up may never be.
  private static let killTime = Duration.seconds(5)
  /// How long what outlives the main process has to end by itself.
  private static let afterglow = Duration.milliseconds(200)

  /// What the script came to.
  private struct Outcome {
    var failure: Failure?
    var action = EndEvidence.RunnerAction.none
  }

  /// Plays the script with a target that has just been started, until nothing is left of it.
  func measure(_ run: TargetRun) -> Recording {
    let outcome = perform(run)
    let duration = (run.endedAt ?? .now()) - run.start
    run.sampler.stop()
    if case .timeout = outcome.action {} else { noteSurvivors(of: run) }
    noteImmortals(run.family.disperse())
    run.refresh()
    listener.catchUp()
    let report = run.sampler.report()
    let end = End(deciding: run.evidence(outcome.action, report))
    run.family.release()
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
      notes: report.notes + [marks.note, run.output.fileProblem].compactMap(\.self)
    )
  }

  private func perform(_ run: TargetRun) -> Outcome {
    do throws(Halt) {
      try awaitReadiness(of: run)
      try playSteps(run)
      underWay = Part(.end, place: scenario.place)
      if scenario.ending == .exit {
        try awaitEnd(of: run)
      } else {
        underWay = Part(.stop, place: scenario.place)
        try stop(run, within: scenario.stop.within)
      }
      return Outcome(action: run.stopRequested == nil ? .none : .stop)
    } catch {
      return windUp(run, after: error)
    }
  }

  /// Without a script that could still write to it, the target's standard input is closed: `cat` ends by that.
  private func awaitEnd(of run: TargetRun) throws(Halt) {
    run.input = nil
    while try watch(until: run.deadline, of: run, atTargetEnd: .goOn, { run.hasEnded ? () : nil }) == nil {}
  }

  /// Ends the target after the script has halted.
  private func windUp(_ run: TargetRun, after halt: Halt) -> Outcome {
    var outcome = Outcome(failure: failure(for: halt, of: run))
    if case .notReady(let detail) = halt { outcome.action = .timeout(detail) }
    // A target that had ended by then ended as it did: it was a client that took too long.
    if halt == .outOfTime, !run.hasEnded {
      outcome.action = .timeout("did not end within \(scenario.timeout.displayText)")
    }
    end(run, after: halt)
    if outcome.action == .none, run.stopRequested != nil { outcome.action = .stop }
    return outcome
  }

  private func end(_ run: TargetRun, after halt: Halt) {
    do throws(Halt) {
      if halt != .outOfTime, halt != .interrupted { return try stop(run, within: scenario.stop.within) }
    } catch {
      return end(run, after: error)
    }
    heedsInterruption = false
    if halt == .interrupted {
      try? stop(run, within: min(Self.interruptedGrace, scenario.stop.within))
    } else {
      run.sampler.takeFinalComposition()
      try? kill(run)
    }
    heedsInterruption = true
  }

  /// Asks the target to end, and kills it when it does not.
  private func stop(_ run: TargetRun, within grace: Duration) throws(Halt) {
    run.refresh()
    guard !run.hasEnded else { return }
    run.sampler.takeFinalComposition()
    let signal = scenario.stop.signal
    // With a reading just then, nothing of the last phase can hide between the last reading and its end.
    let lastReading = run.sampler.sweep()
    if run.send(signal) {
      run.stopRequested = run.stopRequested ?? lastReading
      run.input = nil
      let ended: Void? = try watch(until: .after(grace), of: run, atTargetEnd: .goOn) { run.hasEnded ? () : nil }
      if ended != nil { return }
      notes.append("did not end within \(grace.displayText) of SIG\(signal.name) and was killed")
    }
    try kill(run)
  }

  /// Kills the main process, or everything where there is none, and waits until it has gone.
  private func kill(_ run: TargetRun) throws(Halt) {
    run.refresh()
    guard !run.hasEnded else { return }
    if !run.send(.kill) { noteImmortals(run.family.disperse()) }
    _ = try watch(until: .after(Self.killTime), of: run, atTargetEnd: .goOn) {
      run.hasEnded || run.family.isDispersed ? () : nil
    }
  }

  /// Names what lives on after the main process has ended; it is killed then.
  private func noteSurvivors(of run: TargetRun) {
    let deadline = MonotonicTime.after(Self.afterglow)
    var left: [Family.Member] = []
    repeat {
      run.family.collect()
      left = run.family.isDispersed ? [] : run.family.members()
      if left.isEmpty { return }
      Polling.wait(toRead: [run.family.reportDescriptor], atMost: min(Self.tick, deadline.remaining))
    } while !deadline.hasPassed
    let shown = left.prefix(5).map { "\($0.command) (pid \($0.pid))".spellingOutControls }.joined(separator: ", ")
    let more = left.count > 5 ? " …" : ""
    let (what, were) = left.count == 1 ? ("process", "was") : ("processes", "were")
    notes.append("\(left.count) \(what) outlived the target and \(were) killed: \(shown)\(more)")
  }
}

extension TargetRun {
  /// What the main process consisted of at its end, as far as that is known.
  fileprivate func lastComposition(in report: SamplingReport) -> Composition? {
    guard let figures = report.samples.last(where: { $0.main != nil })?.main else { return nil }
    let atEnd = main == family.leader ? instruments.composition(with: figures) : nil
    return atEnd ?? report.compositions.last { !$0.composition.libraries.isEmpty }?.composition
      ?? Composition(anonymous: figures.anonymous, file: figures.file, shared: figures.shared)
  }
}

// MARK: - Words

extension Repetition {
  /// What a halt means for the part that was under way.
  func failure(for halt: Halt, of run: TargetRun?) -> Failure {
    var output = run?.output.tail.text ?? ""
    let problem: String
    switch halt {
    case .failed(let words, let hint, let ofProgram):
      problem = words + (hint.map { " (\($0))" } ?? "")
      output = ofProgram
    case .targetEnded where run?.main == nil && run?.status == .exited(0):
      let rule = scenario.target.main.map(\.displayText) ?? ""
      problem = "the main process did not appear, and nothing of the target is left: \(rule)"
    case .targetEnded:
      let when = underWay.kind == .step ? "during the step" : "before it was ready"
      problem = "\(run?.endText ?? "the target ended") \(when)"
    case .notReady(let detail): problem = detail
    case .outOfTime where underWay.kind == .end:
      problem = "the target did not end within the scenario's timeout of \(scenario.timeout.displayText)"
    case .outOfTime: problem = "was under way when the scenario's timeout of \(scenario.timeout.displayText) passed"
    case .interrupted: problem = "was interrupted"
    }
    return Failure(subject: underWay.subject, problem: problem, place: underWay.place, output: output)
  }
}

extension TargetRun {
  /// As in `the target ended (exited with code 0)`.
  var endText: String {
    "the target ended" + (status.map { " (\($0.displayText))" } ?? "")
  }
}
