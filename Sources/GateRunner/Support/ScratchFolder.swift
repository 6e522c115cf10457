import FoundationEssentials
import LinuxSystem

/// A temporary folder in `TMPDIR`, removed on `deinit`.
struct ScratchFolder: ~Copyable {
  let path: String

  /// Creates the folder, readable by this user only.
  ///
  /// - Throws: `RunnerError` with the parent folder and the cause.
  init(variables: [String: String]) throws(RunnerError) {
    let parent = variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
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
    try? FileManager.default.removeItem(atPath: path)
  }
}
