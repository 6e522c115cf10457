import Glibc
import LinuxSystem

/// The lock of a file, released with its owner.
///
/// It is the kernel's (flock(2)), so it ends with the process, however that ends.
struct FileLock: ~Copyable, Sendable {
  private let file: Descriptor

  /// Locks a file, which is created if it is missing; nil while another process has it locked.
  ///
  /// A file system without locks keeps nobody out.
  init?(_ path: String) throws(FileError) {
    guard let file = try Self.locked(path) else { return nil }
    self.file = file
  }

  /// Does work, and releases the lock after it.
  package consuming func whileHeld<Result>(_ work: () throws -> Result) rethrows -> Result {
    try withExtendedLifetime(self, work)
  }

  private static func locked(_ path: String) throws(FileError) -> Descriptor? {
    do throws(ErrorNumber) {
      let file = try Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o644)
      return try file.tryLockIfSupported() ? file : nil
    } catch {
      throw error.whileWriting(path)
    }
  }

  deinit {
    file.unlock()
  }
}
