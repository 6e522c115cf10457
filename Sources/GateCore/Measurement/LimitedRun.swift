/// One run of a scenario under a memory limit.
package struct LimitedRun: Sendable, Hashable, Codable {
  package enum Outcome: Sendable, Hashable, Codable {
    /// The scenario passed.
    case survived
    /// The OOM killer killed a process of the target at this limit.
    case killed(end: End)
    /// The target ended or a step failed in another way, as after a refused allocation.
    case failed(failure: Failure)
    /// The scenario passed, but a process held more memory than the limit: it left its cgroup, or raised the limit.
    case unlimited(held: Bytes)
    /// It made too little progress, as where all time goes into reclaiming memory.
    case stalled(within: Duration)
  }

  package var limit: Bytes
  package var outcome: Outcome
  package var duration: Duration
  package var usage: CgroupUsage?
  /// The most memory of the tree, with pages of files that are charged to other programs; nil if unknown.
  package var treePeak: Bytes?

  private enum CodingKeys: String, CodingKey {
    case limit, outcome
    case duration = "durationSeconds"
    case usage, treePeak
  }

  package init(
    limit: Bytes, outcome: Outcome, duration: Duration, usage: CgroupUsage? = nil, treePeak: Bytes? = nil
  ) {
    (self.limit, self.outcome, self.duration) = (limit, outcome, duration)
    (self.usage, self.treePeak) = (usage, treePeak)
  }

  package var survived: Bool { outcome == .survived }
}

extension LimitedRun {
  /// How long a run at a limit may take before it counts as stalled.
  ///
  /// Just below its working set a program reads its own code from the disk again and again, and may never end. But
  /// sqlite3 ended in 15 times its usual time of 0.8 s wherever its temporary file did not fit (Linux 6.18, 2026-11).
  package static func patience(usual durations: [Duration]) -> Duration {
    let median = durations.sorted().dropFirst(durations.count / 2).first ?? .zero
    return max(median * 10, .seconds(30))
  }

  /// The scenario with the limit, and with less time if it usually takes little.
  package static func scenario(_ scenario: Scenario, at limit: Bytes, usual durations: [Duration]) -> Scenario {
    var limited = scenario
    limited.memoryLimit = limit
    limited.timeout = min(scenario.timeout, patience(usual: durations))
    return limited
  }

  /// A failure that no limit explains.
  package struct OtherFailure: Error {
    package let failure: Failure
  }

  /// The run of a scenario at this limit.
  package init(of recording: Recording, in scenario: Scenario, at limit: Bytes) throws(OtherFailure) {
    let outcome = try recording.outcome(of: scenario)
    self.init(
      limit: limit, outcome: outcome, duration: recording.duration, usage: recording.usage,
      treePeak: recording.result().metrics[.treePeak].map { Bytes(clampedFrom: $0) })
  }
}

extension Recording {
  fileprivate func outcome(of scenario: Scenario) throws(LimitedRun.OtherFailure) -> LimitedRun.Outcome {
    guard let failure = failure(in: scenario, loop: nil) else {
      guard let limit = scenario.memoryLimit, let held = heldMemory, held > limit + Self.limitSlack else {
        return .survived
      }
      return .unlimited(held: held)
    }
    if (end.kind == .oom || end.oomKills > 0) && end.isAtOwnLimit { return .killed(end: end) }
    guard failure.mayBeDueToLimit, end.kind != .oom else { throw LimitedRun.OtherFailure(failure: failure) }
    return failure.problem.timeLimit.map { .stalled(within: $0) } ?? .failed(failure: failure)
  }
}

extension Recording {
  /// The most memory of a process at a time that must be charged to its cgroup: not pages of files, which may have been
  /// charged to others; nil if it was not read.
  private var heldMemory: Bytes? {
    let readings = samples.compactMap(\.main)
    let held = readings.map { $0.anonymous + $0.shared }.max()
    guard let file = readings.map(\.file).max(), let peak = processes.first(where: \.isMain)?.peak else { return held }
    return [held, peak - file].compactMap(\.self).max()
  }

  /// What the counters of processes and of cgroups may differ by: pages of three kinds and charges are counted per CPU.
  private static let limitSlack = Bytes.mebibytes(1)
}

extension End {
  /// Whether a process was killed at the scenario's own limit, rather than by a lack of memory outside of it.
  fileprivate var isAtOwnLimit: Bool {
    guard case .memoryLimit(let limit) = cause, kind == .oom else { return true }
    if case .own = limit { return true }
    return false
  }
}

extension Failure {
  /// Whether less memory may be the reason: not of the parts without the target, nor of what the machine lacks.
  fileprivate var mayBeDueToLimit: Bool {
    if let kind = part?.kind, [.setup, .teardown].contains(kind) { return false }
    switch problem {
    case .launch(let error): return error.isAtMemoryLimit
    case .signalNotSent, .stdinNotPiped, .noInputWriter, .alreadyInUse, .system, .tracerUnavailable,
      .memoryLimitUnavailable, .limitUnavailable, .kindUnavailable, .suite, .testsFailed, .interrupted:
      return false
    default: return !isInconclusive
    }
  }
}

extension LaunchError {
  fileprivate var isAtMemoryLimit: Bool {
    if case .memoryLimit = hint { true } else { false }
  }
}

extension Failure.Problem {
  /// The time that was too short; nil for other failures.
  fileprivate var timeLimit: Duration? {
    switch self {
    case .timeout(.notReady(let time, _)), .timeout(.noMainProcess(_, let time)), .timeout(.notEnded(let time)),
      .outOfTime(let time), .outputMissing(let time, _), .tooFewSamples(let time), .notSettled(let time, _),
      .commandTimeout(let time):
      time
    default: nil
    }
  }
}
