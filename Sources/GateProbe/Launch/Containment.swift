/// A cgroup that a shepherd makes for its program, and removes when nothing is left in it.
///
/// It may lie in several hierarchies (cgroup v1 has one for memory and another for the freezer); the program joins all
/// of them before its exec, while the shepherd and the runner stay outside.
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
  /// Thaws what is frozen and kills what is left, as far as the cgroup can; for when the shepherd has gone.
  func kill() {
    for setting in beforeKilling {
      try? SmallFile.write(setting.text, to: setting.file)
    }
  }

  /// Removes what the shepherd has left of it: all, if it has gone, and what the target has made in it.
  @discardableResult
  func remove() -> Bool {
    folders.map { CgroupFolder.remove($0) }.allSatisfy(\.self)
  }
}
