import Foundation
import Testing

/// The programs of these tests contain instructions of x86_64.
#if arch(x86_64)
@Suite("Call stacks of stopped threads", .timeLimit(.minutes(60)))
struct WalkTests {
  private let fixture: StackFixture

  init() throws {
    fixture = try StackFixture()
  }

  /// What programs stop with.
  private static let trap = "#define STOP __asm__ volatile(\"int3\")\nstatic volatile int sink;\n"

  private func stacks(_ source: String, flags: [String] = []) throws -> [StackFixture.Stack] {
    try fixture.stacks(of: [fixture.compiled("program", Self.trap + source, flags: flags)])
  }

  private static let chain = """
    void leaf(void) { STOP; sink++; }
    static void middle(int count) { char text[count + 100]; text[count] = 1; leaf(); sink += text[count]; }
    int main(int count, char **words) { middle(count); return sink == 0; }
    """

  @Test(
    "Functions without frame pointers, with stack arrays, in any kind of program",
    arguments: [[], ["-static"], ["-static-pie"], ["-no-pie"], ["-Wl,-z,noseparate-code"], ["-O0"]])
  func chain(flags: [String]) throws {
    let stacks = try stacks(Self.chain, flags: flags)
    #expect(stacks.map(\.program) == [["leaf", "middle"]] && stacks.areComplete)
    #expect(stacks.first?.frames.first == "leaf program")
  }

