import GateCore
import Glibc

/// Makes a cgroup, has a process join it, and removes it again: the only sure way to know whether that is allowed.
enum CgroupTrial {
  /// What is in the way of cgroups in the folder, if anything.
  static func attempt(in folder: String, needing file: String) -> CgroupError? {
    switch LinuxCalls.tryCgroup(at: "\(folder)/\(CgroupName.new())", needing: file) {
    case 0: nil
    case -1: .noFile(file, folder: folder)
    case let code: CgroupError(code: code, folder: folder)
    }
  }
}

/// Names of our cgroups, as in `highwater-4711-9c1e…`: the runner's process, and a number that no other one has.
enum CgroupName {
  static func new() -> String {
    "highwater-\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))"
  }
}

/// Removing cgroups.
enum CgroupFolder {
  /// How long the kernel may take to count a cgroup as empty, after its last process was waited for.
  private static let patience = Duration.milliseconds(200)

  /// Removes a cgroup that is empty or about to be, and those that a target has made below it; one that holds processes
  /// stays.
  ///
  /// - Returns: Whether it is gone.
  @discardableResult
  static func remove(_ path: String) -> Bool {
    let deadline = MonotonicTime.after(patience)
    while rmdir(path) != 0 {
      guard errno == EBUSY, !deadline.hasPassed else { return errno == ENOENT }
      for entry in SmallFolder.entries(of: path) where entry.isFolder { remove("\(path)/\(entry.name)") }
      usleep(500)
    }
    return true
  }
}
