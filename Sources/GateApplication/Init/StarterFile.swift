import GateCore

/// The project file that `init` writes.
enum StarterFile {
  static func text(_ starter: Starter) -> String {
    let scenario = starter.scenario
    var lines = [
      "# yaml-language-server: $schema=\(ProjectSchema.installedPath)",
      "# A first scenario for Highwater, written by `highwater init`. project-file.md has every key.", "version: 1",
    ]
    if let build = starter.build { lines.append("build: \(YAMLText.line(build))") }
    lines += ["scenarios:", "  - name: \(YAMLText.word(scenario.name.text))"]
    let body = target(of: starter) + service(scenario)
    return (lines + body.map { "    " + $0 }).map { $0 + "\n" }.joined()
  }

  private static func target(of starter: Starter) -> [String] {
    let (target, root) = (starter.scenario.target, starter.scenario.root)
    var lines = ["target:", "  command: \(YAMLText.list(target.command.words))"]
    if target.workingDirectory != root {
      lines.append("  cwd: \(YAMLText.word(relative(target.workingDirectory, to: root)))")
    }
    let variables = target.environment.sorted { $0.key < $1.key }
    if !variables.isEmpty {
      lines.append("  env: {\(variables.map { "\($0): \(YAMLText.word($1))" }.joined(separator: ", "))}")
    }
    let collection = starter.runtime?.frequentCollection ?? [:]
    if !collection.isEmpty, collection.allSatisfy({ target.environment[$0.key] == $0.value }) {
      lines.append("  # The collector runs often, so that memory shows what the program holds (garbage-collected.md).")
    }
    return lines
  }

  private static func service(_ scenario: Scenario) -> [String] {
    guard let ready = scenario.ready else { return [] }
    var lines: [String] = []
    if case .delay = ready.condition {
      lines.append(
        "# No listening socket found. If this is a batch job rather than a service, delete `ready` and `steps`.")
    }
    lines += ["ready: {\(condition(ready.condition, in: scenario))}", "steps:"]
    lines += scenario.steps.flatMap { step($0, in: scenario) }.map { "  " + $0 }
    if let exits = scenario.expect?.exits { lines.append("expect: \(exits.map(String.init).joined(separator: ", "))") }
    return lines
  }

  private static func condition(_ condition: Readiness.Condition, in scenario: Scenario) -> String {
    switch condition {
    case .tcp("127.0.0.1", let port?): "tcp: \(port)"
    case .tcp("127.0.0.1", nil): "tcp: \(YAMLText.word(FreePort.placeholder))"
    case .tcp(let host, let port):
      "tcp: " + YAMLText.word(Readiness.Condition.address(host, port))
    case .unix(let path): "unix: \(YAMLText.word(relative(path, to: scenario.root)))"
    case .delay(let time): "delay: \(YAMLText.time(time))"
    default: condition.description(in: scenario)
    }
  }

  /// The lines of a step, with a comment on what to replace.
  private static func step(_ step: Step, in scenario: Scenario) -> [String] {
    switch step.action {
    case .wait(let time) where time > .seconds(1):
      ["# Run your client here, as in `- run: [./client, --all]`.", "- wait: \(YAMLText.time(time))"]
    case .wait(let time): ["- wait: \(YAMLText.time(time))"]
    case .repeat(let times, let steps):
      ["# Replace these with requests typical of your program."] + turns(times, of: steps.compactMap(request))
    default: ["- \(step.description(in: scenario))"]
    }
  }

  /// On one line if there is one request, and with a line for each of several.
  private static func turns(_ times: Int, of requests: [String]) -> [String] {
    guard requests.count > 1 else { return ["- repeat: {times: \(times), steps: [\(requests.joined())]}"] }
    return ["- repeat:", "    times: \(times)", "    steps:"]
      + requests.map { "      - \($0.dropFirst().dropLast())" }
  }

  private static func request(_ step: Step) -> String? {
    guard case .http(let call) = step.action else { return nil }
    let expected = call.expectedStatus.map { ", expect: \($0)" } ?? ""
    return "{http: {url: \(YAMLText.word(call.url)), times: \(call.times)\(expected)}}"
  }

  private static func relative(_ path: String, to root: String) -> String {
    path.hasPrefix("\(root)/") ? String(path.dropFirst(root.count + 1)) : path
  }
}

extension Starter {
  /// The runtime whose collector makes memory vary, by the program's name, or by the kind of project where a program has a
  /// name of its own: a repository may have programs of other kinds, too.
  var runtime: CollectedRuntime? {
    guard let program = scenario.target.command.words.first else { return nil }
    return switch kind {
    case .go: .go
    case .node where program.hasPrefix("node_modules/"): .node
    case .gradle where program.hasPrefix("build/"): .java
    default: CollectedRuntime(program: PathText.name(of: program))
    }
  }
}
