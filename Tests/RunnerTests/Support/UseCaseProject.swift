import Foundation
import GateCore
import Testing

@testable import GateApplication

/// A temporary project whose use cases run within the test process, with scripted recordings.
final class UseCaseProject {
  /// The output of a use case; paths below the project's folder are relative to it.
  struct Outcome {
    let code: ExitCode
    let output: String
    let errors: String

    /// The whole output as one line, since reports wrap their lines to fit a terminal.
    var text: String {
      (output + " " + errors).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// The name of the exit code, from the last line of the summary.
    var verdict: String? {
      output.split(separator: "\n").last?.split(separator: " ").last.map(String.init)
    }
  }

  private let folder: URL
  let path: String
  let measurer: ScriptedMeasurer
  /// The time of the next use cases; nil for that of the machine.
  var now: Date?

  /// Writes the project file; the targets hold these sizes in MiB in turn.
  init(_ yaml: String, holding mebibytes: Double...) throws {
    folder = FileManager.default.temporaryDirectory.appending(component: "highwater-use-case-\(UUID().uuidString)")
    path = folder.appending(component: "project").path
    measurer = ScriptedMeasurer(holding: mebibytes)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try write(yaml, to: "highwater.yml")
  }

  /// A project with the single scenario `load`.
  ///
  /// `keys` are lines of the project file and `scenarioKeys` lines of the scenario, without indentation. By default
  /// there is no history.
  convenience init(
    holding mebibytes: Double,
    repetitions: String = "2",
    keys: String = "history: off",
    scenarioKeys: String = "gate: {peak_rss: [3%, 512KiB]}"
  ) throws {
    let lines = scenarioKeys.split(separator: "\n").map { "    \($0)\n" }.joined()
    try self.init(
      """
      version: 1
      \(keys)
      scenarios:
        - name: load
          target: {command: [server, --port, "7"]}
          repetitions: \(repetitions)
          warmup: 0
      \(lines)
      """, holding: mebibytes)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  // MARK: Use cases

  /// Runs a use case as the program does, turning an error into a message and an exit code.
  func run(
    _ volume: Console.Volume = .normal,
    variables: [String: String] = [:],
    _ useCase: (Invocation) throws -> ExitCode
  ) throws -> Outcome {
    let streams = (output: folder.appending(component: "stdout"), errors: folder.appending(component: "stderr"))
    for stream in [streams.output, streams.errors] { try Data().write(to: stream) }
    let output = try FileHandle(forWritingTo: streams.output)
    let errors = try FileHandle(forWritingTo: streams.errors)
    let console = Console(
      volume: volume, variables: variables, output: output.fileDescriptor, errors: errors.fileDescriptor)
    var invocation = Invocation(workingDirectory: path, variables: variables, console: console, measurer: measurer)
    if let now { invocation.now = { now } }
    var code = ExitCode.usage
    do {
      code = try useCase(invocation)
    } catch let error as any DiagnosticError {
      console.printError(error)
    }
    try output.close()
    try errors.close()
    let texts = try [streams.output, streams.errors].map { try text(of: $0).replacing("\(path)/", with: "") }
    return Outcome(code: code, output: texts[0], errors: texts[1])
  }

  func check(
    _ volume: Console.Volume = .normal,
    variables: [String: String] = [:],
    _ configure: (inout Check) -> Void = { _ in }
  ) throws -> Outcome {
    var check = Check()
    configure(&check)
    return try run(volume, variables: variables) { try check.run(in: $0) }
  }

  func approve(variables: [String: String] = [:], _ configure: (inout Approve) -> Void = { _ in }) throws -> Outcome {
    var approve = Approve()
    configure(&approve)
    return try run(variables: variables) { try approve.run(in: $0) }
  }

  func compare(_ base: String, _ current: String, _ configure: (inout Compare) -> Void = { _ in }) throws -> Outcome {
    var compare = Compare(base: base, current: current)
    configure(&compare)
    return try run { try compare.run(in: $0) }
  }

  func noise(_ configure: (inout Noise) -> Void = { _ in }) throws -> Outcome {
    var noise = Noise()
    configure(&noise)
    return try run { try noise.run(in: $0) }
  }

  /// Commits the project file and these files, and returns the commit.
  @discardableResult
  func commit(_ files: String...) throws -> String {
    let author = "-c user.name=Ada -c user.email=ada@example.org -c commit.gpgsign=false"
    try shell(
      "([ -d .git ] || git init -q .) && git add highwater.yml \(files.joined(separator: " "))"
        + " && git \(author) commit -q -m x --allow-empty")
    return try shell("git rev-parse HEAD")
  }

  /// Runs a shell command in the project's folder and returns the first line of its output.
  @discardableResult
  func shell(_ command: String) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = URL(fileURLWithPath: path)
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(command)")
    return String(text.prefix { !$0.isNewline })
  }

  /// Runs a check and approves its result as the baseline.
  func checkAndApprove() throws {
    _ = try check()
    let approval = try approve()
    try #require(approval.code == .pass, "\(approval.text)")
  }

  // MARK: Files

  func url(_ name: String) -> URL {
    name.hasPrefix("/") ? URL(fileURLWithPath: name) : URL(fileURLWithPath: path).appending(path: name)
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: url(name).path)
  }

  func write(_ text: String, to name: String) throws {
    let url = url(name)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  func read(_ name: String) throws -> String { try text(of: url(name)) }

  private func text(of url: URL) throws -> String {
    String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  func object(_ name: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(read(name).utf8)) as? [String: Any])
  }

  /// The result of the last check.
  func result() throws -> [String: Any] { try object(".highwater/result.json") }

  /// The only scenario of a result file.
  func scenario(of name: String = ".highwater/result.json") throws -> [String: Any] {
    try #require((object(name)["scenarios"] as? [[String: Any]])?.first)
  }

  /// The text of each baseline, by its path below `baselines`.
  func baselines() throws -> [String: String] {
    let paths = FileManager.default.enumerator(atPath: url("baselines").path)?.compactMap { $0 as? String } ?? []
    let files = paths.filter { $0.hasSuffix(".json") && !$0.contains("/profiles/") && !$0.contains("/details/") }
    return try files.reduce(into: [:]) { $0[$1] = try read("baselines/\($1)") }
  }

  /// The path of the only baseline of a scenario.
  func baseline(of scenario: String = "load") throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: url("baselines/\(scenario)").path)
    let name = names.first { $0.hasSuffix(".json") }
    return "baselines/\(scenario)/\(try #require(name, "there is no baseline"))"
  }

  /// Edits a JSON file, which then has no digest any more.
  func edit(_ name: String, _ change: (inout [String: Any]) throws -> Void) throws {
    var object = try object(name)
    try change(&object)
    object["digest"] = nil
    try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys]).write(to: url(name))
  }

  /// Edits the fingerprint of the scenario's baseline.
  func editFingerprint(_ field: String, _ value: Any) throws {
    try edit(baseline()) { baseline in
      var fingerprint = try #require(baseline["fingerprint"] as? [String: Any])
      fingerprint[field] = value
      baseline["fingerprint"] = fingerprint
    }
  }
}
