import GateCore

extension Repetition {
  /// How long a target may take to stop before it is killed, after an interruption of the runner.
  private static let interruptedGrace = Duration.seconds(2)
  /// How long to wait for a killed process, which may never exit if it is blocked in the kernel.
  private static let killTimeout = Duration.seconds(5)
  /// How often, and at which intervals, to look whether a process has stopped itself.
  private static let (stopReadings, stopInterval) = (10, Duration.milliseconds(50))
  /// How long processes that outlive the main one may take to exit by themselves.
  private static let exitGracePeriod = Duration.milliseconds(200)

  /// The result of the script.
  private struct Outcome {
    var failure: Failure?
    var action = EndEvidence.RunnerAction.none
  }

  /// Runs the script with a started target, until no process of it is left.
  func measure(_ run: TargetRun) -> Recording {
    let outcome = perform(run)
    let duration = (run.endedAt ?? .now()) - run.start
    run.sampler.stop()
    if run.isAttached {
      run.sampler.readLastPeaks()
    } else if case .timeout = outcome.action {
    } else {
      noteSurvivors(of: run)
    }
    run.sampler.willKill()
    noteUnkillable(run.processTree.killAll())
    run.refresh()
    listener.catchUp()
    let report = run.sampler.report()
    let evidence = run.evidence(outcome.action, report)
    let end = End(deciding: evidence)
    let usage = run.instruments.cgroup?.usage
    run.processTree.release()
    let marks = run.marks.finish(at: duration)
    var recording = Recording(
      method: run.method,
      samples: report.samples,
      marks: marks.marks,
      processes: report.processes,
      composition: report.composition ?? run.lastComposition(in: report),
      compositions: report.compositions,
      treeMethod: report.treeMethod,
      treePeak: report.treePeak,
      pageSize: PageSize.bytes,
      end: end,
      failure: outcome.failure,
      duration: duration,
      settled: run.settled,
      stopRequested: run.stopRequested,
      widestGap: report.widestGap,
      unknownMarks: marks.unknownLines,
      outputTail: run.output.tail.text,
      notes: report.notes
        + [marks.note, run.output.fileFailure.map { .outputNotStored(failure: $0) }].compactMap(\.self)
    )
    recording.composition?.unmapped = report.unmapped
    (recording.kinds, recording.kindReadings) = (scenario.gate.kinds, report.kinds)
    recording.usage = usage
    recording.kills = run.kills(report, evidence.memory)
    recording.listeners = run.listeners
    recording.instances = run.instruments.instances?.finish()
    recording.injection = run.instruments.mutation?.state ?? .notLoaded
    recording.allocations = run.instruments.allocations?.finish(report.processes)
    recording.profiles = run.instruments.profiler?.profiles ?? []
    return recording
  }

  private func perform(_ run: TargetRun) -> Outcome {
    do throws(StepAborted) {
      try timed(\.readiness) { () throws(StepAborted) in try awaitReadiness(of: run) }
      if run.instruments.profiler != nil { run.processTree.profileSteps() }
      try runSteps(of: run)
      begin(Failure.Part(.end))
      if scenario.ending == .exit {
        try awaitEnd(of: run)
      } else if run.isAttached {
        letGo(of: run)
        return Outcome(action: run.hasEnded ? .none : .detach)
      } else {
        begin(Failure.Part(.stop))
        try awaitHeaps(of: run)
        try stop(run, within: scenario.stop.within)
      }
      return Outcome(action: run.stopRequested == nil ? .none : .stop)
    } catch {
      return finish(run, after: error)
    }
  }

  /// Reads a target that runs on a last time.
  private func letGo(of run: TargetRun) {
    run.sampler.takeFinalComposition()
    run.stopRequested = run.sampler.sweep()
  }

  /// Lets the samplers of collected heaps write what these hold at the end; a process that does not answer is not waited for
  /// long.
  private func awaitHeaps(of run: TargetRun) throws(StepAborted) {
    guard let samplers = run.instruments.profiler?.heapSamplers else { return }
    samplers.askForAll()
    _ = try watch(until: .after(.seconds(5)), pause: Self.pollInterval, of: run, atTargetEnd: .proceed) {
      samplers.haveAnswered ? () : nil
    }
  }

  /// Closes the target's standard input, which no step can write to any more: `cat` then exits.
  private func awaitEnd(of run: TargetRun) throws(StepAborted) {
    run.input = nil
    while try watch(until: run.deadline, of: run, atTargetEnd: .proceed, { run.hasEnded ? () : nil }) == nil {}
  }

  /// How long the end of a target may be reported after what it causes.
  private static let lateEnd = Duration.milliseconds(100)

  /// Ends the target after the script was aborted.
  private func finish(_ run: TargetRun, after reason: StepAborted) -> Outcome {
    var outcome = Outcome(failure: failure(for: reason, of: run))
    if case .notReady(let timeout) = reason { outcome.action = .timeout(timeout) }
    // If the target had already ended, a client took too long: the target's own end counts.
    if reason == .outOfTime, !run.hasEnded {
      outcome.action = .timeout(.notEnded(within: scenario.timeout))
    }
    if run.isAttached {
      // A client's failure may be seen before the end of the target that caused it.
      _ = try? watch(until: .after(Self.lateEnd), of: run, atTargetEnd: .proceed) { run.hasEnded ? () : nil }
      letGo(of: run)
      if outcome.action == .none, !run.hasEnded { outcome.action = .detach }
      return outcome
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
      if reason == .outOfTime { noteStopped(in: run) }
      try? kill(run)
    }
    isCancellable = true
  }

