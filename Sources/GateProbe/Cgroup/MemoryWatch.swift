import GateCore
import Glibc

/// Watches the kernel's OOM kill counters and log, from before the target's start until after its end.
final class MemoryWatch {
  private let cgroup: Cgroup?
  /// The runner's own memory cgroup and its ancestors.
  private let enclosing: [MemoryFolder]
  /// The nearest of them that counts kills; it covers processes without a memory cgroup of their own.
  private let shared: MemoryFolder?
  /// 0 for a cgroup that is yet to be created.
  private let ownBefore: (kills: Int64, limitHits: Int64)
  private let sharedBefore: Int64?
  private let machineBefore: Int64?
  private let log: KernelLog?

  /// How long a kill may take to appear in a counter or the log (systemd/systemd#39342).
  private static let killReportDelay = Duration.milliseconds(200)

  /// Starts watching; call it before the target starts.
  init(cgroup: Cgroup?, map: CgroupMap = .ofThisProcess) {
    self.cgroup = cgroup
    enclosing = map.memoryFolders
    shared = enclosing.first { $0.ownKills != nil }
    ownBefore = (cgroup?.memory?.kills ?? 0, cgroup?.memory?.limitHits ?? 0)
    sharedBefore = shared?.ownKills
    machineBefore = Self.machineKills()
    log = KernelLog()
  }

  /// Adds the counters and log entries to the evidence of an end; call it before the cgroup is removed.
  ///
  /// The evidence must already have the status, the sent signals, the main process, the processes of the tree and their
  /// last resident memory. If a SIGKILL is unexplained and no OOM kill is visible yet, waits briefly for one to appear.
  func complete(_ evidence: inout EndEvidence) {
    readLimits(into: &evidence.memory)
    readCounters(into: &evidence.memory)
    guard case .signaled(.kill, _) = evidence.status, !evidence.sentSignals.contains(.kill) else { return }
    let deadline = MonotonicTime.after(Self.killReportDelay)
    while !showsKill(evidence.memory), !deadline.hasPassed {
      usleep(10_000)
      readCounters(into: &evidence.memory)
    }
    if evidence.memory.ownKills == nil, evidence.memory.sharedKills == nil { rankMainProcess(in: &evidence.memory) }
  }

  private func showsKill(_ memory: MemoryEvidence) -> Bool {
    !memory.log.isEmpty || [memory.ownKills, memory.sharedKills, memory.machineKills].contains { ($0?.rise ?? 0) > 0 }
  }

  private func readCounters(into memory: inout MemoryEvidence) {
    func count(_ before: Int64?, _ after: Int64?) -> MemoryEvidence.Count? {
      guard let before, let after else { return nil }
      return MemoryEvidence.Count(before: before, after: after)
    }
    memory.ownKills = count(ownBefore.kills, cgroup?.memory?.kills)
    memory.limitHits = count(ownBefore.limitHits, cgroup?.memory?.limitHits)
    memory.sharedKills = count(sharedBefore, shared?.ownKills)
    memory.machineKills = count(machineBefore, Self.machineKills())
    memory.log = (log?.kills() ?? []).compactMap { loggedKill($0, in: memory) }
  }

  private static func machineKills() -> Int64? {
    SmallFile.text(at: "/proc/vmstat").flatMap { FlatKeys.value(of: "oom_kill", in: $0) }
  }
}

// MARK: - Limits

extension MemoryWatch {
  private func readLimits(into memory: inout MemoryEvidence) {
    let folders = [cgroup?.memory].compactMap(\.self) + enclosing
    memory.limit = folders.compactMap(\.limit).min()
    memory.limitIsOwn = cgroup?.limit != nil && cgroup?.memory?.limit == memory.limit
  }
}

// MARK: - Attribution of kills

extension MemoryWatch {
  /// The kill, if it certainly hit the tree; else nil.
  ///
  /// If the log names the cgroup of the process, and the target has its own, the cgroup's unique name decides.
  /// Otherwise the pid decides, provided that the runner is in the pid namespace of the log.
  private func loggedKill(_ kill: KernelKill, in memory: MemoryEvidence) -> MemoryEvidence.LoggedKill? {
    let pidsMatchLog = KernelLog.isInInitialPIDNamespace
    if let path = kill.cgroup, let cgroup, cgroup.memory != nil {
      guard path.split(separator: "/").contains(cgroup.name[...]) else { return nil }
    } else {
      let isOfTree = memory.processes.contains(kill.pid) || memory.mainProcess == kill.pid
      guard pidsMatchLog, isOfTree else { return nil }
    }
    let pid = pidsMatchLog ? kill.pid : nil
    return MemoryEvidence.LoggedKill(pid: pid, isOfCgroup: kill.isOfCgroup, line: kill.line)
  }

  /// Counts the living processes that are larger than the main process was; reads `statm` of every process.
  private func rankMainProcess(in memory: inout MemoryEvidence) {
    guard let last = memory.lastResident, memory.machineKills?.rise ?? 0 > 0 else { return }
    let others = LinuxCalls.descendantsByScan(of: 1).map(\.pid).filter { !memory.processes.contains($0) }
    memory.largerProcesses = others.count { pid in
      let text = SmallFile.bytes(at: "/proc/\(pid)/statm", atMost: 128) ?? []
      let pages = text.withUnsafeBytes { ProcText.pages(inStatm: $0).resident }
      return Bytes(pages * Int64(PageSize.bytes)) > last
    }
  }
}
