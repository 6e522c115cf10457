import GateCore

/// The commits of a repository between two ends, along the first parents.
struct CommitRange: Equatable {
  let good: BisectResult.End
  let bad: BisectResult.End
  /// 0 is the good end.
  let commits: [String]
  /// The folder in which git stores the state of the checkout.
  let gitFolder: String

  /// - Throws: `RunnerError` if git does not know the ends, or if the good one is no ancestor of the bad one.
  init(from goodRevision: String, to badRevision: String, in root: String) throws(RunnerError) {
    guard let gitFolder = GitQuery.folder(of: root) else {
      throw RunnerError(
        problem: "bisect needs a git checkout, and git does not know one in `\(root)`",
        hint: "compare two programs instead: `highwater check --against PROGRAM`")
    }
    self.gitFolder = gitFolder
    good = BisectResult.End(revision: goodRevision, commit: try CommitBuild.commit(named: goodRevision, in: root))
    bad = BisectResult.End(revision: badRevision, commit: try CommitBuild.commit(named: badRevision, in: root))
    guard good.commit != bad.commit else {
      throw RunnerError(
        problem: "--good and --bad are the same commit, \(good.commit.prefix(9))",
        hint: "name an earlier commit as the good end")
    }
    try Self.requireAncestor(good, of: bad, in: root)
    guard let between = GitQuery.commits(after: good.commit, upTo: bad.commit, in: root), !between.isEmpty else {
      throw RunnerError(problem: "git does not list the commits from `\(goodRevision)` to `\(badRevision)`")
    }
    commits = [good.commit] + between
  }

  private static func requireAncestor(
    _ good: BisectResult.End,
    of bad: BisectResult.End,
    in root: String
  ) throws(RunnerError) {
    let base = GitQuery.mergeBase(of: good.commit, bad.commit, in: root)
    guard base != good.commit else { return }
    let hint =
      switch base {
      case nil: "fetch the whole history: a CI system often fetches only the latest commits"
      case bad.commit: "--good is newer than --bad; swap them"
      case let base?: "take the commit at which they part: `--good \(base.prefix(9))`"
      }
    throw RunnerError(
      problem: "`\(good.revision)` (\(good.commit.prefix(9))) is not an ancestor of `\(bad.revision)` "
        + "(\(bad.commit.prefix(9)))", hint: hint)
  }

  /// The part between two commits of the range; nil if one is not in it, or they are in another order.
  func part(from good: String, to bad: String) -> ClosedRange<Int>? {
    guard let lower = commits.firstIndex(of: good), let upper = commits.firstIndex(of: bad), lower < upper
    else { return nil }
    return lower...upper
  }
}
