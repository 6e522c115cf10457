import GateCore

extension End {
  /// A short text for the end, as in `exited with code 3` or `crash (SIGSEGV): core dumped`.
  var displayText: String {
    // The details of an unexplained SIGKILL include the kind and the signal.
    if kind == .killed, let detailText { return detailText }
    let name = kind == .oom ? "killed by the OOM killer" : kind == .running ? "left running" : kind.rawValue
    let summary =
      switch (code, signal) {
      case (let code?, _): kind == .exited ? "exited with code \(code)" : "\(name) (exit code \(code))"
      case (_, let signal?): kind == .oom ? name : "\(name) (SIG\(signal.name))"
      case (nil, nil): name
      }
    return detailText.map { "\(summary): \($0)" } ?? summary
  }

  /// Details beyond the kind, the code and the signal.
  var detailText: String? {
    let parts = [cause?.displayText, kind == .oom ? nil : oomKillText].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  var proofText: String? { proof?.displayText }

  private var oomKillText: String? {
    switch oomKills {
    case 0: nil
    case 1: "1 process of the tree was killed by the OOM killer"
    default: "\(oomKills) processes of the tree were killed by the OOM killer"
    }
  }
}

extension End.Cause {
  fileprivate var displayText: String {
    switch self {
    case .setupFailed: "setup failed"
    case .startFailed(let problem): problem.displayText
    case .memoryLimit(let limit): limit.displayText
    case .timeout(let timeout, let hits):
      [timeout.displayText, hits?.displayText].compactMap(\.self).joined(separator: "; ")
    case .signalOfChild(let signal): "a shell exits with this code if a child was killed by SIG\(signal.name)"
    case .statusTakenByParent: "its parent collected the exit status"
    case .statusUnknown: "its exit status is unknown"
    case .senderUnknown(nil): "killed by SIGKILL; sender unknown (not the OOM killer, not Highwater)"
    case .senderUnknown(let share?):
      "killed by SIGKILL; sender unknown (not Highwater): \(share.displayText), but the kernel counted no OOM kill"
    case .killedBy(let sender): "killed by SIGKILL from \(sender.displayText)"
    case .coreDumped: "core dumped"
    case .fatalError(let line): line
    }
  }
}

extension End.Proof {
  fileprivate var displayText: String {
    switch self {
    case .kernelLog(let line), .failedAllocation(let line): line
    case .ownCgroup(let kills, let limit):
      "memory cgroup oom_kill \(kills.displayText), " + (limit.map { "limit \($0)" } ?? "no limit")
    case .sharedCgroup(let kills):
      "likely: oom_kill \(kills.displayText) in the memory cgroup that it shared with other programs"
    case .machine(let kills):
      "likely: oom_kill \(kills.displayText) on this machine, where it was one of the largest processes"
    case .nearLimit(let share): "inferred: \(share.displayText)"
    }
  }
}

extension MemoryEvidence.Count {
  fileprivate var displayText: String { "\(before) → \(after)" }
}

extension End.MemoryLimit {
  fileprivate var displayText: String {
    switch self {
    case .machine: "the machine ran out of memory"
    case .unknown: "at the limit of the machine, or of a cgroup that is not visible here"
    case .outerCgroup(let limit): "at the limit of \(limit) of the cgroup around it"
    case .own(let limit): "at its memory-limit of \(limit)"
    case .outside(let limit):
      "below its memory-limit of \(limit): a cgroup around it or the machine ran out of memory"
    }
  }
}

extension End.LimitShare {
  fileprivate var displayText: String { "\(percent) % of the limit of \(limit) in use at the last reading" }
}

extension End.LimitHits {
  fileprivate var displayText: String {
    "at the memory limit" + (limit.map { " of \($0)" } ?? "") + ", which it hit \(count) times"
  }
}

extension End.Timeout {
  var displayText: String {
    switch self {
    case .notReady(let time, let answer):
      "not ready within \(time.displayText)" + (answer.map { " (\($0.displayText))" } ?? "")
    case .noMainProcess(let rule, let time):
      "the main process did not appear within \(time.displayText): \(rule.displayText)"
    case .notEnded(let time): "did not end within \(time.displayText)"
    }
  }
}

extension End.ReadinessAnswer {
  fileprivate var displayText: String {
    switch self {
    case .status(let code): "the last answer had status \(code), expected 200 to 399"
    case .noAnswer(let reason): reason
    case .command(let status): "the command last \(status.displayText)"
    }
  }
}

extension End.MainProcessRule {
  /// The rule as in the project file.
  var displayText: String {
    switch self {
    case .pidfile(let path): "pidfile `\(path)`"
    case .name(let pattern): "name `\(pattern)`"
    }
  }
}

extension EndEvidence.Status {
  /// How a process ended, as in `exited with code 3` or `killed by SIGKILL`.
  var displayText: String {
    switch self {
    case .exited(let code): "exited with code \(code)"
    case .signaled(let signal, _): "killed by SIG\(signal.name)"
    }
  }
}
