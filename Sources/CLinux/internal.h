/// Declarations that the files of this module share and do not export.

#ifndef HW_INTERNAL_H
#define HW_INTERNAL_H

#include <sys/types.h>

#include "CLinux.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HW_THREAD_SANITIZER 1
#endif
#endif

/// For functions of a child that shares its parent's memory: what a sanitizer records of the child's calls and stack
/// would end up in the records of the parent.
#define HW_NO_SANITIZER __attribute__((disable_sanitizer_instrumentation))

/// Forks; all signals are blocked meanwhile and stay so in the child, so that no handler of the runner can run in it.
pid_t hw_fork_blocking_signals(void);

// MARK: - The program

/// A start and its result; the child writes to it in the memory that it shares with the supervisor until exec.
struct hw_start {
  const struct hw_plan *plan;
  /// The process that starts.
  pid_t supervisor;
  /// The child does nothing until it can read from this.
  int gate;
  /// 0 where the program was executed; else what was being done, and the errno.
  volatile int stage;
  volatile int code;
  pid_t pid;
  /// Of a traced program: the status of its stop at the exec, or that of its end if it died before.
  int status;
};

/// Starts the program of `plan`, and returns when it was executed or could not be.
///
/// The child shares the supervisor's memory until its exec, since a fork would copy the runner's page tables once more;
/// unlike after vfork(2), the supervisor continues meanwhile, and can begin to trace it.
void hw_start_program(struct hw_start *start);

// MARK: - The cgroup

/// Writes a short text to a file that is there; 0, or -1 and errno.
int hw_write_text(const char *path, const char *text);

/// Makes the cgroup and sets it up; 0, or -1 and errno.
int hw_make_cgroup(const struct hw_cgroup *cgroup);

/// Puts the calling process into the cgroup; 0, or -1 and errno.
int hw_join_cgroup(const struct hw_cgroup *cgroup);

/// Removes the cgroup. A process that has just been reaped may still be in it for an instant.
void hw_remove_cgroup(const struct hw_cgroup *cgroup);

// MARK: - Texts

/// Appends a text without its end; returns where the next one goes.
static inline char *hw_put_text(char *to, const char *text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

/// Appends a number that is not negative; returns where the next text goes.
static inline char *hw_put_number(char *to, long number) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

#endif
