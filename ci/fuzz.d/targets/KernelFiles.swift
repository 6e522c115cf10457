import Glibc

@testable import GateProbe
@testable import MemoryMarkers

private typealias Markers = MemoryMarkers.KernelLog

extension FuzzTarget {
  /// Files of `/proc` and of a cgroup in one folder, separated by zero bytes, as both the gate and LaunchReason read them.
  static let kernelFiles = FuzzTarget("kernel-files") { input in
    let names = ["stat", "cgroup", "mountinfo", "memory.pressure", "memory.max", "memory.events", "memory.stat"]
    let parts = input.parts(names.count + 1)
    for (name, text) in zip(names, parts) { Scratch.write(text, to: name) }
    try expectReadableInC(in: Scratch.folder)
    expectReadable(MemoryFolder(path: Scratch.folder, version: .v2))
    try expectReadableLog(parts[names.count])
  }

  private static func expectReadableInC(in folder: String) throws {
    _ = MemoryMarkers.ProcFile.word(in: folder, "/stat")
    _ = MemoryMarkers.ProcFile.number(in: folder, "/memory.stat", of: "anon", at: 1)
    _ = MemoryMarkers.ProcFile.osRelease(in: "\(folder)/stat")
    if let share = MemoryMarkers.ProcFile.memoryPressure(in: folder) {
      try promise(share.isFinite && share >= 0, "the pressure is negative")
    }
    if let process = MemoryMarkers.ProcFile.processIdentity(in: folder) {
      try promise(process.pid >= 0, "the pid is negative")
    }
    let cgroup = MemoryCgroup.folder(of: folder)
    try promise(cgroup.utf8.count < 1024 && !cgroup.utf8.contains(0), "the folder of the cgroup is too long")
    if let limit = MemoryCgroup.limit(of: folder) { try promise(limit < 1 << 62, "no limit counts as one") }
    _ = MemoryCgroup.oomKills(of: folder)
  }

  private static func expectReadable(_ folder: MemoryFolder) {
    _ = (folder.limit, folder.workingSet, folder.kills, folder.ownKills, folder.limitHits)
    _ = folder.lists("memory", in: "cgroup")
    _ = CgroupMemoryReader(of: folder)?.read()
  }

  private static func expectReadableLog(_ records: ArraySlice<UInt8>) throws {
    let path = Scratch.write(records, to: "kmsg")
    let record = String(decoding: records, as: UTF8.self)
    let kind = Markers.oomKill(of: 645, since: 0, record: record)
    guard records.count < 8192 else { return }
    var found: LaunchReason.OOMKind?
    if case .named(let kind) = Markers.search(path, pid: 645, since: 0, alive: 0).kill { found = kind }
    try promise(kind == found, "the log and its only record differ")
  }
}
