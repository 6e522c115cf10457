import Foundation
import Testing

@Suite("From an empty repository to a caught regression: init, check, approve, check", .endsHangs)
struct NewcomerTests {
  /// A program that holds more memory after an edit of one word.
  struct Example: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let files: [String: String]
    /// The file, what is replaced in it, and the replacement.
    let edit: (file: String, old: String, new: String)
    /// A line of the project file that init writes.
    let line: String
  }

  private static let examples = [
    Example(
      testDescription: "C with a Makefile",
      files: [
        "Makefile": "pack: main.c\n\tcc -o pack main.c\n",
        "main.c": """
        #include <stdlib.h>
        #include <string.h>
        int main(void) { return memset(malloc(20 << 20), 1, 20 << 20) == NULL; }
        """,
      ], edit: ("main.c", "20 <<", "24 <<"), line: "command: [./pack]"),
    Example(
      testDescription: "a Python package",
      files: [
        "pyproject.toml": "[project]\nname = \"report\"\nversion = \"1\"\n",
        "report/__main__.py": "rows = ['row %d' % i for i in range(100000)]\n",
      ], edit: ("report/__main__.py", "100000", "160000"), line: "command: [python3, -m, report]"),
    Example(
      testDescription: "a Node service",
      files: [
        "package.json": #"{"name": "shop", "scripts": {"start": "node server.js"}}"#,
        "server.js": """
        const cache = Buffer.alloc(20 << 20, 1);
        require('http').createServer((request, response) => response.end(`${cache[7]}`)).listen(process.env.PORT || 3000);
        """,
      ], edit: ("server.js", "20 <<", "30 <<"), line: "ready: {tcp: \"{{port}}\"}"),
  ]

  @Test("Four commands", arguments: examples)
  func fourCommands(example: Example) throws {
    let project = try TemporaryProject()
    for (name, text) in example.files { try project.write(text, to: name) }
    let first = try Highwater.run("init", "--yes", in: project)
    try #require(first.code == 0, "\(first.text)")
    let file = try project.read("highwater.yml")
    #expect(file.contains(example.line) && file.split(separator: "\n").count <= 25, "\(file)")
    // Fewer repetitions than the default only make the test short.
    #expect(try Highwater.run("check", "--repetitions", "5", in: project).code == 5)
    #expect(try Highwater.run("approve", in: project).code == 0)
    let text = try project.read(example.edit.file)
    try project.write(text.replacingOccurrences(of: example.edit.old, with: example.edit.new), to: example.edit.file)
    let check = try Highwater.run("check", "--repetitions", "5", in: project)
    #expect(check.code == 1, "\(check.text)")
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
