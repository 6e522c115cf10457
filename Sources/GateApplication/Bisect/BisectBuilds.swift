import GateCore

/// The builds of a search: the good end in a worktree of its own, since it runs alternately with all other commits, and
/// those in another one.
struct BisectBuilds {
  let root: String
  let gitFolder: String
  let command: String?
  /// The file for the output of the latest build.
  let log: String
  let invocation: Invocation
  /// The commits that were built, or failed to build.
  private(set) var count = 0

  /// Of one length: a longer path may take another page of the stack.
  private static let names = (good: "bisect-good", other: "bisect-test")

  init(of range: CommitRange, in root: String, with command: String?, log: String, _ invocation: Invocation) {
    (self.root, gitFolder, self.command, self.log, self.invocation) = (root, range.gitFolder, command, log, invocation)
  }

  /// Does work while other searches are kept out of the worktrees, and of the stored answers.
  static func whileLocked<Result>(in gitFolder: String, _ work: () throws -> Result) throws -> Result {
    let parent = CommitBuild.parent(in: gitFolder)
    try SafeFile.makeFolder(parent)
    guard let lock = try FileLock("\(parent)/bisect.lock") else {
      throw RunnerError(problem: "another `bisect` is searching in this repository", hint: "wait for it to end")
    }
    return try lock.whileHeld(work)
  }

  /// Builds the good end, unless it is built; false after an interruption.
  mutating func prepareGood(_ commit: String, named revision: String) throws -> Bool {
    let build = good(commit, named: revision)
    if !build.isBuilt(by: command) { count += 1 }
    try build.prepare(with: command, log: log, invocation)
    return !invocation.isInterrupted
  }

  /// Builds a commit, unless it is built; an end, which has the name of its revision, must build.
  mutating func outcome(of commit: String, named name: String?) throws -> CommitBuild.Outcome {
    let build = other(commit, named: name ?? commit)
    if !build.isBuilt(by: command) { count += 1 }
    let outcome = try build.outcome(of: command, log: log, invocation)
    // A commit that git cannot check out is no fault of the commit.
    if case .failed(let failure) = outcome, name != nil || failure.part?.kind == .setup {
      throw build.error(failure, of: command, log: log, invocation)
    }
    return outcome
  }

  func good(_ scenario: Scenario) -> Scenario { scenario.moved(to: good("", named: "").folder) }

  func other(_ scenario: Scenario) -> Scenario { scenario.moved(to: other("", named: "").folder) }

  private func good(_ commit: String, named revision: String) -> CommitBuild {
    CommitBuild(commit, named: revision, in: root, gitFolder, worktree: Self.names.good)
  }

  private func other(_ commit: String, named revision: String) -> CommitBuild {
    CommitBuild(commit, named: revision, in: root, gitFolder, worktree: Self.names.other)
  }
}
