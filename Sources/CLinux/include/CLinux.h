/// Linux calls that Swift cannot make, and the code that runs between `fork` and `exec`.
///
/// Code in a forked child uses async-signal-safe calls only (signal-safety(7)): the runner has threads, and another
/// thread may have held any lock at the time of the fork. The profiler (CMemoryProfiler) also allocates memory in the
/// supervisor, which glibc permits: it takes the locks of malloc(3) before a fork.

#ifndef HW_CLINUX_H
#define HW_CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: - This process

/// The number of arguments of this process, with the name of the program.
///
/// The list does not come from /proc, which Swift's own reads and which need not be mounted.
int hw_argument_count(void);

/// An argument of this process; NULL beyond the last one.
const char *_Nullable hw_argument(int at);

/// The commit that this program was built from, as ci/build wrote it into the file; empty where it did not.
const char *_Nonnull hw_build_commit(void);

// MARK: - Starting programs

/// The stage at which a start failed.
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
  HW_STAGE_CPU_COUNT,
};

/// The kind of record that a supervisor sends.
enum hw_event {
  /// The program was executed; `pid` is its process.
  HW_EVENT_STARTED = 1,
  /// The program could not be executed: `stage`, and errno in `value`.
  HW_EVENT_FAILED,
  /// Process `pid` ended with the wait status `value`.
  HW_EVENT_ENDED,
  /// Process `pid` could not be killed.
  HW_EVENT_SURVIVOR,
  /// The last record: no process is left except the reported survivors. The cgroup, if any, exists until
  /// `HW_REQUEST_RELEASE` or end of file on the control pipe.
  HW_EVENT_DONE,
  /// Traced programs only: process `value` forked process `pid`. If `stage` is not 0, `pid` shares the memory of
  /// `value` until its exec or exit (vfork(2)); else `memory` has the anonymous memory of both, zero if unknown.
  HW_EVENT_FORKED,
  /// Traced programs only: process `pid` executed a new program, which `memory` and `command` describe. If it had been
  /// forked, `value` is the memory in KiB that it then inherited; zero if unknown.
  HW_EVENT_EXECUTED,
  /// Traced programs only: process `pid` is about to exit; `memory` has its last values, unless `stage` is not 0: then
  /// other threads of it may still be running, and may also execute another program.
  HW_EVENT_EXITING,
  /// Traced programs only: `value` threads of process `pid` have ended; those that it creates from now on are not
  /// traced.
  HW_EVENT_MANY_THREADS,
  /// Traced programs only: process `pid` has executed a program without the ballast; errno in `value`.
  HW_EVENT_NO_BALLAST,
  /// Attached programs only: process `pid` cannot be traced; errno in `value`.
  HW_EVENT_NOT_TRACED,
  /// Attached programs only, without a tracer: process `pid` has ended, and its status is unknown.
  HW_EVENT_GONE,
};

/// Indexes into `memory`, one for each line of proc_pid_status(5).
enum hw_memory_value { HW_PEAK, HW_RESIDENT, HW_ANONYMOUS, HW_FILE, HW_SHARED, HW_MEMORY_VALUES };

/// One message from a supervisor; far smaller than PIPE_BUF, so that writes are atomic (pipe(7)).
struct hw_record {
  int32_t event;
  int32_t pid;
  int32_t value;
  int32_t stage;
  /// CLOCK_MONOTONIC in nanoseconds.
  int64_t time;
  /// In bytes; all zero if the process has no memory any more.
  int64_t memory[HW_MEMORY_VALUES];
  /// Traced programs only: the most memory in bytes that the process has had so far, over all programs that it
  /// executed, or a child that it has waited for (`ru_maxrss`, getrusage(2)); negative if unknown.
  int64_t highest;
  /// The kernel's name for the process (`comm`), null-terminated.
  char command[16];
};

/// A cgroup that a supervisor creates and removes. Each list ends with a null pointer.
struct hw_cgroup {
  char *_Nullable const *_Nonnull folders;
  /// What the program joins: these folders, and cgroups that exist already; at most one of the v2 hierarchy.
  char *_Nullable const *_Nonnull joined;
  /// Alternating files and texts, written after the folders are created.
  char *_Nullable const *_Nonnull settings;
  /// Alternating files and texts, written before each round of kills.
  char *_Nullable const *_Nonnull before_killing;
};

