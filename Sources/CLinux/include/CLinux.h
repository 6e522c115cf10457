/// The Linux calls that Swift cannot call, and the code that must run between `fork` and `exec`.
///
/// Everything that runs in a forked child uses async-signal-safe calls only (signal-safety(7)), since the runner has
/// threads: another thread may have held any lock at the moment of the fork.

#ifndef HW_CLINUX_H
#define HW_CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: - Starting programs

/// What was being done when a start failed.
enum hw_stage {
  HW_STAGE_SUPERVISOR = 1,
  HW_STAGE_GROUP,
  HW_STAGE_DIRECTORY,
  HW_STAGE_INPUT,
  HW_STAGE_OUTPUT,
  HW_STAGE_ADDRESSES,
  HW_STAGE_HUGE_PAGES,
  HW_STAGE_CPUS,
  HW_STAGE_EXEC,
  HW_STAGE_CGROUP,
  HW_STAGE_TRACE,
};

/// What a supervisor reports.
enum hw_event {
  /// The program was executed; `pid` is its process.
  HW_EVENT_STARTED = 1,
  /// The program could not be executed: `stage`, and errno in `value`.
  HW_EVENT_FAILED,
  /// Process `pid` ended with the wait status `value`.
  HW_EVENT_ENDED,
  /// Process `pid` could not be killed.
  HW_EVENT_SURVIVOR,
  /// The last record: nothing is left but what was reported as a survivor. Where there is a cgroup it is still there,
  /// until the control pipe has `HW_REQUEST_RELEASE` or ends.
  HW_EVENT_DONE,
  /// Where the program is traced: process `value` has made process `pid`, which uses the memory of `value` until its exec
  /// or end if `stage` is not 0 (vfork(2)).
  HW_EVENT_FORKED,
  /// Where the program is traced: process `pid` executes a new program; `memory` and `command` are of that.
  HW_EVENT_EXECUTED,
  /// Where the program is traced: process `pid` is about to end; `memory` has its last values.
  /// May come more than once of a process with several threads, and before an exec by one of them.
  HW_EVENT_EXITING,
  /// Where the program is traced: process `pid` has made `value` threads, and its next ones are not followed.
  HW_EVENT_MANY_THREADS,
};

/// The indexes of `memory`, by the lines of proc_pid_status(5).
enum hw_memory_value { HW_PEAK, HW_RESIDENT, HW_ANONYMOUS, HW_FILE, HW_SHARED, HW_MEMORY_VALUES };

/// One message of a supervisor; far below PIPE_BUF, so that each is written and read whole (pipe(7)).
struct hw_record {
  int32_t event;
  int32_t pid;
  int32_t value;
  int32_t stage;
  /// CLOCK_MONOTONIC in nanoseconds.
  int64_t time;
  /// In bytes; all zero where the process has no memory any more.
  int64_t memory[HW_MEMORY_VALUES];
  /// The kernel's name of the process, ended by a zero.
  char command[16];
};

/// A cgroup that a supervisor makes and removes. Each list ends with a null pointer.
struct hw_cgroup {
  char *_Nullable const *_Nonnull folders;
  /// Of each folder the file by which a process joins.
  char *_Nullable const *_Nonnull members;
  /// Files and texts by turns, to be written once the folders are made.
  char *_Nullable const *_Nonnull settings;
  /// Files and texts by turns, written before each round of killing.
  char *_Nullable const *_Nonnull before_killing;
};

/// Everything that a start needs, prepared before the fork.
struct hw_plan {
  /// A path; nothing is searched.
  const char *_Nonnull program;
  char *_Nullable const *_Nonnull arguments;
  char *_Nullable const *_Nonnull environment;
  const char *_Nonnull directory;
  /// Standard input; -1 is /dev/null.
  int input;
  /// Standard output and error.
  int output;
  int fixed_addresses;
  int no_huge_pages;
  /// A mask for sched_setaffinity(2); NULL leaves the CPUs as they are.
  const void *_Nullable cpus;
  size_t cpus_size;
  /// A file and its folder that the supervisor removes where the runner died and cannot; NULL is none.
  const char *_Nullable scratch_file;
  const char *_Nullable scratch_folder;
  /// Whether the program and all that it starts is traced (ptrace(2)).
  int traced;
  /// Without folders there is none.
  struct hw_cgroup cgroup;
  /// A file that takes a copy of the program's `/proc/<pid>/smaps` at its end, where it is traced; -1 is none.
  int mappings;
};

