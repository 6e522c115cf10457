import GateCore
import Glibc

/// The cgroup of a repetition's target, which contains no other processes.
///
/// Valid after a supervisor has created its folders, and until they are removed.
struct Cgroup: Sendable {
  /// The last component of its path, which is unique.
  let name: String
  /// The folder of the memory controller; nil if that is unavailable.
  let memory: MemoryFolder?
  /// The scenario's `memory-limit`.
  let limit: Bytes?
  /// What the cgroup of a target that ran already had counted before; nil for one that is yet to be created.
  private let before: CgroupUsage?
  private let freezer: Freezer?

  /// Returns nil if the site has neither place, or no memory controller although a limit is set.
  init?(at site: CgroupSite, limit: Bytes? = nil) {
    name = CgroupName.new()
    let memoryPlace = try? site.memory.get()
    let freezerPlace = try? site.freezer.get()
    guard memoryPlace != nil || freezerPlace != nil && limit == nil else { return nil }
    memory = memoryPlace.map { [name] in MemoryFolder(path: "\($0.parent)/\(name)", version: $0.version) }
    freezer = freezerPlace.map { [name] in Freezer(path: "\($0.parent)/\(name)", version: $0.version) }
    self.limit = limit
    before = nil
  }

  /// The cgroup of a target that runs already; it is only read.
  init(of memory: MemoryFolder) {
    name = memory.path.split(separator: "/").last.map(String.init) ?? ""
    self.memory = memory
    (limit, freezer) = (nil, nil)
    before = memory.usage
  }

  /// What was counted since the start, or since the attach; nil without a memory controller.
  var usage: CgroupUsage? { before.map { memory?.usage.since($0) } ?? memory?.usage }

  /// The folders and settings for the supervisor.
  var containment: Containment {
    let folders = [memory?.path, freezer?.path == memory?.path ? nil : freezer?.path].compactMap(\.self)
    return Containment(
      folders: folders, settings: limitSettings, limit: limit, beforeKilling: freezer?.beforeKilling ?? [])
  }
}

// MARK: - Membership

extension Cgroup {
  /// Whether a process with this text of `/proc/<pid>/cgroup` is neither in it nor below it (cgroups(7)).
  func isLeft(by membership: String) -> Bool {
    guard let memory, before == nil else { return false }
    let line = membership.split(separator: "\n").first { line in
      let controllers = CgroupMembership.controllers(in: line)
      return memory.version == .v2 ? controllers.isEmpty : controllers.contains("memory")
    }
    return line.map { CgroupMembership($0)?.path.contains(name) != true } ?? false
  }
}

// MARK: - The limit

extension Cgroup {
  /// Limits memory without letting the target swap instead.
  ///
  /// v1 limits the sum of memory and swap to one page more: with equal limits the kernel hits the sum's first, which
  /// `memory.failcnt` does not count (seen on Linux 6.18). Without swap accounting, `memory.swappiness` keeps the
  /// cgroup's own reclaim from swapping.
  private var limitSettings: [Containment.Setting] {
    guard let limit, let memory else { return [] }
    let parent = String(memory.path.dropLast(name.utf8.count + 1))
    let countsSwap = CgroupSite.Place(parent: parent, version: memory.version).countsSwap
    func setting(_ file: String, _ value: Int64) -> Containment.Setting {
      Containment.Setting(file: "\(memory.path)/\(file)", text: "\(value)")
    }
    switch memory.version {
    case .v1:
      let ofSwap =
        countsSwap
        ? setting("memory.memsw.limit_in_bytes", limit.count + Int64(PageSize.bytes))
        : setting("memory.swappiness", 0)
      return [setting("memory.limit_in_bytes", limit.count), ofSwap]
    case .v2:
      return [setting("memory.max", limit.count)] + (countsSwap ? [setting("memory.swap.max", 0)] : [])
    }
  }
}

// MARK: - Freezing

extension Cgroup {
  /// How long a tree may take to freeze: each process must be scheduled once.
  ///
  /// The longest of 60 freezes on 2 CPUs took 2 ms, with 4 other busy processes 16 ms, with 16 of them 58 ms (Linux
  /// 6.18). A phase whose tree does not freeze is not exact, so a busier machine gets more time.
  static let freezeTimeout = Duration.seconds(1)

  /// Runs the body while all processes of the cgroup are frozen.
  ///
  /// - Returns: The result of the body; nil, without running it, if the freeze failed or timed out.
  func whileFrozen<Value>(within limit: Duration = freezeTimeout, _ body: () -> Value) -> Value? {
    guard freeze(within: limit) else { return nil }
    defer { thaw() }
    return body()
  }

  /// Freezes all processes; thaws them and returns false if that fails or times out.
  func freeze(within limit: Duration = freezeTimeout) -> Bool {
    freezer?.freeze(within: limit) ?? false
  }

  /// Thaws all processes; has no effect if they are not frozen.
  func thaw() {
    freezer?.thaw()
  }
}

/// The cgroup folder whose files freeze its processes.
private struct Freezer: Sendable {
  let path: String
  let version: CgroupVersion

  private var frozen: Containment.Setting { state(v1: "FROZEN", v2: "1") }
  private var thawed: Containment.Setting { state(v1: "THAWED", v2: "0") }

  private func state(v1: String, v2: String) -> Containment.Setting {
    version == .v1
      ? Containment.Setting(file: "\(path)/freezer.state", text: v1)
      : Containment.Setting(file: "\(path)/cgroup.freeze", text: v2)
  }

  /// A process frozen by v1 does not die before it is thawed; v2 kills frozen processes, all at once since Linux 5.14.
  var beforeKilling: [Containment.Setting] {
    version == .v1 ? [thawed] : [Containment.Setting(file: "\(path)/cgroup.kill", text: "1"), thawed]
  }

  func freeze(within limit: Duration) -> Bool {
    let deadline = MonotonicTime.after(limit)
    do throws(SystemFailure) { try SmallFile.write(frozen.text, to: frozen.file) } catch { return false }
    while !isFrozen {
      guard !deadline.hasPassed else {
        thaw()
        return false
      }
      usleep(50)
    }
    return true
  }

  func thaw() {
    try? SmallFile.write(thawed.text, to: thawed.file)
  }

  private var isFrozen: Bool {
    switch version {
    case .v1: SmallFile.text(at: frozen.file, atMost: 64) == "FROZEN\n"
    case .v2: FlatKeys.value(of: "frozen", in: SmallFile.text(at: "\(path)/cgroup.events", atMost: 256) ?? "") == 1
    }
  }
}
