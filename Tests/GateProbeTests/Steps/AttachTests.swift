import GateCore
import Glibc
import LinuxSystem
import Testing

@testable import GateProbe

@Suite("Targets that run already", .timeLimit(.minutes(60)))
struct AttachTests {
  let processes = TestProcesses()

  /// A program with a peak of 96 MiB behind it, which has another one of 24 MiB once there is a file `go`, and runs on.
  private static let program = """
    #include <fcntl.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static void spike(size_t mib) {
      char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for (size_t at = 0; at < mib << 20; at += 4096) memory[at] = 1;
      munmap(memory, mib << 20);
    }
    int main(void) {
      spike(96);
      close(open("ready", O_CREAT, 0600));
      while (access("go", F_OK) != 0) usleep(5000);
      spike(24);
      close(open("done", O_CREAT, 0600));
      for (;;) pause();
    }
    """

  private func recording(of scenario: Scenario) throws -> Recording {
    var environment = processes.environment
    environment["TMPDIR"] = processes.folder
    return try #require(Probe(interruption: Interruption(), environment: environment).measure(scenario, output: nil))
  }

  private func scenario(_ pid: Int32, _ tracer: Isolation.Tracer, steps: [String]) -> Scenario {
    let target = Target(running: .pid(pid), workingDirectory: processes.folder)
    var scenario = Scenario(name: ScenarioName("attached"), target: target)
    scenario.root = processes.folder
    scenario.timeout = .seconds(3600)
    scenario.isolation.tracer = tracer
    scenario.steps = steps.map { Step(.run(Step.Client(command: .shell($0)))) }
    return scenario
  }

  @Test("A peak counts from the attach on, exactly, and the target runs on", arguments: [Isolation.Tracer.auto, .off])
  func peak(tracer: Isolation.Tracer) throws {
    let target = try processes.processTree(processes.compiled(Self.program))
    #expect(eventually(within: .seconds(600)) { access("\(processes.folder)/ready", F_OK) == 0 })
    let steps = ["touch go", "while [ ! -e done ]; do sleep 0.01; done"]
    let recording = try recording(of: scenario(target.leader, tracer, steps: steps))
    #expect(recording.failure == nil)
    #expect(recording.end.kind == .running)
    let main = try #require(recording.processes.first { $0.isMain })
    #expect(main.id == target.leader && main.isExact)
    #expect(main.peak > .mebibytes(24) && main.peak < .mebibytes(48))
    #expect(recording.result().metrics[.peakRSS] == Double(main.peak.count))
    #expect(recording.notes.contains(.attached(isReset: true)))
    #expect(target.isMember(target.leader))
    #expect(SmallFile.text(at: "/proc/\(target.leader)/status")?.contains("TracerPid:\t0\n") == true)
  }

  @Test("A target that ends during the steps fails them", arguments: [Isolation.Tracer.auto, .off])
  func end(tracer: Isolation.Tracer) throws {
    let target = try processes.shell("while [ ! -e go ]; do sleep 0.01; done; exit 3")
    let recording = try recording(of: scenario(target.leader, tracer, steps: ["touch go; exec sleep 3600", "true"]))
    let status: EndEvidence.Status? = recording.method.isTraced ? .exited(code: 3) : nil
    #expect(recording.failure?.problem == .targetEnded(status: status, isBefore: false))
    #expect(recording.end.kind == (recording.method.isTraced ? .exited : .unknown))
  }
}

@Suite("Finding a target that runs already")
struct TargetSearchTests {
  private func error(
    of target: RunningTarget, _ answer: (isSuccess: Bool, output: String)? = nil
  ) -> AttachError? {
    let search = TargetSearch<AttachError>(run: { _ throws(AttachError) in answer }, fail: { $0 })
    do throws(AttachError) {
      _ = try search.processes(of: target)
      return nil
    } catch {
      return error
    }
  }

  @Test("Neither Highwater, nor what started it, nor what is not there, is a target")
  func processes() {
    let missing = Int32.max
    #expect(error(of: .pid(missing)) == .noProcess(pid: missing))
    #expect(error(of: .pid(getpid())) == .ownProcess(pid: getpid()))
    #expect(error(of: .pid(getppid())) == .ownProcess(pid: getppid()))
    #expect(error(of: .pidfile("/no/such/file")) == .noPidfile(path: "/no/such/file"))
    #expect(error(of: .pidfile("/proc/self/comm")) == .noNumber(path: "/proc/self/comm"))
    #expect(error(of: .cgroup("/no/such/cgroup")) == .noCgroup(path: "/no/such/cgroup"))
  }

  @Test(
    "A unit is what systemctl shows of it",
    arguments: [
      (nil, AttachError.noTool(names: ["systemctl"])),
      ((false, "x\nno bus"), .toolFailed(tool: "systemctl show", line: "no bus")),
      ((true, "LoadState=not-found\nActiveState=inactive\nMainPID=0\n"), .noUnit(name: "u")),
      ((true, "LoadState=loaded\nActiveState=failed\nControlGroup=\n"), .unitNotRunning(name: "u", state: "failed")),
      ((true, "LoadState=loaded\nActiveState=active\nControlGroup=/no/such=x\n"), .noCgroup(path: "/no/such=x")),
    ] as [((isSuccess: Bool, output: String)?, AttachError)]
  )
  func unit(answer: (isSuccess: Bool, output: String)?, expected: AttachError) {
    #expect(error(of: .unit("u", ofUser: false), answer) == expected)
  }

  @Test("A container has the process that its tool shows")
  func container() {
    #expect(error(of: .container("c")) == .noTool(names: ["podman", "docker"]))
    #expect(error(of: .container("c"), (true, "warning\npid=0\n")) == .containerNotRunning(name: "c"))
    #expect(error(of: .container("c"), (true, "pid=\(getpid())\n")) == .ownProcess(pid: getpid()))
    #expect(error(of: .container("c"), (false, "none")) == .toolFailed(tool: "podman inspect", line: "none"))
  }

  @Test("The addresses of its code and stack, where readable, distinguish a program from a later one")
  func image() {
    func stat(_ code: String) -> String {
      "7 (a b) c) S " + (4...25).map(String.init).joined(separator: " ") + " \(code) 30 31"
    }
    #expect(ProgramImage(inStat: stat("94 95 96")) == ProgramImage(inStat: stat("94 95 96")))
    #expect(ProgramImage(inStat: stat("94 95 96")) != ProgramImage(inStat: stat("94 95 97")))
    #expect(ProgramImage(inStat: stat("1 1 0")) == nil)
  }
}
