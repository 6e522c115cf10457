import GateCore
import Glibc
import HTTPTransfer

extension Repetition {
  /// How long a daemon may take to show its main process where no `ready` says it.
  private static let mainProcessTime = Duration.seconds(30)
  private static let commandPause = Duration.milliseconds(100)
  /// How long a single try to connect may take; servers on this machine answer at once.
  private static let connectTime = Duration.milliseconds(500)

  /// Waits until the target is up, and its main process known.
  func awaitReadiness(of run: TargetRun) throws(StepAborted) {
    let deadline = MonotonicTime.after(scenario.ready?.within ?? Self.mainProcessTime)
    if let ready = scenario.ready {
      begin(Failure.Part(.ready, doing: ready.condition.displayText))
      guard try isReady(ready.condition, by: deadline, run) else {
        throw .notReady(.notReady(within: ready.within))
      }
    }
    try awaitMainProcess(of: run, by: deadline)
  }

  private func awaitMainProcess(of run: TargetRun, by deadline: MonotonicTime) throws(StepAborted) {
    guard let main = scenario.target.main else { return }
    beginStart()
    let found = try watch(until: deadline, pause: Self.tick, of: run) { run.main }
    guard found == nil else { return }
    throw .notReady(.noMainProcess(main.asRule, within: scenario.ready?.within ?? Self.mainProcessTime))
  }

  private func isReady(
    _ condition: Readiness.Condition,
    by deadline: MonotonicTime,
    _ run: TargetRun
  ) throws(StepAborted) -> Bool {
    switch condition {
    case .log(let pattern):
      var search = OutputSearch(for: pattern, from: .init())
      return try watch(until: deadline, on: [outputArrived.descriptor], of: run) {
        outputArrived.lower()
        return run.output.look(with: &search)
      } != nil
    case .delay(let time):
      let end = min(.after(time), deadline)
      _ = try watch(until: end, of: run) { nil as Void? }
      return time <= (scenario.ready?.within ?? time)
    case .command(let command):
      return try watch(until: deadline, pause: Self.commandPause, of: run) { () throws(StepAborted) -> Void? in
        guard case .ended(.exited(0), _) = try runHelper(command, until: deadline, of: run, atTargetEnd: .abort) else {
          return nil
        }
        return ()
      } != nil
    case .tcp, .unix, .http, .file:
      return try watch(until: deadline, pause: Self.tick, of: run) {
        isAnswered(condition, by: deadline, run) ? () : nil
      } != nil
    }
  }

  /// Tries once whether the target answers.
  private func isAnswered(_ condition: Readiness.Condition, by deadline: MonotonicTime, _ run: TargetRun?) -> Bool {
    let time = min(Self.connectTime, deadline.remaining)
    switch condition {
    case .tcp(let host, let port): return Connection.isAccepted(host: host, port: port, within: time)
    case .unix(let path): return Connection.isAccepted(atSocket: path, within: time)
    case .file(let path): return access(path, F_OK) == 0
    case .http(let url): return httpStatus(of: url, by: deadline, run).map((200...399).contains) ?? false
    case .log, .command, .delay: return false
    }
  }

  /// The status of an answer to a GET; nil where none comes.
  private func httpStatus(of url: String, by deadline: MonotonicTime, _ run: TargetRun?) -> Int? {
    let request = HTTPRequest(.init(url: url), within: deadline.remaining)
    return try? httpClient().status(of: request) { [self] in
      run?.refresh()
      return isInterrupted || run?.hasEnded == true
    }.get()
  }

  func httpClient() -> HTTPClient {
    let client = client ?? HTTPClient()
    self.client = client
    return client
  }
}

// MARK: - Before the start

extension Repetition {
  /// Fails where the sign of readiness is there before the target is started: it would be taken for the target's own.
  func checkNotReadyYet() throws(StepAborted) {
    guard let condition = scenario.ready?.condition else { return }
    begin(Failure.Part(.ready, doing: condition.displayText))
    let deadline = MonotonicTime.after(.seconds(1))
    switch condition {
    case .tcp(_, let port) where isAnswered(condition, by: deadline, nil):
      throw .failed(.alreadyInUse(.port(port)))
    case .unix(let path) where isAnswered(condition, by: deadline, nil):
      throw .failed(.alreadyInUse(.socket(path)))
    case .http(let url):
      // Whoever accepts connections there keeps the target from listening, whatever it answers.
      guard let server = try? HTTPAddress(parsing: url) else { return }
      let host = String(server.host.drop { $0 == "[" }.prefix { $0 != "]" })
      guard isAnswered(.tcp(host: host, port: server.port), by: deadline, nil) else { return }
      throw .failed(.alreadyInUse(.port(server.port)))
    case .file(let path) where isAnswered(condition, by: deadline, nil):
      throw .failed(.alreadyInUse(.file(path)))
    default: return
    }
  }
}

extension Readiness.Condition {
  /// The condition as it stands in the file.
  var displayText: String {
    switch self {
    case .log(let pattern): "log: \(pattern)"
    case .tcp("127.0.0.1", let port), .tcp("localhost", let port): "tcp: \(port)"
    case .tcp(let host, let port): "tcp: \(host):\(port)"
    case .unix(let path): "unix: \(path)"
    case .http(let url): "http: \(ShownURL.withoutCredentials(url))"
    case .file(let path): "file: \(path)"
    case .command(let command): "command: \(command)"
    case .delay(let time): "delay: \(time.displayText)"
    }
  }
}

extension Target.MainProcess {
  /// The rule as a part of a failure.
  var asRule: End.MainProcessRule {
    switch self {
    case .pidfile(let path): .pidfile(path)
    case .name(let pattern): .name(pattern: pattern.source)
    }
  }
}
