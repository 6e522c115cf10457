import Foundation

/// The cgroups that Highwater created.
enum OwnCgroups {
  /// The folders of the cgroups that these processes created, in any hierarchy.
  ///
  /// They are named `highwater-<pid>-…`, in the cgroup of the process or one of its ancestors. Those that were there
  /// before are of others: killed runs leave such folders, and the kernel reuses process IDs.
  static func created(by processes: [Int32], since before: Set<String>) -> [String] {
    all().filter { path in
      let name = path.split(separator: "/").last ?? ""
      return !before.contains(path) && processes.contains { name.hasPrefix("highwater-\($0)-") }
    }
  }

  static func all() -> [String] {
    ancestors.flatMap { ancestor in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: ancestor)) ?? []
      return names.filter { $0.hasPrefix("highwater-") }.map { "\(ancestor)/\($0)" }
    }
  }

  /// The cgroup of this process and its ancestors, at the usual mounts (cgroups(7)).
  private static let ancestors: [String] = {
    let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.split(separator: "\n") ?? []
    let all = lines.flatMap { line -> [String] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let roots = fields[1].isEmpty ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] : ["/sys/fs/cgroup/\(fields[1])"]
      return roots.flatMap { root in folders(down: String(fields[2]), from: root) }
    }
    return Set(all).sorted()
  }()

  private static func folders(down path: String, from root: String) -> [String] {
    path.split(separator: "/").reduce(into: [root]) { $0.append("\($0[$0.count - 1])/\($1)") }
  }
}
