import GateCore
import Testing

@testable import GateProbe

@Suite("The machine's fingerprint")
struct MachineTests {
  private func scenario(_ change: (inout Scenario) -> Void = { _ in }) -> Scenario {
    let target = Target(command: .arguments(["true"]), workingDirectory: "/")
    var scenario = Scenario(name: ScenarioName("s"), target: target)
    change(&scenario)
    return scenario
  }

  private func fingerprint(_ change: (inout Scenario) -> Void = { _ in }) -> Fingerprint {
    Machine.fingerprint(for: scenario(change), environment: ["PATH": "/bin", "SHELL": "/bin/zsh"])
  }

  @Test("The values match those of the system's tools", .timeLimit(.minutes(60)))
  func plausible() throws {
    let testProcesses = TestProcesses()
    let processTree = try testProcesses.shell("uname -m; uname -r; getconf PAGESIZE; nproc; getconf GNU_LIBC_VERSION")
    #expect(processTree.leaderEnding() == .exited(0))
    let lines = testProcesses.output.split(separator: "\n").map(String.init)
    let fingerprint = fingerprint()
    #expect(
      [
        fingerprint.architecture, fingerprint.kernel, "\(fingerprint.pageSize)", "\(fingerprint.cpus)",
        fingerprint.libc,
      ] == lines)
    #expect(fingerprint.measurement == Capabilities.current.method(for: scenario()).rawValue)
    #expect(["always", "madvise", "never"].contains(fingerprint.thp))
    #expect(["on", "off"].contains(fingerprint.swap))
    #expect(fingerprint.memoryLimit == nil && fingerprint.allocator == "")
  }

  @Test("It includes the isolation of the scenario")
  func isolation() {
    let last = LinuxCalls.usableCPUs().last ?? 0
    let changed = fingerprint {
      $0.isolation.hugePages = .off
      $0.isolation.randomAddresses = true
      $0.isolation.cpus = [last, 8000]
      $0.memoryLimit = .mebibytes(5)
    }
    #expect(changed.thp == "off")
    let isOffForAll = SmallFile.text(at: "/proc/sys/kernel/randomize_va_space")?.first == "0"
    #expect(changed.aslr == (isOffForAll ? "off" : "on"))
    #expect(changed.cpus == 1)
    #expect(changed.memoryLimit == .mebibytes(5))
    #expect(fingerprint { $0.isolation.cpuCount = 64 }.cpus == 64)
  }

  @Test("ASLR is off by default", .enabled(if: LinuxCalls.canFixAddresses))
  func addresses() {
    #expect(fingerprint().aslr == "off")
  }

  @Test("It includes allocator settings by name, and hashes long values")
  func allocator() {
    let long = String(repeating: "x", count: 61)
    let fingerprint = fingerprint {
      $0.target.environment = ["MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": long, "LD_PRELOAD": "a.so", "OTHER": "2"]
    }
    let hash = StableHash.hexadecimal(of: long)
    #expect(fingerprint.allocator == "GLIBC_TUNABLES=\(hash) LD_PRELOAD=a.so MALLOC_ARENA_MAX=1")
  }

  @Test("It has the image and the toolchain of the job, not the variables of a scenario", arguments: [true, false])
  func image(isOfJob: Bool) {
    let variables = ["ImageOS": "ubuntu24", "ImageVersion": "20261101.1", "PYTHON_VERSION": "3.12.4", "A_VERSION": "1"]
    let scenario = scenario { $0.target.environment = isOfJob ? [:] : variables }
    let fingerprint = Machine.fingerprint(for: scenario, environment: isOfJob ? variables : [:])
    #expect(fingerprint.image == (isOfJob ? "ImageOS=ubuntu24 ImageVersion=20261101.1" : ""))
    #expect(fingerprint.toolchain == (isOfJob ? "PYTHON_VERSION=3.12.4" : ""))
  }

  @Test(
    "The environment names the target's variables, but not those of folders and of the user",
    arguments: [
      ("PATH", true), ("HOME", true), ("TMPDIR", true), ("HIGHWATER_MARKS", true), ("LANG", true), ("A", false),
    ]
  )
  func variables(name: String, isSame: Bool) {
    let changed = fingerprint { $0.target.environment[name] = "/changed" }
    #expect((changed.variables == fingerprint().variables) == isSame)
  }

  @Test("The environment has the name of an inherited variable that is set, and never a value, which may be secret")
  func inheritedVariables() {
    func variables(of environment: [String: String]) -> String {
      let scenario = scenario { $0.target.inheritedEnvironment = ["TOKEN"] }
      return Machine.fingerprint(for: scenario, environment: environment).variables
    }
    #expect(variables(of: ["TOKEN": "secret", "OTHER": "1"]) == "LANG TOKEN")
    #expect(variables(of: [:]) == "LANG")
  }

  @Test("A target's environment is minimal: the runner's variables are passed on only by name")
  func environment() {
    var target = Target(command: .arguments(["true"]), workingDirectory: "/")
    let runner = ["PATH": "/x", "JAVA_HOME": "/java", "SECRET": "s", "TMPDIR": "/t"]
    let standard = ["PATH": "/x", "HOME": "/", "TMPDIR": "/t", "LANG": "C.UTF-8"]
    #expect(TargetEnvironment(for: target, runner: runner).variables == standard)
    target.inheritedEnvironment = ["JAVA_HOME", "NOT_SET", "LANG"]
    target.environment = ["TMPDIR": "/own", "B": "1"]
    let expected = ["PATH": "/x", "HOME": "/", "TMPDIR": "/own", "LANG": "C.UTF-8", "JAVA_HOME": "/java", "B": "1"]
    #expect(TargetEnvironment(for: target, runner: runner).variables == expected)
    #expect(TargetEnvironment(for: target, runner: [:]).variables["PATH"] == TargetEnvironment.standardPath)
  }
}
