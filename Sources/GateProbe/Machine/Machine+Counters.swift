package import GateCore
import Glibc

extension Machine {
  /// The accuracy of the kernel's memory counters, determined once; nil if unknown.
  ///
  /// The helper touches 256 pages, more than the unflushed counts of up to eight CPUs.
  package static let counters: CounterCheck? = {
    guard let difference = LinuxCalls.withIdleChild(holding: .mebibytes(1), counterDifference) else { return nil }
    let cpus = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let bound = markBound(cpus: cpus, pageSize: PageSize.bytes, release: systemNames().release)
    return CounterCheck(bound: bound, difference: difference)
  }()

  /// `VmRSS` of `status`, a counter, minus `Rss` of `smaps_rollup`, the sum over the page tables.
  private static func counterDifference(of pid: Int32) -> Bytes? {
    guard let status = SmallFile.bytes(at: "/proc/\(pid)/status", atMost: 8192),
      let counted = status.withUnsafeBytes({ ProcText.memory(inStatus: $0) }),
      let rollup = SmallFile.text(at: "/proc/\(pid)/smaps_rollup", atMost: 8192),
      let line = rollup.split(separator: "\n").first(where: { $0.hasPrefix("Rss:") }),
      let added = line.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
    else { return nil }
    return counted.resident - .kibibytes(added)
  }

  /// The maximum error of a stored high-water mark: resident memory is the sum of three counters (`MM_ANONPAGES`,
  /// `MM_FILEPAGES` and `MM_SHMEMPAGES`, mm.h), and each may lag.
  static func markBound(cpus: Int, pageSize: Int, release: String) -> Bytes {
    Bytes(3 * counterBound(cpus: cpus, pageSize: pageSize, release: release).count)
  }

  /// The maximum error of the stored value of one counter.
  ///
  /// Since Linux 6.2 (commit f1a7941243c1) each CPU may hold back one page less than a batch, which is 32 or twice the
  /// number of CPUs (lib/percpu_counter.c). Earlier kernels hold back up to 64 pages per thread (mm/memory.c,
  /// `TASK_RSS_EVENTS_THRESH`); the bound is that of one thread.
  static func counterBound(cpus: Int, pageSize: Int, release: String) -> Bytes {
    let numbers = release.split { !$0.isASCII || !$0.isNumber }.prefix(2).compactMap { Int($0) }
    let isPerCPU = !numbers.lexicographicallyPrecedes([6, 2])
    let pages = isPerCPU ? cpus * (max(32, 2 * cpus) - 1) : 64
    return Bytes(Int64(pages * pageSize))
  }
}
