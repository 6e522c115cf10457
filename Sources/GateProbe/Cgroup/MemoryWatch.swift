import GateCore
import Glibc

/// Watches what the kernel counts and logs of its OOM killer, from before a start until after the end.
final class MemoryWatch {
  private let cgroup: Cgroup?
  /// The runner's own memory cgroup and those around it.
  private let around: [MemoryFolder]
  /// The nearest of them that counts kills: the one that processes without a memory cgroup of their own belong to.
  private let shared: MemoryFolder?
  private let sharedBefore: Int64?
  private let machineBefore: Int64?
  private let log: KernelLog?

  /// How long a counter or the log may take to show a kill (systemd/systemd#39342).
  private static let patience = Duration.milliseconds(200)

  /// Begins to watch; to be called before the target is started.
  init(cgroup: Cgroup?, map: CgroupMap = .ofThisProcess) {
    self.cgroup = cgroup
    around = map.memoryFolders
    shared = around.first { $0.ownKills != nil }
    sharedBefore = shared?.ownKills
    machineBefore = Self.machineKills()
    log = KernelLog()
  }

  /// Adds what was seen to the evidence of an end; to be called before the cgroup is removed.
  ///
  /// The evidence has the status, the signals that were sent, the main process, the processes of the tree and their
  /// last resident memory. Where they leave a SIGKILL unexplained, and nothing shows a kill, it waits a while for it.
  func complete(_ evidence: inout EndEvidence) {
    readLimits(into: &evidence.memory)
    readCounters(into: &evidence.memory)
    guard case .signaled(.kill, _) = evidence.status, !evidence.sentSignals.contains(.kill) else { return }
    let deadline = MonotonicTime.after(Self.patience)
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
    // The cgroup is new, so that it has counted nothing before.
    memory.ownKills = count(0, cgroup?.memory?.kills)
    memory.limitHits = count(0, cgroup?.memory?.limitHits)
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
    let folders = [cgroup?.memory].compactMap(\.self) + around
    memory.limit = folders.compactMap(\.limit).min()
    memory.limitIsOwn = cgroup?.limit != nil && cgroup?.memory?.limit == memory.limit
  }
}

// MARK: - Whose kill it was

extension MemoryWatch {
  /// The kill, where it was certainly one of the tree.
  ///
  /// Where the log names the cgroup of the process, and the target has one of its own, that decides: no other cgroup has
  /// its name. Else the number of the process does, where the log numbers processes as we do.
  private func loggedKill(_ kill: KernelKill, in memory: MemoryEvidence) -> MemoryEvidence.LoggedKill? {
    let numbersAreOurs = LinuxCalls.isInFirstProcessNamespace
    if let path = kill.cgroup, let cgroup, cgroup.memory != nil {
      guard path.split(separator: "/").contains(cgroup.name[...]) else { return nil }
    } else {
      let isOfTree = memory.processes.contains(kill.pid) || memory.mainProcess == kill.pid
      guard numbersAreOurs, isOfTree else { return nil }
    }
    let pid = numbersAreOurs ? kill.pid : nil
    return MemoryEvidence.LoggedKill(pid: pid, isOfCgroup: kill.isOfCgroup, line: kill.line)
  }

  /// Counts the living processes that are larger than the main one was; costs a look at every process.
  private func rankMainProcess(in memory: inout MemoryEvidence) {
    guard let last = memory.lastResident, memory.machineKills?.rise ?? 0 > 0 else { return }
    let others = LinuxCalls.descendantsByScan(of: 1).map(\.pid).filter { !memory.processes.contains($0) }
    memory.largerProcesses = others.count { pid in
      let text = SmallFile.bytes(at: "/proc/\(pid)/statm", atMost: 128) ?? []
      let pages = text.withUnsafeBytes { ProcText.residentPages(inStatm: $0) }
      return Bytes(pages * Int64(PageSize.bytes)) > last
    }
  }
}
