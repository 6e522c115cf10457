import Foundation
import Testing

/// The test program `ci/bench.d/ballast.c`, which uses a known amount of memory, and Highwater's measurements of it.
enum Ballast {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The path of the program, linked statically so that its own memory is small and constant.
  ///
  /// It is renamed into place, since other test processes may build it at the same time.
  private static let built = Result {
    let folder = root.appendingPathComponent(".build/bench")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (program, draft) = (folder.appendingPathComponent("ballast"), folder.appendingPathComponent(UUID().uuidString))
    let source = root.appendingPathComponent("ci/bench.d/ballast.c").path
    let status = try run("/usr/bin/env", ["cc", "-O1", "-static", "-o", draft.path, source])
    try #require(status == 0, "cc could not build \(source)")
    try #require(rename(draft.path, program.path) == 0)
    return program.path
  }

  static var program: String {
    get throws { try built.get() }
  }

  /// Whether the kernel lets a process trace its child, which exact peaks need; tested once.
  static let mayTrace = (try? run(program, ["may-trace"])) == 0

  /// Whether a memory cgroup can be created below that of the tests; tested once.
  static let hasMemoryCgroup = ownMemoryCgroups.contains { parent in
    let path = "\(parent)/highwater-test-\(UUID().uuidString)"
    guard mkdir(path, 0o755) == 0 else { return false }
    defer { rmdir(path) }
    return FileManager.default.fileExists(atPath: "\(path)/memory.stat")
  }

  /// The cgroup of the tests at the usual mounts (cgroups(7)).
  private static var ownMemoryCgroups: [String] {
    let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.compactMap { line in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return nil }
      if fields[1].split(separator: ",").contains("memory") { return "/sys/fs/cgroup/memory\(fields[2])" }
      return fields[1].isEmpty ? "/sys/fs/cgroup\(fields[2])" : nil
    }
  }

  /// The error of `VmHWM` after memory was freed: three counters (anonymous, file, shared) of
  /// CPUs × (batch - 1) pages each, batch = max(32, 2 × CPUs) (lib/percpu_counter.c, include/linux/mm.h).
  static let markError: Double = {
    let cpus = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    return Double(3 * cpus * (max(32, 2 * cpus) - 1) * sysconf(Int32(_SC_PAGESIZE)))
  }()

  private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

extension Ballast {
  /// What the program reports about itself, in bytes.
  struct Report: Decodable {
    let command: String
    /// The memory at its start.
    let base: Double
    /// The memory that it and its children allocated after that, each page once.
    let touched: Double

    var truth: Double { base + touched }
  }

  /// One repetition in the result file.
  struct Repetition: Decodable {
    struct Process: Decodable {
      let command: String
      let main: Bool
      let peak: Double
      let exact: Bool
    }

    let metrics: [String: Double]
    let processes: Int
    let processTable: [Process]?
    let treeMethod: String?

    func metric(_ name: String) throws -> Double {
      try #require(metrics[name], "there is no \(name)")
    }
  }

  /// The result of a recording, and the reports of the program.
  struct Outcome {
    let method: String
    let repetitions: [Repetition]
    /// In the order of writing, starting with a warm-up.
    let reports: [Report]

    /// The only repetition and its report.
    func only() throws -> (repetition: Repetition, report: Report) {
      (try #require(repetitions.first), try #require(reports.first))
    }
  }

  private struct ResultFile: Decodable {
    struct Environment: Decodable { let fingerprint: Fingerprint }
    struct Fingerprint: Decodable { let measurement: String }
    struct Scenario: Decodable { let repetitions: [Repetition] }
    let environment: Environment
    let scenarios: [Scenario]
  }

  /// Records this program with these arguments, as in `hold mib=16`.
  static func record(_ words: String, options: [String] = [], launcherOf mebibytes: Int? = nil) throws -> Outcome {
    try record([program] + words.split(separator: " ").map(String.init), options: options, launcherOf: mebibytes)
  }

  /// Records a command; with `launcherOf`, Highwater is started by a process of that many MiB.
  static func record(_ command: [String], options: [String] = [], launcherOf mebibytes: Int? = nil) throws -> Outcome {
    let project = try TemporaryProject()
    let gate = ["record", "--json", "-"] + options + ["--"] + command
    let launcher = try mebibytes.map { [try program, "launch", "mib=\($0)", "--", Highwater.binary] }
    let words = (launcher ?? [Highwater.binary]) + gate
    let variables = ["BALLAST_REPORT": project.url("reports").path]
    let outcome = try Highwater.Running(Array(words[1...]), in: project, variables: variables, program: words[0]).wait()
    try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let result = try JSONDecoder().decode(ResultFile.self, from: Data(outcome.output.utf8))
    let reports = try project.read("reports").split(separator: "\n").map {
      try JSONDecoder().decode(Report.self, from: Data($0.utf8))
    }
    return Outcome(
      method: result.environment.fingerprint.measurement,
      repetitions: try #require(result.scenarios.first).repetitions,
      reports: reports.filter { $0.command != "launch" }
    )
  }
}
