import Foundation

/// A permission that Highwater runs without: a launcher drops it and then executes Highwater.
enum Confinement: String, CaseIterable {
  /// Root's privileges and groups; it runs as ``user``.
  case privileges
  /// ptrace(2), rejected by a seccomp filter as in containers.
  case ptrace
  /// ptrace(2), which kills its caller, as with a systemd unit's `SystemCallFilter=~@debug`.
  case ptraceByKill = "ptrace-by-kill"
  /// personality(2), rejected in the same way.
  case personality
  /// perf_event_open(2), rejected in the same way, as container runtimes do by default.
  case perfEvents = "perf-events"

  /// `nobody`, who must own the files that it writes.
  static let user: UInt32 = 65534

  /// The command to put before another command.
  static func launcher(without dropped: Set<Confinement>) throws -> [String] {
    try program.command + allCases.filter(dropped.contains).map(\.rawValue) + ["--"]
  }

  /// Whether these permissions can be dropped here; tested once.
  static let canFilter = program.succeeds("ptrace", "--", Highwater.binary, "--version")
  static let canDropPrivileges = program.succeeds("privileges", "--", Highwater.binary, "--version")

  private static let program = CompiledProgram(
    "confine",
    """
    #define _GNU_SOURCE
    #include <errno.h>
    #include <grp.h>
    #include <linux/filter.h>
    #include <linux/seccomp.h>
    #include <stddef.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/prctl.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    static int refuse(unsigned call, unsigned action) {
      struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      struct sock_fprog filter = {sizeof steps / sizeof steps[0], steps};
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
      return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    }

    static int drop(void) {
      return setgroups(0, NULL) != 0 || setresgid(\(user), \(user), \(user)) != 0
        || setresuid(\(user), \(user), \(user)) != 0;
    }

    int main(int count, char **words) {
      int at = 1, failed = 0;
      for (; at < count && strcmp(words[at], "--") != 0; at++) {
        if (strcmp(words[at], "privileges") == 0) failed |= drop();
        if (strcmp(words[at], "ptrace") == 0) failed |= refuse(SYS_ptrace, SECCOMP_RET_ERRNO | EPERM);
        if (strcmp(words[at], "ptrace-by-kill") == 0) failed |= refuse(SYS_ptrace, SECCOMP_RET_KILL_PROCESS);
        if (strcmp(words[at], "perf-events") == 0) failed |= refuse(SYS_perf_event_open, SECCOMP_RET_ERRNO | EPERM);
        if (strcmp(words[at], "personality") == 0) failed |= refuse(SYS_personality, SECCOMP_RET_ERRNO | EPERM);
      }
      if (!failed && at + 1 < count) execv(words[at + 1], words + at + 1);
      perror("confine");
      return 125;
    }
    """
  )
}
