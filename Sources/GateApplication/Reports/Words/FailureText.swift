import GateCore

extension Failure {
  /// As in ``repetition 2 of 5, step 3 of 7 `run: redis-cli ping`: exited with code 1 (expected 0)``.
  var displayText: String { "\(subjectText): \(problemText)" }

  /// What failed, as in ``repetition 2 of 5, step 3 of 7 `run: redis-cli ping` ``.
  var subjectText: String {
    switch problem {
    case .suite, .testsFailed: return "the suite"
    default: break
    }
    let texts = [attempt?.displayText, part?.displayText].compactMap(\.self)
    return texts.isEmpty ? "the repetition" : texts.joined(separator: ", ")
  }

  /// Why it failed, with a hint in parentheses.
  var problemText: String {
    let account = activity.map { "; the target reported that it was \($0)" } ?? ""
    return problem.text(in: self) + (problem.hintText.map { " (\($0))" } ?? "") + account
  }
}

extension Failure {
  /// Whether its text already says how the target ended.
  func names(_ end: End) -> Bool {
    switch problem {
    case .unexpectedEnd, .timeout: true
    case .targetEnded(let status, _): status != nil && end.kind == .exited
    default: end.kind == .startFailed
    }
  }
}

extension Failure.Attempt {
  fileprivate var displayText: String {
    (isComparison ? "the comparison build, " : "")
      + (isWarmup ? "warm-up \(number)" : "repetition \(number) of \(of)")
  }
}

extension Failure.Part {
  /// As in ``step 3 of 7, turn 2 of 5, step 1 of 2 `run: redis-cli ping` ``.
  var displayText: String {
    let name = path.isEmpty ? kind.rawValue : path.map(\.displayText).joined(separator: ", ")
    return name + (text.map { " `\($0)`" } ?? "")
  }
}

extension Failure.Part.Index {
  fileprivate var displayText: String {
    switch self {
    case .step(let number, let count): "step \(number) of \(count)"
    case .turn(let number, let count): "turn \(number) of \(count)"
    }
  }
}

// MARK: - Problems

extension Failure.Problem {
  /// The problem without the rest of the failure, which only adds when and how the target ended.
  var displayText: String { text(in: Failure(problem: self)) }

  fileprivate func text(in failure: Failure) -> String {
    switch self {
    case .targetEnded(let status, let isBefore): failure.text(ofEnd: status, isBefore: isBefore)
    case .unexpectedEnd(let expected):
      "the target ended: \(failure.end?.displayText ?? "unknown") (expected \(expected.displayText))"
    case .timeout(.notEnded(let time)): "the target did not end within the scenario's timeout of \(time.displayText)"
    case .timeout(let timeout): timeout.displayText
    case .outOfTime(let time): "was running when the scenario's timeout of \(time.displayText) expired"
    case .noMainProcess(let rule):
      "the main process did not appear, and no process of the target is left: \(rule.displayText)"
    case .loop(let event, let other): event.displayText + (other.map { "; and \($0.displayText)" } ?? "")
    case .signalNotSent: "the target has ended, so no signal can be sent to it"
    case .stdinNotPiped: "the target has no `stdin: pipe` to send to"
    case .stdinClosed: "the target has closed its standard input"
    case .outputMissing(let time, let onlyLatest):
      "no such output within \(time.displayText)" + (onlyLatest ? " (only the latest output was searched)" : "")
    case .tooFewSamples(let time):
      "too few samples within \(time.displayText) to see resident memory settle: it takes 20 samples, and 1 s"
    case .notSettled(let time, let moved):
      "resident memory did not settle within \(time.displayText) (moved \(moved) in the last second)"
    case .http(let url, let problem, let request, let count):
      "`\(url)`: \(problem.displayText)" + (count > 1 ? " at request \(request) of \(count)" : "")
    case .commandEnded(let status, let expected):
      "\(status.displayText) (expected \(expected.map(String.init).joined(separator: " or ")))"
    case .commandTimeout(let time): "did not end within \(time.displayText) and was killed"
    case .alreadyInUse(let resource): resource.displayText
    case .noInputWriter(let time): "no program opened this FIFO for writing within \(time.displayText)"
    case .launch(let error): error.displayText
    case .attach(let error): error.displayText
    case .system(let failure): failure.displayText
    case .tracerUnavailable(let barrier):
      "`tracer: on` is unavailable: ptrace is not permitted here (\(barrier.causeText))"
    case .memoryLimitUnavailable(let error):
      "`memory-limit` is unavailable: cannot create a memory cgroup here: \(error.causeText)"
    case .limitUnavailable(let error):
      "`limit` is unavailable: cannot create a memory cgroup here: \(error.causeText)"
    case .kindUnavailable(let metric):
      "\(metric) is unavailable: this kernel does not show it in /proc/PID/smaps_rollup (Linux 5.4 or later does)"
    case .suite(let problem): problem.displayText
    case .testsFailed(let count, let total, let names):
      "\(count) of \(Format.count(total, "test")) failed: \(names.joined(separator: ", "))"
        + (count > names.count ? " and \(count - names.count) more" : "")
    case .interrupted: "was interrupted"
    }
  }

  /// A hint, if there is one.
  var hintText: String? {
    switch self {
    case .launch(let error): error.hintText
    case .attach(let error): error.hintText
    case .system(let failure) where failure.call == .connect: "the file name of a socket has at most 107 bytes"
    case .http(_, .notListening, _, _):
      "a target that takes time to start needs a `ready:`, such as `ready: {tcp: 7001}`"
    case .tracerUnavailable(let barrier): "\(barrier.remedyText), or write `tracer: auto`"
    case .memoryLimitUnavailable(let error):
      "\(error.remedyText), or write `gate: {peak_rss: {limit: …}}` instead"
    case .limitUnavailable(let error): "\(error.remedyText), or remove `limit`"
    case .suite(let problem): problem.hint
    case .kindUnavailable: "remove it from the `gate`, or check it on another machine"
    default: nil
    }
  }
}

extension Failure {
  /// As in `the target ended (exited with code 3) during the step`.
  fileprivate func text(ofEnd status: EndEvidence.Status?, isBefore: Bool) -> String {
    let when = part?.kind != .step ? "before it was ready" : isBefore ? "before the step" : "during the step"
    return "the target ended" + (status.map { " (\($0.displayText))" } ?? "") + " \(when)"
  }
}

extension Failure.Resource {
  fileprivate var displayText: String {
    switch self {
    case .port(let port): "port \(port) is already in use by another process"
    case .socket(let path): "the socket `\(path)` is already in use by another process"
    case .file(let path): "the file `\(path)` exists before the start; remove it in `setup`"
    }
  }
}

extension ExpectedEnd {
  fileprivate var displayText: String {
    (exits.map { "exit code \($0)" } + signals.map { "SIG\($0.name)" }).joined(separator: " or ")
  }
}

extension Failure.HTTPProblem {
  fileprivate var displayText: String {
    switch self {
    case .status(let status, let expected):
      "answered with status \(status) (expected \(expected.map(String.init) ?? "200 to 299"))"
    case .noAnswer(let text), .notListening(let text): text
    }
  }
}
