/// The commits of a branch in the order of their first runs.
///
/// Scenarios and environments are measured in different runs, so their steps are compared by commit. A run without a
/// commit has a position of its own.
struct BranchCommits {
  private(set) var count = 0
  /// By index of the run in ``Trend/runs``.
  private var positions: [Int: Int] = [:]
  /// By commit, or by the ID of a run without one.
  private var known: [String: Int] = [:]

  init(of branch: String?, in runs: [RunInfo]) {
    for (index, run) in runs.enumerated() where run.branch == branch {
      let position = known[run.commit ?? run.id] ?? count
      if position == count { count += 1 }
      known[run.commit ?? run.id] = position
      positions[index] = position
    }
  }

  /// The position of a commit, or of a run without one; nil if the trend lacks it.
  func position(of commit: String) -> Int? { known[commit] }

  subscript(run: Int) -> Int { positions[run] ?? 0 }
}
