import GateCore
import GateFiles
import GateReports

/// Another commit of the repository, checked out and built in a git worktree.
///
/// The worktree is kept in git's own folder: the checkout is not touched, the artifacts do not contain it, and the next
/// build of another commit there is incremental.
struct CommitBuild {
  /// A branch, tag or other revision, as the user named it.
  let revision: String
  let commit: String
  /// The folder for the worktree and the record of its last build.
  private let parent: String
  /// The repository's root.
  private let root: String

  /// - Throws: `RunnerError` if the folder is not in a git checkout, or if git does not know the revision.
  init(_ revision: String, in root: String) throws(RunnerError) {
    guard let gitFolder = GitQuery.folder(of: root) else {
      throw RunnerError(
        problem: "--against-ref needs a git checkout, and git does not know one in `\(root)`",
        hint: "compare with a program instead: `--against PROGRAM`")
    }
    guard let commit = GitQuery.commit(named: revision, in: root) else {
      throw RunnerError(
        problem: "`\(revision)` is not a commit of this checkout, and neither is `origin/\(revision)`",
        hint: "fetch it first: a CI system often fetches only the commit under test")
    }
    (self.revision, self.commit, self.root) = (revision, commit, root)
    parent = "\(gitFolder)/highwater"
  }

  /// The root of the worktree.
  var folder: String { "\(parent)/worktree" }

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
    let built = "\(folder).built"
    let state = Array("\(commit)\n\(command ?? "")\n".utf8)
    guard (try? SafeFile.read(built, atMost: 1 << 20)) != state else { return }
    // A build that fails or is interrupted leaves a state that is not the last one any more.
    try SafeFile.makeFolder(parent)
    try SafeFile.write([], to: built)
    let name = "\(revision) (\(commit.prefix(9)))"
    invocation.console.say("building \(TerminalText.safe(name)) in a worktree")
    invocation.console.show(.repetitionStarted(Progress.Repetition(scenario: ScenarioName("build"), number: 1, of: 1)))
    let scenario = scenario(building: command, invocation)
    let measured = invocation.measurer.measure(scenario, output: log, keepsInterrupted: false)
    invocation.console.endProgress()
    guard let recording = measured else { return }
    guard let failure = recording.failure(in: scenario, loop: nil) else { return try SafeFile.write(state, to: built) }
    for line in OutputLines.of(failure.output).suffix(20) { invocation.console.say("  \(line)") }
    let cause = failure.end.map { "`\(command ?? ":")`: \($0.displayText)" } ?? failure.displayText
    throw RunnerError(
      problem: "cannot build \(name): \(cause)", hint: "see the output in `\(invocation.shown(log))`")
  }

  /// The checkout and the build as a scenario, so that their processes end with the run, as all others do.
  private func scenario(building command: String?, _ invocation: Invocation) -> Scenario {
    var target = Target(command: .shell(command ?? ":"), workingDirectory: folder)
    // Git sets variables such as GIT_DIR for its hooks, where a check may run.
    target.inheritedEnvironment = invocation.variables.keys.filter { !$0.hasPrefix("GIT_") }
    var scenario = Scenario(name: ScenarioName("build"), target: target)
    scenario.root = root
    scenario.setup = checkout.map { .arguments(["git", "-c", "core.hooksPath=/dev/null"] + $0) }
    scenario.timeout = .seconds(24 * 3600)
    scenario.interval = .seconds(1)
    scenario.isolation.randomAddresses = true
    scenario.isolation.tracer = .off
    return scenario
  }

  private var checkout: [[String]] {
    guard (try? SafeFile.read("\(folder)/.git", atMost: 4096)) != nil else {
      return [["worktree", "prune"], ["worktree", "add", "--force", "--detach", folder, commit]]
    }
    return [
      ["-C", folder, "checkout", "--quiet", "--force", "--detach", commit], ["-C", folder, "clean", "-ffdq"],
    ]
  }
}
