import Glibc
import LaunchRecords

@testable import MemoryMarkers

/// A state folder and the program `launch-fixture`, which records its launches there.
final class LaunchFixture {
  let folder: TestFolder
  var variables: [String: String]
  /// The parent of the state folder, if it is not the fixture's own.
  var parent: String?
  /// A command that starts the program, such as a shell that first joins a cgroup; the program and its arguments are
  /// appended.
  var launcher: [String] = []

  init(variables: [String: String] = [:]) throws {
    folder = try TestFolder()
    self.variables = variables
  }

  /// What the program printed about its start.
  struct Report: Equatable {
    let startup: String
    let previous: String
    let failures: Int
    /// As in `1.0 active killed(by: …)`.
    var ended: [String] = []

    init(_ startup: StartupReason, _ previous: RunEnd?, failures: Int = 0, ended: [RunEnd] = []) {
      self.startup = "\(startup)"
      self.previous = previous.map { "\($0)" } ?? "none"
      self.failures = failures
      self.ended = ended.map { "1.0 active \($0)" }
    }

    init?(_ program: Program) {
      var line = program.line()
      func value(_ name: String) -> String? {
        guard let found = line, found.hasPrefix("\(name)=") else { return nil }
        line = name == "failures" ? nil : program.line()
        return String(found.dropFirst(name.count + 1))
      }
      while let end = value("ended") { ended.append(end) }
      guard let startup = value("startup"), let previous = value("previous"), let failures = value("failures") else {
        return nil
      }
      self.startup = startup
      self.previous = previous
      self.failures = Int(failures) ?? -1
    }
  }

  /// Starts the program, which then ends in the given way.
  func start(_ end: String, version: String = "1.0", activity: String = "", detail: String = "") throws -> Program {
    let words = [parent.map { "\($0)/state" } ?? folder.path, version, end, activity, detail]
    guard let first = launcher.first else {
      return try Program("launch-fixture", words, variables: variables)
    }
    return try Program(
      first, launcher.dropFirst() + [Program.path(of: "launch-fixture")] + words, variables: variables)
  }

  /// Runs the program to its end.
  @discardableResult
  func run(_ end: String, version: String = "1.0", activity: String = "", detail: String = "") throws -> Program.End {
    let program = try start(end, version: version, activity: activity, detail: detail)
    _ = program.lines()
    return program.end()
  }

  /// Starts the program, waits until it is ready, and kills it.
  func kill(_ end: String, activity: String = "", detail: String = "", by signal: CInt = SIGKILL) throws -> Program.End
  {
    let program = try start(end, activity: activity, detail: detail)
    _ = program.lines(upTo: "ready")
    program.send(signal)
    return program.end()
  }

  /// What the next start reports; the program then exits.
  func next(version: String = "1.0") throws -> Report? {
    let program = try start("return", version: version)
    defer { program.end() }
    return Report(program)
  }

  /// The record, as another process reads it.
  var entry: LaunchPage.Entry? { try? LaunchPage.load(folder.bytes(of: "fixture.launch")) }
}