/// The input of a start, prepared before the fork.
struct hw_plan {
  /// Processes that run already, to be followed instead of a program that is started; the first one is the leader.
  const pid_t *_Nullable attached;
  int attached_count;
  /// Whether the attached leader is killed where a started program would be, with which those of its PID namespace end.
  /// Otherwise the supervisor kills none of them, and lets go of them at its end.
  int owns_attached;
  /// A path; `PATH` is not searched.
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
  /// How many CPUs the program sees, whatever it may use; 0 for those of the machine.
  int cpu_count;
  /// A descriptor that the supervisor keeps open, for the lock of the run's folder; -1 for none.
  int lock;
  /// Whether to trace the program and its descendants (ptrace(2)).
  int traced;
  /// Traced programs only: how much memory in bytes each program of the target is made to hold from its exec on.
  size_t ballast;
  /// No folders means no cgroup.
  struct hw_cgroup cgroup;
  /// Receives a copy of `/proc/<pid>/smaps` when a traced program exits; -1 for none.
  int mappings;
  /// Traced programs only: receives the memory profiles of the processes; -1 for none.
  int profile;
  /// Profiled programs only: the file that the preloaded library writes samples to; -1 for none.
  int ring;
  /// The mean number of bytes between sampled allocations, at first; 0: the program is not profiled.
  int64_t sampling_interval;
};

/// One-byte requests from a runner to a supervisor. They differ because a kill request may arrive after the last
/// process has ended, and must not count as a release.
enum hw_request {
  /// Kill all descendants of the supervisor; end of file has the same effect.
  HW_REQUEST_KILL_ALL = 1,
  /// After `HW_EVENT_DONE`: the cgroup's counters have been read.
  HW_REQUEST_RELEASE,
  /// The steps of a scenario begin, for a profiled program.
  HW_REQUEST_PROFILE_STEPS,
};

/// The runner's ends of a supervisor's pipes; all are close-on-exec.
struct hw_supervisor {
  pid_t pid;
  /// Accepts `hw_request`s.
  int control;
  /// Delivers `hw_record`s; non-blocking.
  int report;
  /// Delivers the records of traced processes, except the end of the program itself; non-blocking. A separate pipe,
  /// because these records are frequent and the runner need not wake up for each.
  int events;
};

/// Forks a supervisor that starts the program; returns 0, or an errno if a call failed in the caller.
///
/// The first record says whether the program was executed. The plan must not point to the arguments of this process,
/// which the supervisor overwrites with its name. C, because the supervisor runs between fork and exec.
int hw_supervisor_start(const struct hw_plan *_Nonnull plan, struct hw_supervisor *_Nonnull started);

// MARK: - Kills

/// A SIGKILL that a process of the machine was sent.
struct hw_kill {
  /// The thread that it was sent to.
  pid_t target;
  /// The process that was running.
  pid_t sender;
  /// `si_code` (sigaction(2)).
  int32_t code;
  /// CLOCK_MONOTONIC in nanoseconds.
  int64_t time;
};

/// The number of the tracepoint `signal:signal_generate`, and the offsets of two of its fields.
struct hw_kill_format {
  uint64_t tracepoint;
  int32_t target;
  int32_t code;
};

/// Watches all SIGKILLs of the machine until this process ends; 0, or an errno. Call it once.
///
/// C, because Swift has no perf_event_open(2).
int hw_kills_open(struct hw_kill_format format);

/// Waits for some of them; returns how many were stored, or -1 and errno.
int hw_kills_await(struct hw_kill *_Nonnull found, int capacity);

// MARK: - Process trees

/// A process and its parent at the time of the walk.
struct hw_process {
  pid_t pid;
  pid_t parent;
};

/// Lists the descendants of `root`, including zombies; returns how many were stored.
///
/// Uses the `children` files of proc(5), which may miss a process whose sibling exits during the walk, and may list one
/// twice that is reparented. Falls back to a scan of /proc if the kernel has no such files, or if there is one for each
/// of so many threads that the scan is cheaper. Allocates nothing, so that the supervisor and the sampler's loop can use
/// it.
int hw_descendants(pid_t root, struct hw_process *_Nonnull found, int capacity);

/// Lists the descendants of `root` from the parents in all `/proc/<pid>/stat`; see `hw_descendants`.
int hw_descendants_by_scan(pid_t root, struct hw_process *_Nonnull found, int capacity);

/// The parent of a process, or -1 if there is no such process.
pid_t hw_parent(pid_t pid);

// MARK: - Limits

/// Whether this many more files can be opened; at most 64.
int hw_try_descriptors(int count);

/// Whether this many more threads can be created, which count as processes (RLIMIT_NPROC, pids.max); at most 64.
int hw_try_threads(int count);

/// Whether `size` bytes more of address space are available (RLIMIT_AS, RLIMIT_DATA).
int hw_try_memory(size_t size);

/// If a limit bounds the memory of this process, makes the end by a fault or by abort(3) an exit with a message and a code,
/// and lets threads share what the allocator reserves.
///
/// C, because a signal handler must not allocate memory, and mallopt(3) is not in the Glibc module.
void hw_end_without_memory(const char *_Nonnull message, int code);