  @Test("Without the unwind table, frame pointers")
  func framePointers() throws {
    let stacks = try stacks(
      Self.chain,
      flags: ["-O0", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions"])
    #expect(stacks.map(\.program) == [["leaf", "middle"]])
  }

  @Test("The unwind table of debuggers, where the program has no other one")
  func debugFrame() throws {
    let stacks = try stacks(
      Self.chain, flags: ["-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions"])
    #expect(stacks.map(\.program) == [["leaf", "middle"]] && stacks.areComplete)
  }

  @Test("Compressed debug information that unpacks to more than 256 MiB is not used")
  func decompressionLimit() throws {
    let program = try fixture.compiled(
      "program", Self.trap + Self.chain,
      flags: ["-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions"])
    #expect(try fixture.stacks(of: [program]).areComplete)
    let zeros = fixture.path("zeros")
    _ = try fixture.output(of: ["truncate", "-s", "300M", zeros])
    _ = try fixture.output(of: ["objcopy", "--add-section", ".debug_types=\(zeros)", program])
    _ = try fixture.output(of: ["objcopy", "--compress-debug-sections=zlib-gabi", program])
    let size = try FileManager.default.attributesOfItem(atPath: program)[.size] as? Int
    #expect(try #require(size) < 1 << 20)
    #expect(try !fixture.stacks(of: [program]).areComplete)
  }

  @Test("A deep recursion, larger than what is read of the stack at first")
  func deep() throws {
    let stacks = try stacks(
      """
      static int deep(int depth) {
        volatile char text[2000];
        text[0] = 1;
        if (depth == 0) STOP; else sink += deep(depth - 1);
        return text[0];
      }
      int main(void) { deep(199); return sink == 0; }
      """)
    #expect(stacks.map(\.program.count) == [200] && stacks.areComplete)
  }

  @Test("The interrupted function below a signal handler, on the same and on another stack")
  func handlers() throws {
    let stacks = try stacks(
      """
      #include <signal.h>
      #include <stdlib.h>
      static void handler(int number) { STOP; if (number == SIGSEGV) exit(0); }
      static void interrupted(void) { raise(SIGUSR1); sink++; }
      static void crashes(void) { *(volatile int *)(long)(sink & 16) = 1; sink++; }
      int main(void) {
        stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
        struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
        signal(SIGUSR1, handler);
        sigaltstack(&stack, NULL);
        sigaction(SIGSEGV, &action, NULL);
        interrupted();
        crashes();
      }
      """)
    #expect(stacks.map { $0.program.first } == ["handler", "handler"] && stacks.areComplete)
    #expect(stacks.map { $0.program.last } == ["interrupted", "crashes"])
  }

  @Test("A thread, up to its start")
  func threads() throws {
    let stacks = try stacks(
      """
      #include <pthread.h>
      #include <unistd.h>
      static void *work(void *value) { usleep(20000); STOP; return value; }
      int main(void) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        // The first thread ends before the other one.
        pthread_create(&thread, NULL, work, NULL);
        pthread_exit(NULL);
      }
      """)
    #expect(stacks.count == 2 && stacks.allSatisfy { $0.isComplete && $0.frames.first == "work program" })
  }

  @Test("Libraries, also one that takes the addresses of another one")
  func libraries() throws {
    let paths = try ["first", "other"].map {
      try fixture.compiled(
        "lib\($0).so",
        Self.trap + "void \($0)_inner(void) { STOP; sink++; }\nvoid enter(void) { \($0)_inner(); sink++; }",
        flags: ["-shared", "-fPIC", "-Wl,-z,lazy"])
    }
    let stacks = try stacks(
      """
      #include <dlfcn.h>
      static void call(const char *path) {
        void *library = dlopen(path, RTLD_LAZY);
        void (*enter)(void) = dlsym(library, "enter");
        enter();
        dlclose(library);
      }
      int main(void) { call("\(paths[0])"); call("\(paths[1])"); call("\(paths[0])"); return 0; }
      """)
    #expect(stacks.map(\.program) == ["first", "other", "first"].map { ["\($0)_inner", "enter", "call"] })
    #expect(stacks.areComplete)
    #expect(stacks.first?.frames.first == "first_inner libfirst.so")
  }

  /// The table of such an entry computes the CFA by an expression; the first call goes on in the loader.
  @Test("Each instruction of a call through the procedure linkage table")
  func linkageTable() throws {
    let library = try fixture.compiled(
      "libcalled.so", "void called(void) { __asm__ volatile(\"\"); }", flags: ["-shared", "-fPIC"])
    // The trap flag stops after each instruction.
    let stacks = try stacks(
      """
      void called(void);
      static void caller(void) {
        __asm__ volatile("pushf; orl $0x100, (%rsp); popf");
        called();
        __asm__ volatile("pushf; andl $~0x100, (%rsp); popf");
      }
      int main(void) { caller(); return 0; }
      """, flags: [library, "-Wl,-z,lazy", "-Wl,-rpath,\(fixture.folder.path)", "-mno-red-zone"])
    // The compiler does not know that these instructions change the stack pointer.
    let calls = stacks.filter { $0.program.first != "caller" }
    #expect(calls.count > 10 && calls.areComplete && calls.allSatisfy { $0.program.last == "caller" })
    #expect(calls.contains { $0.program == ["", "caller"] } && calls.contains { $0.program == ["called", "caller"] })
  }

  @Test("A deleted program keeps its names")
  func deleted() throws {
    let stacks = try stacks(
      "#include <unistd.h>\n"
        + Self.chain.replacingOccurrences(of: "middle(count); r", with: "unlink(words[0]); middle(count); r"))
    #expect(stacks.map(\.program) == [["leaf", "middle"]])
  }

  @Test("A stripped program has the names of what it exports, and else none")
  func stripped() throws {
    let exported = try stacks(Self.chain, flags: ["-s", "-Wl,-export-dynamic"])
    #expect(exported.first?.frames.prefix(3) == ["leaf program", " program", "main program"])
    let nothing = try stacks(Self.chain, flags: ["-s"])
    #expect(nothing.first?.frames.prefix(3) == [" program", " program", " program"])
    #expect((exported + nothing).areComplete)
  }

  @Test("A separate debug file gives the names, but not the one of another program")
  func separateDebugFile() throws {
    let program = try fixture.compiled("program", Self.trap + Self.chain, flags: ["-Wl,--build-id"])
    _ = try fixture.output(of: ["objcopy", "--only-keep-debug", program, program + ".debug"])
    _ = try fixture.output(of: ["objcopy", "--strip-all", "--add-gnu-debuglink=\(program).debug", program])
    #expect(try fixture.stacks(of: [program]).map(\.program) == [["leaf", "middle"]])
    let other = try fixture.compiled(
      "other", Self.trap + "int main(void) { STOP; return 0; }", flags: ["-Wl,--build-id"])
    try FileManager.default.removeItem(atPath: program + ".debug")
    try FileManager.default.moveItem(atPath: other, toPath: program + ".debug")
    #expect(try fixture.stacks(of: [program]).first?.frames.prefix(2) == [" program", " program"])
  }

  @Test("Functions that the compiler has inlined, with their lines, by the debug information, also in a separate file")
  func inlined() throws {
    let source = """
      #define INLINED static inline __attribute__((always_inline))
      INLINED void innermost(void) { STOP; sink++; }
      INLINED void inner(int count) {
        if (count > 0) innermost();
      }
      void outer(int count) { inner(count); sink++; }
      int main(int count, char **words) { outer(count); return sink == 0; }
      """
    let program = try fixture.compiled("program", Self.trap + source, flags: ["-g", "-Wl,--build-id"])
    let expected = ["innermost program.c:4", "inner program.c:6", "outer program"]
    #expect(try fixture.stacks(of: [program]).first?.frames.prefix(3) == expected[...])
    _ = try fixture.output(of: ["objcopy", "--only-keep-debug", program, program + ".debug"])
    _ = try fixture.output(of: ["objcopy", "--strip-all", "--add-gnu-debuglink=\(program).debug", program])
    #expect(try fixture.stacks(of: [program]).first?.frames.prefix(3) == expected[...])
    #expect(try stacks(source, flags: ["-g0"]).first?.frames.prefix(1) == ["outer program"])
    let build = "cd $0 && mkdir -p src && mv program.c src && cc -w -O2 -g src/program.c -o program"
    _ = try fixture.output(of: ["sh", "-c", build, fixture.path("")])
    #expect(try fixture.stacks(of: [program]).first?.frames.prefix(2) == expected.prefix(2), "paths are absolute")
  }

  @Test("Code that a JIT compiler has written, by its perf map; the newest name of an address counts")
  func perfMap() throws {
    let stacks = try generated("")
    #expect(stacks.map(\.program) == [["stop", "jit::first"], ["stop", "jit::second a.py:3"]])
    #expect(stacks.areComplete)
  }

  @Test(
    "A perf map that the process cannot have written is not believed",
    arguments: [
      "struct timeval old[2] = {{time(NULL) - 5}, {time(NULL) - 5}}; utimes(path, old);",
      "if (chown(path, 1234, 1234) != 0) unlink(path);",
    ])
  func foreignPerfMap(change: String) throws {
    let stacks = try generated(change)
    #expect(stacks.count == 2 && !stacks.flatMap(\.program).contains { $0.hasPrefix("jit::") })
  }

  /// The stacks of code that a program generates and names in a perf map, which it then changes.
  private func generated(_ change: String) throws -> [StackFixture.Stack] {
    try stacks(
      """
      #include <stdio.h>
      #include <string.h>
      #include <sys/mman.h>
      #include <sys/time.h>
      #include <time.h>
      #include <unistd.h>
      // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret, and: sub $8,%rsp; call *%rdi; add $8,%rsp; ret
      static const char with_frame[] = "\\x55\\x48\\x89\\xe5\\xff\\xd7\\x5d\\xc3";
      static const char without_frame[] = "\\x48\\x83\\xec\\x08\\xff\\xd7\\x48\\x83\\xc4\\x08\\xc3";
      static void stop(void) { STOP; }
      int main(void) {
        char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
        memcpy(code, with_frame, sizeof with_frame);
        memcpy(code + 64, without_frame, sizeof without_frame);
        sprintf(path, "/tmp/perf-%d.map", getpid());
        FILE *map = fopen(path, "w");
        fprintf(map, "%lx 40 old\\nno line\\n%lx 40 jit::first\\n%lx 40 jit::second a.py:3\\n", code, code, code + 64);
        fclose(map);
        \(change)
        ((void (*)(void (*)(void)))code)(stop);
        ((void (*)(void (*)(void)))(code + 64))(stop);
        unlink(path);
        return 0;
      }
      """)
  }

  @Test("Random stack words do no harm", arguments: 0..<8)
  func randomWords(seed: Int) throws {
    let stacks = try stacks(
      """
      #include <stdlib.h>
      #include <sys/mman.h>
      int main(void) {
        long *words = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        srand(\(seed));
        for (int at = 0; at < 1 << 17; at++) {
          words[at] = rand() % 3 ? (long)main + rand() % 64 : (long)&words[rand() % (1 << 17)];
        }
        __asm__ volatile(
          "mov %0, %%rsp; mov %0, %%rbp; int3; mov $231, %%eax; xor %%edi, %%edi; syscall" : : "r"(words));
      }
      """, flags: seed % 2 == 0 ? [] : ["-fno-asynchronous-unwind-tables"])
    #expect(stacks.map { $0.frames.first } == ["main program"])
  }

  @Test("Damaged copies of a program and of a library neither crash the walk nor hang it")
  func damaged() throws {
    let program = try fixture.compiled("program", Self.trap + Self.chain, flags: ["-g"])
    #expect(try fixture.mutations(of: program, count: 200) == "200\n")
    #expect(try fixture.mutations(of: "/proc/self/exe", count: 20) == "20\n")
  }
}
#endif
