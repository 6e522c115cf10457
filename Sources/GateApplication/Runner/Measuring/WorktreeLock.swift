/// Keeps other runs out of a worktree while this object is alive.
final class WorktreeLock: Sendable {
  /// The worktree's name.
  let worktree: String
  private let lock: FileLock

  /// Locks the first worktree of a folder that no other run uses.
  init(in folder: String) throws(FileError) {
    var number = 1
    while true {
      let name = number == 1 ? "worktree" : "worktree-\(number)"
      if let lock = try FileLock("\(folder)/\(name).lock") {
        self.lock = lock
        worktree = name
        return
      }
      number += 1
    }
  }
}
