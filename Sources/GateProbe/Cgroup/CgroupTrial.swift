import GateCore
import Glibc

/// Makes a cgroup, has a process join it, and removes it again: the only sure way to know whether that is allowed.
enum CgroupTrial {
  /// What prevents cgroups in the folder, if anything.
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