/// What a runner writes to a supervisor, a byte each. There are two, since a request to kill may come when all has just
/// ended, and must not be taken for the other one.
enum hw_request {
  /// All below the supervisor is to be killed; the end of the file has the same effect.
  HW_REQUEST_KILL_ALL = 1,
  /// After `HW_EVENT_DONE`: the cgroup's counters were read.
  HW_REQUEST_RELEASE,
};

/// The runner's ends of a supervisor's pipes; all are closed on exec.
struct hw_supervisor {
  pid_t pid;
  /// Takes `hw_request`es.
  int control;
  /// Yields `hw_record`s; not blocking.
  int report;
  /// Yields the records of traced processes, but for the end of the program itself; not blocking. They are many, and
  /// the runner need not wake up for each.
  int events;
};

/// Forks a supervisor that starts the program; 0, or the errno of what failed in the caller.
///
/// The first record says whether the program was executed. Why C: the supervisor lives between fork and exec.
int hw_supervisor_start(const struct hw_plan *_Nonnull plan, struct hw_supervisor *_Nonnull started);

// MARK: - Process trees

/// A process and the parent under which it was found.
struct hw_process {
  pid_t pid;
  pid_t parent;
};

/// Lists the living and dead descendants of `root` that are not yet reaped; returns how many were stored.
///
/// Uses the `children` files of proc(5), which may miss a process whose sibling ends meanwhile, and may show one twice
/// that gets a new parent meanwhile. Where the kernel has no such files, it falls back to a scan of /proc. It allocates
/// nothing, so that the supervisor and the sampler's loop can use it.
int hw_descendants(pid_t root, struct hw_process *_Nonnull found, int capacity);

/// Lists the descendants of `root` by the parents in all `/proc/<pid>/stat`; see `hw_descendants`.
int hw_descendants_by_scan(pid_t root, struct hw_process *_Nonnull found, int capacity);

/// The parent of a process, or -1 where there is no such process.
pid_t hw_parent(pid_t pid);

// MARK: - Calls without a wrapper in every libc

/// pidfd_open(2); -1 and errno on failure.
int hw_pidfd_open(pid_t pid);

/// pidfd_send_signal(2); -1 and errno on failure.
int hw_pidfd_send_signal(int descriptor, int signal);

/// Whether two processes share one memory: 1, 0, or -1 where that is unknown (kcmp(2)).
int hw_shares_memory(pid_t one, pid_t other);

/// Whether the addresses of a program that this thread starts can be fixed (personality(2)).
///
/// Container runtimes commonly refuse it by a seccomp filter.
int hw_can_fix_addresses(void);

/// Whether a process that this one starts can be traced to its end: 0, or an errno; found by tracing one.
int hw_can_trace(void);

/// Whether the path names a regular file that may be executed: 0, or an errno.
int hw_executable(const char *_Nonnull path);

/// Sleeps until an instant of CLOCK_MONOTONIC in nanoseconds, or until `wake` can be read; 1 where it could.
///
/// Why C: ppoll(2), whose limit is finer than a millisecond, is declared under _GNU_SOURCE only.
int hw_sleep_until(int64_t instant, int wake);

/// Names the calling thread; at most 15 bytes (pthread_setname_np(3)).
void hw_name_thread(const char *_Nonnull name);

/// Makes a pipe that is closed on exec: the reading end, then the writing end; 0, or -1 and errno.
///
/// Why C: pipe2(2) is declared under _GNU_SOURCE only.
int hw_pipe(int ends[_Nonnull 2]);

/// Makes a file without a name, in memory, that is closed on exec; its descriptor, or -1 and errno.
///
/// Why C: memfd_create(2) is declared under _GNU_SOURCE only.
int hw_anonymous_file(const char *_Nonnull name);

/// Stores the mask of the CPUs that this thread may use; 0, or -1 and errno.
///
/// Why C: sched_getaffinity(2) is declared under _GNU_SOURCE only.
int hw_affinity(void *_Nonnull mask, size_t size);

/// Waits for one child to end and forgets it.
void hw_reap(pid_t pid);

// MARK: - Cgroups and counters

/// No errno: the file that is needed is not in a cgroup that was made.
#define HW_FILE_MISSING 255

/// Makes a cgroup, has a process join it, and removes it: 0, an errno, or `HW_FILE_MISSING`.
///
/// A child does it, which neither a SIGKILL to the caller nor one to its process group keeps from removing the cgroup.
///
/// Why C: the child lives between fork and exit.
int hw_try_cgroup(const char *_Nonnull folder, const char *_Nonnull needed, const char *_Nonnull procs);

/// Forks a child that touches `size` bytes of new memory and then stands still; its pid, or -1.
///
/// It ends by itself when `release` is closed, which the caller does, and waits for it.
pid_t hw_still_child(size_t size, int *_Nonnull release);

#endif
