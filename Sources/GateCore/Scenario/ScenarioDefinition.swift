/// What the memory of a scenario depends on, so that a result can be compared with a later project file.
///
/// Values may be long, so only hashes are stored, one for each key of the project file. They are those of the texts in the
/// file: a hash of a variable's value would depend on the machine, and a secret could be guessed from it.
package struct ScenarioDefinition: Sendable, Hashable, Codable {
  /// The target's command, for messages; cut to ``mostOfCommand`` characters.
  package var command: String
  /// A ``StableHash`` for each key of the scenario that is not empty or at its default.
  package var hashes: [String: String]

  private static let mostOfCommand = 1000

  /// The keys in the order of project-file.md.
  private static let keys = [
    "target", "setup", "teardown", "ready", "steps", "stop", "until", "memory-limit", "cpus", "isolation", "scale",
  ]

  /// The keys of the project file that differ.
  package func keysThatDiffer(from other: ScenarioDefinition) -> [String] {
    let all = Set(hashes.keys).union(other.hashes.keys).filter { hashes[$0] != other.hashes[$0] }
    return Self.keys.filter(all.contains) + all.subtracting(Self.keys).sorted()
  }
}

extension ScenarioDefinition {
  /// Timeouts, expected ends, the gate, warm-ups and the number of repetitions are not part of the definition.
  package init(of scenario: Scenario) {
    let texts = WrittenTexts(scenario: scenario)
    let parts: [String: [String]] = [
      "target": scenario.target.parts(texts),
      "setup": scenario.setup.flatMap(\.parts),
      "teardown": scenario.teardown.flatMap(\.parts),
      "ready": scenario.ready?.condition.entry.parts(texts) ?? [],
      "steps": scenario.steps.flatMap { $0.action.entry.parts(texts) },
      "stop": scenario.stop.signal == StopRule().signal ? [] : [scenario.stop.signal.name],
      "until": scenario.until.map { [$0.rawValue] } ?? [],
      "memory-limit": scenario.memoryLimit.map { ["\($0.count)"] } ?? [],
      "scale": scenario.scale.map { [$0.axis] + $0.values.map { "\($0)" } } ?? [],
      "cpus": scenario.isolation.cpuCount.map { ["\($0)"] } ?? [],
      "isolation": scenario.isolation.parts == Isolation().parts ? [] : scenario.isolation.parts,
    ]
    command = String(scenario.target.displayText.prefix(Self.mostOfCommand))
    // No text of a project file has NUL.
    hashes = parts.filter { !$1.isEmpty }.mapValues { StableHash.hexadecimal(of: $0.joined(separator: "\0")) }
  }
}

extension Scenario {
  package var definition: ScenarioDefinition { ScenarioDefinition(of: self) }
}

// MARK: - Parts

// Each value as a list of words. Lists are preceded by their length, so that different values have different words.

/// The paths and URLs of a scenario that are the same wherever the project is checked out.
struct WrittenTexts {
  let scenario: Scenario

  func path(_ path: String) -> String {
    let root = scenario.root
    if let written = scenario.writtenTexts[path] { return written }
    if path == root { return "." }
    return path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : path
  }

  /// The path and query of a URL; its host and port may differ between machines.
  func resource(of url: String) -> String {
    let url = scenario.asWritten(url)
    guard let scheme = url.firstRange(of: "://") else { return url }
    return String(url[scheme.upperBound...].drop { $0 != "/" && $0 != "?" })
  }
}

extension Command {
  var parts: [String] {
    switch self {
    case .arguments(let words): ["command", "\(words.count)"] + words
    case .shell(let line): ["shell", line]
    }
  }
}

extension Target {
  fileprivate func parts(_ texts: WrittenTexts) -> [String] {
    if runsAlready { return (running?.parts(texts) ?? []) + (main?.parts(texts) ?? []) }
    let variables = environment.map { "\($0)=\($1)" }.sorted()
    let inherited = inheritedEnvironment.sorted()
    return (running?.parts(texts) ?? command.parts)
      + ["\(variables.count)"] + variables + ["\(inherited.count)"] + inherited
      + [texts.path(workingDirectory)] + input.parts(texts) + (main?.parts(texts) ?? [])
  }
}

extension RunningTarget {
  /// The number of a process is another one in each run.
  fileprivate func parts(_ texts: WrittenTexts) -> [String] {
    switch self {
    case .pid: [key]
    case .pidfile(let path), .cgroup(let path): [key, texts.path(path)]
    case .unit(let name, _), .container(let name): [key, name]
    case .image(let image):
      [key, image.name, "\(image.arguments.count)"] + image.arguments + ["\(image.options.count)"] + image.options
    }
  }
}

extension Target.Input {
  fileprivate func parts(_ texts: WrittenTexts) -> [String] {
    switch self {
    case .null: ["null"]
    case .pipe: ["pipe"]
    case .file(let path): ["file", texts.path(path)]
    case .text(let text): ["text", text]
    }
  }
}

extension Target.MainProcess {
  fileprivate func parts(_ texts: WrittenTexts) -> [String] {
    switch self {
    case .pidfile(let path): ["pidfile", texts.path(path)]
    case .name(let pattern): ["name", pattern.source]
    }
  }
}

extension Isolation {
  fileprivate var parts: [String] {
    ["\(randomAddresses)", hugePages.rawValue, cpus.map { $0.map(String.init).joined(separator: ",") } ?? "all"]
      + [tracer.rawValue]
  }
}
