import Foundation
import Testing

/// A project with one scenario, `it`, whose processes are found by a marker in their environment.
struct ScenarioHarness {
  let project: TemporaryProject

  /// A command that executes Highwater, see ``Confinement``.
  var launcher: [String] = []

  /// Targets and their helpers inherit `TMPDIR` and thus the marker.
  private var temporaryFolder: String { "\(project.path)/tmp/\(project.marker)" }

  /// Writes a project file with these keys of the scenario in YAML.
  init(_ scenario: String = "target: {command: [\"true\"]}", repetitions: Int = 1, warmup: Int = 0) throws {
    project = try TemporaryProject()
    try write(scenario, repetitions: repetitions, warmup: warmup)
    try FileManager.default.createDirectory(atPath: temporaryFolder, withIntermediateDirectories: true)
  }

  /// Replaces the scenario.
  func write(_ scenario: String, repetitions: Int = 1, warmup: Int = 0) throws {
    let body = scenario.split(separator: "\n").map { "    \($0)\n" }.joined()
    try project.write(
      """
      version: 1
      defaults: {repetitions: \(repetitions), warmup: \(warmup), explain: off}
      scenarios:
        - name: it
      \(body)
      """,
      to: "highwater.yml"
    )
  }

  func start(_ arguments: String...) throws -> Highwater.Running {
    try start(arguments)
  }

  private func start(_ arguments: [String]) throws -> Highwater.Running {
    try Highwater.start(arguments, in: project, variables: ["TMPDIR": temporaryFolder], launcher: launcher)
  }

  func run(_ arguments: [String]) throws -> Highwater.Outcome {
    try start(arguments).wait()
  }

  /// Makes Highwater run without some permissions; without privileges the project belongs to ``Confinement/user``.
  mutating func confine(without dropped: Set<Confinement>) throws {
    launcher = try Confinement.launcher(without: dropped)
    guard dropped.contains(.privileges) else { return }
    let all = FileManager.default.enumerator(atPath: project.path)?.compactMap { $0 as? String } ?? []
    for path in [""] + all { chown("\(project.path)/\(path)", Confinement.user, Confinement.user) }
  }

  /// Runs a check without a baseline.
  func check(_ arguments: String...) throws -> Highwater.Outcome {
    try run(["check", "--allow-missing-baseline"] + arguments)
  }

  /// Runs a check and approves the result.
  func approve() throws {
    try #require(try check().code == 0)
    try #require(try run(["approve"]).code == 0)
  }

  /// Waits until the file exists; fails if the run ends first.
  ///
  /// The limit of ten minutes only ends a hang.
  func wait(for file: String, in running: Highwater.Running) throws {
    let deadline = Date(timeIntervalSinceNow: 600)
    while !has(file) {
      try #require(running.process.isRunning || has(file), "the run ended before `\(file)` existed")
      try #require(Date() < deadline, "`\(file)` does not exist after ten minutes")
      usleep(5000)
    }
  }

  func has(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: project.url(file).path)
  }

  func remove(_ file: String) {
    try? FileManager.default.removeItem(at: project.url(file))
  }

  /// The repetitions of the last check's first scenario.
  func repetitions() throws -> [[String: Any]] {
    let scenarios = try #require(try project.result()["scenarios"] as? [[String: Any]])
    return try #require(scenarios.first?["repetitions"] as? [[String: Any]])
  }

  /// The kind of the last repetition's end, with its code or signal, as in `exited 3` or `crash SEGV`.
  func end() throws -> String {
    let end = try #require(try repetitions().last?["end"] as? [String: Any])
    let detail = end["code"].map { " \($0)" } ?? end["signal"].map { " \($0)" } ?? ""
    return "\(end["kind"] ?? "")\(detail)"
  }

  /// Fails with what is left of ended runs.
  func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let left = try leftovers()
    #expect(left == [], sourceLocation: sourceLocation)
  }

  /// Live processes, cgroups and temporary files of ended runs.
  func leftovers() throws -> [String] {
    try project.survivors() + project.cgroups() + temporaryFiles()
  }

  func temporaryFiles() throws -> [String] {
    let all = FileManager.default.enumerator(atPath: project.path)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".tmp") || ($0.hasPrefix("tmp/") && $0.split(separator: "/").count > 2) }
  }

  /// The files that an aborted run must not change: baselines and the last result.
  func keptFiles() throws -> [String: Data] {
    var files = try project.baselines().mapValues { Data($0.utf8) }
    files["result.json"] = try? Data(contentsOf: project.url(".highwater/result.json"))
    return files
  }
}

extension Highwater.Running {
  func send(_ signal: Int32) {
    kill(process.processIdentifier, signal)
  }

  /// Sends a signal that the program handles, and returns when it is no longer pending (`ShdPnd`, proc_pid_status(5)).
  func sendAndAwaitDelivery(_ signal: Int32) {
    let id = process.processIdentifier
    kill(id, signal)
    func isPending() -> Bool {
      let status = (try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8)) ?? ""
      let pending = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }?.split(separator: "\t").last
      return (pending.flatMap { UInt64($0, radix: 16) } ?? 0) & 1 << UInt64(signal - 1) != 0
    }
    while isPending() { usleep(1000) }
  }
}

/// A loopback port on which a socket listens until `deinit`.
final class BoundPort {
  let number: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(descriptor, generic, length) == 0 && listen(descriptor, 8) == 0
          ? getsockname(descriptor, generic, &length) : -1
      }
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    try #require(result == 0)
  }

  deinit {
    close(descriptor)
  }
}
