/// A program that ends as its first argument says, without a core dump.
enum EndingProgram {
  static var program: String {
    get throws { try compiled.command[0] }
  }

  private static let compiled = CompiledProgram(
    "ending-program",
    """
    #define _GNU_SOURCE
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stddef.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/mman.h>
    #include <sys/prctl.h>
    #include <sys/ptrace.h>
    #include <sys/resource.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <unistd.h>

    static int mebibytes = 0;

    static void take(void) {
      for (int at = 0; at < mebibytes; at++) memset(malloc(1 << 20), 1, 1 << 20);
    }

    static void fill_file(int file) {
      static char block[1 << 20];
      memset(block, 1, sizeof block);
      for (int at = 0; at < mebibytes; at++) if (write(file, block, sizeof block) < 0) exit(1);
    }

    static void *take_in_thread(void *nothing) {
      take();
      return nothing;
    }

    static void *exit_in_thread(void *nothing) {
      usleep(100000);
      exit(7);
      return nothing;
    }

    static void *exec_in_thread(void *nothing) {
      execl("/bin/sh", "sh", "-c", "sleep 0.1; exit 6", NULL);
      return nothing;
    }

    static void start(void *(*work)(void *)) {
      pthread_t thread;
      if (pthread_create(&thread, NULL, work, NULL) != 0) exit(1);
    }

    static void on_signal(int number) {
      (void)number;
      take();
      _exit(0);
    }

    static int overflow(volatile char *above) {
      volatile char frame[65536];
      frame[0] = above[0];
      return overflow(frame) + frame[0];
    }

    /// Forks a child that allocates the memory, and returns its status.
    static int child_takes(void) {
      int status = 0;
      pid_t child = fork();
      if (child == 0) {
        take();
        _exit(0);
      }
      waitpid(child, &status, 0);
      return status;
    }

    /// Starts a daemon that allocates the memory; the returned descriptor reaches end of file when the daemon ends.
    static int daemon_takes(void) {
      int ends[2];
      if (pipe(ends) != 0) exit(1);
      if (fork() == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        take();
        _exit(0);
      }
      close(ends[1]);
      return ends[0];
    }

    /// Makes the kernel kill the process when it calls personality(2).
    static void forbid(void) {
      struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    }

    static void limit(int which, rlim_t soft, rlim_t hard) {
      setrlimit(which, &(struct rlimit){soft, hard});
    }

    /// Keeps the tree at its limit without an OOM kill, with pages that the kernel may reclaim at any time.
    static void press(void) {
      size_t size = 1 << 20;
      for (;;) {
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(memory, 1, size);
        madvise(memory, size, MADV_FREE);
        static int at;
        static char *kept[64];
        if (kept[at % 64] != NULL) munmap(kept[at % 64], size);
        kept[at++ % 64] = memory;
      }
    }

    int main(int count, char **words) {
      #define IS(name) (strcmp(words[1], name) == 0)
      char byte = 0;
      limit(RLIMIT_CORE, 0, 0);
      setvbuf(stdout, NULL, _IONBF, 0);
      if (count > 2) mebibytes = atoi(words[2]);
      if (IS("takes")) take();
      if (IS("thread-takes")) { start(take_in_thread); for (;;) pause(); }
      if (IS("shares")) fill_file(memfd_create("ending-program", 0));
      if (IS("child-takes")) return child_takes() == 9 && words[3] != NULL ? atoi(words[3]) : 0;
      if (IS("children-take")) { child_takes(); child_takes(); }
      if (IS("daemon-takes")) { while (read(daemon_takes(), &byte, 1) > 0) continue; usleep(100000); }
      if (IS("takes-on-term")) { signal(SIGTERM, on_signal); puts("ready"); for (;;) pause(); }
      if (IS("keeps-on-term")) { signal(SIGTERM, SIG_IGN); take(); puts("ready"); for (;;) pause(); }
      if (IS("holds-and-is-killed")) { take(); usleep(200000); raise(SIGKILL); }
      if (IS("holds-and-child-is-killed")) {
        if (fork() == 0) { take(); usleep(200000); raise(SIGKILL); }
        wait(NULL);
      }
      if (IS("presses")) press();
      if (IS("leader-ends")) { start(exit_in_thread); pthread_exit(NULL); }
      if (IS("thread-execs")) { start(exec_in_thread); for (;;) pause(); }
      if (IS("vforks")) {
        pid_t child = vfork();
        if (child == 0) { execl("/bin/sh", "sh", "-c", "sleep 0.1; exit 5", NULL); _exit(127); }
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
      }
      if (IS("overflows")) return overflow(&byte);
      if (IS("divides")) { volatile int zero = 0; zero = 1 / zero; raise(SIGFPE); }
      if (IS("reads-beyond-file")) {
        int file = memfd_create("ending-program", 0);
        return *(volatile char *)mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
      }
      if (IS("calls-forbidden")) { forbid(); syscall(SYS_personality, 0xffffffff); }
      if (IS("traps")) { puts("main.swift:3: Fatal error: Index out of range"); __builtin_trap(); }
      if (IS("breaks")) raise(SIGTRAP);
      if (IS("allocation-fails")) {
        puts("main.swift: Fatal error: failed to allocate 10485792 bytes of memory with alignment 16");
        abort();
      }
      if (IS("writes-too-much")) { limit(RLIMIT_FSIZE, 1 << 20, 1 << 20); mebibytes = 2; fill_file(memfd_create("ending-program", 0)); }
      if (IS("computes")) { limit(RLIMIT_CPU, 1, count > 2 ? 1 : 100); for (;;) byte++; }
      if (IS("stops-itself")) { raise(SIGSTOP); for (;;) pause(); }
      if (IS("kills-its-parent")) { kill(getppid(), SIGKILL); for (;;) pause(); }
      if (IS("is-debugger")) { if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) { perror("ptrace"); return 1; } usleep(200000); }
      return 0;
    }
    """
  )
}
