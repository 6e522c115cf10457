import GateCore
import LinuxSystem

/// Another commit of the repository, checked out and built in a git worktree.
///
/// The worktree is kept in git's own folder: the checkout is not touched, the artifacts do not contain it, and the next
/// build of another commit there is incremental. Each of several runs in one repository has its own.
struct CommitBuild {
  /// A branch, tag or other revision, as the user named it.
  let revision: String
  let commit: String
  /// The folder for the worktree and the record of its last build.
  private let parent: String
  /// The name of the worktree in it.
  private let worktree: String
  /// The repository's root.
  private let root: String
  /// Keeps other runs out of the worktree; nil if the caller does so.
  private let lock: WorktreeLock?

  /// What became of a checkout and its build.
  enum Outcome {
    case built
    case failed(Failure)
    case interrupted
  }

  /// Locks a worktree that no other run uses.
  ///
  /// - Throws: `RunnerError` if the folder is not in a git checkout, or if git does not know the revision.
  init(_ revision: String, in root: String) throws {
    guard let gitFolder = GitQuery.folder(of: root) else {
      throw RunnerError(
        problem: "cannot build \(TerminalText.safe(revision)): `\(root)` is not in a git checkout",
        hint: "to compare with a program instead, use `--against PROGRAM`")
    }
    let commit = try Self.commit(named: revision, in: root)
    let parent = Self.parent(in: gitFolder)
    try SafeFile.makeFolder(parent)
    let lock = try WorktreeLock(in: parent)
    self.init(commit, named: revision, in: root, gitFolder, worktree: lock.worktree, lockedBy: lock)
  }

  /// A commit in a worktree of its own name.
  init(
    _ commit: String, named revision: String, in root: String, _ gitFolder: String, worktree: String,
    lockedBy lock: WorktreeLock? = nil
  ) {
    (self.revision, self.commit, self.root, self.worktree, self.lock) = (revision, commit, root, worktree, lock)
    parent = Self.parent(in: gitFolder)
  }

  /// The folder for worktrees in git's own.
  static func parent(in gitFolder: String) -> String { "\(gitFolder)/highwater" }

  /// The commit that a revision names.
  static func commit(named revision: String, in root: String) throws(RunnerError) -> String {
    guard let commit = GitQuery.commit(named: revision, in: root) else {
      throw RunnerError(
        problem: "`\(revision)` is not a commit of this checkout, and neither is `origin/\(revision)`",
        hint: "fetch it first: a CI system often fetches only the commit under test")
    }
    return commit
  }

  /// The root of the worktree.
  var folder: String { "\(parent)/\(worktree)" }

  /// The revision and its commit, for messages.
  private var name: String { revision == commit ? "\(commit.prefix(9))" : "\(revision) (\(commit.prefix(9)))" }

  /// Checks the commit out and builds it, unless the last build was the same.
  ///
  /// Returns early after an interruption.
  ///
  /// - Parameters:
  ///   - command: A shell command, run in the worktree; nil if there is nothing to build.
  ///   - log: The path of the file for the build's output.
  ///   - invocation: Its measurer runs git and the build.
  /// - Throws: `RunnerError` if git or the build failed.
  func prepare(with command: String?, log: String, _ invocation: Invocation) throws {
    guard !isBuilt(by: command) else { return }
    invocation.console.say("building \(TerminalText.safe(name)) in a worktree")
    guard case .failed(let failure) = try build(with: command, log: log, invocation) else { return }
    throw error(failure, of: command, log: log, invocation)
  }

  /// The error for a failed build, after the last lines of its output.
  func error(_ failure: Failure, of command: String?, log: String, _ invocation: Invocation) -> RunnerError {
    for line in OutputLines.of(failure.output).suffix(20) { invocation.console.say("  \(line)") }
    let cause = failure.end.map { "`\(command ?? ":")`: \($0.displayText)" } ?? failure.displayText
    return RunnerError(
      problem: "cannot build \(name): \(cause)", hint: "see the output in `\(invocation.shown(log))`")
  }

  /// Whether the last build in the worktree was the same, and its files are as that build left them.
  func isBuilt(by command: String?) -> Bool {
    guard let state = state(after: command) else { return false }
    return intactBuild == state
  }

