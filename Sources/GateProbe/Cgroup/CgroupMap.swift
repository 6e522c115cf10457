/// Where the runner stands in the cgroup hierarchies that it can see (cgroups(7)).
struct CgroupMap: Sendable, Equatable {
  /// A mounted hierarchy that has a folder for the runner's own cgroup.
  struct Hierarchy: Sendable, Equatable {
    let version: CgroupVersion
    /// The controllers of a v1 hierarchy; empty for v2, whose folders list theirs themselves.
    let controllers: Set<String>
    /// The runner's own cgroup, then the ones around it, up to the highest that is mounted.
    let folders: [String]
  }

  /// In the order of the mounts.
  let hierarchies: [Hierarchy]

  /// Reads the map from the text of `/proc/self/cgroup` and of `/proc/self/mountinfo`.
  ///
  /// A hierarchy is left out where the runner's cgroup is not beneath what is mounted of it, as in some containers.
  init(membership: String, mounts: String) {
    let memberships = membership.split(separator: "\n").compactMap(Membership.init)
    hierarchies = mounts.split(separator: "\n").compactMap(Mount.init).compactMap { mount in
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

  /// The hierarchy in which the memory controller may be: a controller of v1 is not there for v2.
  var memory: Hierarchy? {
    legacy("memory") ?? unified
  }

  /// The runner's own memory cgroup, then the ones around it.
  var memoryFolders: [MemoryFolder] {
    memory.map { hierarchy in hierarchy.folders.map { MemoryFolder(path: $0, version: hierarchy.version) } } ?? []
  }
}

/// The two interfaces of cgroups; their files differ in names and in what they hold.
enum CgroupVersion: Sendable {
  case v1, v2
}

/// A line of `/proc/self/cgroup`, as in `4:memory:/jobs/7`, or `0::/jobs/7` for v2.
private struct Membership {
  let controllers: Set<String>
  /// The names of the cgroups from the root of the hierarchy to the runner's own.
  let path: [String]

  init?(_ line: Substring) {
    let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, let path = PlainPath.components(of: fields[2]) else { return nil }
    controllers = Set(fields[1].split(separator: ",").map(String.init))
    self.path = path
  }

  func belongs(to mount: Mount) -> Bool {
    mount.version == .v2 ? controllers.isEmpty : !controllers.isDisjoint(with: mount.options)
  }
}

/// A mount of cgroups, from a line of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
private struct Mount {
  let version: CgroupVersion
  /// The names from the hierarchy's root to the cgroup that is mounted; mostly none.
  let root: [String]
  let point: String
  /// Those of the hierarchy; the controllers of v1 are among them.
  let options: Set<String>

  init?(_ line: Substring) {
    let halves = line.firstRange(of: " - ").map { (line[..<$0.lowerBound], line[$0.upperBound...]) }
    guard let (first, second) = halves else { return nil }
    let place = first.split(separator: " ")
    let kind = second.split(separator: " ")
    guard place.count > 4, kind.count > 2, let root = PlainPath.components(of: Self.unescaped(place[3])[...]) else {
      return nil
    }
    switch kind[0] {
    case "cgroup": version = .v1
    case "cgroup2": version = .v2
    default: return nil
    }
    self.root = root
    point = Self.unescaped(place[4])
    options = Set(kind[2].split(separator: ",").map(String.init))
  }

  /// Space, tab, line feed and backslash stand as three octal digits behind a backslash.
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let code = UInt8(String(rest.prefix(3)) ?? "", radix: 8) else {
        bytes.append(byte)
        continue
      }
      bytes.append(code)
      rest = rest.dropFirst(3)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension CgroupMap.Hierarchy {
  fileprivate init?(of membership: Membership, in mount: Mount) {
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

/// Absolute paths that lead only downward.
private enum PlainPath {
  /// The names in a path; nil where it is not absolute, or has a `..`, by which the kernel names what lies outside of
  /// a cgroup namespace (cgroup_namespaces(7)).
  static func components(of path: Substring) -> [String]? {
    guard path.hasPrefix("/") else { return nil }
    let names = path.split(separator: "/").map(String.init)
    return names.contains("..") ? nil : names
  }
}
