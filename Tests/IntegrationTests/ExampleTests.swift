import Foundation
import Testing

/// The files that users copy: examples, README and articles.
///
/// Examples run one after the other, beside the recipes.
@Suite("Examples and documentation", .serialized)
struct ExampleTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  @Test(
    "Each example can be measured and approved, and passes against its own baseline",
    .endsHangs,
    arguments: [
      "redis", "postgresql", "nginx", "sqlite", "python", "pytest", "from-time", "from-asv", "from-pytest-memray",
      "from-hyperfine",
    ]
  )
  func example(name: String) throws {
    try Example(name, repetitions: 2).passesAgainstItself()
  }

  @Test("The project files in the README and the articles are valid")
  func documentation() throws {
    let catalogue = "\(Self.root)/Sources/highwater/Documentation.docc"
    let articles = try FileManager.default.contentsOfDirectory(atPath: catalogue).filter { $0.hasSuffix(".md") }
    let blocks = try (["\(Self.root)/README.md"] + articles.map { "\(catalogue)/\($0)" }).flatMap { file in
      try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "```yaml\n").dropFirst()
        .compactMap { $0.components(separatedBy: "```").first }
        .filter { $0.contains("version: 1") }
    }
    #expect(blocks.count == 6)
    let variables = ["HIGHWATER_WEBHOOK_URL": "https://hooks.example.com/x", "HIGHWATER_WEBHOOK_SECRET": "s"]
    for block in blocks {
      let project = try TemporaryProject(block)
      let outcome = try Highwater.start(["validate"], in: project, variables: variables).wait()
      #expect(outcome.code == 0, "\(outcome.errors)")
    }
  }

  @Test("The README lists every command and every exit code")
  func commands() throws {
    let text = try String(contentsOfFile: "\(Self.root)/README.md", encoding: .utf8)
    let help = try Highwater.run("--help", in: TemporaryProject()).output
    let listed = help.components(separatedBy: "SUBCOMMANDS:").dropFirst().joined()
    let names = listed.matches(of: #/\n  ([a-z]+)\s/#).map { String($0.output.1) }
    #expect(names.count == 17)
    for name in names { #expect(text.contains("highwater \(name)"), "\(name)") }
    for code in ["0 | pass", "1 | regression", "2 | usage", "3 | failed", "4 | inconclusive", "5 | no-baseline"] {
      #expect(text.contains("| \(code) |"))
    }
  }
}

/// The project files that users copy for garbage-collected runtimes.
@Suite("Recipes", .serialized)
struct RecipeTests {
  /// Three repetitions, so that one outlier does not decide; a leak of 8 KiB per request is 1 MiB a minute at two requests
  /// a second.
  @Test(
    "Each recipe for a garbage-collected runtime passes unchanged, and catches a doubled cache and a leak",
    .endsHangs,
    arguments: [("node", "160"), ("java", "640"), ("go", "640"), ("python-service", "640")]
  )
  func recipe(name: String, doubledCache: String) throws {
    let example = try Example(name, repetitions: 3)
    try example.passesAgainstItself()
    for fault in [["CACHE": doubledCache], ["LEAK": "8192"]] {
      let outcome = try example.check(fault)
      #expect(outcome.code == 1 && outcome.output.contains("value.live_heap rose by"), "\(outcome.output)")
    }
  }

  /// Not at the same time as the recipes: pages that another process maps cannot be renewed (`PageCache`).
  @Test(
    "`noise` recognises the runtimes with a recipe by the files of the program",
    arguments: [
      ("[node, -e, \"0\"]", "node"), ("[java, -version]", "java"), ("[go, version]", "go"),
      ("[python3, -c, pass]", "python"), ("[sqlite3, -version]", nil),
    ])
  func runtime(command: String, expected: String?) throws {
    let harness = try ScenarioHarness("target: {command: \(command)}")
    let outcome = try harness.run(["noise", "--as-is", "--repetitions", "5", "--json", "noise.json"])
    #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let study = try harness.project.read("noise.json")
    #expect(study.firstMatch(of: #/"runtime" : "(\w+)"/#).map { String($0.1) } == expected, "\(study)")
  }
}

/// A project of `ci/examples` with fewer repetitions than it asks for.
private struct Example {
  private let project: TemporaryProject
  private let repetitions: Int

  init(_ name: String, repetitions: Int) throws {
    (project, self.repetitions) = (try TemporaryProject(example: name), repetitions)
  }

  func check(_ variables: [String: String] = [:]) throws -> Highwater.Outcome {
    try Highwater.run("check", "--repetitions", "\(repetitions)", in: project, variables: variables)
  }

  func passesAgainstItself() throws {
    let first = try check()
    #expect(first.code == 5, "\(first.output)\(first.errors)")
    let approval = try Highwater.run("approve", "--force", in: project)
    #expect(approval.code == 0, "\(approval.output)\(approval.errors)")
    #expect(try !project.baselines().isEmpty)
    let second = try check()
    #expect(second.code == 0, "\(second.output)\(second.errors)")
  }
}

extension TemporaryProject {
  /// A copy of a project file of `ci/examples`, beside a link to `ci`.
  convenience init(example name: String, _ edit: (String) throws -> String = { $0 }) throws {
    try self.init(edit(String(contentsOfFile: "\(ExampleTests.root)/ci/examples/\(name).yml", encoding: .utf8)))
    try FileManager.default.createSymbolicLink(
      atPath: url("ci").path, withDestinationPath: "\(ExampleTests.root)/ci")
  }
}
