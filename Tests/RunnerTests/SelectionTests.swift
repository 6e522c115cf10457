import GateCore
import Testing

@testable import GateApplication

@Suite("Selecting scenarios")
struct SelectionTests {
  private let project: Project = {
    var scenarios = ["redis-load[clients=1]", "redis-load[clients=50]", "redis-idle", "nginx"].map {
      Scenario(name: ScenarioName($0), target: Target(command: .shell("true"), workingDirectory: "/"))
    }
    scenarios[3].tags = ["http"]
    return Project(
      file: "highwater.yml", root: "/", baselines: "/b", history: nil, artifacts: "/a", scenarios: scenarios)
  }()

  private func names(_ words: String...) throws -> [String] {
    try Selection(words: words).scenarios(of: project).map(\.name.text)
  }

  @Test("Without words all scenarios are selected")
  func all() throws {
    #expect(try names() == ["redis-load[clients=1]", "redis-load[clients=50]", "redis-idle", "nginx"])
  }

  @Test("A plain name selects its whole matrix, a full name one scenario, in file order")
  func matrix() throws {
    #expect(try names("nginx", "redis-load") == ["redis-load[clients=1]", "redis-load[clients=50]", "nginx"])
    #expect(try names("redis-load[clients=50]") == ["redis-load[clients=50]"])
  }

  @Test("Tags and patterns select, and a scenario selected twice runs once")
  func tagsAndPatterns() throws {
    #expect(try names("tag:http", "nginx") == ["nginx"])
    #expect(try names("redis-*") == ["redis-load[clients=1]", "redis-load[clients=50]", "redis-idle"])
    #expect(try names("*clients=*0]") == ["redis-load[clients=50]"])
    #expect(try names("*") == (try names()))
  }

  @Test("Every word without a match is named, with a suggestion")
  func unmatched() {
    let error = #expect(throws: RunnerError.self) { try names("ngnix", "tag:htpp", "nginx", "re*x") }
    #expect(
      error?.diagnostics.map(\.problem) == [
        "no scenario matches `ngnix`", "no scenario matches `tag:htpp`", "no scenario matches `re*x`",
      ])
    #expect(error?.diagnostics.map(\.hint).prefix(2) == ["did you mean `nginx`?", "did you mean `tag:http`?"])
  }

  @Test("What a command starts are all programs that do not run already, or those that are named")
  func started() throws {
    var mixed = project
    mixed.scenarios[0].target.running = .pid(7)
    func names(_ words: String...) throws -> [String] {
      try Selection(words: words).programs(of: mixed, areStarted: true).map(\.name.text)
    }
    #expect(try names() == ["redis-load[clients=50]", "redis-idle", "nginx"])
    #expect(try names("redis-load").count == 2, "the command says why it cannot start one")
    mixed.scenarios = [mixed.scenarios[0]]
    #expect(try names().count == 1)
  }

  @Test("A project without scenarios is an error, never a pass")
  func empty() {
    var none = project
    none.scenarios = []
    #expect(throws: RunnerError.self) { try Selection(words: []).scenarios(of: none) }
  }
}
