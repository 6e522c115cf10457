import GateCore

/// The conditions of `ready`, one row each, and its timeout.
enum ReadyKeys {
  typealias Condition = Readiness.Condition

  static let conditions: [Key<Condition>] = [
    Key(
      "log", ValueForm<Pattern>.pattern.map(Condition.log), "the output matches a regular expression",
      example: #"ready: {log: "Ready to accept", within: 10s}"#),
    Key(
      "tcp", server, #"a connection is accepted: `PORT` (this machine) or `HOST:PORT`; `"{{port}}"` is a free port"#,
      example: #"ready: {tcp: "[::1]:7001"}"#),
    Key(
      "unix", ValueForm<String>.path.map(Condition.unix), "a connection to a socket is accepted",
      example: "ready: {unix: run/server.sock}"),
    Key(
      "http", ValueForm<String>.address.map(Condition.http),
      "a GET answers with a status from 200 to 399; requests to this machine use no proxy",
      example: #"ready: {http: "http://127.0.0.1:7001/health"}"#),
    Key(
      "file", ValueForm<String>.path.map(Condition.file), "the file exists", example: "ready: {file: run/ready}"),
    Key(
      "command", ValueForm<Command>.command.map(Condition.command), "the command, run every 100 ms, exits with 0",
      example: "ready: {command: [pg_isready, --quiet]}"),
    Key(
      "delay", ValueForm<Duration>.duration().map(Condition.delay), "this time has passed",
      example: "ready: {delay: 1s}"),
  ]

  static let within = Key(
    "within", .timeout, "how long the condition is waited for", standard: "`30s`", example: "within: 30s")

  static let table = KeyTable(
    "ready", of: "`ready`", conditions.map(\.row) + [within.row], only: conditions.map(\.row.name),
    example: "ready: {tcp: 7001, within: 10s}")

  static func readiness(_ fields: Fields) -> Readiness? {
    guard let entry = fields.only(), let key = conditions.first(where: { $0.row.name == entry.key.text }),
      let condition = key.read(entry.value, in: fields.context)
    else { return nil }
    var readiness = Readiness(condition)
    fields.take(within, into: &readiness.within)
    return readiness
  }

  /// `7001`, `host:7001` or `[::1]:7001`; a port alone is on the local machine.
  private static let server = ValueForm<Condition>(
    .any([.integer(1...65535), .pattern(#"^(.*:)?([0-9]{1,5}|\{\{ *port *\}\})$"#)])
  ) { value, row, context in
    guard let text = context.line(value, as: row.name, example: "tcp: 7001") else { return nil }
    let colon = text.lastIndex(of: ":")
    let port = colon.map { text[text.index(after: $0)...] } ?? text[...]
    let (number, isFree) = (Port.number(port), FreePort.fill(String(port), with: 1) == "1")
    if number != nil || isFree, let host = host(colon.map { text[..<$0] } ?? "127.0.0.1") {
      return .tcp(host: host, port: number)
    }
    context.printError(
      "`\(Shown.text(text))` is neither a port nor `host:port`",
      at: value.place,
      hint: "a port is a number from 1 to 65535, or `\"{{port}}\"`, such as `tcp: 7001` or `tcp: \"[::1]:7001\"`"
    )
    return nil
  }

  private static func host(_ text: Substring) -> String? {
    if text.hasPrefix("["), text.hasSuffix("]") {
      let address = text.dropFirst().dropLast()
      return address.contains(":") && !address.contains(" ") ? String(address) : nil
    }
    return text.isEmpty || text.contains(where: { ": []/@".contains($0) }) ? nil : String(text)
  }
}
