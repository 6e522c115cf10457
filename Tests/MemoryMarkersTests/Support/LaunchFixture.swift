import Glibc
import LaunchRecords

@testable import MemoryMarkers

/// A folder of states with the program that records its launches there.
final class LaunchFixture {
  let folder: TestFolder
  var variables: [String: String]
  /// Where the folder of states lies, if that is another.
  var parent: String?
  /// What runs the program, such as a shell that joins a cgroup first; its last word is followed by the program's path.
  var launcher: [String] = []

  init(variables: [String: String] = [:]) throws {
    folder = try TestFolder()
    self.variables = variables
  }

  /// What a start said.
  struct Report: Equatable {
    let startup: String
    let previous: String
    let failures: Int

    init(_ startup: StartupReason, _ previous: RunEnd?, failures: Int = 0) {
      self.startup = "\(startup)"
      self.previous = previous.map { "\($0)" } ?? "none"
      self.failures = failures
    }

    init?(_ program: Program) {
      func value(_ name: String) -> String? {
        guard let line = program.line(), line.hasPrefix("\(name)=") else { return nil }
        return String(line.dropFirst(name.count + 1))
      }
      guard let startup = value("startup"), let previous = value("previous"), let failures = value("failures") else {
        return nil
      }
      self.startup = startup
      self.previous = previous
      self.failures = Int(failures) ?? -1
    }
  }

  /// Starts the program, which is to end in that way.
  func start(_ end: String, version: String = "1.0", activity: String = "", detail: String = "") throws -> Program {
    let words = [parent.map { "\($0)/state" } ?? folder.path, version, end, activity, detail]
    guard let first = launcher.first else {
      return try Program("launch-fixture", words, variables: variables)
    }
    return try Program(
      first, launcher.dropFirst() + [Program.path(of: "launch-fixture")] + words, variables: variables)
  }

  /// Starts the program and waits for its end.
  @discardableResult
  func run(_ end: String, version: String = "1.0", activity: String = "", detail: String = "") throws -> Program.End {
    let program = try start(end, version: version, activity: activity, detail: detail)
    _ = program.lines()
    return program.end()
  }

  /// Starts the program until it is ready, and kills it.
  func kill(_ end: String, activity: String = "", detail: String = "", by signal: CInt = SIGKILL) throws -> Program.End
  {
    let program = try start(end, activity: activity, detail: detail)
    _ = program.lines(upTo: "ready")
    program.send(signal)
    return program.end()
  }

  /// What the next start says, which then ends by itself.
  func next(version: String = "1.0") throws -> Report? {
    let program = try start("return", version: version)
    defer { program.end() }
    return Report(program)
  }

  /// The record as another process sees it.
  var entry: LaunchPage.Entry? { try? LaunchPage.load(folder.bytes(of: "fixture.launch")) }
}
