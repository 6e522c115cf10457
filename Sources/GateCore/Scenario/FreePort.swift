/// `{{port}}` in the texts of a scenario: a TCP port that no program uses, chosen anew for each repetition.
package enum FreePort {
  package static let name = "port"
  package static let placeholder = "{{\(name)}}"

  /// The text with the port in place of each `{{port}}`.
  package static func fill(_ text: String, with port: Int) -> String {
    guard text.contains("{{") else { return text }
    return text.replacing(placeholder, with: "\(port)").replacing("{{ \(name) }}", with: "\(port)")
  }
}

extension Scenario {
  /// Whether a port has to be chosen.
  package var needsPort: Bool { filled(with: 1) != self }

  /// The scenario of a repetition that has this port.
  package func filled(with port: Int) -> Scenario {
    var filled = self
    let fill = { FreePort.fill($0, with: port) }
    filled.target = target.map(fill)
    filled.setup = setup.map { $0.map(fill) }
    filled.teardown = teardown.map { $0.map(fill) }
    filled.steps = steps.map { $0.map(fill) }
    if let ready { filled.ready?.condition = ready.condition.map(fill) }
    if case .tcp(let host, nil)? = ready?.condition { filled.ready?.condition = .tcp(host: host, port: port) }
    return filled
  }
}

// Each value with its texts changed.

extension Command {
  fileprivate func map(_ change: (String) -> String) -> Command {
    switch self {
    case .arguments(let words): .arguments(words.map(change))
    case .shell(let line): .shell(change(line))
    }
  }
}

extension Pattern {
  fileprivate func map(_ change: (String) -> String) -> Pattern {
    let changed = change(source)
    // Parsing compiles the pattern.
    return changed == source ? self : (try? Pattern(parsing: changed)) ?? self
  }
}

extension Target {
  fileprivate func map(_ change: (String) -> String) -> Target {
    var changed = self
    changed.command = command.map(change)
    changed.environment = environment.mapValues(change)
    changed.workingDirectory = change(workingDirectory)
    switch input {
    case .null, .pipe: break
    case .file(let path): changed.input = .file(change(path))
    case .text(let text): changed.input = .text(change(text))
    }
    switch main {
    case .pidfile(let path): changed.main = .pidfile(change(path))
    case .name(let pattern): changed.main = .name(pattern.map(change))
    case nil: break
    }
    return changed
  }
}

extension Readiness.Condition {
  fileprivate func map(_ change: (String) -> String) -> Self {
    switch self {
    case .log(let pattern): .log(pattern.map(change))
    case .unix(let path): .unix(change(path))
    case .http(let url): .http(change(url))
    case .file(let path): .file(change(path))
    case .command(let command): .command(command.map(change))
    case .tcp, .delay: self
    }
  }
}

extension Step {
  fileprivate func map(_ change: (String) -> String) -> Step {
    var changed = self
    switch action {
    case .run(var client):
      client.command = client.command.map(change)
      changed.action = .run(client)
    case .http(var call):
      (call.url, call.body) = (change(call.url), call.body.map(change))
      call.headers = call.headers.mapValues(change)
      changed.action = .http(call)
    case .send(let text): changed.action = .send(change(text))
    case .expectOutput(let pattern, let time): changed.action = .expectOutput(pattern.map(change), within: time)
    case .repeat(let times, let steps): changed.action = .repeat(times: times, steps: steps.map { $0.map(change) })
    case .phase, .signal, .wait, .settle, .mark: break
    }
    return changed
  }
}
