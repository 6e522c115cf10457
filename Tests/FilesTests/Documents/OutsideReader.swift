import Foundation
import Testing

/// A program of another project that reads a file.
enum OutsideReader {
  /// What `go tool pprof` prints of a profile; by default everything in it.
  static func pprof(_ profile: [UInt8], _ options: String...) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "highwater-pprof-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "profile.pb")
    try Data(profile).write(to: file)
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["go", "tool", "pprof"] + (options.isEmpty ? ["-raw"] : options) + [file.path]
    process.environment = ProcessInfo.processInfo.environment.merging(["HOME": folder.path]) { $1 }
    process.standardOutput = output
    try process.run()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "go tool pprof rejects the profile")
    return String(decoding: answer, as: UTF8.self)
  }
}
