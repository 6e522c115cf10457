import GateCore
import Glibc
import Synchronization

/// The cgroup below the runner's own that takes all processes of that one.
///
/// The kernel enables the memory controller for the targets' cgroups only in a v2 cgroup without processes ("no internal
/// processes", cgroups(7)).
enum Leaf {
  private static let occupied = Mutex<[LinuxCalls.Leaf]>([])

  /// Moves the processes there until the runner ends; returns the error, if any.
  ///
  /// At a normal end the runner waits for it, so that it leaves no child to a container without an init process.
  static func occupy(_ folder: String) -> CgroupError? {
    do throws(SystemFailure) {
      let leaf = try LinuxCalls.occupyLeaf(of: folder)
      occupied.withLock { $0.append(leaf) }
      atexit { Leaf.occupied.withLock { $0.forEach(LinuxCalls.giveUp) } }
      return nil
    } catch {
      return CgroupError(code: error.code, folder: folder)
    }
  }
}

// MARK: - Delegation

extension CgroupMap {
  /// Whether the runner was moved to a leaf below the folder, by itself or by a runner that started before it.
  func isInLeaf(of folder: String) -> Bool {
    memoryFolders.first?.path == "\(folder)/\(LinuxCalls.leafName)"
  }

  /// Whether the folder is the runner's own v2 cgroup, and given to it as a whole: delegated, or a container's root.
  ///
  /// Other users than root can only write in what was delegated to them.
  func mayMoveProcesses(in folder: String) -> Bool {
    guard let own = unified?.folders, own.first == folder, !folder.hasSuffix("/\(LinuxCalls.leafName)") else {
      return false
    }
    // The root of the hierarchy has no such file, and may have processes.
    let isRootOfContainer = own.count == 1 && access("\(folder)/cgroup.events", F_OK) == 0
    return isRootOfContainer || geteuid() != 0 || LinuxCalls.isMarkedAsDelegated(folder)
  }

  /// Whether the user's own systemd manager runs, and can delegate the memory controller.
  var hasDelegatingManager: Bool {
    guard getenv("XDG_RUNTIME_DIR") != nil, let root = memory?.folders.last, memory?.version == .v2 else {
      return false
    }
    let user = geteuid()
    let manager = "\(root)/user.slice/user-\(user).slice/user@\(user).service"
    return MemoryFolder(path: manager, version: .v2).lists("memory", in: "cgroup.controllers")
  }
}
