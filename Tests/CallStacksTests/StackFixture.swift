import Foundation
import Testing

/// A folder for compiled programs, and the program that prints their call stacks.
final class StackFixture {
  /// One printed stack.
  struct Stack: Equatable {
    /// The functions, the innermost first, each with the name of its file.
    var frames: [String]
    var isComplete: Bool

    /// The functions up to `main`.
    var program: [String] {
      let names = frames.map { frame in
        frame.split(separator: " ", omittingEmptySubsequences: false).dropLast().joined(separator: " ")
      }
      return Array(names.prefix { $0 != "main" })
    }
  }

  struct Failure: Error {
    let output: String
  }

  let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-stacks-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// The program is in the same folder as the test binary.
  private static let program: String = {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return (own ?? "").split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/stacks-fixture"
  }()

  /// Whether the installed Python is of a version whose frames can be read.
  static let canReadPython: Bool = {
    let check = "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))"
    return (try? StackFixture().output(of: ["python3", "-c", check])) != nil
  }()

  func path(_ name: String) -> String {
    folder.appendingPathComponent(name).path
  }

  /// Compiles a C program or library; returns its path.
  ///
  /// -O2 keeps no frame pointers; without -fno-optimize-sibling-calls it would jump to functions that are called last.
  func compiled(_ name: String, _ source: String, flags: [String] = []) throws -> String {
    let text = path("\(name).c")
    try Data(source.utf8).write(to: URL(fileURLWithPath: text))
    _ = try output(
      of: ["cc", "-w", "-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-pthread", text, "-o", path(name)] + flags)
    return path(name)
  }

  /// The stacks that a program stops at, by a breakpoint or SIGTRAP.
  func stacks(of words: [String]) throws -> [Stack] {
    try output(of: [Self.program] + words).components(separatedBy: "\n\n").dropLast().map { text in
      var lines = text.split(separator: "\n").map(String.init)
      let ending = lines.popLast()
      return Stack(frames: lines, isComplete: ending == "complete")
    }
  }

  /// Walks stacks through damaged copies of a file; how many there were.
  func mutations(of file: String, count: Int) throws -> String {
    try output(of: [Self.program, "--mutations", file, "\(count)"])
  }

  /// The output of a program that must succeed.
  func output(of words: [String]) throws -> String {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(output: "\(words): \(process.terminationReason) \(process.terminationStatus): \(text)")
    }
    return text
  }
}

extension [StackFixture.Stack] {
  /// Whether the outermost frame of each was reached.
  var areComplete: Bool {
    allSatisfy { stack in stack.isComplete }
  }
}
