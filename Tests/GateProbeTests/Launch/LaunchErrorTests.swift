import GateCore
import Testing

@testable import GateProbe

@Suite("A program that cannot be started", .timeLimit(.minutes(2)))
struct LaunchErrorTests {
  let household = Household()

  private func error(_ request: LaunchRequest) -> LaunchError? {
    do throws(LaunchError) {
      _ = try Family(starting: request)
      return nil
    } catch {
      return error
    }
  }

  @Test("A program that is nowhere in PATH has the PATH in its error")
  func missingInPath() throws {
    var request = household.request(["no-such-program-here"])
    request.environment["PATH"] = "/usr/bin:/bin"
    #expect(
      error(request)
        == LaunchError(.search, .notInPath("/usr/bin:/bin"), program: "no-such-program-here"))
  }

  @Test("A path that does not exist")
  func missingPath() throws {
    #expect(
      error(household.request(["./foo", "bar"]))
        == LaunchError(.execution, .system(2), program: "./foo", folder: household.folder))
  }

  @Test("A script whose interpreter does not exist")
  func missingInterpreter() throws {
    _ = household.file("script", "#!/no/such/interpreter\n", mode: 0o755)
    #expect(
      error(household.request(["./script"]))
        == LaunchError(
          .execution, .system(2), program: "./script", folder: household.folder, hint: .missingInterpreter))
  }

  @Test("A file without the permission to execute")
  func notExecutable() throws {
    _ = household.file("plain", "#!/bin/sh\n")
    #expect(
      error(household.request(["./plain"]))
        == LaunchError(.execution, .system(13), program: "./plain", folder: household.folder, hint: .noPermission))
  }

  @Test("A file in PATH without the permission to execute is named")
  func notExecutableInPath() throws {
    let path = household.file("plain", "#!/bin/sh\n")
    var request = household.request(["plain"])
    request.environment["PATH"] = household.folder
    #expect(
      error(request)
        == LaunchError(.search, .notExecutable(path), program: "plain"))
  }

  @Test("A file that is no program")
  func noFormat() throws {
    _ = household.file("text", "echo hello\n", mode: 0o755)
    #expect(
      error(household.request(["./text"]))
        == LaunchError(.execution, .system(8), program: "./text", folder: household.folder, hint: .unknownFormat))
  }

  @Test("A working directory that does not exist")
  func noFolder() throws {
    var request = household.request(["true"])
    request.workingDirectory = "/no/such/folder"
    #expect(
      error(request)
        == LaunchError(.directory, .system(2), program: "true", folder: "/no/such/folder"))
  }

  @Test("CPUs that the machine does not have", arguments: [[8000], [-1], []])
  func noCPUs(cpus: [Int]) throws {
    var request = household.request(["true"])
    request.isolation.cpus = cpus
    let refusal = try #require(error(request))
    #expect(refusal.stage == .cpus)
    #expect(refusal.cpus == cpus && refusal.reason == .system(22))
    #expect(refusal.hint == .usableCPUs(LinuxCalls.usableCPUs()))
  }

  @Test("An argument or a variable with a zero byte, and a command without words")
  func unusableWords() throws {
    #expect(error(household.request(["true", "a\0b"]))?.stage == .arguments)
    #expect(error(household.request([]))?.reason == .emptyCommand)
    var request = household.request(["true"])
    request.environment["A=B"] = "1"
    #expect(error(request)?.reason == .invalidVariable("A=B"))
  }

  @Test("Arguments that are too long")
  func tooLong() throws {
    let refusal = try #require(error(household.request(["true", String(repeating: "x", count: 1 << 18)])))
    #expect(refusal.hint == .tooLong)
  }

  @Test("An output that is no descriptor")
  func noOutput() throws {
    var request = household.request(["true"])
    request.output = 987
    #expect(error(request)?.stage == .output)
  }

  @Test("Nothing is left of a start that failed")
  func nothingIsLeft() throws {
    _ = error(household.request(["./foo"]))
    #expect(household.processes == [])
  }

  @Test(
    "An entry of PATH that is empty or relative starts at the working directory", arguments: [":/none", ".", "sub"])
  func relativePath(path: String) throws {
    _ = household.file("prog", "#!/bin/sh\necho found\n", mode: 0o755)
    var request = household.request(["prog"])
    if path == "sub" { request.workingDirectory = "/tmp" }
    request.environment["PATH"] = path == "sub" ? String(household.folder.dropFirst("/tmp/".count)) : path
    let family = try Family(starting: request)
    #expect(family.leaderEnding() == .exited(0))
    #expect(household.output == "found\n")
  }
}