  /// Notes a traced process that has stopped itself and waits for a tracer of its own to continue it.
  ///
  /// A group stop shows as `t` (proc_pid_stat(5)), and so does the stop of an event, which lasts until its supervisor runs:
  /// so it has to show in every one of several readings.
  private func noteStopped(in run: TargetRun) {
    guard run.processTree.isTraced else { return }
    func stopped() -> [ProcessTree.Member] {
      run.processTree.members().filter { ProcessStat(of: $0.pid)?.state == UInt8(ascii: "t") }
    }
    var always = stopped()
    for _ in 1..<Self.stopReadings where !always.isEmpty {
      Polling.wait(toRead: [], atMost: Self.stopInterval)
      let pids = Set(stopped().map(\.pid))
      always.removeAll { !pids.contains($0.pid) }
    }
    guard let process = always.first else { return }
    notes.append(.stoppedItself(command: process.command.escapingControls))
  }

  /// Sends the stop signal to the target, and kills it if it does not exit in time.
  private func stop(_ run: TargetRun, within grace: Duration) throws(StepAborted) {
    run.refresh()
    guard !run.hasEnded else { return }
    run.sampler.takeFinalComposition()
    if scenario.findsListeners {
      let pids = run.processTree.members().map(\.pid)
      run.listeners = ListeningSockets.of(pids, in: scenario.target.workingDirectory)
    }
    let signal = scenario.stop.signal
    // A last reading, so that the last phase is covered up to its end.
    let lastReading = run.sampler.sweep()
    if run.send(signal) {
      run.stopRequested = run.stopRequested ?? lastReading
      run.input = nil
      var asked = run.main
      let ended: Void? = try watch(until: .after(grace), of: run, atTargetEnd: .proceed) {
        // A launcher that was still alive has left its daemon behind.
        if run.main != asked, run.send(signal) { asked = run.main }
        return run.hasEnded ? () : nil
      }
      if ended != nil { return }
      notes.append(.killedAfterStop(signal: signal, grace: grace))
    }
    try kill(run)
  }

  /// Kills the main process, or the tree if there is none, and waits for its end.
  private func kill(_ run: TargetRun) throws(StepAborted) {
    run.refresh()
    guard !run.hasEnded else { return }
    run.sampler.willKill()
    if !run.send(.kill) { noteUnkillable(run.processTree.killAll()) }
    _ = try watch(until: .after(Self.killTimeout), of: run, atTargetEnd: .proceed) {
      run.hasEnded || run.processTree.isEmpty ? () : nil
    }
  }

  /// Notes the processes that outlive the main one; the caller kills them.
  private func noteSurvivors(of run: TargetRun) {
    let deadline = MonotonicTime.after(Self.exitGracePeriod)
    var survivors: [ProcessTree.Member] = []
    repeat {
      run.processTree.collect()
      survivors = run.processTree.isEmpty ? [] : run.processTree.members()
      if survivors.isEmpty { return }
      Polling.wait(toRead: [run.processTree.reportDescriptor], atMost: min(Self.pollInterval, deadline.remaining))
    } while !deadline.hasPassed
    let first = survivors.prefix(5).map(\.command.escapingControls)
    notes.append(.survivors(count: survivors.count, first: first))
  }
}

extension TargetRun {
  /// The composition of the main process at its end, as far as known.
  fileprivate func lastComposition(in report: SamplingReport) -> Composition? {
    guard let memory = report.samples.last(where: { $0.main != nil })?.main else { return nil }
    let isOfLeader = report.processes.contains { $0.isMain && $0.id == processTree.leader }
    let atEnd = isOfLeader ? instruments.composition(with: memory) : nil
    return atEnd ?? report.compositions.last { !$0.composition.libraries.isEmpty }?.composition
      ?? Composition(anonymous: memory.anonymous, file: memory.file, shared: memory.shared)
  }
}

// MARK: - Failures

extension Repetition {
  /// The failure of the current part.
  func failure(for reason: StepAborted, of run: TargetRun?) -> Failure {
    let (part, place) = current
    var output = run?.output.tail.text ?? ""
    let problem: Failure.Problem
    switch reason {
    case .failed(let cause, let outputOfProgram): (problem, output) = (cause, outputOfProgram)
    case .targetEnded:
      let rule = run?.main == nil && run?.status == .exited(code: 0) ? scenario.target.main : nil
      problem = rule.map { .noMainProcess(rule: $0.asRule) } ?? .targetEnded(status: run?.status, isBefore: false)
    case .notReady(let timeout): problem = .timeout(kind: timeout)
    case .outOfTime where part.kind == .end: problem = .timeout(kind: .notEnded(within: scenario.timeout))
    case .outOfTime: problem = .outOfTime(after: scenario.timeout)
    case .interrupted: problem = .interrupted
    }
    return Failure(part: part, problem: problem, place: place, output: output)
  }
}
