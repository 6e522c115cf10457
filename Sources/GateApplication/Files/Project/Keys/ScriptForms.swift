import GateCore

// How the conditions of `ready` and the steps are read: once for each form of a value.

extension Key {
  /// A key of a script.
  init(_ key: ScriptKey<Value>) {
    self.init(key.name, ValueForm(key.form), key.meaning, standard: key.standard, example: key.example)
  }
}

extension ValueForm {
  fileprivate init(_ form: ScriptForm<Value>) {
    switch form {
    case .name(let make): self = ValueForm<String>.plainName.map(make)
    case .text(let make): self = ValueForm<String>.text.map(make)
    case .path(let make): self = ValueForm<String>.path.map(make)
    case .address(let make): self = ValueForm<String>.address.map(make)
    case .pattern(let make): self = ValueForm<Pattern>.pattern.map(make)
    case .server(let make): self = ServerForm.form.map { make($0.host, $0.port) }
    case .command(let make): self = ValueForm<Command>.command.map(make)
    case .time(let make): self = ValueForm<Duration>.duration().map(make)
    case .signal(let make): self = ValueForm<Signal>.signal.map(make)
    case .client(let make): self = .mapping(ClientKeys.table) { ClientKeys.client($0).map(make) }
    case .call(let make): self = .mapping(CallKeys.table) { CallKeys.call($0).map(make) }
    case .output(let make): self = .mapping(OutputKeys.table) { OutputKeys.expectation($0).map(make) }
    case .settling(let make): self = .mapping(SettleKeys.table) { make(SettleKeys.timeout($0)) }
    case .loop(let make): self = LoopKeys.form.map(make)
    }
  }
}

/// `7001`, `host:7001` or `[::1]:7001`; a port alone is on the local machine.
enum ServerForm {
  static let form = ValueForm<(host: String, port: Int?)>(
    .any([.integer(1...65535), .pattern(#"^(.*:)?([0-9]{1,5}|\{\{ *port *\}\})$"#)])
  ) { value, row, context in
    guard let text = context.line(value, as: row.name, example: "tcp: 7001") else { return nil }
    let colon = text.lastIndex(of: ":")
    let port = colon.map { text[text.index(after: $0)...] } ?? text[...]
    let (number, isFree) = (Port.number(port), FreePort.fill(String(port), with: 1) == "1")
    if number != nil || isFree, let host = host(colon.map { text[..<$0] } ?? "127.0.0.1") { return (host, number) }
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
