import GateCore
import Glibc

/// The folders in which the runner can create cgroups, found by trying.
struct CgroupSite: Sendable {
  /// A folder in which the runner may create cgroups.
  struct Place: Sendable, Equatable {
    let parent: String
    let version: CgroupVersion

    /// Whether the kernel counts the swap of its cgroups, so that a limit can forbid it.
    ///
    /// The root of v2 has no file for limits, but the cgroups below it do.
    var countsSwap: Bool {
      let file = version == .v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max"
      if access("\(parent)/\(file)", F_OK) == 0 { return true }
      let isRoot = version == .v2 && access("\(parent)/memory.max", F_OK) != 0
      return isRoot && CgroupTrial.attempt(in: parent, needing: file) == nil
    }
  }

  typealias Finding = Result<Place, CgroupError>

  /// The place to count and limit the memory of a tree.
  let memory: Finding
  /// The place to freeze a tree, and with v2 also to kill it at once; equals ``memory`` if both are v2.
  let freezer: Finding

  /// The site of this process, determined once.
  static let current = CgroupSite(in: .ofThisProcess, trying: CgroupTrial.attempt, occupying: Leaf.occupy)

  init(memory: Finding, freezer: Finding) {
    self.memory = memory
    self.freezer = freezer
  }

  /// Searches for the places.
  ///
  /// - Parameters:
  ///   - map: the runner's position in the hierarchies.
  ///   - attempt: creates and uses a cgroup in the folder, and requires a file of that name in it; see ``CgroupTrial``.
  ///   - occupy: moves the processes of the folder's cgroup to a leaf; see ``Leaf``.
  init(
    in map: CgroupMap,
    trying attempt: @escaping (_ folder: String, _ file: String) -> CgroupError?,
    occupying occupy: @escaping (_ folder: String) -> CgroupError? = { .internalProcesses(folder: $0) }
  ) {
    memory = Self.place(in: map.memory) { folder in
      Self.enableMemoryController(in: folder, of: map, occupying: occupy) ?? attempt(folder.path, "memory.stat")
    }
    if case .success(let place) = memory, place.version == .v2 {
      freezer = memory
    } else {
      freezer = Self.freezerPlace(in: map, trying: attempt)
    }
  }

  /// Tries v2 first: it can kill frozen processes, all at once.
  private static func freezerPlace(in map: CgroupMap, trying attempt: (String, String) -> CgroupError?) -> Finding {
    let unified = place(in: map.unified) { attempt($0.path, "cgroup.freeze") }
    if case .success = unified { return unified }
    let legacy = place(in: map.legacy("freezer")) { attempt($0.path, "freezer.state") }
    if case .success = legacy { return legacy }
    return map.unified == nil ? legacy : unified
  }

  /// The first usable folder, from the runner's own cgroup upward; else the error of the first one.
  ///
  /// Stops at a folder with a memory limit: a cgroup above it would let the target escape the limit.
  private static func place(
    in hierarchy: CgroupMap.Hierarchy?,
    check: (MemoryFolder) -> CgroupError?
  ) -> Finding {
    guard let hierarchy else { return .failure(.notMounted) }
    var first: CgroupError?
    for path in hierarchy.folders {
      let folder = MemoryFolder(path: path, version: hierarchy.version)
      guard let error = check(folder) else {
        return .success(Place(parent: path, version: hierarchy.version))
      }
      first = first ?? error
      if folder.limit != nil { break }
    }
    return .failure(first ?? .notMounted)
  }

  /// Enables the memory controller for child cgroups of the folder; returns the error, if any.
  private static func enableMemoryController(
    in folder: MemoryFolder,
    of map: CgroupMap,
    occupying occupy: (String) -> CgroupError?
  ) -> CgroupError? {
    guard folder.version == .v2 else { return nil }
    if map.isInLeaf(of: folder.path) { return occupy(folder.path) }
    if folder.lists("memory", in: "cgroup.subtree_control") { return nil }
    guard folder.lists("memory", in: "cgroup.controllers") else { return .noMemoryController(folder: folder.path) }
    do throws(SystemFailure) {
      try SmallFile.write("+memory", to: "\(folder.path)/cgroup.subtree_control")
      return nil
    } catch {
      let isBusy = error.code == LinuxCalls.Code.busy
      if isBusy, map.mayMoveProcesses(in: folder.path) { return occupy(folder.path) }
      let found = CgroupError(code: error.code, folder: folder.path)
      return found == .notPermitted(folder: folder.path) && map.hasDelegatingManager
        ? .notDelegated(folder: folder.path) : found
    }
  }
}
