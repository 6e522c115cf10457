import Foundation
import Testing

@Suite(
  "The peak of each phase",
  .enabled(
    if: Ballast.mayTrace && Ballast.hasMemoryCgroup,
    "needs ptrace and a memory cgroup, without which phase peaks are sampled"),
  .endsHangs
)
struct PhasePeakTests {
  /// Holds its argument in MiB; for each line with a number it allocates so many MiB more, frees them and answers.
  private static let program = CompiledProgram(
    "pulse",
    """
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>

    static void take(size_t mebibytes, int give_back) {
      size_t size = mebibytes << 20;
      if (size == 0) return;
      char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      memset(memory, 1, size);
      if (give_back) munmap(memory, size);
    }

    int main(int count, char **words) {
      char line[64];
      if (count > 1 && atoi(words[1]) > 0) take(atoi(words[1]), 0);
      setvbuf(stdout, NULL, _IONBF, 0);
      puts("ready");
      while (fgets(line, sizeof line, stdin) != NULL) {
        take(atoi(line), 1);
        printf("took %s", line);
      }
      return 0;
    }
    """
  )

  /// The peaks in MiB of phases with one allocation each, which is too short to be seen in `/proc`.
  private func peaks(holding level: Int, pulses: [Int], more: String = "") throws -> [(peak: Double, isExact: Bool)] {
    let steps = pulses.enumerated().map { index, pulse in
      "  - phase: p\(index)\n  - wait: 100ms\n  - send: \"\(pulse)\\n\"\n"
        + "  - expect: {output: \"took \(pulse)\", within: 60s}\n"
    }
    let harness = try ScenarioHarness(
      "target: {command: [\(try Self.program.command[0]), \"\(level)\"], stdin: pipe}\n\(more)"
        + "ready: {log: ready, within: 60s}\nsteps:\n\(steps.joined())")
    let outcome = try harness.check()
    try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let phases = try #require(try harness.repetitions().last?["phases"] as? [[String: Any]])
    try #require(phases.map { $0["name"] as? String } == pulses.indices.map { "p\($0)" })
    return try phases.map { phase in
      (try #require(phase["peak_rss"] as? Double), try #require(phase["exact"] as? Bool))
    }
  }

  @Test(
    "The peak of each phase is exact, whatever the peaks of the others",
    arguments: [[64, 16], [64, 16, 32], [16, 64], [48, 48, 1], [1, 1, 40]]
  )
  func exact(pulses: [Int]) throws {
    let found = try peaks(holding: 4, pulses: pulses)
    let base = try #require(try peaks(holding: 4, pulses: [0]).first).peak
    #expect(found.map(\.isExact) == pulses.map { _ in true })
    for (phase, pulse) in zip(found, pulses) {
      // The memory was freed, so `VmHWM` has the error of the kernel's counters.
      #expect(abs(phase.peak - base - Double(pulse << 20)) <= Ballast.markError + 65536, "\(pulse) MiB: \(phase.peak)")
    }
  }

  @Test("The peak of the run is the peak of its highest phase")
  func whole() throws {
    let harness = try ScenarioHarness(
      "target: {command: [\(try Self.program.command[0])], stdin: pipe}\nready: {log: ready, within: 60s}\nsteps: "
        + "[{phase: high}, {wait: 100ms}, {send: \"64\\n\"}, {expect: {output: took, within: 60s}}, {phase: low}, {wait: 200ms}]"
    )
    try #require(try harness.check().code == 0)
    let repetition = try #require(try harness.repetitions().last)
    let phases = try #require(repetition["phases"] as? [[String: Any]])
    let peaks = phases.compactMap { $0["peak_rss"] as? Double }
    #expect((repetition["metrics"] as? [String: Double])?["peak_rss"] == peaks.first)
    #expect(peaks.count == 2 && peaks[1] < Double(16 << 20))
  }

  /// Marks its own phases, each with one allocation at its begin, which is freed; then waits for longer than a phase must
  /// last to be reset.
  private static let ownPhases = CompiledProgram(
    "own-phases", flags: ["-I", ExampleTests.root + "/Sources/CMemoryMarkers/include"],
    """
    #include "\(ExampleTests.root)/Sources/CMemoryMarkers/hw_mark.c"
    #include <sys/mman.h>
    static void phase(const char *name, size_t mebibytes) {
      hw_mark_phase(name);
      size_t size = mebibytes << 20;
      char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      memset(memory, 1, size);
      munmap(memory, size);
      usleep(100000);
    }
    int main(void) {
      usleep(200000);
      phase("small", 2); phase("large", 48); phase("middle", 16); phase("none", 1);
      return 0;
    }
    """)

  @Test("A phase that the target marks by `hw_mark.c` begins before the target goes on, so that its peak is exact")
  func ownPhases() throws {
    let harness = try ScenarioHarness("target: {command: [\(try Self.ownPhases.command[0])]}\nrepetitions: 3\n")
    try #require(try harness.check().code == 0)
    for repetition in try harness.repetitions() {
      let phases = try #require(repetition["phases"] as? [[String: Any]])
      #expect(phases.map { $0["exact"] as? Bool } == [true, true, true, true])
      let peaks = phases.compactMap { $0["peak_rss"] as? Double }
      let base = try #require(peaks.last) - Double(1 << 20)
      for (peak, mebibytes) in zip(peaks, [2, 48, 16, 1]) {
        #expect(abs(peak - base - Double(mebibytes << 20)) <= Ballast.markError + 65536, "\(mebibytes) MiB: \(peak)")
      }
    }
  }

  @Test("Without ptrace the peaks of all phases but the last are exact")
  func sampled() throws {
    let found = try peaks(holding: 4, pulses: [64, 16, 32], more: "isolation: {tracer: off}\n")
    #expect(found.prefix(2).map(\.isExact) == [true, true])
    #expect(found[1].peak < Double(40 << 20))
  }
}
