import Foundation
import Testing

/// The built program, run as a process.
enum Highwater {
  /// The result of a finished run.
  struct Outcome {
    let code: Int32
    let output: String
    let errors: String

    /// The whole output as one line, since reports wrap their lines to fit a terminal.
    var text: String {
      (output + " " + errors).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The lines on standard error, without the progress.
    var messages: [Substring] {
      errors.split(separator: "\n").filter { $0.firstMatch(of: #/  scenario [0-9]+ of [0-9]+$/#) == nil }
    }

    /// The name of the exit code, from the last line of the summary.
    var verdict: String? {
      output.split(separator: "\n").last?.split(separator: " ").last.map(String.init)
    }
  }

  /// The binary under test: `HIGHWATER_BINARY`, or else the one that was built with the tests.
  static let binary: String = {
    if let named = ProcessInfo.processInfo.environment["HIGHWATER_BINARY"] { return named }
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let candidates =
      Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() } + [tests.deletingLastPathComponent()]
    return candidates.map { $0.appendingPathComponent("highwater").path }
      .first { FileManager.default.isExecutableFile(atPath: $0) } ?? ".build/debug/highwater"
  }()

  /// Starts the program, with its output in files, so that no reader is needed.
  ///
  /// The working directory is the project's folder unless `folder` is given. `launcher` is a command that executes the
  /// program. Signals have their default actions: a shell's `&`, as in `ci/test`, ignores some, and so would the program.
  static func start(
    _ arguments: [String],
    in project: TemporaryProject,
    from folder: String? = nil,
    variables: [String: String] = [:],
    launcher: [String] = []
  ) throws -> Running {
    let words = ["/usr/bin/env", "--default-signal"] + launcher + [binary] + arguments
    return try Running(
      Array(words[1...]), in: project, from: folder ?? project.path, variables: variables, program: words[0])
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: String...,
    in project: TemporaryProject,
    variables: [String: String] = [:]
  ) throws -> Outcome {
    try start(arguments, in: project, variables: variables).wait()
  }

  final class Running {
    let process = Process()
    private let streams: (output: URL, errors: URL)
    /// Kept because its `deinit` removes the folder.
    private let project: TemporaryProject

    init(
      _ arguments: [String],
      in project: TemporaryProject,
      from folder: String? = nil,
      variables: [String: String],
      program: String = Highwater.binary
    ) throws {
      self.project = project
      let name = UUID().uuidString
      streams = (project.url("\(name).out"), project.url("\(name).err"))
      for url in [streams.output, streams.errors] { try Data().write(to: url) }
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.currentDirectoryURL = URL(fileURLWithPath: folder ?? project.path)
      // On a CI system Highwater would also report to that system.
      let ownSystem = ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI"]
      var environment = ProcessInfo.processInfo.environment.filter { !ownSystem.contains($0.key) }
      environment["NO_COLOR"] = "1"
      process.environment = environment.merging(variables) { $1 }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = try FileHandle(forWritingTo: streams.output)
      process.standardError = try FileHandle(forWritingTo: streams.errors)
      try process.run()
      project.runners.append(process.processIdentifier)
    }

    /// Waits for the end; the code for a signal is its negative number.
    func wait() throws -> Outcome {
      process.waitUntilExit()
      let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
      defer { try? [streams.output, streams.errors].forEach(FileManager.default.removeItem) }
      return Outcome(
        code: code,
        output: String(decoding: try Data(contentsOf: streams.output), as: UTF8.self),
        errors: String(decoding: try Data(contentsOf: streams.errors), as: UTF8.self)
      )
    }
  }
}

extension Trait where Self == TimeLimitTrait {
  /// Ends a test that hangs.
  ///
  /// All tests of a process start at once and then wait for a thread. A limit includes that time, so that a few minutes
  /// would not be enough on a busy machine.
  static var endsHangs: Self { .timeLimit(.minutes(60)) }
}
