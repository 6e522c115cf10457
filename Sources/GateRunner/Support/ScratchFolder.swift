import FoundationEssentials
import Glibc

/// A temporary folder under `TMPDIR`, removed with the value.
struct ScratchFolder: ~Copyable {
  let path: String

  /// Makes the folder, readable by this user only.
  ///
  /// - Throws: `RunnerError` with the parent folder and the cause.
  init(variables: [String: String]) throws(RunnerError) {
    let parent = variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(parent)/highwater-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw RunnerError(
        problem: "cannot create a temporary folder: \(String(cString: strerror(errno)))", place: parent,
        hint: "set TMPDIR to a writable folder"
      )
    }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? parent }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
