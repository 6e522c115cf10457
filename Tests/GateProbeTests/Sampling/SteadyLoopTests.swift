import FoundationEssentials
import GateCore
import Glibc
import Testing

@testable import GateProbe

/// The counter of the library that ``AllocationTests`` preloads; nil if it is not loaded.
private var allocations: Int? {
  dlsym(nil, "hw_test_allocations").map { $0.load(as: Int.self) }
}

@Suite("Allocations in the sampler's loop")
struct SteadyLoopTests {
  /// Counts readings and allocations between two readings of the mappings, which allocate.
  ///
  /// The mappings are read at an age of 0.2 s and not before 1.2 s. Returns nil if this thread was too late.
  private func measured() throws -> (readings: Int, allocations: Int)? {
    let testProcesses = TestProcesses()
    let processTree = try testProcesses.shell("sleep 1000 & sleep 1000 & wait")
    let sampler = Sampler(processTree: processTree, interval: .milliseconds(1), main: nil)
    sampler.start()
    // The first sample that late may precede the mappings of 0.2 s on a busy machine; the second follows them.
    #expect(eventually { sampler.recent(2).filter { $0.time > .milliseconds(400) }.count == 2 })
    let before = (samples: sampler.recent(.max).count, allocations: try #require(allocations))
    usleep(600_000)
    // Counted before the samples, whose times show that the mappings were not read again until then.
    let counted = try #require(allocations)
    let samples = sampler.recent(.max)
    sampler.stop()
    guard let last = samples.last, last.time < .milliseconds(1150) else { return nil }
    return (samples.count - before.samples, counted - before.allocations)
  }

  @Test("Readings allocate nothing", .enabled(if: allocations != nil, "requires the preloaded counter"))
  func allocatesNothing() throws {
    // A search for new processes every 100 ms may allocate, and finds them late on a busy machine; an allocation per
    // reading would make hundreds in every measurement.
    var measured: [(readings: Int, allocations: Int)] = []
    for _ in 0..<10 {
      if let new = try self.measured() { measured.append(new) }
      if let last = measured.last, last.readings > 20, last.allocations * 5 < last.readings { return }
    }
    Issue.record("readings and allocations: \(measured)")
  }
}

@Suite("Allocations of the sampler", .timeLimit(.minutes(60)))
struct AllocationTests {
  private static let counter = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <pthread.h>
    #include <string.h>
    #include <sys/prctl.h>
    long hw_test_allocations;
    static void count(void) {
      char name[16] = "";
      prctl(PR_GET_NAME, name);
      if (strcmp(name, "hw-sampler") == 0) __atomic_add_fetch(&hw_test_allocations, 1, __ATOMIC_RELAXED);
    }
    extern void *__libc_malloc(size_t);
    extern void *__libc_calloc(size_t, size_t);
    extern void *__libc_realloc(void *, size_t);
    extern void *__libc_memalign(size_t, size_t);
    void *malloc(size_t size) { count(); return __libc_malloc(size); }
    void *calloc(size_t number, size_t size) { count(); return __libc_calloc(number, size); }
    void *realloc(void *block, size_t size) { count(); return __libc_realloc(block, size); }
    void *aligned_alloc(size_t edge, size_t size) { count(); return __libc_memalign(edge, size); }
    int posix_memalign(void **block, size_t edge, size_t size) {
      count();
      return (*block = __libc_memalign(edge, size)) == 0 ? 12 : 0;
    }
    """

  /// Runs the test binary again with the library preloaded; disabled in that second run.
  @Test("The loop does not allocate unless a process starts or ends", .enabled(if: allocations == nil))
  func steadyLoop() throws {
    let testProcesses = TestProcesses()
    let source = testProcesses.file("counter.c", Self.counter)
    let library = testProcesses.folder + "/counter.so"
    let compiler = try testProcesses.processTree("cc", "-shared", "-fPIC", "-o", library, source)
    try #require(compiler.leaderEnding() == .exited(0), "\(testProcesses.output)")
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    var request = testProcesses.request([tests, "--testing-library", "swift-testing", "--filter", "allocatesNothing"])
    request.environment["LD_PRELOAD"] = library
    let processTree = try ProcessTree(starting: request)
    #expect(processTree.leaderEnding() == .exited(0), "\(testProcesses.output)")
    #expect(testProcesses.output.contains("Test \"Readings allocate nothing\" passed"), "\(testProcesses.output)")
  }
}