  /// The state after the last build, if it succeeded and its files are as it left them; a state never contains NUL.
  ///
  /// What a scenario has written beside them is removed.
  private var intactBuild: String? {
    guard let bytes = try? SafeFile.read(record, atMost: Self.longestRecord), let end = bytes.firstIndex(of: 0) else {
      return nil
    }
    let files = BuiltFiles(parsing: String(systemBytes: Array(bytes[(end + 1)...]))[...])
    guard files.areUnchanged(in: folder), files.removeNewFiles(in: folder) else { return nil }
    return String(systemBytes: Array(bytes[..<end]))
  }

  private static let longestRecord = 256 << 20

  /// Checks the commit out and builds it, unless the last build was the same; a failed build is an outcome.
  func outcome(of command: String?, log: String, _ invocation: Invocation) throws(FileError) -> Outcome {
    isBuilt(by: command) ? .built : try build(with: command, log: log, invocation)
  }

  private func build(with command: String?, log: String, _ invocation: Invocation) throws(FileError) -> Outcome {
    // Another commit is built upon what the last build left, unless somebody has changed that.
    let isIntact = intactBuild != nil
    // A build that fails or is interrupted leaves a state that is not the last one any more.
    try SafeFile.makeFolder(parent)
    try SafeFile.write([], to: record)
    invocation.console.show(.repetitionStarted(Progress.Repetition(scenario: ScenarioName("build"), number: 1, of: 1)))
    let scenario = scenario(building: command, upon: isIntact, invocation)
    defer { invocation.console.endProgress() }
    for attempt in 1... {
      guard let recording = invocation.measurer.measure(scenario, output: log, keepsInterrupted: false) else {
        return .interrupted
      }
      guard let failure = recording.failure(in: scenario, loop: nil) else { break }
      guard failure.part?.kind == .setup, attempt < Self.checkouts else { return .failed(failure) }
    }
    if let state = state(after: command), let files = BuiltFiles(in: folder) {
      try SafeFile.write("\(state)\0\(files.text)".systemBytes, to: record)
    }
    return .built
  }

  /// How often a checkout is tried: `git worktree add` reads all worktrees, and fails while another run adds its own.
  private static let checkouts = 5

  /// The file with the last build.
  private var record: String { "\(folder).built" }

  /// The state of the worktree, if the build was the last one; nil if it is not a worktree with the commit.
  private func state(after command: String?) -> String? {
    guard GitQuery.hasWorktree(folder, in: root),
      let changes = GitQuery.hashOfChanges(since: commit, in: folder)
    else { return nil }
    return "\(commit)\n\(command ?? "")\n\(changes)\n"
  }

  /// The checkout and the build as a scenario.
  private func scenario(building command: String?, upon isIntact: Bool, _ invocation: Invocation) -> Scenario {
    var scenario = Scenario.building(.shell(command ?? ":"), in: folder, invocation)
    // The folder may not exist before the setup.
    scenario.root = root
    scenario.setup = checkout(upon: isIntact).map { .arguments($0) }
    return scenario
  }

  /// The commands that check the commit out; `isIntact` keeps what git ignores, such as the products of the last build.
  private func checkout(upon isIntact: Bool) -> [[String]] {
    let git = ["git", "-c", "core.hooksPath=/dev/null"]
    guard GitQuery.hasWorktree(folder, in: root), let state = GitQuery.folder(of: folder) else {
      // What is left of a worktree that was removed, or belongs to another copy of the repository.
      // Forced twice, git takes its place also if it was locked. Pruning would remove what other runs are adding.
      return [
        ["rm", "-rf", folder], git + ["worktree", "add", "--force", "--force", "--detach", folder, commit],
      ]
    }
    // A run that was killed during a checkout leaves the lock; nobody else works in this worktree.
    return [
      ["rm", "-f", "\(state)/index.lock"], git + ["-C", folder, "checkout", "--quiet", "--force", "--detach", commit],
      git + ["-C", folder, "clean", isIntact ? "-ffdq" : "-ffdxq"],
    ]
  }
}
