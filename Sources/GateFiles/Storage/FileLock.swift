import Glibc
import LinuxSystem

/// The lock of a file, released with its last owner.
///
/// It is the kernel's (flock(2)), so it ends with the process, however that ends.
package final class FileLock: Sendable {
  private let file: Descriptor

  /// Locks a file, which is created if it is missing; nil while another process has it locked.
  ///
  /// A file system without locks keeps nobody out.
  package init?(_ path: String) throws(FileError) {
    do throws(ErrorNumber) {
      file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o644)
      guard try file.tryLockIfSupported() else { return nil }
    } catch {
      throw error.whileWriting(path)
    }
  }

  deinit {
    file.unlock()
  }
}
