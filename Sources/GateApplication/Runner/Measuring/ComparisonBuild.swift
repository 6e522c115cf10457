import GateCore

/// Another build of the targets, run alternately with this one, with which the values are compared.
struct ComparisonBuild {
  /// What it is, for results.
  let note: Note
  /// nil if it is unknown.
  let commit: String?
  /// The root of its worktree; nil for a changed command.
  private let folder: String?
  /// The scenario with this build as its target; it keeps other runs out of the build's worktree.
  let scenario: (Scenario) throws(RunnerError) -> Scenario

  /// The build of a changed command; paths in it are relative to `folder`.
  init(_ command: ReplacedCommand, named text: String, from folder: String) {
    note = .comparedWithBuild(build: text)
    (commit, self.folder) = (nil, nil)
    scenario = { scenario throws(RunnerError) in try command.replacingTarget(of: scenario, from: folder) }
  }

  /// The build of a commit in its own worktree, where the whole scenario runs.
  init(_ build: CommitBuild) {
    note = .comparedWithCommit(revision: build.revision, commit: build.commit)
    (commit, folder) = (build.commit, build.folder)
    scenario = { $0.moved(to: build.folder) }
  }
}

extension ComparisonBuild {
  /// The checkout in which a suite runs to be compared with.
  func checkout(for suite: Scenario) throws(RunnerError) -> String {
    guard let folder else {
      throw RunnerError(
        problem: "`\(suite.name)` is a suite of tests, and --against replaces one program",
        place: suite.place.map { "\($0)" },
        hint: "compare it with a commit (`--against-ref REVISION`), or leave it out by naming the other scenarios")
    }
    return folder
  }
}

/// The other build to compare with, as the user gives it.
enum ComparisonSource: Sendable, Equatable {
  /// A program, a command, or variables (``ReplacedCommand``).
  case command(String)
  /// A revision of the repository, and the shell command that builds it, instead of the project file's.
  case revision(String, build: String?)

  /// The build; a commit is built now.
  fileprivate func build(
    of scenarios: [Scenario], in project: Project, log: String, _ invocation: Invocation
  ) throws -> ComparisonBuild {
    switch self {
    case .command(let text):
      return ComparisonBuild(try ReplacedCommand(parsing: text), named: text, from: invocation.workingDirectory)
    case .revision(let revision, let command):
      let build = try CommitBuild(revision, in: project.root)
      try build.prepare(with: command ?? scenarios.buildLine, log: log, invocation)
      return ComparisonBuild(build)
    }
  }

  /// The options of `check` that give it.
  var options: [String] {
    switch self {
    case .command(let text): ["--against", text]
    case .revision(let revision, let command): ["--against-ref", revision] + (command.map { ["--build", $0] } ?? [])
    }
  }
}

extension ComparisonSource? {
  /// Does work with the build, while other runs are kept out of its worktree; without a build, if there is no source.
  func whileBuilt<Result>(
    for scenarios: [Scenario], of project: Project, log: String, _ invocation: Invocation,
    _ work: (ComparisonBuild?) throws -> Result
  ) throws -> Result {
    let build = try self?.build(of: scenarios, in: project, log: log, invocation)
    return try withExtendedLifetime(build) { try work(build) }
  }
}
