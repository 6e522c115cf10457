import GateCore
import Glibc
import LinuxSystem

/// A temporary folder of one repetition, readable by this user only, with the FIFO for marks in it.
struct PrivateFolder {
  let path: String
  /// The FIFO's path, for the target.
  var marksPath: String { path + "/marks" }
  /// The FIFO, open for reading and writing, so that it never comes to an end when a writer closes.
  let marks: Descriptor

  /// Makes the folder in an existing one, as in `TMPDIR`.
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

  /// Removes the folder; what the target itself put there stays, with the folder.
  func remove() {
    unlink(marksPath)
    rmdir(path)
  }
}
