import Foundation
import Testing

/// A project of `first-gate.md`: the files of one of its sections.
struct PageProject: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let files: [(name: String, text: String)]

  private static let page: [String] = {
    let path = "\(ExampleTests.root)/Sources/highwater/Documentation.docc/first-gate.md"
    return ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").components(separatedBy: "\n## ")
  }()

  /// The commands above the sections, with their exit codes.
  static let commands = page[0].matches(of: #/(?m)^highwater ([^\#\n]+)\#(?: exit code (\d))?/#).map { match in
    (words: match.output.1.split(separator: " ").map(String.init), code: match.output.2.flatMap { Int32($0) } ?? 0)
  }

  /// What a section needs to build its project; not Maven, which has to fetch its plugins.
  private static let tools = [
    "C with": "make", "C++": "cmake", "Rust": "cargo", "Go": "go", "Python": "python3", "Node": "node",
    "Swift": "swift",
  ]

  private static func isInstalled(_ program: String) -> Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }

  /// Those whose tools this machine has.
  static let all = page.dropFirst().compactMap { section -> PageProject? in
    let tool = tools.first { section.hasPrefix($0.key) }?.value
    guard let tool, isInstalled(tool) else { return nil }
    let files = section.matches(of: #/`([^`\n]+)`:\n\n```\w*\n((?s:.*?))```/#)
    return PageProject(
      testDescription: String(section.prefix { $0 != "\n" }),
      files: files.map { (String($0.output.1), String($0.output.2)) })
  }
}

@Suite("From an empty repository to a caught regression: init, check, approve, check", .endsHangs)
struct NewcomerTests {
  @Test("The commands of the page end as it says, and the last one finds the rise", arguments: PageProject.all)
  func page(example: PageProject) throws {
    try #require(PageProject.commands.map(\.code) == [0, 5, 0, 0, 1])
    let project = try TemporaryProject()
    for (name, text) in example.files { try project.write(text, to: name) }
    for (index, command) in PageProject.commands.enumerated() {
      if index == 4 {
        for (name, text) in example.files {
          try project.write(text.replacing("20 << 20", with: "24 << 20").replacing("20<<20", with: "24<<20"), to: name)
        }
      }
      let outcome = try Highwater.start(command.words, in: project).wait()
      // With so few repetitions an unchanged program can be undecided.
      let accepted = index == 3 ? [command.code, 4] : [command.code]
      try #require(accepted.contains(outcome.code), "\(command.words): \(outcome.text)")
      // Only to make the test short.
      if index == 0 {
        try project.write(
          try project.read("highwater.yml") + "defaults: {repetitions: 5, explain: off}\n", to: "highwater.yml")
      }
    }
    #expect(project.cgroups() == [])
  }

  @Test("The written files are valid, and enough for a fresh clone: its check builds the program")
  func files() throws {
    let project = try TemporaryProject()
    try project.write("tool: main.c\n\tcc -o tool main.c\n", to: "Makefile")
    try project.write("int main(void) { return 0; }\n", to: "main.c")
    for name in [".github/x", ".gitlab-ci.yml"] { try project.write("", to: name) }
    try project.write("tool\nstarted\n*.out\n*.err\n", to: ".gitignore")
    _ = try Highwater.shell("git init -q .", in: project)
    let outcome = try Highwater.run("init", "--yes", in: project)
    #expect(outcome.code == 0 && outcome.text.contains("building with `make`"), "\(outcome.text)")
    #expect(try Highwater.run("validate", in: project).code == 0)
    #expect(try project.read("memory.gitlab-ci.yml").contains("highwater check"))
    #expect(try project.read(".github/workflows/memory.yml").contains("persist-credentials: false"))
    let identity = "-c user.name=A -c user.email=a@example.org"
    let clone = try Highwater.shell(
      "git add -A && git \(identity) commit -qm x && git clone -q . clone", in: project)
    #expect(clone.code == 0, "\(clone.text)")
    let check = try Highwater.Running(
      ["-c", "cd clone && exec '\(Highwater.binary)' check --repetitions 2"], in: project, variables: [:],
      program: "/bin/sh"
    ).wait()
    #expect(check.code == 5, "\(check.text)")
    let again = try Highwater.run("init", "--yes", in: project)
    #expect(again.code == 2 && again.errors.contains("highwater.yml: error: already exists"), "\(again.text)")
  }
}

@Suite("doctor", .endsHangs)
struct DoctorTests {
  private func doctor(without dropped: Set<Confinement>) throws -> [String: Any] {
    var harness = try ScenarioHarness()
    if !dropped.isEmpty { try harness.confine(without: dropped) }
    let outcome = try harness.run(["doctor", "--json", "-"])
    #expect(outcome.code == 0)
    try harness.expectNothingLeft()
    return try object(in: outcome.output)
  }

  private func property(_ name: String, of result: [String: Any]) throws -> [String: Any] {
    let all = try #require(result["properties"] as? [[String: Any]])
    return try #require(all.first { $0["name"] as? String == name }, "\(name)")
  }

  @Test("What this machine permits is told, with the noise of ten runs")
  func machine() throws {
    let result = try doctor(without: [])
    #expect(result["schema"] as? String == "highwater.doctor/1" && result["canMeasure"] as? Bool == true)
    let noise = try #require(result["noise"] as? [String: [Double]])
    #expect(noise["peaks"]?.count == 10 && noise["durationsSeconds"]?.count == 10)
    #expect(try property("measuring", of: result)["status"] as? String == "good")
  }

  @Test("What a seccomp filter forbids is told with a remedy", .enabled(if: Confinement.canFilter, "needs seccomp"))
  func filtered() throws {
    let result = try doctor(without: [.ptrace, .personality])
    #expect((result["method"] as? String)?.hasPrefix("sampled") == true)
    for name in ["ptrace", "addresses"] {
      let property = try property(name, of: result)
      #expect(property["status"] as? String == "warning" && property["hint"] != nil, "\(property)")
    }
  }

  @Test("Where nothing can be measured the exit code is 2, and the reason is told")
  func restricted() throws {
    var harness = try ScenarioHarness()
    harness.launcher = ["/bin/bash", "-c", "ulimit -f 64; exec \"$@\"", "bash"]
    let outcome = try harness.run(["doctor"])
    #expect(outcome.code == 2 && outcome.output.contains("file sizes") && outcome.output.contains("ulimit -f"))
  }

  @Test(
    "A scenario that needs more than this machine has is named",
    .enabled(if: Confinement.canFilter, "needs seccomp"))
  func scenario() throws {
    var harness = try ScenarioHarness("target: {command: [\"true\"]}\nisolation: {tracer: on}")
    try harness.confine(without: [.ptrace])
    let outcome = try harness.run(["doctor"])
    #expect(outcome.code == 0 && outcome.text.contains("it: `tracer: on` is unavailable"), "\(outcome.text)")
  }
}
