import Glibc
import LinuxSystem

/// Brings files to one state in the kernel's page cache.
///
/// How much of a file's code a process comes to hold depends on how its pages got into the cache: the kernel maps pages
/// around each fault, and more of them where they lie in large folios, as after writing or reading in large pieces. A
/// program of 65 MiB peaked at 21.5 MiB as its linker had left it, at 23.2 MiB as a copy by cp(1), at 29.3 MiB as one by
/// `dd bs=1M`, and at 21.4 to 24.2 MiB after its pages had been dropped and read again in different ways; each of these
/// to 0.1 % (Linux 6.18, ext4, 2026-11). A build that comes from a cache now and from a linker then would seem to grow
/// by 8 or 36 %.
package enum PageCache {
  /// Reading more than these bytes, of all files together, would take longer than it is worth.
  private static let most: off_t = 2 << 30

  /// Writes the files out, drops their pages and reads them again as single pages.
  ///
  /// Advice of random access switches reading ahead off, and with it large folios (page_cache_sync_ra, mm/readahead.c).
  /// Pages that a process has mapped stay as they are, and so does what is in memory only (tmpfs). A file that cannot be
  /// read is left alone: nothing depends on it.
  package static func renew(_ paths: some Sequence<String>) {
    var rest = most
    for path in paths {
      guard let file = try? Descriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY), let size = size(of: file),
        size <= rest
      else { continue }
      rest -= size
      // Only what is on the disk can be dropped.
      fsync(file.number)
      posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
      posix_fadvise(file.number, 0, 0, POSIX_FADV_RANDOM)
      read(file, size)
    }
  }

  /// nil for anything but a regular file.
  private static func size(of file: Descriptor) -> off_t? {
    var status = stat()
    guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return status.st_size
  }

  private static func read(_ file: Descriptor, _ size: off_t) {
    withUnsafeTemporaryAllocation(byteCount: 1 << 17, alignment: 4096) { buffer in
      var place: off_t = 0
      while place < size {
        let count = pread(file.number, buffer.baseAddress, buffer.count, place)
        guard count > 0 else { return }
        place += off_t(count)
      }
    }
  }
}
