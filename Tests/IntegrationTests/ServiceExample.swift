import Foundation
import Testing

/// The service of `ci/examples/service`, in a project with a baseline of it as it should be.
struct ServiceExample {
  static let folder = "\(ExampleTests.root)/ci/examples/service"

  private static let built = Result {
    let outcome = try run("\(ExampleTests.root)/ci/build", ["service"])
    try #require(outcome.code == 0, "\(outcome.errors)\(outcome.output)")
  }

  private let project: TemporaryProject

  /// Measures the healthy service by the example's file, but for the port, and approves that.
  init() throws {
    try Self.built.get()
    // Below the ports that the kernel gives to others (ip(7)), and another one in each process of tests.
    let port = 20_000 + Int(getpid()) % 10_000
    let text = try String(contentsOfFile: "\(ExampleTests.root)/ci/examples/service.yml", encoding: .utf8)
    try #require(text.contains("18741"))
    project = try TemporaryProject(text.replacingOccurrences(of: "18741", with: "\(port)"))
    let link = project.url("ci").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(ExampleTests.root)/ci")
    let first = try check()
    try #require(first.code == 5, "\(first.output)\(first.errors)")
    let approval = try Gate.run("approve", in: project)
    try #require(approval.code == 0, "\(approval.output)\(approval.errors)")
  }

  /// Runs the service's own tests.
  static func test(fault: String = "") throws -> Gate.Outcome {
    try built.get()
    return try run("/usr/bin/env", ["swift", "test", "--skip-build", "--package-path", folder], fault: fault)
  }

  /// Checks the service, with a fault or as it should be.
  func check(fault: String = "") throws -> Gate.Outcome {
    try Gate.run("check", "--repetitions", "3", in: project, variables: ["SERVICE_FAULT": fault])
  }

  /// Changes the project file.
  func replace(_ text: String, by other: String) throws {
    let before = try project.read("highwater.yml")
    try #require(before.contains(text))
    try project.write(before.replacingOccurrences(of: text, with: other), to: "highwater.yml")
  }

  /// What the last check says of each repetition.
  func repetitions() throws -> [[String: Any]] {
    try #require(try scenario()["repetitions"] as? [[String: Any]])
  }

  /// What the last check says of a metric.
  func metric(_ name: String) throws -> [String: Any] {
    let metrics = try scenario()["metrics"] as? [[String: Any]]
    return try #require(metrics?.first { $0["name"] as? String == name }, "there is no \(name)")
  }

  private func scenario() throws -> [String: Any] {
    let result = try object(in: project.read(".highwater/service/result.json"))
    return try #require((result["scenarios"] as? [[String: Any]])?.first)
  }

  private static func run(_ program: String, _ words: [String], fault: String = "") throws -> Gate.Outcome {
    try Gate.Running(words, in: TemporaryProject(), variables: ["SERVICE_FAULT": fault], program: program).wait()
  }
}
