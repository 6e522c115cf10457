import GateCore
import Testing

@testable import GateApplication

@Suite("Building before a check")
struct CheckoutBuildTests {
  private let yaml = """
    version: 1
    history: off
    build: make
    scenarios:
      - {name: a, target: {command: [a]}, repetitions: 1, warmup: 0}
      - {name: b, target: {command: [b]}, repetitions: 1, warmup: 0, build: [cargo, build]}
      - {name: c, target: {command: [c]}, repetitions: 1, warmup: 0}
    """

  /// The programs of what was measured.
  private func started(_ project: UseCaseProject) -> [String] {
    project.measurer.measured.map { $0.name.text == "build" ? "\($0.target.command)" : $0.name.text }
  }

  @Test("Each command runs once, before all scenarios, and only those of the selected ones")
  func order() throws {
    let project = try UseCaseProject(yaml, holding: 8)
    #expect(try project.check().code == .noBaseline)
    #expect(started(project) == ["make", "cargo build", "a", "b", "c"])
    project.measurer.hold(8)
    _ = try project.check { $0.selection = ["a", "c"] }
    #expect(started(project) == ["make", "a", "c"])
    project.measurer.hold(8)
    _ = try project.check { $0.options.skipsBuild = true }
    #expect(started(project) == ["a", "b", "c"])
  }

  @Test("A study builds first")
  func study() throws {
    let project = try UseCaseProject(yaml, holding: 8)
    _ = try project.noise { ($0.selection, $0.triesVariants, $0.repetitions) = (["b"], false, 5) }
    #expect(started(project).prefix(2) == ["cargo build", "b"])
  }

  @Test("After a failed build nothing else runs; its output and the verdict are printed, also when quiet")
  func failed() throws {
    for volume in [Console.Volume.normal, .quiet] {
      let project = try UseCaseProject(yaml, holding: 8)
      project.measurer.follow { scenario, _ in
        .holding(1, end: End(.exited, code: scenario.name.text == "build" ? 2 : 0), output: "main.c:1: error\n")
      }
      let outcome = try project.check(volume)
      #expect(outcome.code == .failed && outcome.verdict == "failed", "\(outcome.text)")
      #expect(outcome.text.contains("error: the build failed: `make`: exited with code 2"))
      #expect(outcome.errors.contains("main.c:1: error") && outcome.errors.contains(".highwater/build.log"))
      #expect(started(project) == ["make"] && !project.exists(".highwater/result.json"))
    }
  }

  @Test("An interrupted build ends the command")
  func interrupted() throws {
    let project = try UseCaseProject(yaml, holding: 8)
    project.measurer.follow { _, _ in nil }
    let outcome = try project.check()
    #expect(outcome.code == .interrupted && outcome.errors.contains("the build was stopped"), "\(outcome.text)")
  }

  @Test("A commit is built by the commands of all its scenarios")
  func line() {
    func scenario(_ build: Command?) -> Scenario {
      var scenario = Scenario(name: ScenarioName("x"), target: Target(command: .shell("x"), workingDirectory: "/"))
      scenario.build = build
      return scenario
    }
    let (make, cc) = (scenario(.shell("make # all")), scenario(.arguments(["cc", "a b.c"])))
    #expect([scenario(nil)].buildLine == nil)
    #expect([make, scenario(nil), make].buildLine == "make # all")
    #expect([make, cc].buildLine == "( make # all\n) && ( cc 'a b.c'\n)")
  }
}
