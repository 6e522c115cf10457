import Foundation
import Testing

/// Runs real programs; the rule that names a function is tested with synthetic profiles elsewhere.
@Suite("What holds the memory", .endsHangs, .enabled(if: Ballast.mayTrace, "requires ptrace(2)"))
struct ExplainTests {
  /// A server with some temporaries per request, and a cache, that keeps `LEAK` bytes of each request.
  ///
  /// Temporaries extend the heap, and what is kept fills holes: first touch would name `parse_field`. Pauses keep its pace
  /// even on a busy machine, so that the halves of its run have as many requests.
  private static let server = """
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    #define OWN __attribute__((noinline)) static
    static void *cache[4096];
    OWN char *parse_field(size_t size) { return memset(malloc(size), 1, size); }
    OWN void remember(void) { if (LEAK > 0) { void **block = malloc(LEAK); memset(block, 2, LEAK); __asm__("" :: "r"(block)); } }
    OWN void cache_put(int key) { if (cache[key % 500] == NULL) cache[key % 500] = memset(malloc(3000), 3, 3000); }
    OWN void handle_request(int number) {
      char *fields[34];
      for (int at = 0; at < 34; at++) fields[at] = parse_field(16 + (number * 7 + at * 13) % 200);
      remember(); cache_put(number);
      for (int at = 0; at < 34; at++) free(fields[at]);
    }
    int main(void) {
      for (int at = 0; at < 4000; at++) {
        handle_request(at);
        if (at % 40 == 0) usleep(5000);
      }
      return 0;
    }
    """

  private static let quietServer = CompiledProgram("quiet-server", flags: ["-O2", "-DLEAK=0"], server)
  private static let leakingServer = CompiledProgram("leaking-server", flags: ["-O2", "-DLEAK=500"], server)

  private func project(_ command: [String]) throws -> TemporaryProject {
    let words = command.map { "\"\($0)\"" }.joined(separator: ", ")
    return try TemporaryProject(
      "version: 1\nscenarios: [{name: program, target: {command: [\(words)]}}]\n")
  }

  /// The call stacks of a program, and the report of them.
  private func explained(_ program: CompiledProgram) throws -> (stacks: [FoldedStack], report: String) {
    let project = try project(program.command)
    let found = try Highwater.run("explain", "--folded", "x.txt", in: project)
    #expect(found.code == 0, "\(found.text)\(found.errors)")
    return (try FoldedStack.stacks(in: try project.read("x.txt")), found.text)
  }

  @Test("A leak of small blocks is blamed on the function that keeps them, not on the one that touched their pages")
  func leak() throws {
    let project = try project(Self.leakingServer.command)
    let (before, after) = (try Self.quietServer.command[0], try Self.leakingServer.command[0])
    let found = try Highwater.run("explain", "--against", before, in: project)
    #expect(found.code == 0, "\(found.errors)")
    #expect(found.text.contains("held by remember() (leaking-server) ← handle_request ← main"), "\(found.text)")
    #expect(try project.read(".highwater/explain.html").contains("held by remember()"))
    let growth = try Highwater.run("explain", "--metric", "growth", in: project)
    #expect(growth.text.contains("held by remember() (leaking-server) ← handle_request ← main"), "\(growth.text)")
    #expect(growth.text.contains("of the growth during the run"), "\(growth.text)")
    let quiet = try Highwater.run("explain", "--against", after, in: project)
    #expect(quiet.code == 0 && !quiet.text.contains("of the rise"), "\(quiet.text)")
    #expect(!FileManager.default.fileExists(atPath: project.url("baselines").path), "nothing is judged or stored")
  }

  /// Allocates nothing unless `KEPT` says how often, so that the profile of one build has no sample.
  private static let keeping = CompiledProgram(
    "keeping", flags: ["-O1"],
    """
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    #define OWN __attribute__((noinline)) static
    OWN void remember(void) { void *block = memset(malloc(20000), 2, 20000); __asm__("" :: "r"(block)); }
    int main(void) {
      for (int at = atoi(getenv("KEPT")); at > 0; at--) remember();
      usleep(100000);
      return 0;
    }
    """)

