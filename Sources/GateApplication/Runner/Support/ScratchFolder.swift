import LinuxSystem

/// A temporary folder, removed on `deinit`.
struct ScratchFolder: ~Copyable {
  let path: String

  /// Creates the folder in an existing one, readable by this user only.
  ///
  /// - Throws: `RunnerError` with the parent folder and the cause.
  init(in parent: String) throws(RunnerError) {
    do throws(ErrorNumber) {
      path = try makeTemporaryFolder(in: parent)
    } catch {
      throw RunnerError(
        problem: "cannot create a temporary folder: \(error.text)", place: parent,
        hint: "set TMPDIR to a writable folder"
      )
    }
  }

  deinit {
    removeFolder(path)
  }
}
