/// The memory cgroup of a process, version 1 or 2 (cgroups(7), Documentation/admin-guide/cgroup-v2.rst).
enum MemoryCgroup {
  /// The folder of a process's cgroup; nil where no hierarchy that counts memory can be seen.
  ///
  /// - Parameter own: The process's folder in `/proc`, with `cgroup` and `mountinfo`.
  /// - Returns: The folder, or nil.
  static func folder(of own: String) -> String? {
    let memberships = (SmallFile.text(at: "\(own)/cgroup") ?? "").split(separator: "\n").compactMap(Membership.init)
    let legacy = memberships.first { $0.controllers.contains("memory") }
    guard let membership = legacy ?? memberships.first(where: { $0.isUnified }) else { return nil }
    let mounts = SmallFile.words(at: "\(own)/mountinfo").compactMap(Mount.init)
    let fits = legacy == nil ? { $0.type == "cgroup2" } : { (mount: Mount) in mount.isLegacyMemory }
    return mounts.last(where: fits)?.folder(of: membership.path)
  }

  /// A line of `/proc/PID/cgroup`, as in `4:memory:/a` or `0::/a`.
  private struct Membership {
    let controllers: [Substring]
    let path: Substring
    let isUnified: Bool

    init?(_ line: Substring) {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      controllers = parts[1].split(separator: ",")
      path = parts[2]
      isUnified = parts[0] == "0" && parts[1].isEmpty
    }
  }

  /// A line of `/proc/PID/mountinfo`: root and mount point are the fourth and fifth word; behind a lone `-` stand the
  /// type, the source and the file system's options.
  private struct Mount {
    let root: Substring
    let point: Substring
    let type: Substring
    let isLegacyMemory: Bool

    init?(_ words: [Substring]) {
      guard let dash = words.firstIndex(of: "-"), dash > 5, words.count > dash + 3 else { return nil }
      root = words[3]
      point = words[4]
      type = words[dash + 1]
      isLegacyMemory = type == "cgroup" && words[dash + 3].split(separator: ",").contains("memory")
    }

    /// Where the cgroup is seen: a container's hierarchy is mounted from that container's own root.
    func folder(of path: Substring) -> String {
      if root != "/", path == root || path.hasPrefix("\(root)/") {
        return "\(point)\(path.dropFirst(root.count))"
      }
      return path == "/" ? String(point) : "\(point)\(path)"
    }
  }

  // MARK: Figures

  /// The lowest limit of the cgroup and of those above it that can be seen, in bytes; nil where there is none.
  static func limit(of folder: String) -> UInt64? {
    var lowest: UInt64?
    var path = folder[...]
    while !path.isEmpty {
      let files = ["\(path)/memory.max", "\(path)/memory.limit_in_bytes"]
      if let limit = files.lazy.compactMap(number).first { lowest = min(lowest ?? limit, limit) }
      path = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }
    return lowest
  }

  /// A limit; `max`, and version 1's number for none, which is just under 2^63, are nil.
  private static func number(in path: String) -> UInt64? {
    let limit = SmallFile.words(at: path).first?.first.flatMap { UInt64($0) }
    return limit.flatMap { $0 < 1 << 62 ? $0 : nil }
  }

  /// How many processes of the cgroup were killed for want of memory, by any limit or by the machine's; it only rises.
  static func oomKills(of folder: String) -> UInt64? {
    guard !folder.isEmpty else { return nil }
    let files = ["\(folder)/memory.events", "\(folder)/memory.oom_control"]
    let line = files.lazy.compactMap { file in SmallFile.words(at: file).first { $0.first == "oom_kill" } }.first
    return line?.dropFirst().first.flatMap { UInt64($0) }
  }
}
