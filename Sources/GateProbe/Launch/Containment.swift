import GateCore
import Glibc

/// A cgroup that a supervisor creates for its program, and removes when it is empty.
///
/// It may span several hierarchies (cgroup v1 has one for memory and another for the freezer). The program joins all of
/// them before its exec; the supervisor and the runner stay outside.
struct Containment: Sendable, Equatable {
  /// A file of the cgroup, and the text to write to it.
  struct Setting: Sendable, Equatable {
    var file: String
    var text: String
  }

  /// The absolute paths of the folders to create; their parents must exist.
  var folders: [String]
  /// Written in this order after the folders are created; the start fails if a write does.
  var settings: [Setting] = []
  /// The limit that the settings set.
  var limit: Bytes?
  /// Written before each round of kills, ignoring errors: thaws frozen processes, or kills all at once.
  var beforeKilling: [Setting] = []
}

extension Containment {
  /// Thaws and kills the remaining processes as far as the cgroup can; for use after the supervisor has died.
  func kill() {
    for setting in beforeKilling {
      try? SmallFile.write(setting.text, to: setting.file)
    }
  }

  /// Kills all processes of the folders, and waits briefly until they are gone.
  func killMembers() {
    let deadline = MonotonicTime.after(.seconds(1))
    repeat {
      kill()
      let members = folders.flatMap(Self.members)
      guard !members.isEmpty else { return }
      for pid in members { _ = LinuxCalls.send(SIGKILL, to: pid) { folders.flatMap(Self.members).contains($0) } }
      usleep(1000)
    } while !deadline.hasPassed
  }

  private static func members(of folder: String) -> [Int32] {
    (SmallFile.text(at: "\(folder)/cgroup.procs") ?? "").split(separator: "\n").compactMap { Int32($0) }
  }

  /// Removes the folders that the supervisor left: all of them if it died, and those that the target created inside.
  @discardableResult
  func remove() -> Bool {
    folders.map { Self.removeFolder($0) }.allSatisfy(\.self)
  }

  /// How long the kernel may treat a cgroup as busy after its last process was reaped.
  private static let removalTimeout = Duration.milliseconds(200)

  /// Removes an empty cgroup and the empty cgroups below it; waits briefly for processes that are exiting.
  ///
  /// - Returns: Whether it no longer exists.
  @discardableResult
  private static func removeFolder(_ path: String) -> Bool {
    let deadline = MonotonicTime.after(removalTimeout)
    while rmdir(path) != 0 {
      guard errno == EBUSY, !deadline.hasPassed else { return errno == ENOENT }
      for entry in SmallFolder.entries(of: path) where entry.isFolder { removeFolder("\(path)/\(entry.name)") }
      usleep(500)
    }
    return true
  }
}
