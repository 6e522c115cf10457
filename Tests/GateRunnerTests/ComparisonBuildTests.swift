import GateCore
import Testing

@testable import GateRunner

@Suite("Another build of the target")
struct OtherBuildTests {
  private func command(_ text: String, of own: Command = .arguments(["./server", "--port", "7"])) throws -> Command {
    let scenario = Scenario(name: ScenarioName("load"), target: Target(command: own, workingDirectory: "/app"))
    return try ComparisonBuild(parsing: text).replacingTarget(of: scenario, from: "/here").target.command
  }

  @Test(
    "A word is a program with the scenario's own arguments, several are a whole command, and none leaves it",
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

  @Test("Words of the form NAME=VALUE that come first set variables")
  func variables() throws {
    let build = try ComparisonBuild(parsing: "A=1 _B2='x y' tool C=3")
    #expect(build.variables == ["A": "1", "_B2": "x y"])
    #expect(build.words == ["tool", "C=3"])
  }

  @Test("What names nothing, or ends within a quote, is an error", arguments: ["", "  ", "'x", "\"x", "x\\"])
  func broken(text: String) {
    #expect(throws: RunnerError.self) { try ComparisonBuild(parsing: text) }
  }

  @Test("A program alone cannot replace a line for a shell; variables and whole commands can")
  func shell() throws {
    #expect(throws: RunnerError.self) { try command("./old", of: .shell("./server | tee log")) }
    #expect(try command("V=1", of: .shell("./server | tee log")) == .shell("./server | tee log"))
    #expect(try command("sh -c './old | tee log'", of: .shell("x")) == .arguments(["sh", "-c", "./old | tee log"]))
  }
}
