import GateCore
import Testing

@Suite("Build tools")
struct BuildToolTests {
  @Test(
    "A command is a build tool by its words",
    arguments: [
      ("make test", "make"), ("/usr/bin/ctest -V", "ctest"), ("go test ./...", "go"), ("go version", nil),
      ("swift test", "swift"), ("swift script.swift", nil), ("cargo run --release", "cargo"),
      ("./gradlew test", "gradlew"),
      ("env CI=1 npm test", "npm"), ("python3 -m pytest -n 4", "pytest-xdist"), ("pytest -q", nil),
      ("gcc -c a.c", nil), ("./server --make", nil),
    ])
  func words(line: String, name: String?) {
    #expect(BuildTool(of: .arguments(line.split(separator: " ").map(String.init)))?.name == name)
    #expect(BuildTool(of: .shell("cd sub && \(line)"))?.name == name)
  }

  @Test("A rule for the main process leaves nothing to a build tool")
  func rule() throws {
    var target = Target(command: .arguments(["make", "test"]), workingDirectory: "/")
    #expect(target.buildTool?.name == "make")
    target.main = .name(try Pattern(parsing: "app"))
    #expect(target.buildTool == nil)
  }

  @Test("Compilers belong to the tool, and only go has those with everyday names")
  func helpers() throws {
    let (make, go) = (try tool("make"), try tool("go test"))
    for name in ["cc1plus", "make", "swift-frontend", "rustc"] { #expect(make.isOwn(name) && go.isOwn(name)) }
    for name in ["link", "compile"] { #expect(go.isOwn(name) && !make.isOwn(name)) }
    for name in ["server", "a.test", "python3", "node", "java"] { #expect(!go.isOwn(name)) }
  }

  private func tool(_ line: String) throws -> BuildTool { try #require(BuildTool(of: .shell(line))) }
}
