import GateCore
import Glibc

/// A cgroup that a supervisor makes for its program, and removes when nothing is left in it.
///
/// It may lie in several hierarchies (cgroup v1 has one for memory and another for the freezer); the program joins all
/// of them before its exec, while the supervisor and the runner stay outside.
struct Containment: Sendable, Equatable {
  /// A file of the cgroup, and what is to be written to it.
  struct Setting: Sendable, Equatable {
    var file: String
    var text: String
  }

  /// The folders to make, absolute; each one's parent is there.
  var folders: [String]
  /// Written once the folders are made, in this order; where one cannot be, the start has failed.
  var settings: [Setting] = []
  /// Written before each round of killing, where it can be: what thaws frozen processes, and what kills at once.
  var beforeKilling: [Setting] = []
}

extension Containment {
  /// Thaws what is frozen and kills what is left, as far as the cgroup can; for when the supervisor has gone.
  func kill() {
    for setting in beforeKilling {
      try? SmallFile.write(setting.text, to: setting.file)
    }
  }

  /// Removes what the supervisor has left of it: all, if it has gone, and what the target has made in it.
  @discardableResult
  func remove() -> Bool {
    folders.map { Self.removeFolder($0) }.allSatisfy(\.self)
  }

  /// How long the kernel may take to count a cgroup as empty, after its last process was waited for.
  private static let patience = Duration.milliseconds(200)

  /// Removes a cgroup that is empty or about to be, and those that a target has made below it; one that holds processes
  /// stays.
  ///
  /// - Returns: Whether it is gone.
  @discardableResult
  private static func removeFolder(_ path: String) -> Bool {
    let deadline = MonotonicTime.after(patience)
    while rmdir(path) != 0 {
      guard errno == EBUSY, !deadline.hasPassed else { return errno == ENOENT }
      for entry in SmallFolder.entries(of: path) where entry.isFolder { removeFolder("\(path)/\(entry.name)") }
      usleep(500)
    }
    return true
  }
}
