import GateCore
import Glibc
import LinuxSystem

/// The temporary folder of a repetition; contains the FIFO for marks.
///
/// Only this user can read and list it. As root, others may open the FIFO, since a target may drop root: they have to
/// know its random path.
struct PrivateFolder {
  let path: String
  /// The FIFO's path, for the target.
  var marksPath: String { path + "/marks" }
  /// Where a container engine writes the ID of the container that it creates.
  var containerPath: String { path + "/container" }
  /// The FIFO, opened for reading and writing, so that reads never hit end of file when a writer closes.
  let marks: Descriptor
  /// Holds what is being handled, while it is still in the FIFO.
  let marksCopy: Descriptor.Pair

  /// Creates the folder in an existing one, such as `TMPDIR`.
  init(in parent: String) throws(SystemFailure) {
    let folder = try SystemFailure.of(.mkdtemp, path: parent) { () throws(ErrorNumber) in
      try makeTemporaryFolder(in: parent)
    }
    path = folder
    do throws(SystemFailure) {
      try SystemFailure.of(.mkfifo, path: folder) { () throws(ErrorNumber) in
        try retrying { mkfifo((folder + "/marks").systemText, 0o600) }
      }
      if geteuid() == 0 { try Self.letOthersOpen(folder + "/marks", in: folder) }
      marks = try Descriptor.file(folder + "/marks", O_RDWR | O_NONBLOCK)
      marksCopy = try Descriptor.pipe(readerBlocks: false)
    } catch {
      unlink((path + "/marks").systemText)
      rmdir(path.systemText)
      throw error
    }
  }

  private static func letOthersOpen(_ marks: String, in folder: String) throws(SystemFailure) {
    try SystemFailure.of(.open, path: marks) { () throws(ErrorNumber) in
      // mkfifo(3) obeys the umask, chmod(2) does not. MemoryMarkers opens it for reading and writing.
      try retrying { chmod(marks.systemText, 0o666) }
      try retrying { chmod(folder.systemText, 0o711) }
    }
  }

  /// Removes the folder, unless the target created files in it.
  func remove() {
    unlink(marksPath.systemText)
    unlink(containerPath.systemText)
    unlink(Profiler.libraryPath(in: path).systemText)
    unlink(Profiler.ringPath(in: path).systemText)
    HeapSamplers.removeFiles(in: path)
    InstanceCounter.removeFiles(in: path)
    AllocationCounter.removeFiles(in: path)
    MutationLibrary.removeFiles(in: path)
    rmdir(path.systemText)
  }
}
