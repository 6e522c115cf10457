import GateCore
import Glibc
import LinuxSystem

/// The temporary folder of a repetition, accessible to this user only; contains the FIFO for marks.
struct PrivateFolder {
  let path: String
  /// The FIFO's path, for the target.
  var marksPath: String { path + "/marks" }
  /// The FIFO, opened for reading and writing, so that reads never hit end of file when a writer closes.
  let marks: Descriptor

  /// Creates the folder in an existing one, such as `TMPDIR`.
  init(in parent: String) throws(SystemFailure) {
    let folder = try SystemFailure.of(.mkdtemp, path: parent) { () throws(ErrorNumber) in
      try makeTemporaryFolder(in: parent)
    }
    path = folder
    do throws(SystemFailure) {
      try SystemFailure.of(.mkfifo, path: folder) { () throws(ErrorNumber) in
        try retrying { mkfifo(folder + "/marks", 0o600) }
      }
      marks = try Descriptor.file(folder + "/marks", O_RDWR | O_NONBLOCK)
    } catch {
      unlink(path + "/marks")
      rmdir(path)
      throw error
    }
  }

  /// Removes the folder, unless the target created files in it.
  func remove() {
    unlink(marksPath)
    rmdir(path)
  }
}
