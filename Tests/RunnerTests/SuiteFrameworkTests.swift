import Foundation
import GateCore
import Testing

@testable import GateApplication

@Suite("Frameworks that list their tests")
struct SuiteFrameworkTests {
  private func tests(
    _ framework: SuiteFramework, _ output: String, words: [String] = ["./tests"]
  ) throws -> [ListedTest] {
    guard case .listed(let listed) = framework.method else {
      Issue.record("\(framework.name) has a plugin")
      return []
    }
    return listed.tests(Array(output.utf8), TestProgram(words: words, folder: "/"))
  }

  @Test("Each list gives the names, and the arguments that choose one of them")
  func lists() throws {
    let google = try tests(.googleTest, "Cache.\n  Fills\n  DISABLED_Slow\nN/Of.\n  Is/0  # GetParam() = 1\n")
    #expect(google.map(\.name) == ["Cache.Fills", "N/Of.Is/0"])
    #expect(google.last?.selection == ["--gtest_filter=N/Of.Is/0"])
    let catch2 = try tests(.catch2, "fills a cache\nlist, [empty]\n")
    #expect(catch2.map(\.name) == ["fills a cache", "list, [empty]"])
    #expect(catch2.last?.selection == [#"list\, \[empty\]"#])
    #expect(try tests(.catch2, "Error(s) in input:\n  Unrecognised token: -x\n").isEmpty)
    let cargo = try tests(.cargo, "cache::fills: test\ncache::speed: benchmark\n")
    #expect(cargo.map(\.name) == ["cache::fills"] && cargo.first?.selection == ["--exact", "cache::fills"])
    let swift = try tests(
      .swift, "AppTests.Cache/fills(count:)\n", words: ["a.xctest", "--testing-library", "swift-testing"])
    #expect(swift.first?.selection == ["--filter", #"^AppTests\.Cache/fills\(count:\)(/|$)"#])
    #expect(try tests(.swift, "AppTests.Old/testIt\n").first?.selection == ["AppTests.Old/testIt"])
  }

  @Test("Tests of several folders have the folder in their names, wherever it is")
  func labels() {
    func labels(_ folders: String...) -> [String] {
      let log = folders.flatMap { "\($0)\0/tmp/kept/a.test\0\0".utf8 }
      return TestPrograms.parse(Array(log), below: "/home/me/app").map(\.label)
    }
    #expect(labels("/home/me/app", "/home/me/app/store") == ["", "store"])
    #expect(labels("/usr/lib/go/src/strings", "/usr/lib/go/src/encoding/json") == ["strings", "encoding/json"])
    #expect(labels("/home/me/app/a", "/usr/lib/go/src/strings") == ["a", "strings"])
  }

  @Test("The setting for Go's collector leaves those of the user the last word")
  func goVariables() {
    guard case .listed(let listed) = SuiteFramework.go.method else { return }
    #expect(listed.variables([:]) == ["GODEBUG": "gcstoptheworld=1"])
    #expect(listed.variables(["GODEBUG": "gctrace=1"]) == ["GODEBUG": "gcstoptheworld=1,gctrace=1"])
  }

  @Test("Options of `swift test` that only concern the run are left out of the build in the folder of the package")
  func swiftOptions() throws {
    let project = try UseCaseProject(holding: 8)
    try project.write("#!/bin/sh\necho \"$PWD: $*\" >>\(project.path)/calls\n", to: "swift")
    try project.shell("chmod +x swift && mkdir package && : >programs")
    guard case .listed(let listed) = SuiteFramework.swift.method else { return }
    let words = ["\(project.path)/swift", "test", "--num-workers", "3", "--package-path", "package", "-c", "release"]
    let discovery = try #require(listed.discovery?(words, "\(project.path)/wrapper"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: discovery.words[0])
    process.arguments = Array(discovery.words.dropFirst())
    process.currentDirectoryURL = URL(fileURLWithPath: project.path)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(
      try project.read("calls").split(separator: "\n").map(String.init) == [
        "\(project.path)/package: build --build-tests -c release",
        "\(project.path)/package: build --show-bin-path -c release",
      ])
  }

  @Test(
    "The words of a command name its framework",
    arguments: [
      ("swift test", ["swift"]), ("swift build", ["pytest", "node"]), ("go test ./...", ["go"]),
      ("ctest -V", ["ctest"]), ("./mvnw test", ["junit"]),
    ])
  func candidates(line: String, names: [String]) {
    #expect(SuiteFramework.candidates(for: line.split(separator: " ").map(String.init)).map(\.name.rawValue) == names)
  }
}
