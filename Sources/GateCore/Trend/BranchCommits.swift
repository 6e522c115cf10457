/// The commits of a branch in the order of their first runs.
///
/// Scenarios and environments are measured in different runs, so their steps are compared by commit. A run without a
/// commit has a position of its own.
struct BranchCommits {
  private(set) var count = 0
  /// By index of the run in ``Trend/runs``.
  private var positions: [Int: Int] = [:]

  init(of branch: String?, in runs: [RunInfo]) {
    var known: [String: Int] = [:]
    for (index, run) in runs.enumerated() where run.branch == branch {
      let position = run.commit.flatMap { known[$0] } ?? count
      if position == count { count += 1 }
      if let commit = run.commit { known[commit] = position }
      positions[index] = position
    }
  }

  subscript(run: Int) -> Int { positions[run] ?? 0 }
}
