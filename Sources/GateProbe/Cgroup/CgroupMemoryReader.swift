import GateCore
import Glibc

/// Reads the memory of all processes of a cgroup, counting each page once.
///
/// Counts anonymous memory (including huge pages, excluding swap) and shared memory (including tmpfs files, mapped or
/// not) of the cgroup and its descendants, but no file pages. A reading costs one `pread` and allocates nothing. It may
/// lag by some 64 pages per CPU, since the kernel flushes per-CPU counts in batches of that size (`MEMCG_CHARGE_BATCH`,
/// mm/memcontrol.c; up to 41 pages seen with 2 CPUs, Linux 6.18).
struct CgroupMemoryReader: ~Copyable {
  private let file: ProcFile
  private let buffer: UnsafeMutableRawBufferPointer
  private let version: CgroupVersion

  /// By how much a reading may lag, in bytes.
  static let largestLag = 64 * Int64(PageSize.bytes) * Int64(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// `memory.stat` has some 60 lines, and grows by a few with each release.
  private static let capacity = 16_384

  /// Returns nil if the cgroup does not exist, or its memory is not counted.
  init?(of folder: MemoryFolder) {
    guard let file = ProcFile(path: "\(folder.path)/memory.stat") else { return nil }
    self.file = file
    version = folder.version
    buffer = .allocate(byteCount: Self.capacity, alignment: 1)
  }

  deinit {
    buffer.deallocate()
  }

  /// The current memory; nil if the cgroup was removed.
  borrowing func read() -> Bytes? {
    guard let text = file.read(into: buffer) else { return nil }
    switch version {
    case .v1: return Self.sum(of: "total_rss ", and: "total_shmem ", in: text)
    case .v2: return Self.sum(of: "anon ", and: "shmem ", in: text)
    }
  }

  /// Returns nil if one of the keys is missing.
  private static func sum(of one: StaticString, and other: StaticString, in text: UnsafeRawBufferPointer) -> Bytes? {
    var (first, second): (Int64?, Int64?) = (nil, nil)
    var start = 0
    while start < text.count {
      first = first ?? ProcText.value(of: one, in: text, at: start)
      second = second ?? ProcText.value(of: other, in: text, at: start)
      if let first, let second { return Bytes(first + second) }
      start = ProcText.endOfLine(in: text, at: start) + 1
    }
    return nil
  }
}
