import GateCore
import Testing

@testable import GateApplication

@Suite("Replaced commands")
struct ReplacedCommandTests {
  private func command(_ text: String, of own: Command = .arguments(["./server", "--port", "7"])) throws -> Command {
    let scenario = Scenario(name: ScenarioName("load"), target: Target(command: own, workingDirectory: "/app"))
    return try ReplacedCommand(parsing: text).replacingTarget(of: scenario, from: "/here").target.command
  }

  @Test(
    "One word replaces the program, several words the whole command, and no word leaves the command",
    arguments: [
      ("build-main/server", ["/here/build-main/server", "--port", "7"]),
      ("/old/server", ["/old/server", "--port", "7"]),
      ("redis-server", ["redis-server", "--port", "7"]), ("python3 -s 'my tool.py'", ["python3", "-s", "my tool.py"]),
      ("VERSION=old", ["./server", "--port", "7"]), ("A=1 B='x y' ./old", ["/here/./old", "--port", "7"]),
      (#"tool "a\"b" c\ d "e\f""#, ["tool", "a\"b", "c d", "e\\f"]), ("tool ''", ["tool", ""]),
    ]
  )
  func words(text: String, expected: [String]) throws {
    #expect(try command(text) == .arguments(expected))
  }

  @Test("Leading words of the form NAME=VALUE set variables")
  func variables() throws {
    let build = try ReplacedCommand(parsing: "A=1 _B2='x y' tool C=3")
    #expect(build.variables == ["A": "1", "_B2": "x y"])
    #expect(build.words == ["tool", "C=3"])
  }

  @Test("An empty build or an unterminated quote is an error", arguments: ["", "  ", "'x", "\"x", "x\\"])
  func broken(text: String) {
    #expect(throws: RunnerError.self) { try ReplacedCommand(parsing: text) }
  }

  @Test("Variables and whole commands work with a shell target, a program alone does not")
  func shell() throws {
    #expect(throws: RunnerError.self) { try command("./old", of: .shell("./server | tee log")) }
    #expect(try command("V=1", of: .shell("./server | tee log")) == .shell("./server | tee log"))
    #expect(try command("sh -c './old | tee log'", of: .shell("x")) == .arguments(["sh", "-c", "./old | tee log"]))
  }
}
