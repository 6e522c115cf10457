import Glibc

/// One file under `/proc`, held open so that each reading costs one `pread`.
///
/// It keeps to the process it was opened for: through an exec it shows the new image, and once the process is reaped
/// every reading fails, even if the number is given to another process (proc(5)).
struct ProcFile: ~Copyable {
  private let descriptor: Int32

  /// nil where there is no such file, or no descriptor left.
  init?(path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
  }

  deinit {
    close(descriptor)
  }

  /// Reads the file from its start; empty for a file of a process that has ended without being reaped.
  ///
  /// - Returns: The bytes, within the buffer; nil where the process has ended.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer? {
    read(into: buffer, at: 0)
  }

  /// Reads the file from `offset`.
  borrowing func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> UnsafeRawBufferPointer? {
    var count: Int
    repeat {
      count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
    } while count < 0 && errno == EINTR
    return count < 0 ? nil : UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }
}
