import Foundation
import Testing

/// A small program for tests, compiled once per test process.
struct CompiledProgram {
  enum Language: String {
    case c, cpp, swift

    fileprivate var compiler: [String] {
      switch self {
      case .c: ["cc", "-O0", "-pthread"]
      case .cpp: ["g++", "-O2", "-pthread"]
      case .swift: ["swiftc", "-O"]
      }
    }
  }

  private let path: Result<String, any Error>

  /// Compiles the text; ``command`` throws its errors.
  init(_ name: String, in language: Language = .c, flags: [String] = [], _ text: String) {
    path = Result { try Self.compile(name, language, flags, text) }
  }

  var command: [String] {
    get throws { [try path.get()] }
  }

  /// Whether the program was built and exits with 0 with these arguments.
  func succeeds(_ arguments: String...) -> Bool {
    guard let path = try? path.get() else { return false }
    return (try? Self.run(path, arguments)) == 0
  }

  /// A folder of programs that every user may execute.
  private static let folder = Result {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-test-programs-\(getuid())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// Renames the program into place, since other test processes may build it at the same time.
  private static func compile(
    _ name: String, _ language: Language, _ flags: [String], _ text: String
  ) throws -> String {
    let (folder, id) = (try folder.get(), UUID().uuidString)
    let (source, draft) = (folder.appendingPathComponent("\(id).\(language)"), folder.appendingPathComponent(id))
    try Data(text.utf8).write(to: source)
    defer { try? FileManager.default.removeItem(at: source) }
    let status = try run("/usr/bin/env", language.compiler + flags + ["-o", draft.path, source.path])
    try #require(status == 0, "could not compile \(name)")
    let program = folder.appendingPathComponent(name).path
    try #require(rename(draft.path, program) == 0)
    return program
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}
