import Foundation
import Testing

/// Compares reports with golden files, so that review shows every change of the output.
enum Golden {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Golden")

  /// Compares a text with its golden file; `HIGHWATER_UPDATE_GOLDEN=1` rewrites the file instead.
  static func expect(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = folder.appending(path: name)
    if ProcessInfo.processInfo.environment["HIGHWATER_UPDATE_GOLDEN"] == "1" {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let expected = try String(decoding: Data(contentsOf: file), as: UTF8.self)
    #expect(text == expected, "differs from Golden/\(name)", sourceLocation: sourceLocation)
  }
}
