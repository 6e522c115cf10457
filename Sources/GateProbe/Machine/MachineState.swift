package import GateCore
import Glibc

/// What a person should know of a machine before its figures are trusted.
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

extension Machine {
  /// What on this machine may spoil the scenario's figures: each a sentence with cause and remedy; none on a sound one.
  package static func warnings(for scenario: Scenario) -> [String] {
    MachineState.now().warnings(for: scenario)
  }
}

// MARK: - Warnings

extension MachineState {
  func warnings(for scenario: Scenario) -> [String] {
    [
      hugePageWarning(for: scenario.isolation), swapWarning, limitWarning, hiddenLimitWarning(for: scenario),
      cpuWarning(for: scenario.isolation), addressWarning(for: scenario.isolation),
    ]
    .compactMap(\.self)
  }

  /// 64 touched pages of one huge area were measured as 66,656 KiB, and as 1,404 KiB without huge pages (Linux 6.18).
  private func hugePageWarning(for isolation: Isolation) -> String? {
    guard hugePages == "always", isolation.hugePages == .inherit else { return nil }
    return "transparent huge pages are on for every program (`always`): one touched page may make 2 MiB resident; "
      + "write `isolation: {thp: off}`, or `madvise` to /sys/kernel/mm/transparent_hugepage/enabled"
  }

  private var swapWarning: String? {
    guard swapInUse > .zero else { return nil }
    return "\(swapInUse) of swap are in use: what is swapped out of a target is missing from its figures; switch swap "
      + "off (swapoff -a), or free memory"
  }

  /// Below this a limit is taken for near to what targets need.
  private static let smallLimit = Bytes.mebibytes(512)

  /// The share of a limit from which on little is left, in percent.
  private static let fullness: Int64 = 80

  private var limitWarning: String? {
    guard let limit else { return nil }
    let used = workingSet ?? .zero
    guard limit < Self.smallLimit || used.count / max(1, limit.count / 100) >= Self.fullness else { return nil }
    return "the runner's cgroup is limited to \(limit), of which \(used) are in use: a target that comes near that is "
      + "slowed down or killed; raise the limit"
  }

  private func hiddenLimitWarning(for scenario: Scenario) -> String? {
    guard let limit, let wanted = scenario.memoryLimit, wanted > limit else { return nil }
    return "`memory-limit` is \(wanted), yet the runner's own cgroup is limited to \(limit), and the lower limit "
      + "counts; raise that one, or write a lower `memory-limit`"
  }

  private func cpuWarning(for isolation: Isolation) -> String? {
    guard isolation.cpus == nil, usableCPUs < onlineCPUs else { return nil }
    return "\(usableCPUs) of \(onlineCPUs) CPUs may be used here: programs that make a thread or an arena for each CPU "
      + "go by the one number or the other; name the CPUs (`isolation: {cpus: …}`), or allow all"
  }

  /// Equal runs of ten programs differed by 2.4 % (median of the ranges) with random addresses, by 0.8 % with fixed
  /// ones (Linux 6.18).
  private func addressWarning(for isolation: Isolation) -> String? {
    guard !isolation.randomAddresses, !canFixAddresses else { return nil }
    return "addresses cannot be made fixed here, mostly since a seccomp filter refuses personality(2): equal runs "
      + "differ about three times as much; allow it in the container's profile, or write `isolation: {aslr: on}`"
  }
}
