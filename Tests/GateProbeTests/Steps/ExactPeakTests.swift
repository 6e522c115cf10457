import GateCore
import Glibc
import Testing

@testable import GateProbe

@Suite("Peaks whatever a program does with its threads and execs", .timeLimit(.minutes(60)))
struct ExactPeakTests {
  let harness = ScenarioHarness()

  /// The largest error of a high-water mark of memory that was freed, for each of three kinds of memory.
  private static let markError = 3 * (Machine.counters?.bound.count ?? 0)

  /// Runs a C program whose `main` has this body, and which does `onSecond` if it is executed again as `again`.
  ///
  /// `take(MIB)` takes memory, `spike(MIB)` gives it back, and `thread` starts a function.
  private func recording(
    _ functions: String = "",
    main: String,
    onSecond: String = "",
    sampled: Bool = false,
    at location: SourceLocation = #_sourceLocation
  ) throws -> Recording {
    let program = try harness.testProcesses.compiled(
      """
      #define _GNU_SOURCE
      #include <pthread.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <sys/mman.h>
      #include <sys/wait.h>
      #include <unistd.h>
      static char *take(size_t mib) {
        char *memory = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t at = 0; at < mib << 20; at += 4096) memory[at] = 1;
        return memory;
      }
      static void spike(size_t mib) { munmap(take(mib), mib << 20); }
      static pthread_t thread(void *(*function)(void *)) {
        pthread_t started;
        if (pthread_create(&started, NULL, function, NULL) != 0) abort();
        return started;
      }
      static void *nothing(void *argument) { return argument; }
      \(functions)
      int main(int count, char **words) {
        if (words[0][0] == 'a') { \(onSecond) }
        \(main)
        return 0;
      }
      """, flags: ["-O1", "-w", "-pthread"])
    var scenario = harness.scenario(.arguments([program]))
    if sampled { scenario.isolation.tracer = .off }
    let recording = try harness.run(scenario, at: location)
    #expect(recording.failure == nil && recording.end.kind == .exited, sourceLocation: location)
    return recording
  }

  @Test("Memory that processes share counts for one that still has it", arguments: ["_exit(0)", "execl"])
  func sharedMemory(leaving: String) throws {
    let functions = """
      static char stacks[2][65536] __attribute__((aligned(16)));
      static int first(void *unused) { usleep(50000); _exit(0); }
      static int second(void *unused) { usleep(300000); take(64); _exit(0); }
      """
    let end = leaving == "execl" ? #"execl("/bin/true", "true", NULL)"# : leaving
    let recording = try recording(
      functions,
      main: """
        int ends[2];
        char end;
        pipe(ends);
        if (fork() == 0) {
          close(ends[0]);
          clone(first, stacks[0] + sizeof stacks[0], CLONE_VM, NULL);
          clone(second, stacks[1] + sizeof stacks[1], CLONE_VM, NULL);
          \(end);
        }
        close(ends[1]);
        read(ends[0], &end, 1);
        while (wait(NULL) > 0) {}
        """)
    let highest = try #require(recording.processes.map(\.peak).max())
    #expect(highest > .mebibytes(63) && highest < .mebibytes(80), "\(recording.processes)")
  }

  private func main(of recording: Recording) throws -> ProcessRecord {
    let found = recording.processes.first { $0.isMain }
    return try #require(found)
  }

  private func isNear(_ peak: Bytes, mebibytes: Int64) -> Bool {
    // Programs of C have less than 2 MiB besides, and threads some pages of stack.
    let excess = peak.count - mebibytes << 20
    return excess > -Self.markError && excess < 2 << 20 + Self.markError
  }

  /// The main thread ends, then one thread after the other, and the last one takes memory.
  private static let relay = """
    static void *last(void *argument) { usleep(150000); take(60); usleep(500000); return argument; }
    static void *second(void *argument) { usleep(80000); return argument; }
    static void *first(void *argument) { usleep(40000); return argument; }
    """

  @Test("A process is read via any thread that lives", arguments: [true, false])
  func relay(isSampled: Bool) throws {
    let recording = try recording(
      Self.relay, main: "thread(first); thread(second); thread(last); pthread_exit(NULL);", sampled: isSampled)
    let held = recording.samples.filter { isNear($0.main?.resident ?? .zero, mebibytes: 60) }
    #expect(held.count > 5 && held.allSatisfy { $0.tree >= $0.main?.resident ?? .zero })
    #expect(isNear(try main(of: recording).peak, mebibytes: 60))
    #expect(recording.processes.count == 1)
  }

  /// A function for threads that wait until `main` unlocks the gate, or ends.
  private static let idle = """
    static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    static void *idle(void *argument) { pthread_mutex_lock(&gate); pthread_mutex_unlock(&gate); return argument; }
    """

  @Test("The peak is exact if the last of many threads has it", arguments: [1, 300, 2000])
  func crowd(threads: Int) throws {
    let recording = try recording(
      """
      \(Self.idle)
      static void *last(void *argument) { usleep(50000); spike(60); return argument; }
      """,
      main: """
        pthread_mutex_lock(&gate);
        for (int made = 1; made < \(threads); made++) thread(idle);
        thread(last);
        pthread_mutex_unlock(&gate);
        pthread_exit(NULL);
        """)
    let main = try main(of: recording)
    let stacks = Int64(threads * 16_384)
    #expect(main.peak.count > 60 << 20 - Self.markError && main.peak.count < 62 << 20 + Self.markError + stacks)
    #expect(main.isExact)
  }

