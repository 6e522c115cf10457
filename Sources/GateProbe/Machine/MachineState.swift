import GateCore
import Glibc

/// The state of a machine, as far as it may distort values.
struct MachineState: Sendable, Equatable {
  /// The mode of transparent huge pages.
  var hugePages = "madvise"
  /// Zero also where there is no swap.
  var swapInUse = Bytes.zero
  /// The lowest limit of a cgroup around the runner.
  var limit: Bytes?
  /// The memory that is charged to that cgroup, without file pages that are easily given back.
  var workingSet: Bytes?
  var usableCPUs = 1
  var onlineCPUs = 1
  /// Whether addresses are fixed, or can be made so.
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
  /// Below this a limit is taken for near to what targets need.
  private static let smallLimit = Bytes.mebibytes(512)

  /// The share of a limit from which on little is left, in percent.
  private static let fullness: Int64 = 80

  /// What on this machine may distort the scenario's values.
  ///
  /// Huge pages: 64 touched pages of one huge area were measured as 66,656 KiB, and as 1,404 KiB without huge pages.
  /// Addresses: equal runs of ten programs differed by 2.4 % (median of the ranges) with random ones, by 0.8 % with
  /// fixed ones (both Linux 6.18).
  func notes(for scenario: Scenario) -> [MachineNote] {
    let isolation = scenario.isolation
    var notes: [MachineNote] = []
    if hugePages == "always", isolation.hugePages == .inherit { notes.append(.hugePagesAlways) }
    if swapInUse > .zero { notes.append(.swapInUse(swapInUse)) }
    if let limit {
      let used = workingSet ?? .zero
      let isFull = used.count / max(1, limit.count / 100) >= Self.fullness
      if limit < Self.smallLimit || isFull { notes.append(.smallLimit(limit, used: used)) }
      if let wanted = scenario.memoryLimit, wanted > limit { notes.append(.hiddenLimit(limit, wanted: wanted)) }
    }
    if isolation.cpus == nil, usableCPUs < onlineCPUs {
      notes.append(.fewerCPUs(usable: usableCPUs, online: onlineCPUs))
    }
    if !isolation.randomAddresses, !canFixAddresses { notes.append(.addressesNotFixed) }
    return notes
  }
}
