import GateCore

/// The places where cgroups of our own can be made, found by trying.
struct CgroupSite: Sendable {
  /// A folder in which we may make others.
  struct Place: Sendable, Equatable {
    let parent: String
    let version: CgroupVersion
  }

  typealias Finding = Result<Place, CgroupError>

  /// Where the memory of a tree can be counted and limited.
  let memory: Finding
  /// Where a tree can be frozen, and with v2 also killed at once; the same as ``memory`` where both are v2.
  let freezer: Finding

  /// The site of this process, looked for once.
  static let here = CgroupSite(in: .ofThisProcess, trying: CgroupTrial.attempt)

  init(memory: Finding, freezer: Finding) {
    self.memory = memory
    self.freezer = freezer
  }

  /// Looks for the places.
  ///
  /// - Parameters:
  ///   - map: where the runner stands.
  ///   - attempt: makes a cgroup in the folder and uses it, whose file of that name must be there; see ``CgroupTrial``.
  init(in map: CgroupMap, trying attempt: (_ folder: String, _ file: String) -> CgroupError?) {
    memory = Self.memoryPlace(in: map, trying: attempt)
    if case .success(let place) = memory, place.version == .v2 {
      freezer = memory
    } else {
      freezer = Self.freezerPlace(in: map, trying: attempt)
    }
  }

  private static func memoryPlace(in map: CgroupMap, trying attempt: (String, String) -> CgroupError?) -> Finding {
    place(in: map.memory) { folder in
      handOnMemory(in: folder) ?? attempt(folder.path, "memory.stat")
    }
  }

  /// v2 first: it kills what is frozen, and all at once.
  private static func freezerPlace(in map: CgroupMap, trying attempt: (String, String) -> CgroupError?) -> Finding {
    let unified = place(in: map.unified) { attempt($0.path, "cgroup.freeze") }
    if case .success = unified { return unified }
    let legacy = place(in: map.legacy("freezer")) { attempt($0.path, "freezer.state") }
    if case .success = legacy { return legacy }
    return map.unified == nil ? legacy : unified
  }

  /// The first folder without objection, from the runner's own cgroup upward; else the first objection.
  ///
  /// It goes no further up than to a limit: beyond it the target would escape that.
  private static func place(
    in hierarchy: CgroupMap.Hierarchy?,
    objection: (MemoryFolder) -> CgroupError?
  ) -> Finding {
    guard let hierarchy else { return .failure(.notMounted) }
    var first: CgroupError?
    for path in hierarchy.folders {
      let folder = MemoryFolder(path: path, version: hierarchy.version)
      guard let refusal = objection(folder) else {
        return .success(Place(parent: path, version: hierarchy.version))
      }
      first = first ?? refusal
      if folder.limit != nil { break }
    }
    return .failure(first ?? .notMounted)
  }

  /// Enables the memory controller for cgroups below the folder's; what prevents that, if anything.
  private static func handOnMemory(in folder: MemoryFolder) -> CgroupError? {
    guard folder.version == .v2 else { return nil }
    func has(_ file: String) -> Bool {
      let controllers = SmallFile.text(at: "\(folder.path)/\(file)") ?? ""
      return controllers.split(whereSeparator: \.isWhitespace).contains("memory")
    }
    if has("cgroup.subtree_control") { return nil }
    guard has("cgroup.controllers") else { return .noMemoryController(folder: folder.path) }
    do throws(SystemFailure) {
      try SmallFile.write("+memory", to: "\(folder.path)/cgroup.subtree_control")
      return nil
    } catch {
      let isBusy = error.code == LinuxCalls.Code.busy
      return isBusy ? .internalProcesses(folder: folder.path) : CgroupError(code: error.code, folder: folder.path)
    }
  }
}
