import GateCore
import Glibc
import LinuxSystem
import Testing

@testable import GateProbe

@Suite(
  "Containers of an image", .timeLimit(.minutes(60)),
  .enabled(if: geteuid() == 0 && Tool.exists("podman"), "podman needs root here"))
struct ContainerTests {
  let harness = ScenarioHarness()
  private var processes: TestProcesses { harness.testProcesses }

  /// A child has 24 MiB for a moment, and the program holds 8 MiB until SIGTERM, or until its argument is the code to exit with.
  private static let program = """
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    static void hold(size_t mib) {
      char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for (size_t at = 0; at < mib << 20; at += 4096) memory[at] = 1;
    }
    static void stop(int signal) { (void)signal; _exit(0); }
    int main(int count, char **words) {
      signal(SIGTERM, stop);
      if (fork() == 0) {
        hold(24);
        _exit(0);
      }
      wait(NULL);
      hold(8);
      printf("word %s\\nready\\n", getenv("WORD"));
      fflush(stdout);
      if (count > 1) return atoi(words[1]);
      for (;;) pause();
    }
    """

  /// What a host that may not raise its limits needs.
  private static let options = ["--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]

  private func run(_ line: String) throws -> String {
    let tree = try processes.shell(line)
    #expect(tree.leaderEnding() == .exited(0), "\(line): \(processes.output)")
    return processes.output
  }

  /// Builds an image of the program, and removes it after the body.
  private func withImage(_ body: (_ name: String, _ program: String) throws -> Void) throws {
    let program = try processes.compiled(Self.program, flags: ["-O0", "-static"])
    let name = "localhost/highwater-\(program.split(separator: "-").last ?? "")".lowercased()
    let change = #"--change 'ENTRYPOINT ["/program"]'"#
    _ = try run("cp \(program) program && tar cf - program | podman import -q \(change) - \(name)")
    defer { _ = try? run("podman image rm --force \(name)") }
    try body(name, program)
  }

  private func scenario(_ command: Command = .shell(":"), tracer: Isolation.Tracer = .auto) -> Scenario {
    var scenario = harness.scenario(command)
    scenario.target.environment["WORD"] = "secret"
    scenario.timeout = .seconds(3600)
    scenario.isolation.tracer = tracer
    return scenario
  }

  private func scenario(
    _ name: String, arguments: [String] = [], options: [String] = Self.options, _ tracer: Isolation.Tracer = .auto
  ) -> Scenario {
    var image = ContainerImage(name: name)
    (image.arguments, image.options) = (arguments, options)
    var scenario = scenario(tracer: tracer)
    scenario.target.running = .image(image)
    return scenario
  }

  private func served(_ scenario: Scenario) throws -> Scenario {
    var served = scenario
    served.ready = Readiness(.log(try Pattern(parsing: "ready")))
    served.steps = [Step(.wait(.milliseconds(100)))]
    return served
  }

  @Test("It has the figures of the same program without a container, and nothing is left of it")
  func figures() throws {
    try withImage { name, program in
      let plain = try harness.run(served(scenario(.arguments([program]))))
      let container = try harness.run(served(scenario(name)))
      #expect(container.failure == nil)
      #expect(container.end.kind == .stopped)
      #expect(container.outputTail.contains("word secret\n"))
      let peaks = [plain, container].map { $0.processes.map(\.peak.count).sorted() }
      #expect(peaks.map(\.count) == [2, 2])
      for (one, other) in zip(peaks[0], peaks[1]) { #expect((one - other).magnitude <= 8 * UInt64(PageSize.bytes)) }
      #expect(container.processes.allSatisfy(\.isExact) == plain.processes.allSatisfy(\.isExact))
      #expect(try !run("podman ps --all --format '{{.Image}}'").contains(name))
    }
  }

  @Test("Without a tracer its program is found when it runs")
  func untraced() throws {
    try withImage { name, _ in
      let recording = try harness.run(served(scenario(name, .off)))
      #expect(recording.failure == nil)
      #expect(!recording.method.isTraced && recording.outputTail.contains("ready"))
      let main = try #require(recording.processes.first { $0.isMain })
      // The child is the largest process if a reading met it.
      #expect(main.peak > .mebibytes(8) && main.peak < .mebibytes(32))
      #expect(try !run("podman ps --all --format '{{.Image}}'").contains(name))
    }
  }

  @Test("A program that ends at once has its end and its output", .enabled(if: LinuxCalls.canTrace))
  func end() throws {
    try withImage { name, _ in
      let recording = try harness.run(scenario(name, arguments: ["3"]))
      #expect(recording.end.kind == .exited && recording.end.code == 3)
      #expect(recording.outputTail.contains("word secret\n"))
    }
  }

  @Test("The engine's answer for a missing image is part of the failure")
  func missing() throws {
    let recording = try harness.run(scenario("localhost/highwater-none:1", options: ["--pull", "never"]))
    #expect(recording.end.kind == .startFailed)
    #expect(recording.failure?.output.contains("highwater-none") == true)
  }
}
