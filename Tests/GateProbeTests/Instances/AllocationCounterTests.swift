import GateCore
import Testing

@testable import GateProbe

@Suite("Counting allocations", .timeLimit(.minutes(60)))
struct AllocationCounterTests {
  let harness = ScenarioHarness()

  /// Allocates as often as its argument says, and as much in a child.
  private static let source = """
    #include <stdlib.h>
    #include <sys/wait.h>
    #include <unistd.h>
    int main(int count, char **words) {
      (void)count;
      int child = fork();
      for (int n = atoi(words[1]); n > 0; n--) {
        char *volatile block = malloc(24);
        free(realloc(block, 100));
      }
      if (child != 0) wait(NULL);
      _exit(0);
    }
    """

  private func counted(_ command: String...) throws -> AllocationReading {
    var scenario = harness.scenario(.arguments(command))
    scenario.target.countsAllocations = true
    let recording = try harness.run(scenario)
    #expect(recording.failure == nil, "\(recording.outputTail)")
    return try #require(recording.allocations)
  }

  @Test("The numbers of all processes differ by exactly what the program does more")
  func exact() throws {
    let program = try harness.testProcesses.compiled(Self.source)
    let (few, many) = (try counted(program, "10").counts, try counted(program, "510").counts)
    func more(_ metric: CountMetric) throws -> Int64 { try #require(many[metric]) - #require(few[metric]) }
    #expect(try more(.allocations) == 2 * 500 * 2)
    #expect(try more(.allocatedBytes) == 2 * 500 * 124)
    #expect(try more(.liveHeap) == 0)
  }

  @Test("A program at a fixed address that takes the address of malloc(3) is counted, with calls of all its relatives")
  func relatives() throws {
    let source = """
      #define _GNU_SOURCE
      #include <malloc.h>
      #include <stdlib.h>
      int main(int count, char **words) {
        void *(*volatile allocate)(size_t) = malloc;
        void *volatile block = NULL;
        for (int n = atoi(words[count - 1]); n > 0; n--) {
          block = allocate(8), block = valloc(100), block = pvalloc(100), block = memalign(64, 8), block = calloc(2, 4);
        }
        return block == NULL;
      }
      """
    let program = try harness.testProcesses.compiled(source, flags: ["-O0", "-no-pie", "-fno-pie"])
    let (few, many) = (try counted(program, "1").counts, try counted(program, "11").counts)
    func more(_ metric: CountMetric) throws -> Int64 { try #require(many[metric]) - #require(few[metric]) }
    #expect(try more(.allocations) == 50)
    #expect(try more(.allocatedBytes) == 10 * (8 + 100 + 4096 + 8 + 8))
  }

  @Test("A static program, and one with an allocator of its own, are refused")
  func refusals() throws {
    let still = try harness.testProcesses.compiled(Self.source, flags: ["-O0", "-static"])
    #expect(try counted(still, "1").refusal == .notLoaded)
    let own =
      "void *malloc(unsigned long n) { static char a[9999], *p = a; p += n; return p - n; } void free(void *p) {}"
    let program = try harness.testProcesses.compiled(
      own + "int main(int n, char **w) { return malloc(n) == w; }", flags: ["-O0", "-w", "-rdynamic", "-fno-builtin"])
    #expect(try counted(program, "1").refusal == .replaced)
  }

  @Test(
    "Numbers that lack a program which a counted one starts are refused",
    arguments: [
      ("exec env -i PROGRAM 10", .notLoadedByAll), ("env -i PROGRAM 10; PROGRAM 10", .notLoadedByAll),
      ("PROGRAM 10 | PROGRAM 10; exec PROGRAM 10", nil),
    ] as [(String, AllocationRefusal?)])
  func gap(line: String, refusal: AllocationRefusal?) throws {
    let program = try harness.testProcesses.compiled(Self.source)
    #expect(try counted("sh", "-c", line.replacing("PROGRAM", with: program)).refusal == refusal)
  }

  @Test("Only whole files with plausible numbers are read")
  func files() {
    func file(_ name: String, _ numbers: [Int64]) -> AllocationFile? {
      AllocationFile(name: name, numbers.withUnsafeBytes(Array.init))
    }
    #expect(file("12.0", [1, 5, 50, 0, 40, 1])?.bytes == 50)
    #expect(file("12.1", [2, 0, 0, 0, 0, 1])?.isReplaced == true)
    for (name, numbers) in [
      ("12.0", [0, 5, 50, 0, 40, 1]), ("12.0", [1, -5, 50, 0, 40, 1]), ("12.0", [1, 5, 1 << 60, 0, 40, 1]),
      ("x.0", [1, 5, 5, 0, 4, 1]),
      ("12.0", [1, 5]),
    ] as [(String, [Int64])] {
      #expect(file(name, numbers) == nil)
    }
  }
}
