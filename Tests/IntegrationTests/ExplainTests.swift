import Foundation
import Testing

/// Runs real programs; the rule that names a function is tested with synthetic profiles elsewhere.
@Suite("What holds the memory", .endsHangs, .enabled(if: Ballast.mayTrace, "requires ptrace(2)"))
struct ExplainTests {
  /// A server with some temporaries per request, and a cache, that keeps `LEAK` bytes of each request.
  ///
  /// Temporaries extend the heap, and what is kept fills holes: first touch would name `parse_field`.
  private static let server = """
    #include <stdlib.h>
    #include <string.h>
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
    int main(void) { for (int at = 0; at < 10000; at++) handle_request(at); return 0; }
    """

  private static let quietServer = CompiledProgram("quiet-server", flags: ["-O2", "-DLEAK=0"], server)
  private static let leakingServer = CompiledProgram("leaking-server", flags: ["-O2", "-DLEAK=500"], server)

  private func project(_ command: [String]) throws -> TemporaryProject {
    let words = command.map { "\"\($0)\"" }.joined(separator: ", ")
    return try TemporaryProject(
      "version: 1\nscenarios: [{name: program, target: {command: [\(words)]}}]\n")
  }

  @Test("A leak of small blocks is blamed on the function that keeps them, not on the one that touched their pages")
  func leak() throws {
    let project = try project(Self.leakingServer.command)
    let (before, after) = (try Self.quietServer.command[0], try Self.leakingServer.command[0])
    let found = try Highwater.run("explain", "--against", before, in: project)
    #expect(found.code == 0, "\(found.errors)")
    #expect(found.text.contains("held by remember() ← handle_request ← main (leaking-server)"), "\(found.text)")
    #expect(try project.read(".highwater/explain.html").contains("held by remember()"))
    let quiet = try Highwater.run("explain", "--against", after, in: project)
    #expect(quiet.code == 0 && !quiet.text.contains("of the rise"), "\(quiet.text)")
    #expect(!FileManager.default.fileExists(atPath: project.url("baselines").path), "nothing is judged or stored")
  }

  /// Each function touches as much memory as its name says; 16 MiB are released by `released_16m`, at the peak.
  private static let known = """
    #define _GNU_SOURCE
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
    OWN void moved_4m(void) {
      char *from = map(4, 0), *to = map(8, 0);
      memset(from, 1, 4 * MIB);
      mremap(from, 4 * MIB, 8 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    }
    OWN void allocated_3m(void) { char *at = malloc(3 * MIB); memset(at, 1, 3 * MIB); at[0] = 2; }
    OWN void *in_thread_1m(void *of) { char *at = map(1, 0); memset(at, 1, MIB); at[0] = 2; return of; }
    OWN void in_child(void) {
      if (fork() == 0) { char *at = map(5, 0); memset(at, 1, 5 * MIB); _exit(at[0] - 1); }
      wait(NULL);
    }
    OWN void released_16m(void) { char *at = map(16, 0); memset(at, 1, 16 * MIB); madvise(at, 16 * MIB, MADV_DONTNEED); }
    int main(void) {
      pthread_t threads[300];
      mapped_8m(); populated_2m(); moved_4m(); allocated_3m(); in_child();
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
    let stacks = try project.read("stacks.txt").split(separator: "\n").map { line in
      let end = try #require(line.lastIndex(of: " "))
      return (frames: line[..<end].split(separator: ";").map(String.init), bytes: Int(line[end...].dropFirst()) ?? 0)
    }
    func bytes(of function: String, as kind: String) -> Int {
      stacks.filter { $0.frames[0] == kind && $0.frames.contains(function) }.reduce(0) { $0 + $1.bytes }
    }
    let expected = ["mapped_8m": 8, "populated_2m": 2, "moved_4m": 4, "in_thread_1m": 1, "released_16m": 16]
    for (function, mebibytes) in expected {
      #expect(abs(bytes(of: function, as: "touched") - mebibytes << 20) <= 8192, "\(function)")
    }
    #expect(abs(bytes(of: "allocated_3m", as: "live") - 3 << 20) <= 8192)
    #expect(bytes(of: "in_child", as: "touched") <= 1 << 20, "the child is another process")
    let sum = stacks.reduce(0) { $0 + $1.bytes }
    #expect(sum >= 34 << 20 && sum <= 36 << 20, "\(sum)")
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
    let row = try #require(outcome.text.split(separator: "\n").first { $0.contains("fill() ← main") })
    #expect(row.contains("MiB") && row.contains("held"), "\(outcome.text)")
  }

  @Test("A static program has no samples, and the report says what is then unknown")
  func staticProgram() throws {
    let program = CompiledProgram("static-memory", flags: ["-static"], Self.known)
    let outcome = try Highwater.run("explain", in: try project(program.command))
    #expect(outcome.code == 0 && outcome.text.contains("released_16m() ← main (static-memory)"), "\(outcome.text)")
    #expect(outcome.text.contains("who holds heap memory is unknown"), "\(outcome.text)")
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
