import Foundation

/// The cgroups that runs of Highwater make.
enum OwnCgroups {
  /// The folders, in any hierarchy, of the cgroups that one of the processes made.
  ///
  /// They are named `highwater-<pid>-…`, and are in the cgroup of the process or in one above it.
  static func made(by processes: [Int32]) -> [String] {
    places.flatMap { place in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
      return names.filter { name in processes.contains { name.hasPrefix("highwater-\($0)-") } }
        .map { "\(place)/\($0)" }
    }
  }

  /// The cgroups of this process and all above them, by the usual mounts (cgroups(7)).
  private static let places: [String] = {
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
