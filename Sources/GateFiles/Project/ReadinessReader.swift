import GateCore

/// Reads `ready`.
struct ReadinessReader {
  static let conditions = ["log", "tcp", "unix", "http", "file", "command", "delay"]

  let context: ReadingContext

  func readiness(_ value: YAMLValue) -> Readiness? {
    guard
      let fields = Fields(
        value, of: "`ready`", known: Self.conditions + ["within"], example: "ready: {tcp: 7001, within: 10s}",
        in: context
      ), let entry = fields.only(of: Self.conditions, for: "`ready`", in: context),
      let condition = condition(entry)
    else { return nil }
    var readiness = Readiness(condition)
    fields.take("within", into: &readiness.within) {
      context.timeout($0, as: "within", example: "within: 30s")
    }
    return readiness
  }

  private func condition(_ entry: YAMLValue.Entry) -> Readiness.Condition? {
    let value = entry.value
    switch entry.key.text {
    case "log":
      return context.pattern(value, as: "log", example: "log: Ready to accept").map(Readiness.Condition.log)
    case "tcp": return server(value)
    case "unix":
      return context.path(value, as: "unix", example: "unix: run/server.sock").map(Readiness.Condition.unix)
    case "http": return context.address(value, as: "http").map(Readiness.Condition.http)
    case "file": return context.path(value, as: "file", example: "file: run/ready").map(Readiness.Condition.file)
    case "command": return context.command(value, as: "command").map(Readiness.Condition.command)
    default: return context.duration(value, as: "delay", example: "delay: 1s").map(Readiness.Condition.delay)
    }
  }

  /// `7001`, `host:7001` or `[::1]:7001`; a port alone is on the local machine.
  private func server(_ value: YAMLValue) -> Readiness.Condition? {
    guard let text = context.line(value, as: "tcp", example: "tcp: 7001") else { return nil }
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

  private func host(_ text: Substring) -> String? {
    if text.hasPrefix("["), text.hasSuffix("]") {
      let address = text.dropFirst().dropLast()
      return address.contains(":") && !address.contains(" ") ? String(address) : nil
    }
    return text.isEmpty || text.contains(where: { ": []/@".contains($0) }) ? nil : String(text)
  }
}
