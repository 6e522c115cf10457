import Glibc
import LinuxSystem

/// Gives files a reproducible state in the kernel's page cache.
///
/// How much of a file's code becomes resident depends on how its pages got into the cache: the kernel maps pages around
/// each fault, and more of them if they are in large folios, as after large writes or reads. A program of 65 MiB peaked
/// at 21.5 MiB as written by its linker, at 23.2 MiB as copied by cp(1), at 29.3 MiB as copied by `dd bs=1M`, and at
/// 21.4 to 24.2 MiB after its pages had been dropped and read again in different ways; each value is reproducible to
/// 0.1 % (Linux 6.18, ext4, 2026-11). A build that comes from a cache in one run and from the linker in another would
/// seem to grow by 8 or 36 %.
package enum PageCache {
  /// The size limit for all files together; reading more would take too long.
  private static let maxTotalSize: off_t = 2 << 30

  /// Writes the files to disk, drops their pages and reads them again as single pages.
  ///
  /// `POSIX_FADV_RANDOM` disables readahead, and with it large folios (page_cache_sync_ra, mm/readahead.c). Mapped
  /// pages and files that are in memory only (tmpfs) do not change. Unreadable files are skipped.
  package static func renew(_ paths: some Sequence<String>) {
    var remaining = maxTotalSize
    for path in paths {
      guard let (file, size) = regularFile(path), size <= remaining else { continue }
      remaining -= size
      drop(file)
      posix_fadvise(file.number, 0, 0, POSIX_FADV_RANDOM)
      read(file, size)
    }
  }

  /// Drops the pages of files, so that they are charged to the memory cgroup of the next process that reads them, as in
  /// a container on a machine where it has not run before.
  package static func drop(_ paths: some Sequence<String>) {
    for path in paths { if let (file, _) = regularFile(path) { drop(file) } }
  }

  private static func regularFile(_ path: String) -> (Descriptor, off_t)? {
    guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK), case .regular(let size)? = try? file.kind()
    else { return nil }
    return (file, size)
  }

  private static func drop(_ file: Descriptor) {
    // Dirty pages cannot be dropped.
    fsync(file.number)
    posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
  }

  private static func read(_ file: Descriptor, _ size: off_t) {
    withUnsafeTemporaryAllocation(byteCount: 1 << 17, alignment: 4096) { buffer in
      var offset: off_t = 0
      while offset < size {
        let count = pread(file.number, buffer.baseAddress, buffer.count, offset)
        guard count > 0 else { return }
        offset += off_t(count)
      }
    }
  }
}
