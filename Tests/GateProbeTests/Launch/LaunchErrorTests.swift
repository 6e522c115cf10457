import GateCore
import Testing

@testable import GateProbe

@Suite("Launch errors", .timeLimit(.minutes(60)))
struct LaunchErrorTests {
  let testProcesses = TestProcesses()

  private func error(_ request: LaunchRequest) -> LaunchError? {
    do throws(LaunchError) {
      _ = try ProcessTree(starting: request)
      return nil
    } catch {
      return error
    }
  }

  @Test("The error for a program that is not in PATH contains the PATH")
  func missingInPath() throws {
    var request = testProcesses.request(["no-such-program-here"])
    request.environment["PATH"] = "/usr/bin:/bin"
    #expect(
      error(request)
        == LaunchError(.search, .notInPath(path: "/usr/bin:/bin"), program: "no-such-program-here"))
  }

  @Test("A missing path")
  func missingPath() throws {
    #expect(
      error(testProcesses.request(["./foo", "bar"]))
        == LaunchError(.execution, .system(code: 2), program: "./foo", folder: testProcesses.folder))
  }

  @Test("A script with a missing interpreter")
  func missingInterpreter() throws {
    _ = try testProcesses.executable("script", "#!/no/such/interpreter\n")
    #expect(
      error(testProcesses.request(["./script"]))
        == LaunchError(
          .execution, .system(code: 2), program: "./script", folder: testProcesses.folder, hint: .missingInterpreter))
  }

  @Test("A file without execute permission")
  func notExecutable() throws {
    _ = testProcesses.file("plain", "#!/bin/sh\n")
    #expect(
      error(testProcesses.request(["./plain"]))
        == LaunchError(
          .execution, .system(code: 13), program: "./plain", folder: testProcesses.folder, hint: .noPermission))
  }

  @Test("The error names a file in PATH without execute permission")
  func notExecutableInPath() throws {
    let path = testProcesses.file("plain", "#!/bin/sh\n")
    var request = testProcesses.request(["plain"])
    request.environment["PATH"] = testProcesses.folder
    #expect(
      error(request)
        == LaunchError(.search, .notExecutable(path: path), program: "plain"))
  }

  @Test("A file that is not a program")
  func noFormat() throws {
    _ = try testProcesses.executable("text", "echo hello\n")
    #expect(
      error(testProcesses.request(["./text"]))
        == LaunchError(
          .execution, .system(code: 8), program: "./text", folder: testProcesses.folder, hint: .unknownFormat))
  }

  @Test("A missing working directory")
  func noFolder() throws {
    var request = testProcesses.request(["true"])
    request.workingDirectory = "/no/such/folder"
    #expect(
      error(request)
        == LaunchError(.directory, .system(code: 2), program: "true", folder: "/no/such/folder"))
  }

  @Test("CPUs that the machine does not have", arguments: [[8000], [-1], []])
  func noCPUs(cpus: [Int]) throws {
    var request = testProcesses.request(["true"])
    request.isolation.cpus = cpus
    let launchError = try #require(error(request))
    #expect(launchError.stage == .cpus)
    #expect(launchError.cpus == cpus && launchError.reason == .system(code: 22))
    #expect(launchError.hint == .usableCPUs(cpus: LinuxCalls.usableCPUs()))
  }

  @Test("An argument with a zero byte, an empty command, and an invalid variable name")
  func unusableWords() throws {
    #expect(error(testProcesses.request(["true", "a\0b"]))?.stage == .arguments)
    #expect(error(testProcesses.request([]))?.reason == .emptyCommand)
    var request = testProcesses.request(["true"])
    request.environment["A=B"] = "1"
    #expect(error(request)?.reason == .invalidVariable(name: "A=B"))
  }

  @Test("Arguments that are too long")
  func tooLong() throws {
    let launchError = try #require(error(testProcesses.request(["true", String(repeating: "x", count: 1 << 18)])))
    #expect(launchError.hint == .tooLong)
  }

  @Test("An invalid output descriptor")
  func noOutput() throws {
    var request = testProcesses.request(["true"])
    request.output = 987
    #expect(error(request)?.stage == .output)
  }

  @Test("A failed start leaves no process behind")
  func noLeftovers() throws {
    _ = error(testProcesses.request(["./foo"]))
    #expect(testProcesses.processes == [])
  }

  @Test(
    "An empty or relative entry of PATH is relative to the working directory", arguments: [":/none", ".", "sub"])
  func relativePath(path: String) throws {
    _ = try testProcesses.executable("prog", "#!/bin/sh\necho found\n")
    var request = testProcesses.request(["prog"])
    if path == "sub" { request.workingDirectory = "/tmp" }
    request.environment["PATH"] = path == "sub" ? String(testProcesses.folder.dropFirst("/tmp/".count)) : path
    let processTree = try ProcessTree(starting: request)
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(testProcesses.output == "found\n")
  }
}
