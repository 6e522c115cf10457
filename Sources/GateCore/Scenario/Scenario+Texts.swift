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
  func map(_ change: (String) -> String) -> Command {
    switch self {
    case .arguments(let words): .arguments(words.map(change))
    case .shell(let line): .shell(change(line))
    }
  }
}

extension Pattern {
  func map(_ change: (String) -> String) -> Pattern {
    let changed = change(source)
    // Parsing compiles the pattern.
    return changed == source ? self : (try? Pattern(parsing: changed)) ?? self
  }
}

extension Target {
  fileprivate func map(_ change: (String) -> String) -> Target {
    var changed = self
    changed.command = command.map(change)
    changed.running = running?.map(change)
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
