/// The runner's position in the mounted cgroup hierarchies (cgroups(7)).
struct CgroupMap: Sendable, Equatable {
  /// A mounted hierarchy that contains the runner's own cgroup.
  struct Hierarchy: Sendable, Equatable {
    let version: CgroupVersion
    /// The controllers of a v1 hierarchy; empty for v2, which lists them in each folder.
    let controllers: Set<String>
    /// The runner's own cgroup, then its ancestors, up to the root of the mount.
    let folders: [String]
  }

  /// In mount order.
  let hierarchies: [Hierarchy]
  /// Whether a v1 hierarchy has the memory controller, mounted or not.
  private let hasLegacyMemory: Bool

  /// Parses the text of `/proc/self/cgroup` and of `/proc/self/mountinfo`.
  ///
  /// Skips a hierarchy if the runner's cgroup is not below its mounted root, as in some containers.
  init(membership: String, mounts: String) {
    let lines = membership.split(separator: "\n")
    let memberships = lines.compactMap(CgroupMembership.init)
    hasLegacyMemory = lines.contains { CgroupMembership.controllers(in: $0).contains("memory") }
    hierarchies = MountLine.all(in: mounts).compactMap(Mount.init).compactMap { mount in
      memberships.first { $0.belongs(to: mount) }.flatMap { Hierarchy(of: $0, in: mount) }
    }
  }

  /// The map of this process, read once.
  static let ofThisProcess = CgroupMap(
    membership: SmallFile.text(at: "/proc/self/cgroup") ?? "",
    mounts: SmallFile.text(at: "/proc/self/mountinfo", atMost: 1 << 20) ?? ""
  )

  /// The v1 hierarchy of a controller.
  func legacy(_ controller: String) -> Hierarchy? {
    hierarchies.first { $0.controllers.contains(controller) }
  }

  var unified: Hierarchy? {
    hierarchies.first { $0.version == .v2 }
  }

  /// The hierarchy that may have the memory controller: v2 cannot use a controller that v1 has.
  var memory: Hierarchy? {
    hasLegacyMemory ? legacy("memory") : unified
  }

  /// The runner's own memory cgroup, then its ancestors.
  var memoryFolders: [MemoryFolder] {
    memory.map { hierarchy in hierarchy.folders.map { MemoryFolder(path: $0, version: hierarchy.version) } } ?? []
  }
}

/// The two cgroup interfaces, with different files and formats.
enum CgroupVersion: Sendable {
  case v1, v2
}

/// A line of `/proc/<pid>/cgroup`, such as `4:memory:/jobs/7`, or `0::/jobs/7` for v2.
struct CgroupMembership {
  let controllers: Set<String>
  /// The path components from the root of the hierarchy to the process's cgroup.
  let path: [String]

  init?(_ line: Substring) {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, let path = PlainPath.components(of: fields[2]) else { return nil }
    controllers = Self.controllers(in: line)
    self.path = path
  }

  /// The controllers in any line, also in one whose path is outside of the cgroup namespace.
  static func controllers(in line: Substring) -> Set<String> {
    let fields = line.split(separator: ":", omittingEmptySubsequences: false)
    return Set(fields.dropFirst().first?.split(separator: ",").map(String.init) ?? [])
  }

  fileprivate func belongs(to mount: Mount) -> Bool {
    mount.version == .v2 ? controllers.isEmpty : !controllers.isDisjoint(with: mount.options)
  }
}

/// A cgroup mount.
private struct Mount {
  let version: CgroupVersion
  /// The path components from the root of the hierarchy to the mounted cgroup; usually none.
  let root: [String]
  let point: String
  /// The super options, which include the controllers of v1.
  let options: Set<String>

  init?(_ line: MountLine) {
    guard let root = PlainPath.components(of: line.root[...]), PlainPath.components(of: line.point[...]) != nil else {
      return nil
    }
    switch line.fileSystem {
    case "cgroup": version = .v1
    case "cgroup2": version = .v2
    default: return nil
    }
    (self.root, point, options) = (root, line.point, line.options)
  }
}

extension CgroupMap.Hierarchy {
  fileprivate init?(of membership: CgroupMembership, in mount: Mount) {
    guard membership.path.starts(with: mount.root) else { return nil }
    version = mount.version
    controllers = mount.version == .v2 ? [] : membership.controllers
    var folder = mount.point
    var downward = [folder]
    for name in membership.path.dropFirst(mount.root.count) {
      folder += "/\(name)"
      downward.append(folder)
    }
    folders = downward.reversed()
  }
}

/// Absolute paths without `..`.
private enum PlainPath {
  /// The components of a path; nil if it is relative or contains `..`, which the kernel shows for cgroups outside of
  /// the cgroup namespace (cgroup_namespaces(7)).
  static func components(of path: Substring) -> [String]? {
    guard path.hasPrefix("/") else { return nil }
    let names = path.split(separator: "/").map(String.init)
    return names.contains("..") ? nil : names
  }
}
