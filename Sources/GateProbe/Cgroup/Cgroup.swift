import GateCore
import Glibc

/// The cgroup of one repetition's target, in which nothing else runs.
///
/// It is a plan until a supervisor has made its folders, and invalid once they are removed.
struct Cgroup: Sendable {
  /// The last part of its path, which no other cgroup has.
  let name: String
  /// Where its memory is counted; nil where that is not possible.
  let memory: MemoryFolder?
  /// The scenario's `memory-limit`.
  let limit: Bytes?
  private let freezer: Freezer?

  /// Nil where the site has neither place, or no memory controller for the limit that is wanted.
  init?(at site: CgroupSite, limit: Bytes? = nil) {
    name = CgroupName.new()
    let memoryPlace = try? site.memory.get()
    let freezerPlace = try? site.freezer.get()
    guard memoryPlace != nil || freezerPlace != nil && limit == nil else { return nil }
    memory = memoryPlace.map { [name] in MemoryFolder(path: "\($0.parent)/\(name)", version: $0.version) }
    freezer = freezerPlace.map { [name] in Freezer(path: "\($0.parent)/\(name)", version: $0.version) }
    self.limit = limit
  }

  /// What the supervisor is to make, to set and to write before it kills.
  var containment: Containment {
    let folders = [memory?.path, freezer?.path == memory?.path ? nil : freezer?.path].compactMap(\.self)
    return Containment(folders: folders, settings: limitSettings, beforeKilling: freezer?.beforeKilling ?? [])
  }
}

// MARK: - The limit

extension Cgroup {
  /// Limits memory such that swap does not hide it.
  ///
  /// v1 limits the sum of memory and swap to one page more: with equal limits that one is met first, which
  /// `memory.failcnt` does not count (seen on Linux 6.18). Where swap is not accounted for, `memory.swappiness` keeps
  /// the cgroup's own reclaim from swapping.
  private var limitSettings: [Containment.Setting] {
    guard let limit, let memory else { return [] }
    let parent = String(memory.path.dropLast(name.utf8.count + 1))
    func setting(_ file: String, _ value: Int64) -> Containment.Setting {
      Containment.Setting(file: "\(memory.path)/\(file)", text: "\(value)")
    }
    switch memory.version {
    case .v1:
      let countsSwap = access("\(parent)/memory.memsw.limit_in_bytes", F_OK) == 0
      let ofSwap =
        countsSwap
        ? setting("memory.memsw.limit_in_bytes", limit.count + Int64(PageSize.bytes))
        : setting("memory.swappiness", 0)
      return [setting("memory.limit_in_bytes", limit.count), ofSwap]
    case .v2:
      let countsSwap = access("\(parent)/memory.swap.max", F_OK) == 0
      return [setting("memory.max", limit.count)] + (countsSwap ? [setting("memory.swap.max", 0)] : [])
    }
  }
}

// MARK: - Standing still

extension Cgroup {
  /// How long a tree may take to stand still: it does once each process was given a CPU.
  ///
  /// Of 60 times on 2 CPUs the longest took 2 ms, beside 4 busy processes 16 ms, beside 16 of them 58 ms (Linux 6.18).
  static let freezingTime = Duration.milliseconds(250)

  /// Runs the body while every process of the cgroup stands still.
  ///
  /// - Returns: What the body returned; nil, without running it, where they did not all stand still in time.
  func whileFrozen<Value>(within limit: Duration = freezingTime, _ body: () -> Value) -> Value? {
    guard freeze(within: limit) else { return nil }
    defer { thaw() }
    return body()
  }

  /// Stops all processes; false where they did not all stop in time, or cannot be stopped: they all continue then.
  func freeze(within limit: Duration = freezingTime) -> Bool {
    freezer?.freeze(within: limit) ?? false
  }

  /// Continues all processes; nothing happens to those that were not stopped.
  func thaw() {
    freezer?.thaw()
  }
}

/// The folder of a cgroup by which its processes can be frozen.
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

  /// What is frozen by v1 does not even die before it is thawed; v2 kills it, and all at once since Linux 5.14.
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
