/// Declarations shared by the files of this module, not exported.

#ifndef HW_INTERNAL_H
#define HW_INTERNAL_H

#include <errno.h>
#include <sys/types.h>

#include "CLinux.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HW_THREAD_SANITIZER 1
#endif
#endif

/// How often a call is repeated that signals interrupt.
#define HW_MOST_INTERRUPTIONS 1000

/// For functions of a child that shares its parent's memory: a sanitizer would record the child's calls and stack as
/// the parent's.
#define HW_NO_SANITIZER __attribute__((disable_sanitizer_instrumentation))

/// Forks with all signals blocked. They stay blocked in the child, so that no handler of the runner can run there.
///
/// The child is named `hw-supervisor`, also in its command line: who kills the runner by name, such as
/// `pkill -9 -f 'highwater check'`, leaves those that clean up after it.
pid_t hw_fork_blocking_signals(void);

/// Replaces the name and the command line of a forked process.
void hw_name_process(const char *name);

/// Closes all descriptors except these; a supervisor must not hold the pipes of others open.
void hw_close_all_but(int *kept, int count);

/// Whether to repeat a call that a signal interrupted, which failed `times` in a row so far.
///
/// Not without end: a debugger or a filter of system calls may let each call end so, and signals come in such a number
/// only from somebody who wants a loop.
static inline int hw_is_interrupted(int *times) { return errno == EINTR && ++*times < HW_MOST_INTERRUPTIONS; }

// MARK: - The program

/// A start and its result; the child writes to it, since it shares the supervisor's memory until its exec.
struct hw_start {
  const struct hw_plan *plan;
  /// The process that starts the program.
  pid_t supervisor;
  /// The child waits until this is readable.
  int gate;
  /// Whether the child was created in the v2 cgroup that it is to join.
  int is_in_v2;
  /// 0 if the program was executed; else the stage that failed, and the errno.
  volatile int stage;
  volatile int code;
  pid_t pid;
  /// For a traced program: the wait status of its exec stop, or of its exit if it died before that.
  int status;
  /// For a traced program: `hw_record.highest` at that time.
  int64_t highest;
  /// A pair: the child sends the listener of its filter through the first one; see `hw_plan.cpu_count`.
  int sockets[2];
  /// The listener, once the program was executed; -1 for none.
  int listener;
};

/// Starts the program of `plan`; returns after its exec, or after a failure.
///
/// The child shares the supervisor's memory until its exec, since a fork would copy the runner's page tables again.
/// Unlike with vfork(2), the supervisor continues to run, and can attach to the child.
void hw_start_program(struct hw_start *start);

// MARK: - The cgroup

/// Writes a short text to an existing file; 0, or -1 and errno.
int hw_write_text(const char *path, const char *text);

/// Creates the cgroup and writes its settings; 0, or -1 and errno.
int hw_make_cgroup(const struct hw_cgroup *cgroup);

/// Moves the calling process, which has one thread, into the folder of a cgroup, unless it is in one of v2 already; 0, or
/// -1 and errno.
int hw_join_folder(const char *path, int is_in_v2);

/// The same for all folders that a program joins.
int hw_join_cgroup(const struct hw_cgroup *cgroup, int is_in_v2);

/// Opens the folder of the v2 hierarchy that a program joins; -1 if there is none.
int hw_open_v2_cgroup(const struct hw_cgroup *cgroup);

/// Removes the cgroup; retries, because a process may remain in it for a moment after it is reaped.
void hw_remove_cgroup(const struct hw_cgroup *cgroup);

// MARK: - Folders

/// Receives the name of an entry as a number; returns 0 to stop.
typedef int (*hw_visit)(long number, void *context);

/// Calls `visit` for each folder entry whose name is a number; -1 and errno if the folder cannot be opened.
///
/// Calls getdents64 directly, because `opendir` allocates.
int hw_visit_numbers(const char *path, hw_visit visit, void *context);

// MARK: - Texts

/// Appends a text without its terminator; returns the position after it.
static inline char *hw_put_text(char *to, const char *text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

/// Appends a non-negative number; returns the position after it.
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
