import GateCore

@testable import GateProbe

extension FuzzTarget {
  /// The texts of `/proc/<pid>/status`, `statm`, `stat`, `smaps`, `smaps_rollup` and `memory.stat`.
  static let procText = FuzzTarget("proc-text") { input in
    try input.withUnsafeBytes { text in
      let pages = ProcText.pages(inStatm: text)
      try promise(pages.resident >= 0 && pages.anonymous >= 0, "the pages are negative: \(pages)")
      if let memory = ProcText.memory(inStatus: text) {
        let amounts = [memory.resident, memory.peak, memory.anonymous, memory.file, memory.shared]
        try promise(amounts.allSatisfy { $0 >= .zero && $0 <= .largest }, "not amounts of memory: \(memory)")
      }
      if let activity = ProcText.activity(inStat: text) {
        try promise(activity.minorFaults >= 0 && activity.cpuTime >= .zero, "the activity is negative: \(activity)")
      }
      if let totals = MappingTotals(inRollup: text) {
        try promise(totals.resident <= Bytes.largest, "the resident memory is too large")
      }
    }
    if let stat = ProcessStat(parsing: input) {
      try promise(stat.command.utf8.count <= 3 * input.count, "the name is longer than the text")
    }
    try expectSums(of: input)
    _ = FlatKeys.value(of: "oom_kill", in: String(decoding: input, as: UTF8.self))
    _ = TracingBarrier(scope: String(decoding: input, as: UTF8.self), status: String(decoding: input, as: UTF8.self))
    _ = Machine.counterBound(cpus: 2, pageSize: 4096, release: String(decoding: input, as: UTF8.self))
  }

  /// Sums the mappings in pieces of two sizes.
  private static func expectSums(of input: [UInt8]) throws {
    let whole = sums(of: input, piece: max(1, input.count))
    let pieces = sums(of: input, piece: 5)
    let values = { (sums: MappingSums) in [sums.heap, sums.stack, sums.lazilyFreed, sums.hugePages, Int64(sums.count)] }
    try promise(
      values(whole) == values(pieces) && whole.libraries == pieces.libraries && whole.codeFiles == pieces.codeFiles,
      "the pieces change the sums")
    try promise(values(whole).allSatisfy { $0 >= 0 }, "a sum is negative: \(whole)")
  }

  private static func sums(of input: [UInt8], piece: Int) -> MappingSums {
    var sums = MappingSums()
    for start in stride(from: 0, to: input.count, by: piece) {
      input[start..<min(start + piece, input.count)].withUnsafeBytes { sums.take($0) }
    }
    return sums
  }

  /// Records of the kernel log, separated by zero bytes.
  static let kernelLog = FuzzTarget("kernel-log") { input in
    var reader = KillReader()
    for record in input.split(separator: 0) { reader.take(String(decoding: record, as: UTF8.self)) }
    for kill in reader.kills { try promise(kill.pid >= 0, "a pid is negative: \(kill)") }
  }

  /// The texts of `/proc/self/cgroup` and `/proc/self/mountinfo`.
  static let cgroups = FuzzTarget("cgroups") { input in
    let parts = input.parts(2).map { String(decoding: $0, as: UTF8.self) }
    let map = CgroupMap(membership: parts[0], mounts: parts[1])
    for hierarchy in map.hierarchies {
      try promise(!hierarchy.folders.isEmpty, "a hierarchy has no folder")
      for folder in hierarchy.folders {
        try promise(!folder.split(separator: "/").contains(".."), "a folder leads out of the hierarchy: \(folder)")
      }
    }
    _ = (map.memoryFolders, map.mayMoveProcesses(in: "/sys/fs/cgroup"), map.hasDelegatingManager)
  }
}
