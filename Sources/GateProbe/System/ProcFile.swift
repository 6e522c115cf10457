import Glibc
import LinuxSystem
import Synchronization

/// A file under `/proc`, kept open so that each reading costs one `pread`.
///
/// It stays bound to the process that it was opened for: after an exec it shows the new image, and once the process is
/// reaped all reads fail, even if the pid is reused (proc(5)).
struct ProcFile: ~Copyable {
  private let descriptor: Int32

  /// Returns nil if there is no such file, or no descriptor is left.
  init?(path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor < 0 else { return }
    if errno == EMFILE || errno == ENFILE { Self.refused.add(1, ordering: .relaxed) }
    return nil
  }

  private static let refused = Atomic(0)

  /// How often no descriptor was left so far.
  static var refusals: Int { refused.load(ordering: .relaxed) }

  deinit {
    close(descriptor)
  }

  /// Reads the file from its start; empty for some files of a zombie.
  ///
  /// - Returns: The bytes, within the buffer; nil if the process has ended.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer? {
    read(into: buffer, at: 0)
  }

  /// Reads the file from `offset`.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> UnsafeRawBufferPointer? {
    let descriptor = descriptor
    let count = retried { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    return count < 0 ? nil : UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }
}
