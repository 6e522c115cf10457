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

  @Test("It names what the machine's own tools name", .timeLimit(.minutes(5)))
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

  @Test("The isolation of the scenario is part of it")
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
  }

  @Test("Addresses are off as a rule", .enabled(if: LinuxCalls.canFixAddresses))
  func addresses() {
    #expect(fingerprint().aslr == "off")
  }

  @Test("Settings of allocators stand in it by name; long values as a hash")
  func allocator() {
    let long = String(repeating: "x", count: 61)
    let fingerprint = fingerprint {
      $0.target.environment = ["MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": long, "LD_PRELOAD": "a.so", "OTHER": "2"]
    }
    let hash = StableHash.hexadecimal(of: long)
    #expect(fingerprint.allocator == "GLIBC_TUNABLES=\(hash) LD_PRELOAD=a.so MALLOC_ARENA_MAX=1")
  }

  @Test(
    "The hash of the environment is the same wherever the program lies and whoever runs it",
    arguments: [
      ("PATH", true), ("HOME", true), ("TMPDIR", true), ("HIGHWATER_MARKS", true), ("LANG", false), ("A", false),
    ]
  )
  func hash(name: String, isSame: Bool) {
    let changed = fingerprint { $0.target.environment[name] = "/changed" }
    #expect((changed.environmentHash == fingerprint().environmentHash) == isSame)
  }

  @Test("A target's environment is small and fixed: what the runner has is not passed on unless it is named")
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
