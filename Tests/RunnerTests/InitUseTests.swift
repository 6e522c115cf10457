import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Writing a first project file, with scripted recordings")
struct InitUseTests {
  private static let stopped = End(.stopped, signal: .term)

  private func run(
    _ project: UseCaseProject,
    output: String? = "first.yml",
    isConfirmed: Bool = true,
    _ script: @escaping ScriptedMeasurer.Script
  ) throws -> UseCaseProject.Outcome {
    project.measurer.follow(script)
    return try project.run {
      var initialization = Init()
      initialization.command = ["./server"]
      initialization.output = output
      initialization.isConfirmed = isConfirmed
      return try initialization.run(in: $0)
    }
  }

  /// The recording of a service that is stopped, which listens on these sockets.
  private static func service(on listeners: [Readiness.Condition], failing problem: Failure.Problem? = nil) -> Recording
  {
    let turns = (1...20).map { Mark(time: .milliseconds($0 * 10), event: .iteration) }
    var recording = Recording.holding(8, marks: turns, end: stopped)
    recording.stopRequested = .seconds(1)
    recording.listeners = listeners
    recording.failure = problem.map { Failure(problem: $0) }
    return recording
  }

  @Test("A program that ends by itself is run once")
  func batch() throws {
    let project = try UseCaseProject(holding: 8)
    let outcome = try run(project) { _, _ in .holding(8) }
    #expect(outcome.code == .pass && project.measurer.measured.count == 1)
    #expect(outcome.text.contains("wrote first.yml") && outcome.text.contains("check --config first.yml"))
    #expect(try project.read("first.yml").contains("command: [./server]"))
    #expect(try !project.read("first.yml").contains("ready:"))
  }

  @Test("A service without a page at `/` is used all the same, with as many requests as fit into a tenth of a second")
  func status() throws {
    let project = try UseCaseProject(holding: 8)
    let outcome = try run(project) { scenario, start in
      let problem = Failure.Problem.http(url: "", problem: .status(code: 404, expected: nil), request: 1, of: 1)
      return Self.service(on: [.tcp(host: "127.0.0.1", port: 80)], failing: start == 1 ? problem : nil)
    }
    #expect(outcome.code == .pass && outcome.text.contains("answers HTTP on port 80"), "\(outcome.text)")
    #expect(try project.read("first.yml").contains("times: 10, expect: 404"))
  }

  @Test("A service that speaks no HTTP is awaited at its port; one whose port was refused later, for a time")
  func others() throws {
    let problem = Failure.Problem.signalNotSent
    for (failures, ready) in [(1, "ready: {tcp: 80}"), (2, "ready: {delay: 1s}")] {
      let project = try UseCaseProject(holding: 8)
      let outcome = try run(project) { _, start in
        Self.service(on: [.tcp(host: "127.0.0.1", port: 80)], failing: (1...failures).contains(start) ? problem : nil)
      }
      #expect(outcome.code == .pass)
      #expect(try project.read("first.yml").contains(ready))
    }
  }

  @Test("A program that fails is told with its output, and nothing is written")
  func failure() throws {
    let project = try UseCaseProject(holding: 8)
    let outcome = try run(project) { _, _ in .holding(8, end: End(.exited, code: 3), output: "usage: server\n") }
    #expect(outcome.code == .failed && outcome.text.contains("exited with code 3"), "\(outcome.errors)")
    #expect(outcome.errors.contains("usage: server"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: project.path) == ["highwater.yml"])
  }

  @Test("Existing files stay as they are, and without a terminal nothing is done unasked")
  func refused() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("mine\n", to: ".github/workflows/memory.yml")
    let before = try project.read("highwater.yml")
    for output in [nil, "highwater.yml"] {
      let outcome = try run(project, output: output) { _, _ in .holding(8) }
      #expect(outcome.code == .usage && outcome.errors.contains("highwater.yml: error: exists already"))
    }
    let unasked = try run(project, isConfirmed: false) { _, _ in .holding(8) }
    #expect(unasked.code == .usage && unasked.errors.contains("--yes"))
    #expect(project.measurer.measured.isEmpty)
    let outcome = try run(project) { _, _ in .holding(8) }
    #expect(outcome.code == .pass && outcome.output.contains("exists, not changed: .github/workflows/memory.yml"))
    #expect(try project.read(".github/workflows/memory.yml") == "mine\n")
    #expect(try project.read("highwater.yml") == before)
  }

  @Test("A link that leads out of the repository is refused before anything is written")
  func linkOutside() throws {
    let project = try UseCaseProject(holding: 8)
    try project.shell("git init -q . && mkdir ../outside .github && ln -s ../../outside .github/workflows")
    let outcome = try run(project) { _, _ in .holding(8) }
    #expect(outcome.code == .usage, "\(outcome.text)")
    #expect(
      outcome.errors.contains(".github/workflows/memory.yml: error: leads out of the repository"), "\(outcome.text)")
    #expect(try project.shell("ls ../outside") == "" && !project.exists("first.yml"))
  }

  @Test("A repository gets attributes for its baselines, unless it has some")
  func attributes() throws {
    for exists in [false, true] {
      let project = try UseCaseProject(holding: 8)
      try project.shell("git init -q .")
      if exists { try project.write("* text\n", to: ".gitattributes") }
      let outcome = try run(project) { _, _ in .holding(8) }
      #expect(outcome.output.contains("wrote .gitattributes") == !exists && outcome.text.contains("no CI system"))
      try project.write("{}", to: "baselines/load/profiles/ci.json")
      let value = try project.shell("git check-attr linguist-generated baselines/load/profiles/ci.json")
      #expect(value.hasSuffix(exists ? ": unspecified" : ": set"))
    }
  }
}