  @Test("A program that allocated nothing before is compared in the same way as one that allocates")
  func firstAllocations() throws {
    let project = try TemporaryProject(
      """
      version: 1
      scenarios: [{name: program, target: {command: [\(Self.keeping.command[0])], inherit-env: [KEPT]}}]
      """)
    let found = try Highwater.run("explain", "--against", "KEPT=0", in: project, variables: ["KEPT": "200"])
    #expect(found.code == 0, "\(found.errors)")
    #expect(found.text.contains("held by remember() (keeping) ← main"), "\(found.text)")
  }

  /// Fills a cache, then keeps 20 KiB in each of 100 turns, and releases the cache before it ends.
  private static let ending = CompiledProgram(
    "ending", flags: ["-O1"],
    """
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    #define OWN __attribute__((noinline)) static
    static void *cache[2000];
    OWN void *block(size_t size) { return memset(malloc(size), 1, size); }
    OWN void fill_cache(void) { for (int at = 0; at < 2000; at++) cache[at] = block(10000); }
    OWN void serve(void) { for (int at = 0; at < 20; at++) __asm__("" :: "r"(block(10000))); }
    int main(void) {
      fill_cache();
      for (int turn = 0; turn < 100; turn++) { serve(); usleep(5000); }
      for (int at = 0; at < 2000; at++) free(cache[at]);
      return 0;
    }
    """)

