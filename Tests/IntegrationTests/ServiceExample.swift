import Foundation
import Testing

/// The service of `ci/examples/service`, in a project with a baseline of the faultless service.
struct ServiceExample {
  static let folder = "\(ExampleTests.root)/ci/examples/service"

  /// Skipped if `HIGHWATER_SERVICE_IS_BUILT` is set, after `ci/build service`.
  private static let built = Result {
    guard ProcessInfo.processInfo.environment["HIGHWATER_SERVICE_IS_BUILT"] == nil else { return }
    let outcome = try run("\(ExampleTests.root)/ci/build", ["service"])
    try #require(outcome.code == 0, "\(outcome.errors)\(outcome.output)")
  }

  private let project: TemporaryProject

  /// The baselines of the faultless service, measured once per test process.
  private static let baselines = Result {
    let service = try ServiceExample(baselines: [:])
    let first = try service.check()
    try #require(first.code == 5, "\(first.output)\(first.errors)")
    // Fewer repetitions than the example asks for.
    let approval = try Highwater.run("approve", "--force", in: service.project)
    try #require(approval.code == 0, "\(approval.output)\(approval.errors)")
    return try service.project.baselines()
  }

  init() throws {
    try self.init(baselines: Self.baselines.get())
  }

  /// Creates a project from the example's file, with another port.
  private init(baselines: [String: String]) throws {
    try Self.built.get()
    // Below the ephemeral ports (ip(7)), and different for each test process.
    let port = 20_000 + Int(getpid()) % 10_000
    project = try TemporaryProject(example: "service") { text in
      try #require(text.contains("18741"))
      return text.replacingOccurrences(of: "18741", with: "\(port)")
    }
    for (path, text) in baselines { try project.write(text, to: "baselines/\(path)") }
  }

  static func test(fault: String = "") throws -> Highwater.Outcome {
    try built.get()
    return try run("/usr/bin/env", ["swift", "test", "--skip-build", "--package-path", folder], fault: fault)
  }

  /// Checks the service, with or without a fault.
  func check(fault: String = "") throws -> Highwater.Outcome {
    try Highwater.run("check", "--repetitions", "3", in: project, variables: ["SERVICE_FAULT": fault])
  }

  /// Edits the project file.
  func replace(_ text: String, by other: String) throws {
    let before = try project.read("highwater.yml")
    try #require(before.contains(text))
    try project.write(before.replacingOccurrences(of: text, with: other), to: "highwater.yml")
  }

  /// The repetitions of the last check.
  func repetitions() throws -> [[String: Any]] {
    try #require(try scenario()["repetitions"] as? [[String: Any]])
  }

  /// A metric of the last check.
  func metric(_ name: String) throws -> [String: Any] {
    let metrics = try scenario()["metrics"] as? [[String: Any]]
    return try #require(metrics?.first { $0["name"] as? String == name }, "there is no \(name)")
  }

  private func scenario() throws -> [String: Any] {
    let result = try object(in: project.read(".highwater/service/result.json"))
    return try #require((result["scenarios"] as? [[String: Any]])?.first)
  }

  private static func run(_ program: String, _ words: [String], fault: String = "") throws -> Highwater.Outcome {
    try Highwater.Running(words, in: TemporaryProject(), variables: ["SERVICE_FAULT": fault], program: program).wait()
  }
}
