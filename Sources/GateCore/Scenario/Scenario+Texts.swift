extension Scenario {
  /// The scenario in another checkout of the repository: paths below its root are below that folder instead.
  package func moved(to folder: String) -> Scenario {
    var moved = mapTexts { text in
      text == root || text.hasPrefix(root + "/") ? folder + text.dropFirst(root.count) : text
    }
    moved.root = folder
    return moved
  }

  /// The scenario with each text of its commands, paths and steps changed.
  func mapTexts(_ change: (String) -> String) -> Scenario {
    var changed = self
    changed.target = target.map(change)
    changed.setup = setup.map { $0.map(change) }
    changed.teardown = teardown.map { $0.map(change) }
    changed.steps = steps.map { $0.map(change) }
    if let ready { changed.ready?.condition = ready.condition.map(change) }
    changed.writtenTexts = Dictionary(writtenTexts.map { (change($0), change($1)) }) { first, _ in first }
    return changed
  }
}

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
