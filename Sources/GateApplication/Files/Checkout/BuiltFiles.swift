import Glibc
import LinuxSystem

/// The files that a build has left in a worktree: whether any has changed since.
///
/// A file is the same while size, modification time, inode and mode are. Files that are new since the build, since a
/// program may write some each time it runs, are removed unless git ignores them.
struct BuiltFiles: Equatable {
  /// By the path relative to the folder: what `lstat(2)` says.
  private let facts: [String: String]

  /// In so large a tree nothing is known.
  private static let most = 200_000

  /// Reads the folder, without git's own; nil if it cannot be read or has too many files.
  init?(in folder: String) {
    var (facts, folders): ([String: String], [String]) = ([:], [""])
    while let path = folders.popLast() {
      let place = "\(folder)/\(path)"
      guard let entries = try? Descriptor.open(place, O_RDONLY | O_DIRECTORY).entries() else { return nil }
      for entry in entries where path != "" || entry.name != ".git" {
        let name = path + entry.name
        if entry.isFolder {
          folders.append(name + "/")
        } else {
          facts[name] = Self.facts(of: "\(folder)/\(name)")
        }
      }
      guard facts.count <= Self.most else { return nil }
    }
    self.facts = facts
  }

  /// The text of a record.
  var text: String {
    facts.keys.sorted().map { "\(facts[$0] ?? "") \($0)\0" }.joined()
  }

  /// Reads the text of a record.
  init(parsing text: Substring) {
    var facts: [String: String] = [:]
    for line in text.split(separator: "\0") {
      let parts = line.split(separator: " ", maxSplits: 1)
      if parts.count == 2 { facts[String(parts[1])] = String(parts[0]) }
    }
    self.facts = facts
  }

  /// Whether all of them are as they were in another folder, or in this one now.
  func areUnchanged(in folder: String) -> Bool {
    facts.allSatisfy { Self.facts(of: "\(folder)/\($0.key)") == $0.value }
  }

  /// Removes the files of the worktree that are new and not ignored by git; false if one may be left.
  func removeNewFiles(in folder: String) -> Bool {
    guard let files = GitQuery.untrackedFiles(in: folder) else { return false }
    return files.filter { facts[$0] == nil }.allSatisfy { unlink("\(folder)/\($0)".systemText) == 0 }
  }

  private static func facts(of path: String) -> String? {
    var facts = stat()
    guard lstat(path.systemText, &facts) == 0 else { return nil }
    let time = facts.st_mtim
    return "\(facts.st_size),\(time.tv_sec),\(time.tv_nsec),\(facts.st_ino),\(facts.st_mode)"
  }
}
