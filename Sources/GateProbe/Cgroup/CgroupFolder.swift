import GateCore
import Glibc

/// The folders of cgroups.
enum CgroupFolder {
  /// The folder of a cgroup: the path itself, or what it is below the root of the hierarchy that counts memory.
  static func path(of path: String, in map: CgroupMap = .ofThisProcess) -> String? {
    let roots = [map.memory, map.unified].compactMap { $0?.folders.last }
    return ([path] + roots.map { "\($0)\(path)" }).first { access("\($0)/cgroup.procs", F_OK) == 0 }
  }

  /// The memory cgroup of a process, or its v2 cgroup; nil if this process is in it as well, and so likely others.
  static func own(of pid: Int32) -> String? {
    let map = CgroupMap(
      membership: SmallFile.text(at: "/proc/\(pid)/cgroup") ?? "",
      mounts: SmallFile.text(at: "/proc/self/mountinfo", atMost: 1 << 20) ?? "")
    guard let folder = (map.memory ?? map.unified)?.folders.first else { return nil }
    return AttachedProcesses.members(ofCgroup: folder).contains(getpid()) ? nil : folder
  }

  /// The cgroup of a container, whose ID its name contains, from that of its first process: that one may have moved itself to
  /// a cgroup below, as systemd does.
  static func container(_ id: Substring, of folder: String) -> String {
    let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
    guard !id.isEmpty, let place = parts.firstIndex(where: { $0.contains(id) }) else { return folder }
    let whole = parts[...place].joined(separator: "/")
    let count = { (folder: String) in AttachedProcesses.members(ofCgroup: folder).count }
    return count(whole) > count(folder) ? whole : folder
  }
}

extension AttachedProcesses {
  /// The memory cgroup that counts all of them; nil without one.
  var memory: MemoryFolder? {
    guard let folder else { return nil }
    let version: CgroupVersion = access("\(folder)/cgroup.controllers", F_OK) == 0 ? .v2 : .v1
    let memory = MemoryFolder(path: folder, version: version)
    return CgroupMemoryReader(of: memory)?.read() == nil ? nil : memory
  }
}
