import Foundation
import Testing

/// A program of another project that reads a report.
struct OutsideParser {
  let command: [String]

  /// Debian's Python, which has Debian's modules.
  static func python(_ script: String) -> OutsideParser {
    OutsideParser(command: ["/usr/bin/python3", "-c", "import sys, json\ntext = sys.stdin.read()\n" + script])
  }

  /// What the program prints on reading the text; it must succeed.
  func output(reading text: String) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = output
    // The text and the answer may each be larger than a pipe.
    let file = FileManager.default.temporaryDirectory.appending(component: "highwater-report-\(UUID().uuidString)")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    process.standardInput = try FileHandle(forReadingFrom: file)
    try process.run()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(command[0]) rejects the report")
    return String(decoding: answer, as: UTF8.self)
  }

  /// The JSON that the program prints.
  func objects(reading text: String) throws -> [[String: Any]] {
    let answer = try JSONSerialization.jsonObject(with: Data(output(reading: text).utf8))
    return try #require(answer as? [[String: Any]])
  }
}
