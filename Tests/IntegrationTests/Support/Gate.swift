import Foundation
import Testing

/// The built program, driven from outside.
enum Gate {
  /// What a run of the program came to.
  struct Outcome {
    let code: Int32
    let output: String
    let errors: String

    /// Everything that a person reads, as one line, since reports break theirs to fit a terminal.
    var words: String {
      (output + " " + errors).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The name of the exit code, from the summary's last line.
    var verdict: String? {
      output.split(separator: "\n").last?.split(separator: " ").last.map(String.init)
    }
  }

  /// The binary under test: `HIGHWATER_BINARY`, else the one that was built beside the tests.
  static let binary: String = {
    if let named = ProcessInfo.processInfo.environment["HIGHWATER_BINARY"] { return named }
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside =
      Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() } + [tests.deletingLastPathComponent()]
    return beside.map { $0.appendingPathComponent("highwater").path }
      .first { FileManager.default.isExecutableFile(atPath: $0) } ?? ".build/debug/highwater"
  }()

  /// Starts the program; its two streams go to files, so that no reader is needed.
  ///
  /// The working directory is the project's folder, unless another is named; a launcher's words go before the program's.
  static func start(
    _ arguments: [String],
    in project: TemporaryProject,
    from folder: String? = nil,
    variables: [String: String] = [:],
    launcher: [String] = []
  ) throws -> Running {
    let words = launcher + [binary] + arguments
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

  /// A run of the program that is under way.
  final class Running {
    let process = Process()
    private let streams: (output: URL, errors: URL)
    /// Held, since its folder goes with it.
    private let project: TemporaryProject

    init(
      _ arguments: [String],
      in project: TemporaryProject,
      from folder: String? = nil,
      variables: [String: String],
      program: String = Gate.binary
    ) throws {
      self.project = project
      let name = UUID().uuidString
      streams = (project.url("\(name).out"), project.url("\(name).err"))
      for url in [streams.output, streams.errors] { try Data().write(to: url) }
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = arguments
      process.currentDirectoryURL = URL(fileURLWithPath: folder ?? project.path)
      var environment = ProcessInfo.processInfo.environment
      environment["NO_COLOR"] = "1"
      process.environment = environment.merging(variables) { $1 }
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = try FileHandle(forWritingTo: streams.output)
      process.standardError = try FileHandle(forWritingTo: streams.errors)
      try process.run()
      project.runners.append(process.processIdentifier)
    }

    /// Waits for the end; a signal counts as the negative of its number.
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

/// A folder with a project file that goes when the value does.
final class TemporaryProject {
  let path: String

  /// The value of a variable that the targets of this project carry, by which what is left of them is found.
  let marker = UUID().uuidString

  /// The processes that were started as the gate; a launcher becomes it.
  fileprivate(set) var runners: [Int32] = []

  init(_ yaml: String = "") throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("highwater-test-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    if !yaml.isEmpty { try write(yaml, to: "highwater.yml") }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func url(_ name: String) -> URL {
    URL(fileURLWithPath: path).appendingPathComponent(name)
  }

  func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(
      at: url(name).deletingLastPathComponent(), withIntermediateDirectories: true
    )
    try Data(text.utf8).write(to: url(name))
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url(name)), as: UTF8.self)
  }

  /// The result of the last check.
  func result() throws -> [String: Any] {
    let data = try Data(contentsOf: url(".highwater/result.json"))
    return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  /// The baselines of the project, by path, as text.
  func baselines() throws -> [String: String] {
    let root = url("baselines")
    let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    return try paths.filter { $0.hasSuffix(".json") }.reduce(into: [:]) { $0[$1] = try read("baselines/\($1)") }
  }

  /// The cgroups that runs of this project have left.
  func cgroups() -> [String] {
    OwnCgroups.made(by: runners)
  }

  /// The ids and command lines of living processes that carry this project's marker in their environment.
  func survivors() throws -> [String] {
    let needle = Data(marker.utf8)
    return try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.compactMap { id in
      guard let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(id)/environ")),
        environment.range(of: needle) != nil
      else { return nil }
      let words = (try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(id)/cmdline"))) ?? Data()
      return "\(id) \(String(decoding: words, as: UTF8.self).replacingOccurrences(of: "\0", with: " "))"
    }
  }
}
