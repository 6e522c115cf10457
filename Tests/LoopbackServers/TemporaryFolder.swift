import Foundation

/// A temporary folder for a test; it is removed with this object.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// The path of a file in it.
  package func path(_ name: String) -> String {
    "\(path)/\(name)"
  }
}
