import GateCore

/// The processes of a target that is attached to.
struct AttachedProcesses: Sendable, Equatable {
  /// The process whose end is the target's own.
  let leader: Int32
  /// The folder of the cgroup that has the target's processes; nil for the leader and its descendants.
  let folder: String?
  /// Whether they were started for this repetition, and end with it.
  var isOwn = false
  /// Whether the leader has yet to execute the program.
  var awaitsProgram = false

  /// The living processes and zombies, the leader first, each with its parent.
  func all() -> [(pid: Int32, parent: Int32)] {
    let first = LinuxCalls.parent(of: leader).map { [(pid: leader, parent: $0)] } ?? []
    guard let folder else { return first + LinuxCalls.descendants(of: leader) }
    let others = Self.members(ofCgroup: folder).filter { $0 != leader }
    return first + others.compactMap { pid in LinuxCalls.parent(of: pid).map { (pid: pid, parent: $0) } }
  }

  /// Whether a process belongs to the target.
  func contains(_ pid: Int32) -> Bool { pid == leader || all().contains { $0.pid == pid } }

  /// The processes of a cgroup and of those below it.
  static func members(ofCgroup folder: String) -> [Int32] {
    let own = (SmallFile.text(at: "\(folder)/cgroup.procs", atMost: 1 << 20) ?? "").split(separator: "\n")
      .compactMap { Int32($0) }
    let below = SmallFolder.entries(of: folder).filter(\.isFolder)
    return own + below.flatMap { members(ofCgroup: "\(folder)/\($0.name)") }
  }

  /// The process of a cgroup that the others come from: the oldest one whose parent is outside.
  static func leader(among pids: [Int32]) -> Int32? {
    let all = Set(pids)
    let stats = pids.compactMap { ProcessStat(of: $0) }.filter(\.isAlive)
    let roots = stats.filter { !all.contains($0.parent) }
    return (roots.isEmpty ? stats : roots).min { ($0.startTick, $0.pid) < ($1.startTick, $1.pid) }?.pid
  }
}
