import GateCore
import Glibc

/// The state of a machine that may distort values.
struct MachineState: Sendable, Equatable {
  /// The mode of transparent huge pages.
  var hugePages = "madvise"
  /// Zero also without swap.
  var swapInUse = Bytes.zero
  /// The lowest limit of the runner's cgroup and its ancestors.
  var limit: Bytes?
  /// The memory charged to the cgroup with that limit, without file pages that are easily reclaimed.
  var workingSet: Bytes?
  var usableCPUs = 1
  var onlineCPUs = 1
  /// Whether ASLR is off, or can be disabled.
  var canFixAddresses = true

  static func now() -> MachineState {
    let limiting = CgroupMap.ofThisProcess.memoryFolders.compactMap { folder in
      folder.limit.map { (limit: $0, folder: folder) }
    }
    .min { $0.limit < $1.limit }
    return MachineState(
      hugePages: Machine.hugePages(),
      swapInUse: Machine.swapInUse() ?? .zero,
      limit: limiting?.limit,
      workingSet: limiting?.folder.workingSet,
      usableCPUs: LinuxCalls.usableCPUs().count,
      onlineCPUs: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))),
      canFixAddresses: !Machine.randomizesAddresses || LinuxCalls.canFixAddresses
    )
  }
}

extension MachineState {
  /// A lower limit may be too small for targets.
  private static let smallLimit = Bytes.mebibytes(512)

  /// The used share of a limit, in percent, from which it counts as nearly full.
  private static let nearlyFull: Int64 = 80

  /// Notes on conditions of this machine that may distort the scenario's values.
  ///
  /// Huge pages: 64 touched pages of one huge area measured 66,656 KiB, and 1,404 KiB without huge pages. Addresses:
  /// identical runs of ten programs differed by 2.4 % (median of the ranges) with ASLR, by 0.8 % without (both Linux
  /// 6.18).
  func notes(for scenario: Scenario) -> [MachineNote] {
    let isolation = scenario.isolation
    var notes: [MachineNote] = []
    if hugePages == "always", isolation.hugePages == .inherit { notes.append(.hugePagesAlways) }
    if swapInUse > .zero { notes.append(.swapInUse(used: swapInUse)) }
    if let limit {
      let used = workingSet ?? .zero
      let isFull = used.count / max(1, limit.count / 100) >= Self.nearlyFull
      if limit < Self.smallLimit || isFull { notes.append(.smallLimit(limit: limit, used: used)) }
      if let wanted = scenario.memoryLimit, wanted > limit { notes.append(.hiddenLimit(limit: limit, wanted: wanted)) }
    }
    if isolation.cpus == nil, isolation.cpuCount == nil, usableCPUs < onlineCPUs {
      notes.append(.fewerCPUs(usable: usableCPUs, online: onlineCPUs))
    }
    if !isolation.randomAddresses, !canFixAddresses { notes.append(.addressesNotFixed) }
    return notes
  }
}
