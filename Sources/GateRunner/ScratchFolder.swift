import FoundationEssentials
import Glibc

/// A folder of our own under `TMPDIR` that goes when the value does.
struct ScratchFolder: ~Copyable {
  let path: String

  /// Makes the folder, readable by this user only.
  ///
  /// - Throws: an error that names the folder in which none could be made.
  init(variables: [String: String]) throws(RunnerError) {
    let parent = variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = Array("\(parent)/highwater-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw RunnerError(
        problem: "no temporary folder can be made: \(String(cString: strerror(errno)))", place: parent,
        hint: "set TMPDIR to a folder that can be written"
      )
    }
    path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? parent }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