  @Test("A program that ends by itself is explained as it was before it released its memory")
  func ending() throws {
    let project = try project(Self.ending.command)
    let growth = try Highwater.run("explain", "--metric", "growth", in: project)
    // On a busy machine repetitions may differ too much for a name.
    let rises = growth.text.contains(#/serve\(\) \(ending\) ← main (?: *\d+\.\d MiB)+ +\+\d+\.\d MiB +held/#)
    #expect(rises, "\(growth.text)\(growth.errors)")
    let steady = try Highwater.run("explain", "--metric", "steady_rss", in: project)
    let row = steady.text.firstMatch(of: #/fill_cache\(\) \(ending\) ← main +(\d+\.\d) MiB +held/#)
    let held = try #require(row.flatMap { Double($0.1) }, "\(steady.text)\(steady.errors)")
    #expect(try sampled(19_900_000...20_200_000, steady.text).contains(Int(held * 1_048_576)), "\(steady.text)")
  }

  /// Holds blocks of 32 bytes, for each of which glibc gives 40.
  private static let smallBlocks = CompiledProgram(
    "small-blocks", flags: ["-O1"],
    """
    #include <stdlib.h>
    #define OWN __attribute__((noinline)) static
    void *kept[300000];
    OWN void remember(int number) { kept[number] = malloc(32); }
    int main(void) { for (int at = 0; at < 300000; at++) remember(at); return 0; }
    """)

  @Test("Small blocks count with what the allocator gives for them, as their function's own")
  func smallBlocks() throws {
    let (stacks, report) = try explained(Self.smallBlocks)
    let held = try #require(stacks.first { $0.frames.first == "live" && $0.frames.last == "remember" })
    #expect(try sampled(12_000_000...12_000_000, report).contains(held.bytes), "\(report)")
  }

  /// One page fault in five is sampled, and pages of small mappings without one count for the next mapping: some of those that
  /// the dynamic linker has written.
  private static let unsampled = 64 << 10

  /// Fills a static buffer, which lies beside the heap.
  private static let staticBuffer = CompiledProgram(
    "static-buffer", flags: ["-O1"],
    """
    #include <stdlib.h>
    #include <string.h>
    #define OWN __attribute__((noinline)) static
    char buffer[600000], *kept[1000];
    OWN void fill(void) { memset(buffer, 1, sizeof buffer); }
    int main(void) {
      for (int at = 0; at < 1000; at++) kept[at] = memset(malloc(100), 1, 100);
      fill();
      return 0;
    }
    """)

  @Test("A static buffer beside the heap counts for the function that fills it, not as a hole of the heap")
  func staticBuffer() throws {
    let (stacks, report) = try explained(Self.staticBuffer)
    #expect(abs(stacks.bytes(of: "fill", as: "touched") - 600_000) <= Self.unsampled, "\(report)")
  }

  /// Builds two texts of 3,000,000 bytes by appending to them, lets 3,000 blocks grow to 2,000 bytes each, and keeps blocks
  /// of 32 bytes, for each of which glibc gives 40.
  private static let appending = CompiledProgram(
    "appending", flags: ["-O1"],
    """
    #include <stdlib.h>
    #include <string.h>
    #define OWN __attribute__((noinline)) static
    char *texts[2];
    void *lists[3000], *kept[100000];
    OWN void append(int text, size_t size) {
      texts[text] = realloc(texts[text], size);
      memset(texts[text] + size - 10, 1, 10);
    }
    OWN void extend(int list, size_t size) {
      lists[list] = realloc(lists[list], size);
      memset((char *)lists[list] + size - 100, 1, 100);
    }
    OWN void remember(int number) { kept[number] = malloc(32); }
    int main(void) {
      for (size_t size = 10; size <= 3000000; size += 10) { append(0, size); append(1, size); }
      for (size_t size = 100; size <= 2000; size += 100) {
        for (int list = 0; list < 3000; list++) extend(list, size);
      }
      for (int at = 0; at < 100000; at++) remember(at);
      return 0;
    }
    """)

  @Test("Blocks that realloc(3) makes larger count with what they hold in the end, and leave room for other samples")
  func appending() throws {
    let (stacks, report) = try explained(Self.appending)
    #expect((5_900_000...6_200_000).contains(stacks.bytes(of: "append", as: "live")), "\(report)")
    let grown = stacks.bytes(of: "extend", as: "live")
    #expect(try sampled(6_000_000...6_100_000, report).contains(grown), "\(report)")
    let small = stacks.bytes(of: "remember", as: "live")
    #expect(try sampled(4_000_000...4_000_000, report).contains(small) && small > 2_000_000, "\(report)")
  }

  /// Keeps 300 buffers of 60,000 bytes, of which it uses the first 100; of the others it uses all.
  private static let buffers = CompiledProgram(
    "buffers", flags: ["-O1"],
    """
    #include <stdlib.h>
    #include <string.h>
    #define OWN __attribute__((noinline)) static
    char *sparse[300], *full[50];
    OWN void open_sparse(int number) { sparse[number] = malloc(60000); memset(sparse[number], 1, 100); }
    OWN void open_full(int number) { full[number] = malloc(60000); memset(full[number], 1, 60000); }
    int main(void) {
      for (int at = 0; at < 300; at++) open_sparse(at);
      for (int at = 0; at < 50; at++) open_full(at);
      return 0;
    }
    """)

  @Test("Blocks count without the pages of them that were never used")
  func sparseBlocks() throws {
    let project = try project(Self.buffers.command)
    let found = try Highwater.run("explain", "--folded", "x.txt", in: project)
    #expect(found.code == 0, "\(found.text)\(found.errors)")
    let live = try FoldedStack.stacks(in: try project.read("x.txt")).filter { $0.frames.first == "live" }
    func held(_ function: String) -> Int { live.filter { $0.frames.last == function }.reduce(0) { $0 + $1.bytes } }
    // One or two pages of each are resident, and 3,000,000 bytes.
    #expect((500_000...3_000_000).contains(held("open_sparse")), "\(live)")
    #expect((2_900_000...3_200_000).contains(held("open_full")), "\(live)")
  }

  /// Keeps blocks of `operator new`, and deletes more of them, with an allocator that it is linked to.
  private static func objects(_ allocator: String) -> CompiledProgram {
    CompiledProgram(
      "objects-\(allocator)", flags: ["-O1", "-Wl,--no-as-needed", "-l\(allocator)", "-lstdc++"],
      """
      #include <stddef.h>
      #define OWN __attribute__((noinline)) static
      void *_Znwm(size_t);
      void _ZdlPv(void *);
      void *kept[30000];
      OWN void remember(int number) { kept[number] = _Znwm(100); }
      OWN void use(void) { _ZdlPv(_Znwm(300)); }
      int main(void) { for (int at = 0; at < 30000; at++) { remember(at); use(); } return 0; }
      """)
  }

  @Test(
    "Live objects of C++ belong to the function that made them, whatever the allocator",
    arguments: ["stdc++", "jemalloc", "tcmalloc_minimal", "mimalloc"])
  func objects(allocator: String) throws {
    let project = try project(Self.objects(allocator).command)
    let found = try Highwater.run("explain", "--folded", "x.txt", in: project)
    #expect(found.code == 0, "\(found.text)\(found.errors)")
    let live = try FoldedStack.stacks(in: try project.read("x.txt")).filter { $0.frames.first == "live" }
    let held = try #require(live.first { $0.frames.contains("remember") })
    // Each allocator gives 104 to 112 bytes for 100.
    #expect(try sampled(3_120_000...3_360_000, found.text).contains(held.bytes), "\(live) \(found.text)")
    #expect(!live.contains { $0.frames.contains("use") && $0.bytes > 150_000 }, "\(live)")
  }

  /// Keeps objects in a lambda, which the compiler inlines into the library's function that runs the thread.
  private static let threadText = """
    #include <memory>
    #include <thread>
    #include <vector>
    struct Node { char bytes[200]; };
    static std::vector<std::unique_ptr<Node>> kept;
    static void serve(int count) {
      std::thread worker([count] { for (int at = 0; at < count; at++) kept.push_back(std::make_unique<Node>()); });
      worker.join();
    }
    int main() { serve(22000); }
    """

  @Test(
    "Objects that a lambda of C++ makes in a thread belong to the function that contains it",
    arguments: ["-g0", "-g", "-static-libstdc++"])
  func threads(flag: String) throws {
    let program = CompiledProgram("lambda\(flag)", in: .cpp, flags: [flag], Self.threadText)
    let found = try Highwater.run("explain", in: project(program.command))
    let held =
      flag == "-g"
      ? #/serve\(\) \(lambda-g, \w+\S*:\d+\) +4\.\d MiB +held/# : #/serve\(\) \(lambda\S+\) +4\.\d MiB +held/#
    #expect(found.code == 0 && found.text.contains(held), "\(found.text)\(found.errors)")
  }

  @Test("Objects of Python belong to the line that keeps them")
  func pythonObjects() throws {
    let project = try project(["python3", "keep.py"])
    try project.write(
      """
      kept = []
      def remember(number):
          kept.append((number, str(number)))
      def use(number):
          return [str(number)] * 10
      for number in range(30000):
          remember(number)
          use(number)
      """, to: "keep.py")
    let found = try Highwater.run("explain", in: project)
    let held = try #require(
      found.text.firstMatch(of: #/remember\(\) \(keep\.py:3\) ← <module> (\d\.\d) MiB held/#),
      "\(found.text)\(found.errors)")
    // A tuple of two with what the collector needs, a string, and a place in the list.
    let bytes = Int((Double(held.1) ?? 0) * 1_048_576)
    #expect(try sampled(3_400_000...4_000_000, found.text).contains(bytes), "\(found.text)")
  }

  /// Each function touches as much memory as its name says; 16 MiB are released by `released_16m`, at the peak.
  private static let known = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define OWN __attribute__((noinline)) static
    #define MIB (1 << 20)
    OWN char *map(size_t mib, int flags) {
      return mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    }
    OWN void mapped_8m(void) { char *at = map(8, 0); memset(at, 1, 8 * MIB); at[0] = 2; }
    OWN void populated_2m(void) { char *at = map(2, MAP_POPULATE); at[0] = 2; }
    OWN void locked_1m(void) { mlock(map(1, 0), MIB); }
    OWN void read_2m(void) { if (read(open("/dev/zero", O_RDONLY), map(2, 0), 2 * MIB) < 0) exit(1); }
    OWN void moved_4m(void) {
      char *from = map(4, 0), *to = map(8, 0);
      memset(from, 1, 4 * MIB);
      mremap(from, 4 * MIB, 8 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    }
    volatile size_t too_much = (size_t)1 << 60;
    OWN void allocated_3m(void) {
      char *at = malloc(3 * MIB);
      memset(at, 1, 3 * MIB);
      if (realloc(at, too_much) == NULL) at[0] = 2;
    }
    OWN void *in_thread_1m(void *of) { char *at = map(1, 0); memset(at, 1, MIB); at[0] = 2; return of; }
    OWN void in_child(void) {
      if (fork() == 0) { char *at = map(5, 0); memset(at, 1, 5 * MIB); _exit(at[0] - 1); }
      wait(NULL);
    }
    OWN void released_16m(void) { char *at = map(16, 0); memset(at, 1, 16 * MIB); madvise(at, 16 * MIB, MADV_DONTNEED); }
    int main(void) {
      pthread_t threads[300];
      mapped_8m(); populated_2m(); locked_1m(); read_2m(); moved_4m(); allocated_3m(); in_child();
      pthread_create(&threads[0], NULL, in_thread_1m, NULL);
      pthread_join(threads[0], NULL);
      released_16m();
      return 0;
    }
    """

  @Test("Pages belong to the call that touched them, wherever it moved them, at the peak of the process")
  func known() throws {
    let program = CompiledProgram("known-memory", flags: ["-fomit-frame-pointer", "-g0"], Self.known)
    let project = try project(program.command)
    let outcome = try Highwater.run("explain", "--folded", "stacks.txt", in: project)
    #expect(outcome.code == 0, "\(outcome.errors)")
    let stacks = try FoldedStack.stacks(in: project.read("stacks.txt"))
    let expected = [
      "mapped_8m": 8, "populated_2m": 2, "locked_1m": 1, "read_2m": 2, "moved_4m": 4, "in_thread_1m": 1,
      "released_16m": 16,
    ]
    for (function, mebibytes) in expected {
      #expect(abs(stacks.bytes(of: function, as: "touched") - mebibytes << 20) <= Self.unsampled, "\(function)")
    }
    #expect(abs(stacks.bytes(of: "allocated_3m", as: "live") - 3 << 20) <= 8192)
    #expect(stacks.bytes(of: "in_child", as: "touched") <= 1 << 20, "the child is another process")
    let sum = stacks.reduce(0) { $0 + $1.bytes }
    #expect(sum >= 37 << 20 && sum <= 39 << 20, "\(sum)")
  }

  @Test("What a program frees at its end is told by who held it at the peak")
  func freedAtEnd() throws {
    let program = CompiledProgram(
      "freeing-program", flags: ["-O1"],
      """
      #include <stdlib.h>
      #include <string.h>
      static void *blocks[40000];
      __attribute__((noinline)) static void fill(void) {
        for (int at = 0; at < 40000; at++) blocks[at] = memset(malloc(200), 1, 200);
      }
      int main(void) {
        fill();
        for (int at = 0; at < 40000; at++) free(blocks[at]);
        return 0;
      }
      """)
    let outcome = try Highwater.run("explain", in: try project(program.command))
    let row = try #require(
      outcome.text.split(separator: "\n").first { $0.contains("fill() (") && $0.contains(") ← main") })
    #expect(row.contains("MiB") && row.contains("held"), "\(outcome.text)")
  }

  /// A server that forks workers after it has filled a table, which they share.
  ///
  /// Each keeps `KEPT` KiB, and writes to 1 MiB of the table. They live until all have finished.
  private static let workers = """
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define OWN __attribute__((noinline)) static
    OWN char *load_table(void) { char *at = malloc(24 << 20); return memset(at, 1, 24 << 20); }
    OWN void keep_request(void) { char *at = malloc(1024); memset(at, 2, 1024); __asm__("" :: "r"(at)); }
    OWN void update_table(char *table) { memset(table, 3, 1 << 20); }
    OWN void serve(char *table, int from, int to) {
      char word;
      for (int at = 0; at < KEPT; at++) keep_request();
      update_table(table);
      if (write(to, "x", 1) == 1 && read(from, &word, 1) == 1) _exit(0);
    }
    int main(void) {
      int up[2], down[2];
      char words[4], *table = load_table();
      if (pipe(up) + pipe(down) != 0) return 1;
      for (int at = 0; at < 4; at++) if (fork() == 0) serve(table, down[0], up[1]);
      for (int at = 0; at < 4; at++) if (read(up[0], words, 1) != 1) return 1;
      if (write(down[1], words, 4) != 4) return 1;
      while (wait(NULL) > 0) continue;
      return 0;
    }
    """

  private static let quietWorkers = CompiledProgram("quiet-workers", flags: ["-O1", "-DKEPT=64"], workers)
  private static let leakingWorkers = CompiledProgram("leaking-worker", flags: ["-O1", "-DKEPT=3072"], workers)

  @Test("Forked workers are explained together, and count what they share with their parent once")
  func forkedWorkers() throws {
    let project = try project(Self.leakingWorkers.command)
    let found = try Highwater.run(
      "explain", "--against", Self.quietWorkers.command[0], "--folded", "stacks.txt", in: project)
    #expect(found.text.contains("held by keep_request() (leaking-worker) ← serve ← main"), "\(found.text)")
    #expect(found.text.contains("processes: leaking-worker, 5 processes"), "\(found.text)")
    let stacks = try FoldedStack.stacks(in: project.read("stacks.txt"))
    #expect(abs(stacks.bytes(of: "load_table", as: "live") - 24 << 20) <= 64 << 10, "the table, once")
    let copied = stacks.filter { $0.frames.last == "[copy-after-fork]" && $0.frames.contains("update_table") }
    #expect(abs(copied.reduce(0) { $0 + $1.bytes } - 4 << 20) <= 512 << 10, "1 MiB of each copy: \(copied)")
    #expect(abs(stacks.bytes(of: "keep_request", as: "live") - 12 << 20) <= 1 << 20)
  }

  @Test("A program that another one starts is explained if it is the one that rose")
  func startedWorker() throws {
    let project = try project(["sh", "-c", "${PROGRAM:-\(Self.leakingServer.command[0])}; true"])
    let found = try Highwater.run("explain", "--against", "PROGRAM=\(Self.quietServer.command[0])", in: project)
    #expect(found.text.contains("held by remember() (leaking-server) ← handle_request ← main"), "\(found.text)")
  }

  private static let staticKnown = CompiledProgram("static-memory", flags: ["-static"], known)

  @Test("A static program has no samples, and the report says what is then unknown")
  func staticProgram() throws {
    let outcome = try Highwater.run("explain", in: try project(Self.staticKnown.command))
    #expect(outcome.code == 0 && outcome.text.contains("released_16m() (static-memory) ← main"), "\(outcome.text)")
    #expect(outcome.text.contains("the holders of heap memory are unknown"), "\(outcome.text)")
  }

  @Test(
    "Where page faults may not stop programs, blocks still name the function, and the report says what is missing",
    .enabled(if: Confinement.canFilter, "requires seccomp filters"))
  func withoutPerfEvents() throws {
    let launcher = try Confinement.launcher(without: [.perfEvents])
    let reason = #/page faults have no call stacks here, since perf_event_open\(2\) is not\s+permitted/#
    let before = try Self.quietServer.command[0]
    let outcome = try Highwater.start(
      ["explain", "--against", before], in: project(Self.leakingServer.command), launcher: launcher
    ).wait()
    let finding = "held by remember() (leaking-server) ← handle_request"
    #expect(outcome.code == 0 && outcome.text.contains(finding), "\(outcome.text)")
    #expect(outcome.text.contains("method: sampled allocations") && outcome.text.contains(reason), "\(outcome.text)")
    let without = try Highwater.start(["explain"], in: project(Self.staticKnown.command), launcher: launcher).wait()
    #expect(without.code == 0 && without.text.contains("heap, holders unknown"), "\(without.text)\(without.errors)")
    #expect(without.text.contains("no call stacks") && without.text.contains(reason), "\(without.text)")
  }

  @Test("A failing target, several scenarios with one file, and an unwritable file are told")
  func errors() throws {
    let failing = try Highwater.run("explain", in: try project(["sh", "-c", "echo broken; exit 3"]))
    #expect(failing.code == 3 && failing.text.contains("broken"), "\(failing.text)\(failing.errors)")
    let project = try project(["true"])
    let unwritable = try Highwater.run("explain", "--pprof", "highwater.yml/x.pb", in: project)
    #expect(unwritable.code == 2 && unwritable.errors.contains("highwater.yml/x.pb"), "\(unwritable.errors)")
    let scenarios = ["a", "b"].map { "  - {name: \($0), target: {command: [\"true\"]}}\n" }.joined()
    try project.write("version: 1\nscenarios:\n\(scenarios)", to: "highwater.yml")
    let several = try Highwater.run("explain", "--folded", "x.txt", in: project)
    #expect(several.code == 2 && several.errors.contains("--folded is for one scenario"), "\(several.errors)")
  }
}
