/// The condition for a target to be ready.
package struct Readiness: Sendable, Equatable {
  package enum Condition: Sendable, Equatable {
    case log(Pattern)
    /// Without a port: the one that is chosen for a repetition (``FreePort``).
    case tcp(host: String, port: Int?)
    /// The absolute path of a socket.
    case unix(String)
    case http(String)
    /// An absolute path.
    case file(String)
    /// Ready as soon as the command exits with 0.
    case command(Command)
    case delay(Duration)
    /// Ready as soon as the target has set this mark.
    case mark(String)
  }

  package var condition: Condition
  package var within: Duration

  package init(_ condition: Condition, within: Duration = .seconds(30)) {
    self.condition = condition
    self.within = within
  }
}

extension Readiness.Condition {
  /// The conditions, one row each, in the order of `project-file.md`.
  package enum Keys {
    fileprivate typealias Condition = Readiness.Condition
    fileprivate typealias Key = ScriptKey<Condition>

    fileprivate static let log = Key(
      "log", .pattern(Condition.log), "the output matches a regular expression",
      example: #"ready: {log: "Ready to accept", within: 10s}"#)
    fileprivate static let tcp = Key(
      "tcp", .server(Condition.tcp),
      #"a connection is accepted: `PORT` (this machine) or `HOST:PORT`; `"{{port}}"` is a free port"#,
      example: #"ready: {tcp: "[::1]:7001"}"#)
    fileprivate static let unix = Key(
      "unix", .path(Condition.unix), "a connection to a socket is accepted", example: "ready: {unix: run/server.sock}")
    fileprivate static let http = Key(
      "http", .address(Condition.http),
      "a GET answers with a status from 200 to 399; requests to this machine use no proxy",
      example: #"ready: {http: "http://127.0.0.1:7001/health"}"#)
    fileprivate static let file = Key(
      "file", .path(Condition.file), "the file exists", example: "ready: {file: run/ready}")
    fileprivate static let command = Key(
      "command", .command(Condition.command), "the command, run every 100 ms, exits with 0",
      example: "ready: {command: [pg_isready, --quiet]}")
    fileprivate static let delay = Key(
      "delay", .time(Condition.delay), "this time has passed", example: "ready: {delay: 1s}")
    fileprivate static let mark = Key(
      "mark", .name(Condition.mark), "the target has set [this mark](inside-the-target.md)",
      example: "ready: {mark: loaded}")

    package static let all: [ScriptKey<Readiness.Condition>] = [
      log, tcp, unix, http, file, command, delay, mark,
    ]
  }

  package var entry: ScriptEntry<Self> {
    switch self {
    case .log(let pattern): ScriptEntry(Keys.log, .pattern(pattern, Self.log), uses: .output)
    case .tcp(let host, let port): ScriptEntry(Keys.tcp, .server(host, port))
    case .unix(let path): ScriptEntry(Keys.unix, .path(path, Self.unix))
    case .http(let url): ScriptEntry(Keys.http, .address(url, Self.http))
    case .file(let path): ScriptEntry(Keys.file, .path(path, Self.file))
    case .command(let command): ScriptEntry(Keys.command, .command(command, Self.command))
    case .delay(let time): ScriptEntry(Keys.delay, .time(time))
    case .mark(let name): ScriptEntry(Keys.mark, .name(name))
    }
  }

  /// The condition in one line, as in the file of its scenario's project.
  package func description(in scenario: Scenario) -> String { entry.text(in: scenario) }

  /// The condition with changed texts.
  func map(_ change: (String) -> String) -> Self { entry.value.map?(change) ?? self }
}
