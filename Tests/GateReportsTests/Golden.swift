import Foundation
import Testing

/// Texts that are kept as files beside the tests, so that a change of what people read is seen in review.
enum Golden {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Golden")

  /// Compares a text with its file; with `HIGHWATER_UPDATE_GOLDEN=1` the file is written instead.
  static func expect(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = folder.appending(path: name)
    if ProcessInfo.processInfo.environment["HIGHWATER_UPDATE_GOLDEN"] == "1" {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    }
    let kept = try String(decoding: Data(contentsOf: file), as: UTF8.self)
    #expect(text == kept, "differs from Golden/\(name)", sourceLocation: sourceLocation)
  }
}
