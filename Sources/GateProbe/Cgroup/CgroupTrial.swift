import GateCore
import Glibc

/// Creates a cgroup, has a process join it, and removes it: the only reliable test of the permission.
enum CgroupTrial {
  /// Why the folder cannot be used; nil if it can.
  static func attempt(in folder: String, needing file: String) -> CgroupError? {
    switch LinuxCalls.tryCgroup(at: "\(folder)/\(CgroupName.new())", needing: file) {
    case 0: nil
    case -1: .noFile(file: file, folder: folder)
    case let code: CgroupError(code: code, folder: folder)
    }
  }
}

/// Names for cgroups, such as `highwater-4711-9c1e…-5b20…`: the runner's pid and random numbers.
enum CgroupName {
  /// How the names of all runs begin.
  static let stem = "highwater-"

  /// How the names of this run begin.
  static let prefix = "\(stem)\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))-"

  static func new() -> String {
    prefix + String(UInt32.random(in: .min ... .max), radix: 16)
  }
}
