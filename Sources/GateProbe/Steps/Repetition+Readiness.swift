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
      begin(Failure.Part(.ready, doing: ready.condition.displayText(in: scenario)))
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

  private func isReady(
    _ condition: Readiness.Condition,
    by deadline: MonotonicTime,
    _ run: TargetRun
  ) throws(StepAborted) -> Bool {
    switch condition {
    case .log(let pattern):
      return try find(pattern, from: .init(), by: deadline, run) != nil
    case .delay(let time):
      let end = min(.after(time), deadline)
      _ = try watch(until: end, of: run) { nil as Void? }
      return time <= (scenario.ready?.within ?? time)
    case .command(let command):
      return try watch(until: deadline, pause: Self.commandInterval, of: run) { () throws(StepAborted) -> Void? in
        let end = try runHelper(command, until: deadline, of: run, atTargetEnd: .abort)
        if case .ended(let status, _) = end { readinessAnswer = .command(status: status) }
        return readinessAnswer == .command(status: .exited(code: 0)) ? () : nil
      } != nil
    case .tcp, .unix, .http, .file:
      return try watch(until: deadline, pause: Self.pollInterval, of: run) {
        isMet(condition, by: deadline, run) ? () : nil
      } != nil
    }
  }

  /// Checks a condition once.
  private func isMet(_ condition: Readiness.Condition, by deadline: MonotonicTime, _ run: TargetRun?) -> Bool {
    let time = min(Self.connectTimeout, deadline.remaining)
    switch condition {
    case .tcp(let host, let port):
      return port.map { Connection.isAccepted(host: host, port: $0, within: time) } ?? false
    case .unix(let path): return Connection.isAccepted(atSocket: path, within: time)
    case .file(let path): return access(path.systemText, F_OK) == 0
    case .http(let url): return isAnswered(url, by: deadline, run)
    case .log, .command, .delay: return false
    }
  }

  /// Whether a GET request gets an answer that is no error.
  private func isAnswered(_ url: String, by deadline: MonotonicTime, _ run: TargetRun?) -> Bool {
    let time = deadline.remaining
    let response = httpClient().status(of: HTTPRequest(.init(url: url), within: time)) { [self] in
      run?.refresh()
      return isInterrupted || run?.hasEnded == true
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

// MARK: - Before the start

extension Repetition {
  /// Fails if the readiness condition is met before the target starts, since the target would wrongly seem ready.
  func checkNotReadyYet() throws(StepAborted) {
    guard let condition = scenario.ready?.condition else { return }
    begin(Failure.Part(.ready, doing: condition.displayText(in: scenario)))
    let deadline = MonotonicTime.after(.seconds(1))
    switch condition {
    case .tcp(_, let port?) where isMet(condition, by: deadline, nil):
      throw .failed(.alreadyInUse(resource: .port(number: port)))
    case .unix(let path) where (path.split(separator: "/").last?.utf8.count ?? 0) > Connection.longestSocketName:
      throw .failed(.system(failure: SystemFailure(.connect, path: path, code: ENAMETOOLONG)))
    case .unix(let path) where isMet(condition, by: deadline, nil):
      throw .failed(.alreadyInUse(resource: .socket(path: scenario.asWritten(path))))
    case .http(let url):
      // Any listener on that port keeps the target from listening, whatever it responds.
      guard let server = try? HTTPAddress(parsing: url) else { return }
      let host = String(server.host.drop { $0 == "[" }.prefix { $0 != "]" })
      guard isMet(.tcp(host: host, port: server.port), by: deadline, nil) else { return }
      throw .failed(.alreadyInUse(resource: .port(number: server.port)))
    case .file(let path) where isMet(condition, by: deadline, nil):
      throw .failed(.alreadyInUse(resource: .file(path: scenario.asWritten(path))))
    default: return
    }
  }
}

extension Readiness.Condition {
  /// The condition as written in the file of its scenario's project.
  func displayText(in scenario: Scenario) -> String {
    switch self {
    case .log(let pattern): "log: \(pattern)"
    case .tcp(let host, let port):
      "tcp: " + (["127.0.0.1", "localhost"].contains(host) ? "" : "\(host):")
        + (port.map(String.init) ?? FreePort.placeholder)
    case .unix(let path): "unix: \(scenario.asWritten(path))"
    case .http(let url): "http: \(ShownURL.withoutCredentials(scenario.asWritten(url)))"
    case .file(let path): "file: \(scenario.asWritten(path))"
    case .command(let command): "command: \(command)"
    case .delay(let time): "delay: \(time.displayText)"
    }
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