  /// The tracer is the parent of the target, and stands still while threads are about to exit and one ends them all.
  ///
  /// The first thread does `sooner` before its exit, and the last one `later` after it.
  @Test(
    "The peak is exact if threads are killed that were about to exit",
    arguments: [("halt();", ""), ("", "halt();")], ["", "exit(0);", "kill(getpid(), SIGKILL);"])
  func killedAtExit(halts: (sooner: String, later: String), end: String) throws {
    let recording = try recording(
      """
      #include <signal.h>
      static pid_t tracer;
      static void halt(void) { kill(tracer, SIGSTOP); usleep(20000); }
      \(Self.idle)
      static void *last(void *argument) {
        usleep(60000);
        \(halts.later)
        pthread_mutex_unlock(&gate);
        usleep(60000);
        spike(60);
        \(end)
        return argument;
      }
      """,
      main: """
        // Its memory hides the spike from the resource usage of the child.
        take(100);
        char parent[16];
        sprintf(parent, "%d", getppid());
        if (fork() == 0) execl("/proc/self/exe", "again", parent, NULL);
        do {
          usleep(400000);
          kill(getppid(), SIGCONT);
        } while (waitpid(-1, NULL, WNOHANG) == 0);
        """,
      onSecond: """
        tracer = atoi(words[1]);
        pthread_mutex_lock(&gate);
        for (int made = 0; made < 10; made++) thread(idle);
        thread(last);
        \(halts.sooner)
        pthread_exit(NULL);
        """)
    let child = try #require(recording.processes.first { $0.command == "exe" })
    #expect(child.isExact && isNear(child.peak, mebibytes: 60), "\(child)")
  }

  /// Creates and ends so many threads that further ones are not traced.
  private static let churn = "for (int made = 0; made < 400; made++) pthread_join(thread(nothing), NULL);"

  @Test("A spike in a thread that is not traced is not called exact unless it is known")
  func untracedThread() throws {
    let recording = try recording(
      "static void *last(void *argument) { usleep(50000); spike(60); usleep(50000); return argument; }",
      main: "\(Self.churn) thread(last); pthread_exit(NULL);")
    let main = try main(of: recording)
    #expect(!main.isExact || isNear(main.peak, mebibytes: 60))
    #expect(recording.notes.contains { if case .threadsNotFollowed = $0 { true } else { false } })
  }

  @Test("A child of a thread that is not traced is found within a fraction of a second")
  func childOfUntracedThread() throws {
    let recording = try recording(
      """
      static void *last(void *argument) {
        if (fork() == 0) { take(40); usleep(700000); _exit(0); }
        wait(NULL);
        return argument;
      }
      """,
      main: "\(Self.churn) pthread_join(thread(last), NULL); usleep(100000);")
    let child = recording.processes.first { $0.peak >= .mebibytes(40) }
    #expect(recording.processes.count == 2 && child?.isMain == true)
  }

  @Test("Each child of 300 threads that live is traced")
  func childOfCrowd() throws {
    let recording = try recording(
      """
      \(Self.idle)
      static void *last(void *argument) {
        if (fork() == 0) { spike(40); _exit(0); }
        wait(NULL);
        return argument;
      }
      """,
      main: """
        pthread_mutex_lock(&gate);
        for (int made = 0; made < 300; made++) thread(idle);
        pthread_join(thread(last), NULL);
        """)
    #expect(recording.processes.count == 2 && recording.processes.allSatisfy(\.isExact))
    #expect(try main(of: recording).peak.count > 40 << 20 - Self.markError)
  }

  @Test("A spike just before an exec counts", arguments: ["", "if (fork() != 0) { wait(NULL); return 0; }"])
  func spikeBeforeExec(start: String) throws {
    let recording = try recording(
      main: """
        \(start)
        execl("/proc/self/exe", "again", NULL);
        """, onSecond: "spike(80); execl(\"/bin/true\", \"true\", NULL);")
    let main = try main(of: recording)
    #expect(main.command == "true")
    // The memory of the process that starts the target, here that of all tests, may hide the spike.
    if start.isEmpty, !main.isExact { return }
    #expect(main.isExact && isNear(main.peak, mebibytes: 80), "\(main)")
    let treePeak = try #require(recording.result().metrics[.treePeak])
    #expect(treePeak >= Double(80 << 20 - Self.markError))
  }

  @Test("A spike before an exec that the memory of its parent hides is not called exact")
  func hiddenSpike() throws {
    let recording = try recording(
      main: """
        take(100);
        if (fork() != 0) { wait(NULL); return 0; }
        execl("/proc/self/exe", "again", NULL);
        """, onSecond: "spike(40); execl(\"/bin/true\", \"true\", NULL);")
    let child = recording.processes.first { $0.command == "true" }
    #expect(child?.isExact == false)
    #expect(try main(of: recording).isExact)
  }

  @Test("The memory that a child has inherited is not that of the program that it executes")
  func inheritance() throws {
    let recording = try recording(
      main: """
        take(60);
        if (fork() != 0) { wait(NULL); return 0; }
        usleep(100000);
        execl("/bin/true", "true", NULL);
        """)
    let child = recording.processes.first { $0.command == "true" }
    #expect(child?.isExact == true && (child?.peak ?? .zero) < .mebibytes(10), "\(recording.processes)")
  }

  @Test("The memory that a child takes before its first exec counts")
  func growthOfCopy() throws {
    let recording = try recording(
      main: """
        if (fork() != 0) { wait(NULL); return 0; }
        spike(40);
        execl("/bin/true", "true", NULL);
        """)
    let child = try #require(recording.processes.first { $0.command == "true" })
    #expect(child.isExact && isNear(child.peak, mebibytes: 40), "\(child)")
  }
}
