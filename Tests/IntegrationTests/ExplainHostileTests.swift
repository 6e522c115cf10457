import Foundation
import Testing

/// Programs that make sampling hard: whatever they do, the profiled run ends, and its stacks are right.
@Suite("What holds the memory of unusual programs", .endsHangs, .enabled(if: Ballast.mayTrace, "requires ptrace(2)"))
struct ExplainHostileTests {
  /// Keeps 20,000,000 bytes by `keep`, and has as many temporaries by `use`, in the way that its argument says.
  private static let text = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/wait.h>
    #include <unistd.h>
    #define OWN __attribute__((noinline)) static
    static void *kept[20000];
    static _Atomic int count;
    OWN void keep(void) { void *block = malloc(1000); memset(block, 1, 1000); kept[count++] = block; }
    OWN void use(void) { void *block = malloc(3000); memset(block, 1, 3000); __asm__("" :: "r"(block)); free(block); }
    OWN void work(int turns) { for (int at = 0; at < turns; at++) { keep(); use(); } }
    OWN int deep(int depth, size_t frame) {
      volatile char bytes[frame];
      bytes[0] = 1;
      if (depth == 0) work(20000); else deep(depth - 1, frame);
      return bytes[0];
    }
    static void *threaded(void *turns) { work((int)(long)turns); return NULL; }
    static void *deep_thread(void *of) { deep(900, 1 << 20); return of; }
    static void handler(int number) { (void)number; work(200); }
    static void on_large_stack(void) {
      pthread_attr_t attributes;
      pthread_t thread;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, (size_t)1 << 30);
      if (pthread_create(&thread, &attributes, deep_thread, NULL) != 0) exit(1);
      pthread_join(thread, NULL);
    }
    static void in_threads(void) {
      pthread_t threads[50];
      for (int at = 0; at < 50; at++) pthread_create(&threads[at], NULL, threaded, (void *)400L);
      for (int at = 0; at < 50; at++) pthread_join(threads[at], NULL);
    }
    static void while_forking(void) {
      pthread_t thread;
      pthread_create(&thread, NULL, threaded, (void *)20000L);
      for (int at = 0; at < 50; at++) {
        pid_t child = fork();
        if (child == 0) { for (int each = 0; each < 50; each++) use(); _exit(0); }
        waitpid(child, NULL, 0);
      }
      pthread_join(thread, NULL);
    }
    static void after_kills(void) {
      for (int at = 0; at < 30; at++) {
        pid_t child = fork();
        if (child == 0) for (;;) use();
        usleep(3000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
      }
      work(20000);
    }
    static void on_other_stack(void) {
      stack_t stack = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
      struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
      sigaltstack(&stack, NULL);
      sigaction(SIGUSR1, &action, NULL);
      for (int at = 0; at < 100; at++) raise(SIGUSR1);
    }
    static void in_unloaded_library(const char *library) {
      for (int at = 0; at < 20; at++) {
        void *handle = dlopen(library, RTLD_NOW);
        void (*keep_1000)(void) = (void (*)(void))dlsym(handle, "keep_1000");
        keep_1000();
        dlclose(handle);
        mmap(NULL, 1 << 16, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      }
    }
    int main(int number, char **words) {
      const char *way = words[1];
      if (strcmp(way, "without-files") == 0) { close_range(3, ~0u, 0); work(20000); }
      if (strcmp(way, "large-frames") == 0) deep(100, 50000);
      if (strcmp(way, "large-stack") == 0) on_large_stack();
      if (strcmp(way, "threads") == 0) in_threads();
      if (strcmp(way, "while-forking") == 0) while_forking();
      if (strcmp(way, "after-kills") == 0) after_kills();
      if (strcmp(way, "other-stack") == 0) on_other_stack();
      if (strcmp(way, "library") == 0) in_unloaded_library(words[2]);
      if (strcmp(way, "aborts") == 0) { work(20000); abort(); }
      if (strcmp(way, "other-user") == 0) {
        if (number > 2) work(20000);
        else if (setgid(65534) + setuid(65534) != 0 || execl(words[0], words[0], way, "again", NULL) != 0) return 1;
      }
      return 0;
    }
    """

  private static let program = CompiledProgram("hostile", flags: ["-O1", "-pthread", "-ldl"], text)

  private static let library = CompiledProgram(
    "plugin.so", flags: ["-O1", "-shared", "-fPIC"],
    """
    #include <stdlib.h>
    #include <string.h>
    static void *kept[1000];
    void keep_1000(void) { for (int at = 0; at < 1000; at++) kept[at] = memset(malloc(1000), 1, 1000); }
    """)

  /// What the functions of the program hold, by the live blocks of its call stacks, and the report.
  private func stacks(_ way: String, _ words: [String] = []) throws -> (stacks: [FoldedStack], report: String) {
    let command = (try Self.program.command + [way] + words).map { "\"\($0)\"" }.joined(separator: ", ")
    let project = try TemporaryProject(
      "version: 1\nscenarios: [{name: program, target: {command: [\(command)]}}]\n")
    let found = try Highwater.run("explain", "--folded", "x.txt", in: project)
    #expect(found.code == 0, "\(found.text)\(found.errors)")
    return (try FoldedStack.stacks(in: project.read("x.txt")), found.text)
  }

  /// What 20,000 blocks of 1,000 bytes may be shown as, for which allocators give up to 1,024.
  private static func kept(_ report: String) throws -> ClosedRange<Int> {
    try sampled(20_000_000...20_480_000, report)
  }

  @Test(
    "Every block that is kept counts for the function that keeps it, and none for the one that only uses some",
    arguments: [
      "without-files", "large-frames", "large-stack", "threads", "while-forking", "after-kills", "other-stack",
    ])
  func ways(way: String) throws {
    let (stacks, report) = try stacks(way)
    #expect(try Self.kept(report).contains(stacks.bytes(of: "keep", as: "live")), "\(stacks.largest) \(report)")
    #expect(stacks.bytes(of: "use", as: "live") < 3_000_000, "\(stacks.largest)")
  }

  @Test("A program of another user, which cannot open the ring", .enabled(if: geteuid() == 0, "requires root"))
  func otherUser() throws {
    let (stacks, report) = try stacks("other-user")
    #expect(try Self.kept(report).contains(stacks.bytes(of: "keep", as: "live")), "\(stacks.largest) \(report)")
  }

  @Test("Functions of a library that is unloaded after they ran have their names")
  func unloadedLibrary() throws {
    let (stacks, report) = try stacks("library", Self.library.command)
    #expect(try Self.kept(report).contains(stacks.bytes(of: "keep_1000", as: "live")), "\(stacks.largest) \(report)")
  }

  @Test("A program that dies in the profiled run is reported as failed")
  func aborts() throws {
    let command = (try Self.program.command + ["aborts"]).map { "\"\($0)\"" }.joined(separator: ", ")
    let project = try TemporaryProject(
      "version: 1\nscenarios: [{name: program, target: {command: [\(command)]}}]\n")
    let found = try Highwater.run("explain", in: project)
    #expect(found.code == 3 && found.text.contains("a profiled repetition failed"), "\(found.text)\(found.errors)")
  }

  /// Ends its first thread, while another one holds 60 MiB.
  private static let firstThread = CompiledProgram(
    "first-thread", flags: ["-O1", "-pthread"],
    """
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static void *hold(void *of) {
      (void)of;
      usleep(100000);
      static char *volatile held;
      held = malloc(60 << 20);
      memset(held, 1, 60 << 20);
      usleep(100000);
      _exit(held[5] == 1 ? 0 : 2);
    }
    int main(void) {
      pthread_t thread;
      pthread_create(&thread, NULL, hold, NULL);
      pthread_exit(NULL);
    }
    """)

  @Test("A process whose first thread has ended is explained by what the others hold")
  func endedFirstThread() throws {
    let command = try Self.firstThread.command[0]
    let project = try TemporaryProject(
      "version: 1\nscenarios: [{name: program, target: {command: [\"\(command)\"]}}]\n")
    let found = try Highwater.run("explain", in: project)
    #expect(found.text.contains(#/hold\(\) \(first-thread\) +60\.0 MiB +held/#), "\(found.text)\(found.errors)")
    #expect(found.text.contains(#/peak 6\d\.\d MiB \(VmHWM\)/#), "\(found.text)")
  }

  /// Ends while four of its threads wait.
  private static let endingThread = CompiledProgram(
    "ending-thread", flags: ["-O1", "-pthread"],
    """
    #include <pthread.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static void *wait_long(void *of) { for (;;) pause(); return of; }
    static void *end(void *of) {
      static char *volatile held;
      held = malloc(8 << 20);
      memset(held, 1, 8 << 20);
      exit(of != NULL);
    }
    int main(void) {
      pthread_t threads[5];
      for (int at = 0; at < 4; at++) pthread_create(&threads[at], NULL, wait_long, NULL);
      pthread_create(&threads[4], NULL, end, NULL);
      wait_long(NULL);
    }
    """)

  @Test("A process that one of its threads ends counts once")
  func endingThread() throws {
    let command = try Self.endingThread.command[0]
    let project = try TemporaryProject(
      "version: 1\nscenarios: [{name: program, target: {command: [\"\(command)\"]}}]\n")
    let found = try Highwater.run("explain", "--json", "x.json", in: project)
    #expect(found.code == 0, "\(found.text)\(found.errors)")
    let profile = try project.read("x.json")
    #expect(profile.contains("\"process\" : \"ending-thread\"") && !profile.contains("\"rank\""), "\(profile)")
  }
}

extension [FoldedStack] {
  /// For the messages of failed tests.
  fileprivate var largest: [FoldedStack] { Array(sorted { $0.bytes > $1.bytes }.prefix(5)) }
}
