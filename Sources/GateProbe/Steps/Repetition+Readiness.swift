import GateCore
import Glibc
import HTTPTransfer
import LinuxSystem

extension Repetition {
  /// How long to wait for the main process of a daemon without `ready`.
  private static let mainProcessTimeout = Duration.seconds(30)
  private static let commandInterval = Duration.milliseconds(100)
  /// The timeout of a connection attempt; local servers respond immediately.
  private static let connectTimeout = Duration.milliseconds(500)

  /// Waits until the target is ready and its main process is known.
  func awaitReadiness(of run: TargetRun) throws(StepAborted) {
    let deadline = MonotonicTime.after(scenario.ready?.within ?? Self.mainProcessTimeout)
    if let ready = scenario.ready {
      begin(Failure.Part(.ready, doing: ready.condition.description(in: scenario)))
      guard try isReady(ready.condition, by: deadline, run) else {
        throw .notReady(.notReady(within: ready.within, last: readinessAnswer))
      }
    }
    try awaitMainProcess(of: run, by: deadline)
  }

  private func awaitMainProcess(of run: TargetRun, by deadline: MonotonicTime) throws(StepAborted) {
    guard let main = scenario.target.main else { return }
    beginStart()
    let found = try watch(until: deadline, pause: Self.pollInterval, of: run) { run.main }
    guard found == nil else { return }
    throw .notReady(.noMainProcess(rule: main.asRule, within: scenario.ready?.within ?? Self.mainProcessTimeout))
  }

  /// Waits for a condition; false after the deadline.
  private func isReady(
    _ condition: Readiness.Condition, by deadline: MonotonicTime, _ run: TargetRun
  ) throws(StepAborted) -> Bool {
    switch condition {
    case .log(let pattern): try find(pattern, from: .init(), by: deadline, run) != nil
    case .tcp(let host, let port): try poll(by: deadline, run) { isAccepted(host: host, port: port, by: deadline) }
    case .unix(let path): try poll(by: deadline, run) { isAccepted(atSocket: path, by: deadline) }
    case .http(let url): try poll(by: deadline, run) { isAnswered(url, by: deadline, run) }
    case .file(let path): try poll(by: deadline, run) { Self.exists(path) }
    case .command(let command):
      try poll(every: Self.commandInterval, by: deadline, run) { () throws(StepAborted) in
        try succeeds(command, by: deadline, run)
      }
    case .delay(let time): try pass(time, by: deadline, run)
    case .mark(let name): try poll(by: deadline, run) { run.marks.has(.mark(name)) }
    }
  }

  /// What is there before the target starts, so that the target would wrongly seem ready or cannot become ready.
  private func obstacle(to condition: Readiness.Condition) -> Failure.Problem? {
    let deadline = MonotonicTime.after(.seconds(1))
    switch condition {
    case .tcp(let host, let port): return listener(at: host, port, by: deadline)
    case .unix(let path):
      if (path.split(separator: "/").last?.utf8.count ?? 0) > Connection.longestSocketName {
        return .system(failure: SystemFailure(.connect, path: path, code: ENAMETOOLONG))
      }
      guard isAccepted(atSocket: path, by: deadline) else { return nil }
      return .alreadyInUse(resource: .socket(path: scenario.asWritten(path)))
    case .http(let url):
      // Any listener on that port keeps the target from listening, whatever it responds.
      guard let server = try? HTTPAddress(parsing: url) else { return nil }
      return listener(at: String(server.host.drop { $0 == "[" }.prefix { $0 != "]" }), server.port, by: deadline)
    case .file(let path):
      return Self.exists(path) ? .alreadyInUse(resource: .file(path: scenario.asWritten(path))) : nil
    case .log, .command, .delay, .mark: return nil
    }
  }

  /// Fails if the readiness condition is met before the target starts.
  func checkNotReadyYet() throws(StepAborted) {
    guard let condition = scenario.ready?.condition else { return }
    begin(Failure.Part(.ready, doing: condition.description(in: scenario)))
    if let obstacle = obstacle(to: condition) { throw .failed(obstacle) }
  }
}

// MARK: - The conditions

extension Repetition {
  private func poll(
    every pause: Duration = Repetition.pollInterval, by deadline: MonotonicTime, _ run: TargetRun,
    _ isMet: () throws(StepAborted) -> Bool
  ) throws(StepAborted) -> Bool {
    try watch(until: deadline, pause: pause, of: run) { () throws(StepAborted) in try isMet() ? () : nil } != nil
  }

  /// A time that is longer than the timeout never passes.
  private func pass(_ time: Duration, by deadline: MonotonicTime, _ run: TargetRun) throws(StepAborted) -> Bool {
    _ = try watch(until: min(.after(time), deadline), of: run) { nil as Void? }
    return time <= (scenario.ready?.within ?? time)
  }

  private func succeeds(_ command: Command, by deadline: MonotonicTime, _ run: TargetRun) throws(StepAborted) -> Bool {
    let end = try runHelper(command, until: deadline, of: run, atTargetEnd: .abort)
    if case .ended(let status, _) = end { readinessAnswer = .command(status: status) }
    return readinessAnswer == .command(status: .exited(code: 0))
  }

  private func isAccepted(host: String, port: Int?, by deadline: MonotonicTime) -> Bool {
    guard let port else { return false }
    return Connection.isAccepted(host: host, port: port, within: min(Self.connectTimeout, deadline.remaining))
  }

  private func isAccepted(atSocket path: String, by deadline: MonotonicTime) -> Bool {
    Connection.isAccepted(atSocket: path, within: min(Self.connectTimeout, deadline.remaining))
  }

  private func listener(at host: String, _ port: Int?, by deadline: MonotonicTime) -> Failure.Problem? {
    guard let port, isAccepted(host: host, port: port, by: deadline) else { return nil }
    return .alreadyInUse(resource: .port(number: port))
  }

  private static func exists(_ path: String) -> Bool { access(path.systemText, F_OK) == 0 }

  /// Whether a GET request gets an answer that is no error.
  private func isAnswered(_ url: String, by deadline: MonotonicTime, _ run: TargetRun) -> Bool {
    let time = deadline.remaining
    let response = httpClient().status(of: HTTPRequest(.init(url: url), within: time)) { [self] in
      run.refresh()
      return isInterrupted || run.hasEnded
    }
    switch response {
    case .success(let status):
      readinessAnswer = .status(code: status)
      return (200...399).contains(status)
    case .failure(let failure):
      // A last request without the time for an answer tells nothing.
      if readinessAnswer == nil || time > Self.connectTimeout { readinessAnswer = .noAnswer(reason: failure.problem) }
      return false
    }
  }

  func httpClient() -> HTTPClient {
    let client = client ?? HTTPClient()
    self.client = client
    return client
  }
}

extension Target.MainProcess {
  /// The rule for use in a failure.
  var asRule: End.MainProcessRule {
    switch self {
    case .pidfile(let path): .pidfile(path: path)
    case .name(let pattern): .name(pattern: pattern.source)
    }
  }
}
