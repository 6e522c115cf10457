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
    of command: [String] = ["./server"],
    _ script: @escaping ScriptedMeasurer.Script
  ) throws -> UseCaseProject.Outcome {
    project.measurer.follow(script)
    return try project.run {
      var initialization = Init()
      initialization.command = command
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

  @Test("A program without a socket is run to its end, also if that comes late; as a service only if none comes")
  func longBatch() throws {
    for (last, isService) in [(End(.exited, code: 0), false), (End(.timeout, signal: .kill), true)] {
      let project = try UseCaseProject(holding: 8)
      let outcome = try run(project) { _, start in
        start == 1 ? .holding(8, end: last) : Self.service(on: [])
      }
      #expect(outcome.code == .pass, "\(outcome.text)")
      #expect(try project.read("first.yml").contains("ready: {delay: 1s}") == isService)
      #expect(outcome.text.contains("delete `ready`") == isService)
    }
  }

  @Test("A service without a page at `/` is used all the same, with 2,000 requests")
  func status() throws {
    let project = try UseCaseProject(holding: 8)
    let outcome = try run(project) { scenario, start in
      let problem = Failure.Problem.http(url: "", problem: .status(code: 404, expected: nil), request: 1, of: 1)
      return Self.service(on: [.tcp(host: "127.0.0.1", port: 80)], failing: start == 1 ? problem : nil)
    }
    #expect(outcome.code == .pass && outcome.text.contains("answers HTTP on port 80"), "\(outcome.text)")
    #expect(try project.read("first.yml").contains("times: 10, expect: 404"))
  }

  @Test("A service is used by the routes of its source that it answers, 2,000 requests in all")
  func routes() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("router.get('/feeds/:id', a)\nrouter.get('/gone', b)\nrouter.post('/new', c)\n", to: "lib/web.js")
    let outcome = try run(project) { scenario, start in
      let urls = scenario.steps.flatMap { step -> [String] in
        guard case .repeat(_, let steps) = step.action else { return [] }
        return steps.compactMap { if case .http(let call) = $0.action { call.url } else { nil } }
      }
      let refused = urls.first { $0.hasSuffix("/gone") }
      let problem = refused.map {
        Failure.Problem.http(
          url: $0.replacingOccurrences(of: "{{port}}", with: "4711"), problem: .status(code: 404, expected: nil),
          request: 1, of: 1)
      }
      return Self.service(on: [.tcp(host: "127.0.0.1", port: nil)], failing: problem)
    }
    #expect(outcome.code == .pass, "\(outcome.text)")
    let file = try project.read("first.yml")
    #expect(file.contains("- http: {url: \"http://127.0.0.1:{{port}}/\", times: 5}"), "\(file)")
    #expect(file.contains("- http: {url: \"http://127.0.0.1:{{port}}/feeds/1\", times: 5}"), "\(file)")
    #expect(!file.contains("gone") && !file.contains("new"), "\(file)")
  }

  @Test("The collector of a service runs often, unless the program refuses to")
  func frequentCollection() throws {
    for refuses in [false, true] {
      let project = try UseCaseProject(holding: 8)
      try project.write("module shop\n", to: "go.mod")
      try project.write("#!/bin/sh\n", to: "bin/shop")
      let outcome = try run(project, of: ["bin/shop"]) { scenario, _ in
        if scenario.target.command.shellLine.contains("go build") { return .holding(8) }
        let isSet = scenario.target.environment["GOGC"] != nil
        return Self.service(
          on: [.tcp(host: "127.0.0.1", port: nil)], failing: isSet && refuses ? .signalNotSent : nil)
      }
      #expect(outcome.code == .pass, "\(outcome.text)")
      let file = try project.read("first.yml")
      #expect(file.contains("GOGC: \"20\"") != refuses, "\(file)")
      #expect(file.contains("The collector runs often") != refuses, "\(file)")
    }
  }

  @Test("A pattern of git that would match the folder of the baselines gets an exception")
  func ignoredBaselines() throws {
    for (pattern, isExcepted) in [("load\n*.o\n", true), ("*.o\n", false), ("baselines\n", false)] {
      let project = try UseCaseProject(holding: 8)
      try project.shell("git init -q .")
      try project.write(pattern, to: ".gitignore")
      try project.write("#!/bin/sh\n", to: "load")
      #expect(try run(project, of: ["./load"]) { _, _ in .holding(8) }.code == .pass)
      #expect(project.exists("baselines/.gitignore") == isExcepted)
      let isIgnored = try project.shell("git check-ignore baselines/load/a.json || true")
      #expect(isIgnored.isEmpty != (pattern == "baselines\n"), "\(pattern)")
    }
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

  @Test("The project is built first; of what the build leaves, the first program that works is used")
  func built() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("all:\n\t./compile\n", to: "Makefile")
    let path = project.path
    let outcome = try run(project, of: []) { scenario, start in
      switch (scenario.name.text, start) {
      case ("build", 0):
        for name in ["a", "b"] {
          _ = FileManager.default.createFile(
            atPath: "\(path)/\(name)", contents: Data("\u{7f}ELF".utf8), attributes: [.posixPermissions: 0o755])
        }
        return .holding(1)
      case ("a", 1): return .holding(8, end: End(.exited, code: 1))
      default: return .holding(8)
      }
    }
    #expect(outcome.code == .pass, "\(outcome.text)")
    #expect(project.measurer.measured.map(\.name.text) == ["build", "a", "b"])
    let file = try project.read("first.yml")
    #expect(file.contains("build: make\n") && file.contains("command: [./b]"), "\(file)")
  }

  @Test("A failed build is reported with its output, and nothing is written")
  func failedBuild() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write(".executable(name: \"tool\")", to: "Package.swift")
    let outcome = try run(project, of: []) { _, _ in .holding(1, end: End(.exited, code: 1), output: "no such module\n")
    }
    #expect(outcome.code == .failed && outcome.text.contains("the build failed: `swift build -c release`"))
    #expect(outcome.errors.contains("no such module") && !project.exists("first.yml"), "\(outcome.text)")
  }

  @Test("A command in the repository is built as the repository is, and one of the system is not")
  func commandInRepository() throws {
    for (command, build) in [(["./server", "-x"], "make"), (["node", "s.js"], "make"), (["redis-server"], nil)] {
      let project = try UseCaseProject(holding: 8)
      try project.write("server:\n", to: "Makefile")
      try project.write("", to: "s.js")
      let outcome = try run(project, of: command) { _, _ in .holding(8) }
      #expect(outcome.code == .pass, "\(outcome.text)")
      #expect(try project.read("first.yml").contains("build:") == (build != nil))
      #expect(project.measurer.measured.map { $0.name.text == "build" } == (build == nil ? [false] : [true, false]))
    }
  }

  @Test("A file that is not a program gets its interpreter")
  func interpreter() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("", to: "app.jar")
    #expect(try run(project, of: ["app.jar", "-v"]) { _, _ in .holding(8) }.code == .pass)
    #expect(try project.read("first.yml").contains("command: [java, -jar, app.jar, -v]"))
  }

  @Test("A repository whose remote is on GitHub gets the workflow")
  func remote() throws {
    let project = try UseCaseProject(holding: 8)
    try project.shell("git init -q . && git remote add origin git@github.com:o/r.git")
    let output = try run(project) { _, _ in .holding(8) }.output
    #expect(output.contains("wrote .github/workflows/memory.yml") && output.contains("replace OWNER"), "\(output)")
  }

  @Test("A program that fails is told with its output, and nothing is written")
  func failure() throws {
    let project = try UseCaseProject(holding: 8)
    let outcome = try run(project) { _, _ in .holding(8, end: End(.exited, code: 3), output: "usage: server\n") }
    #expect(outcome.code == .failed && outcome.text.contains("exited with code 3"), "\(outcome.errors)")
    #expect(outcome.errors.contains("usage: server"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: project.path) == ["highwater.yml"])
  }

  @Test("The report shows what was tried before a program that only ended, with its last line")
  func triedBefore() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("web: serve --port $PORT\n", to: "Procfile")
    try project.write("", to: "pyproject.toml")
    try project.write("", to: "main.py")
    let outcome = try run(project, output: "first.yml", of: []) { scenario, _ in
      let isServer = scenario.target.command.words.first == "serve"
      return isServer ? .holding(8, end: End(.exited, code: 1), output: "no module x\n") : .holding(8)
    }
    let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words.contains("`serve --port '{{port}}'` was tried before that and failed: exited with code 1: no module x"),
      "\(words)")
  }

  @Test("Beside a project file only what is missing is written, and nothing is run")
  func added() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("", to: ".github/x")
    try project.write("", to: "go.mod")
    let before = try project.read("highwater.yml")
    let outcome = try run(project, output: nil, of: []) { _, _ in .holding(8) }
    #expect(outcome.code == .pass && project.measurer.measured.isEmpty, "\(outcome.errors)")
    for line in ["exists, not changed: highwater.yml", "wrote .github/workflows/memory.yml", "replace OWNER"] {
      #expect(outcome.output.contains(line), "\(outcome.output)")
    }
    #expect(try project.read("highwater.yml") == before)
    let again = try run(project, output: nil, of: []) { _, _ in .holding(8) }
    #expect(again.code == .usage && again.errors.contains("already exists"))
  }

  @Test("Existing files stay as they are, and without a terminal nothing is done unasked")
  func refused() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("mine\n", to: ".github/workflows/memory.yml")
    let before = try project.read("highwater.yml")
    for output in [nil, "highwater.yml"] {
      let outcome = try run(project, output: output) { _, _ in .holding(8) }
      #expect(outcome.code == .usage && outcome.errors.contains("highwater.yml: error: already exists"))
    }
    let unasked = try run(project, isConfirmed: false) { _, _ in .holding(8) }
    #expect(unasked.code == .usage && unasked.errors.contains("--yes"))
    #expect(project.measurer.measured.isEmpty)
    let outcome = try run(project) { _, _ in .holding(8) }
    #expect(outcome.code == .pass && outcome.output.contains("exists, not changed: .github/workflows/memory.yml"))
    #expect(try project.read(".github/workflows/memory.yml") == "mine\n" && !outcome.output.contains("replace OWNER"))
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
      #expect(outcome.output.contains("wrote .gitattributes") == !exists && outcome.text.contains("no CI system found"))
      try project.write("{}", to: "baselines/load/profiles/ci.json")
      let value = try project.shell("git check-attr linguist-generated baselines/load/profiles/ci.json")
      #expect(value.hasSuffix(exists ? ": unspecified" : ": set"))
    }
  }
}
