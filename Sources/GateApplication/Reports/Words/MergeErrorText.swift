package import GateCore

extension MergeError {
  /// The errors that end the command, with their hints.
  package var diagnostics: [Diagnostic] { problems.map(\.diagnostic) }
}

extension MergeError.Problem {
  fileprivate var diagnostic: Diagnostic {
    switch self {
    case .notOfShard(let file):
      Diagnostic(
        place: file, problem: "not a shard result",
        hint: "merge the results of `highwater check --shard I/N`")
    case .different(let property, let file, let value, let other, let otherValue):
      Diagnostic(
        place: file, problem: "it is not of the same run as \(other): \(property.text(value, otherValue))",
        hint: property.hint)
    case .differentMachines(let file, let other, let differences):
      Diagnostic(
        place: file,
        problem: "it was not measured on the same kind of machine as \(other) "
          + "(\(other) → \(file)): \(TerminalText.withPlainSpaces(differences.displayText))",
        hint: "run all shards on machines of one kind, or ignore the difference with `environment: {ignore: …}`")
    case .sameShard(let index, let count, let files):
      Diagnostic(
        place: files.last, problem: "shard \(index) of \(count) occurs \(Self.times(files)): \(Self.list(files))",
        hint: "give each shard's result once, the latest one of a job that was repeated")
    case .sameScenario(let name, let files):
      Diagnostic(
        place: files.last, problem: "the scenario `\(name)` occurs \(Self.times(files)): \(Self.list(files))",
        hint: "give each shard's result once")
    }
  }

  private static func times(_ files: [String]) -> String { files.count == 2 ? "twice" : "\(files.count) times" }
  private static func list(_ files: [String]) -> String { files.joined(separator: ", ") }
}

extension MergeError.Property {
  /// The value of the file, and that of the other one; either may be empty.
  fileprivate func text(_ value: String, _ other: String) -> String {
    if self == .scenarios { return "the selected scenarios differ (\(value); \(other))" }
    return "\(noun) \(value.isEmpty ? "none" : value), not \(other.isEmpty ? "none" : other)"
  }

  private var noun: String {
    switch self {
    case .toolVersion: "version of \(Tool.name)"
    case .commit: "commit"
    case .branch: "branch"
    case .pullRequest: "pull request"
    case .shardCount: "number of shards"
    case .scenarios: "scenarios"
    case .comparisonBuild: "build for comparison"
    }
  }

  fileprivate var hint: String {
    switch self {
    case .toolVersion: "use one version of \(Tool.name) in all jobs"
    case .commit, .branch, .pullRequest: "merge the results of one build"
    case .shardCount: "run all shards with the same number, as in `--shard 1/4` to `--shard 4/4`"
    case .scenarios: "run all shards with the same project file and the same names of scenarios"
    case .comparisonBuild: "run all shards with the same `--against`"
    }
  }
}