// MARK: - Calls without a wrapper in every libc

/// pidfd_open(2); -1 and errno on failure.
int hw_pidfd_open(pid_t pid);

/// pidfd_send_signal(2); -1 and errno on failure.
int hw_pidfd_send_signal(int descriptor, int signal);

/// Whether two processes share an address space: 1, 0, or -1 if unknown (kcmp(2)).
int hw_shares_memory(pid_t one, pid_t other);

/// Whether ASLR can be disabled for programs that this thread starts (personality(2)).
///
/// Container runtimes commonly block it with a seccomp filter.
int hw_can_fix_addresses(void);

/// Traces a child to its exit to find out whether that is permitted: 0, or an errno.
int hw_can_trace(void);

/// The same in a child, since a seccomp filter may kill the process that calls ptrace(2): 0, or an errno.
int hw_may_trace(void);

/// Whether the path names an executable regular file: 0, or an errno.
int hw_executable(const char *_Nonnull path);

/// Sleeps until an instant of CLOCK_MONOTONIC in nanoseconds, or until `wake` is readable; 1 if it is.
///
/// C, because ppoll(2), whose timeout is finer than a millisecond, needs _GNU_SOURCE.
int hw_sleep_until(int64_t instant, int wake);

/// Creates a close-on-exec pipe: read end, write end; 0, or -1 and errno.
///
/// C, because pipe2(2) needs _GNU_SOURCE.
int hw_pipe(int ends[_Nonnull 2]);

/// Creates an anonymous close-on-exec file in memory; its descriptor, or -1 and errno.
///
/// C, because memfd_create(2) needs _GNU_SOURCE.
int hw_anonymous_file(const char *_Nonnull name);

/// Copies at most so many bytes from one pipe to another, if there are any, without taking them out.
///
/// C, because tee(2) needs _GNU_SOURCE.
void hw_copy_pipe(int from, int to, size_t count);

/// Stores the CPU affinity mask of this thread; 0, or -1 and errno.
///
/// C, because sched_getaffinity(2) needs _GNU_SOURCE.
int hw_affinity(void *_Nonnull mask, size_t size);

/// Closes what a descriptor leads to, and keeps its number in use: from now on it leads to what `other` leads to.
///
/// C, because dup3(2) needs _GNU_SOURCE.
void hw_lead_to(int other, int descriptor);

/// Forks a process in its own session with one of the descriptors of the caller, and with all signals blocked: 0 in it,
/// its pid in the caller, or -1 and errno.
///
/// Other threads of the caller must not hold locks. C, because Swift has no fork(2).
pid_t hw_fork_cleaner(int kept);

/// Waits for a child that was told to exit, and kills it if it does not within some seconds; 0 if it lives even then.
int hw_reap(pid_t pid, int *_Nullable status);

// MARK: - Cgroups and counters

/// Not an errno: the new cgroup lacks the required file.
#define HW_FILE_MISSING 255

/// Creates a cgroup, has a process join it, and removes it: 0, an errno, or `HW_FILE_MISSING`.
///
/// A child does this, so that the cgroup is removed even if the caller or its process group gets SIGKILL.
///
/// C, because the child runs between fork and exit.
int hw_try_cgroup(const char *_Nonnull folder, const char *_Nonnull needed);

/// The cgroup below a v2 cgroup that takes its processes.
#define HW_LEAF "highwater-runner"

/// An occupied leaf.
struct hw_leaf {
  /// The child that undoes it when the other end of its socket is closed.
  pid_t keeper;
  int socket;
};

/// Moves the processes of a v2 cgroup to `HW_LEAF` below it and enables the memory controller for further ones: the
/// kernel enables it only in a cgroup without processes. Returns 0, or an errno, with all as before.
///
/// A child does this, and undoes it at `hw_give_up_leaf` or the end of the caller, also by SIGKILL. If several runners
/// have occupied the leaf, the last one's child undoes it.
int hw_occupy_leaf(const char *_Nonnull folder, struct hw_leaf *_Nonnull leaf);

/// Undoes `hw_occupy_leaf`, and returns when that is done.
void hw_give_up_leaf(struct hw_leaf leaf);

/// Whether systemd has marked the cgroup as delegated (`Delegate=yes` in systemd.resource-control(5)).
///
/// C, because Swift's Glibc module lacks getxattr(2).
int hw_is_marked_as_delegated(const char *_Nonnull folder);

/// Forks a child that touches `size` bytes of new memory and then blocks; returns its pid, or -1.
///
/// The child exits when the caller closes `release`; the caller must reap it.
pid_t hw_still_child(size_t size, int *_Nonnull release);

#endif
