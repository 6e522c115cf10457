import Foundation
import Testing

/// Each thread of a traced program stops when it exits, and each stop reads the memory of the whole process.
@Suite("Programs with threads")
struct ThreadEndTests {
  @Test("The memory of a process counts once in its tree, however many of its threads exit", .endsHangs)
  func once() throws {
    let project = try TemporaryProject()
    let words = try ["record", "--repetitions", "40", "--json", "-", "--"] + Self.threads.command
    let outcome = try Highwater.start(words, in: project).wait()
    try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    let scenario = try #require((try object(in: outcome.output)["scenarios"] as? [[String: Any]])?.first)
    let composition = try #require((scenario["composition"] as? [String: Any])?["current"] as? [String: Any])
    // Read when the first thread exits: later there may be nothing left to read.
    #expect((composition["libraries"] as? [String: Any])?.isEmpty == false)
    let repetitions = try #require(scenario["repetitions"] as? [[String: Any]])
    for repetition in repetitions {
      let metrics = try #require(repetition["metrics"] as? [String: Double])
      // The kernel's counters of a process differ by a part of this; the 8 MiB twice would be far above.
      let (tree, peak) = (try #require(metrics["tree_peak"]), try #require(metrics["peak_rss"]))
      #expect(tree < peak + 2_097_152, "\(metrics)")
    }
  }

  /// Begins a phase and exits at once, so that the reading at the mark finds the first thread gone and others exiting:
  /// before the fix, memory was counted up to eight times in 15 of 240 such runs (2 CPUs, 2026-11).
  private static let threads = CompiledProgram(
    "thread-ends",
    """
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>

    static void *rest(void *nothing) {
      for (;;) pause();
      return nothing;
    }

    int main(void) {
      volatile char *memory = malloc(8 << 20);
      for (int at = 0; at < 8 << 20; at += 512) memory[at] = 1;
      pthread_t thread;
      for (int at = 0; at < 20; at++) pthread_create(&thread, NULL, rest, NULL);
      usleep(50000);
      FILE *marks = fopen(getenv("HIGHWATER_MARKS"), "r+");
      if (marks == NULL || fputs("phase end\\n", marks) < 0 || fflush(marks) != 0) return 1;
      return 0;
    }
    """
  )
}
