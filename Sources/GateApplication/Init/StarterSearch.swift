import GateCore

/// Finds a scenario that runs: builds what the repository seems to be, and runs what may be its program.
struct StarterSearch {
  let repository: Repository
  let invocation: Invocation
  /// The first failure, which most likely tells what is wrong.
  private(set) var failed: FailedStart?

  /// What cannot be built or run.
  struct FailedStart {
    let command: Command
    let isBuild: Bool
    let failure: Failure
  }

  /// More are not tried: each service takes seconds.
  private static let mostCandidates = 6

  init(in repository: Repository, _ invocation: Invocation) {
    (self.repository, self.invocation) = (repository, invocation)
  }

  /// The start of what the repository builds, or of a command in it; nil if nothing runs or after an interruption.
  mutating func starter(of command: [String]) -> Starter? {
    let repository = repository
    let kinds = ProjectKind.all.filter { $0.isPresent(repository) }
    guard command.isEmpty else {
      let words = repository.completed(command)
      let isMissing = words[0].contains("/") && !repository.has(words[0])
      let kind = kinds.first { repository.isUsed(by: words) && (!isMissing || $0.build(repository) != nil) }
      return starter(of: kind?.kind ?? .command, build: kind?.build(repository), isNamed: !isMissing) {
        [StartCandidate(kind?.kind == .python ? repository.inEnvironment(words) : words)]
      }
    }
    for kind in kinds where !invocation.isInterrupted {
      let candidates = { kind.candidates(repository).filter { $0.isBuilt(in: repository) } }
      if let found = starter(of: kind.kind, build: kind.build(repository), isNamed: false, candidates) { return found }
    }
    return nil
  }

  /// A program that the user named, and that is there, need not be built.
  private mutating func starter(
    of kind: Starter.Kind, build: String?, isNamed: Bool, _ candidates: () -> [StartCandidate]
  ) -> Starter? {
    var build = build
    if let command = build, !run(command) {
      guard isNamed, !invocation.isInterrupted else { return nil }
      // As where the documentation cannot be built on this machine.
      invocation.console.say(InitReport.withoutBuild(command))
      build = nil
    }
    var tried: [StartCandidate] = []
    for candidate in candidates() where !tried.contains(candidate) && tried.count < Self.mostCandidates {
      tried.append(candidate)
      var starter = repository.starter(of: kind, candidate)
      starter.build = build.map(repository.inFolder)
      invocation.console.say(InitReport.announcement(of: starter))
      let trial = StarterTrial(
        measurer: invocation.measurer, variables: starter.runtime?.frequentCollection ?? [:],
        routes: { [repository] in repository.routes })
      switch trial.outcome(for: starter.scenario) {
      case .works(let scenario, let time):
        (starter.scenario, starter.time) = (scenario, time)
        return starter
      case .fails(let failure): note(failure, of: starter.scenario.target.command, isBuild: false)
      case .interrupted: return nil
      }
    }
    return nil
  }

  /// Whether a build succeeds.
  private mutating func run(_ build: String) -> Bool {
    let command = Command.shell(repository.inFolder(build))
    let scenario = Scenario.building(command, in: repository.root, invocation)
    invocation.console.say("building with `\(TerminalText.safe(command.shellLine))`")
    guard let recording = invocation.measurer.measure(scenario, output: nil, keepsInterrupted: false) else {
      return false
    }
    guard let failure = recording.failure(in: scenario, loop: nil) else { return true }
    note(failure, of: command, isBuild: true)
    return false
  }

  private mutating func note(_ failure: Failure, of command: Command, isBuild: Bool) {
    if failed == nil { failed = FailedStart(command: command, isBuild: isBuild, failure: failure) }
  }
}

extension Repository {
  /// A command that the user typed, with the interpreter of a file that cannot be executed itself.
  func completed(_ command: [String]) -> [String] {
    guard isFile(command[0]), !isProgram(command[0]) else { return command }
    switch command[0].split(separator: ".").last {
    case "jar": return ["java", "-jar"] + command
    case "js", "mjs", "cjs": return ["node"] + command
    case "py": return ["python3"] + command
    default: return command
    }
  }

  /// A command whose program the build of a project in Python has installed.
  func inEnvironment(_ words: [String]) -> [String] {
    let installed = ".venv/bin/\(words[0])"
    return !words[0].contains("/") && has(installed) ? [installed] + words.dropFirst() : words
  }

  /// Whether a command starts something of the repository, so that it may have to be built: a path or a module.
  func isUsed(by words: [String]) -> Bool {
    words.contains { word in
      let module = word.prefix { $0 != ":" }.replacing(".", with: "/")
      return word.hasPrefix("./") || word.contains("/") && !word.hasPrefix("/") && !word.contains("://")
        || isFile(word) || has("\(module).py") || has("\(module)/__main__.py")
    }
  }

  /// A shell command that runs in ``folder``, for one that runs in ``root``.
  func inFolder(_ command: String) -> String {
    let path = PathText.relative(folder, to: root)
    return folder == root ? command : "cd \(ShellWords.quoted(path)) && \(command)"
  }
}
