import Foundation
import Testing

/// The files that users copy: examples, README and articles.
@Suite("Examples and documentation", .serialized)
struct ExampleTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  @Test(
    "Each example can be measured and approved, and passes against its own baseline",
    .endsHangs,
    arguments: ["redis", "postgresql", "nginx", "sqlite", "python"]
  )
  func example(name: String) throws {
    let project = try TemporaryProject()
    let options = [
      "--config", "\(Self.root)/ci/examples/\(name).yml", "--baselines", "\(project.path)/baselines",
      "--artifacts", "\(project.path)/artifacts", "--history", "\(project.path)/history.sqlite",
    ]
    let first = try Highwater.start(["check", "--repetitions", "2"] + options, in: project, from: Self.root).wait()
    #expect(first.code == 5, "\(first.output)\(first.errors)")
    // Fewer repetitions than the examples ask for.
    let approval = try Highwater.start(["approve", "--force"] + options, in: project, from: Self.root).wait()
    #expect(approval.code == 0, "\(approval.output)\(approval.errors)")
    #expect(try !project.baselines().isEmpty)
    let second = try Highwater.start(["check", "--repetitions", "2"] + options, in: project, from: Self.root).wait()
    #expect(second.code == 0, "\(second.output)\(second.errors)")
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
    let listed = help.components(separatedBy: "SUBCOMMANDS:").last ?? ""
    let names = listed.matches(of: #/\n  ([a-z]+)\s/#).map { String($0.output.1) }
    #expect(names.count == 9)
    for name in names { #expect(text.contains("highwater \(name)"), "\(name)") }
    for code in ["0 | pass", "1 | regression", "2 | usage", "3 | failed", "4 | inconclusive", "5 | no-baseline"] {
      #expect(text.contains("| \(code) |"))
    }
  }
}
