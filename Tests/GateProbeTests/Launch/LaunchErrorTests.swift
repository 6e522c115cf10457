import GateCore
import Testing

@testable import GateProbe

@Suite("A program that cannot be started", .timeLimit(.minutes(2)))
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

  @Test("A program that is nowhere in PATH has the PATH in its error")
  func missingInPath() throws {
    var request = testProcesses.request(["no-such-program-here"])
    request.environment["PATH"] = "/usr/bin:/bin"
    #expect(
      error(request)
        == LaunchError(.search, .notInPath("/usr/bin:/bin"), program: "no-such-program-here"))
  }

  @Test("A path that does not exist")
  func missingPath() throws {
    #expect(
      error(testProcesses.request(["./foo", "bar"]))
        == LaunchError(.execution, .system(2), program: "./foo", folder: testProcesses.folder))
  }

  @Test("A script whose interpreter does not exist")
  func missingInterpreter() throws {
    _ = testProcesses.file("script", "#!/no/such/interpreter\n", mode: 0o755)
    #expect(
      error(testProcesses.request(["./script"]))
        == LaunchError(
          .execution, .system(2), program: "./script", folder: testProcesses.folder, hint: .missingInterpreter))
  }

  @Test("A file without the permission to execute")
  func notExecutable() throws {
    _ = testProcesses.file("plain", "#!/bin/sh\n")
    #expect(
      error(testProcesses.request(["./plain"]))
        == LaunchError(.execution, .system(13), program: "./plain", folder: testProcesses.folder, hint: .noPermission))
  }

  @Test("A file in PATH without the permission to execute is named")
  func notExecutableInPath() throws {
    let path = testProcesses.file("plain", "#!/bin/sh\n")
    var request = testProcesses.request(["plain"])
    request.environment["PATH"] = testProcesses.folder
    #expect(
      error(request)
        == LaunchError(.search, .notExecutable(path), program: "plain"))
  }

  @Test("A file that is no program")
  func noFormat() throws {
    _ = testProcesses.file("text", "echo hello\n", mode: 0o755)
    #expect(
      error(testProcesses.request(["./text"]))
        == LaunchError(.execution, .system(8), program: "./text", folder: testProcesses.folder, hint: .unknownFormat))
  }

  @Test("A working directory that does not exist")
  func noFolder() throws {
    var request = testProcesses.request(["true"])
    request.workingDirectory = "/no/such/folder"
    #expect(
      error(request)
        == LaunchError(.directory, .system(2), program: "true", folder: "/no/such/folder"))
  }

  @Test("CPUs that the machine does not have", arguments: [[8000], [-1], []])
  func noCPUs(cpus: [Int]) throws {
    var request = testProcesses.request(["true"])
    request.isolation.cpus = cpus
    let refusal = try #require(error(request))
    #expect(refusal.stage == .cpus)
    #expect(refusal.cpus == cpus && refusal.reason == .system(22))
    #expect(refusal.hint == .usableCPUs(LinuxCalls.usableCPUs()))
  }

  @Test("An argument or a variable with a zero byte, and a command without words")
  func unusableWords() throws {
    #expect(error(testProcesses.request(["true", "a\0b"]))?.stage == .arguments)
    #expect(error(testProcesses.request([]))?.reason == .emptyCommand)
    var request = testProcesses.request(["true"])
    request.environment["A=B"] = "1"
    #expect(error(request)?.reason == .invalidVariable("A=B"))
  }

  @Test("Arguments that are too long")
  func tooLong() throws {
    let refusal = try #require(error(testProcesses.request(["true", String(repeating: "x", count: 1 << 18)])))
    #expect(refusal.hint == .tooLong)
  }

  @Test("An output that is no descriptor")
  func noOutput() throws {
    var request = testProcesses.request(["true"])
    request.output = 987
    #expect(error(request)?.stage == .output)
  }

  @Test("Nothing is left of a start that failed")
  func nothingIsLeft() throws {
    _ = error(testProcesses.request(["./foo"]))
    #expect(testProcesses.processes == [])
  }

  @Test(
    "An entry of PATH that is empty or relative starts at the working directory", arguments: [":/none", ".", "sub"])
  func relativePath(path: String) throws {
    _ = testProcesses.file("prog", "#!/bin/sh\necho found\n", mode: 0o755)
    var request = testProcesses.request(["prog"])
    if path == "sub" { request.workingDirectory = "/tmp" }
    request.environment["PATH"] = path == "sub" ? String(testProcesses.folder.dropFirst("/tmp/".count)) : path
    let processTree = try ProcessTree(starting: request)
    #expect(processTree.leaderEnding() == .exited(0))
    #expect(testProcesses.output == "found\n")
  }
}
