/// Finds out which call stacks hold the memory of traced processes: used by the supervisor, which traces them.
///
/// Evidence are sampled allocations and their releases, which the preloaded library reports (see ring.h), and two kinds of
/// stops: one page fault in several (a perf event that raises SIGTRAP, Linux 5.13), and a system call that releases or
/// moves memory (a seccomp filter), before which the resident pages are joined with the others. So the result is of the
/// moment at which the process was largest.

#ifndef HW_CMEMORYPROFILER_H
#define HW_CMEMORYPROFILER_H

#include <stdint.h>
#include <sys/types.h>

/// Loads what the profiler needs: NULL, or why it cannot be used here. Call it in the runner, before the fork.
const char *_Nullable hw_profile_load(void);

/// Whether page faults can stop a traced process here: 0, or an errno (perf_event_open(2)).
int hw_profile_may_stop_at_faults(void);

/// Installs the filter for the next program of this process; 0, or an errno. Makes system calls only.
int hw_profile_install_filter(void);

/// The name of the ring's file, by which its pages in the target are not counted, and its size.
#define HW_PROFILE_RING_FILE "highwater-allocations.ring"
int64_t hw_profile_ring_size(void);

/// Starts profiling in this supervisor. `interval` is the mean number of bytes between sampled allocations, at first;
/// `ring` the file that the preloaded library writes them to, of `hw_profile_ring_size` zero bytes, or -1.
void hw_profile_begin(int64_t interval, int ring);

int hw_profile_is_on(void);

/// A process has executed a program.
void hw_profile_exec(pid_t process);

/// `parent` has forked `child`, which shares its memory until the next exec if `shares`.
void hw_profile_fork(pid_t parent, pid_t child, int shares);

/// The first thread of a process is about to exit, and others of it remain: only they show its memory then.
void hw_profile_first_exit(pid_t process);

/// Handles what the preloaded library has reported; whether there was anything. Call it often while the target runs.
int hw_profile_drain(void);

/// A process is about to exit, and still has its memory.
void hw_profile_exit(pid_t process);

/// A process has ended.
void hw_profile_end(pid_t process);

/// A stop of a thread begins, before it is handled, and ends: the time between stops is the target's own.
void hw_profile_pause(pid_t thread);
void hw_profile_resume(void);

/// A thread has received SIGTRAP; returns whether the profiler caused it, so that the program must not see it.
int hw_profile_trap(pid_t thread, pid_t process);

/// A thread is about to receive a signal, which may be the one that stops the target: then the steps have ended.
void hw_profile_signal(pid_t thread, int number);

/// The steps, or the iterations, begin; by default with the target.
void hw_profile_steps_begin(void);

/// A thread is about to make a system call of the filter; returns whether `hw_profile_call_end` must follow at its end.
int hw_profile_call(pid_t thread, pid_t process);

/// The call has ended.
void hw_profile_call_end(pid_t thread, pid_t process);

/// Writes the profiles to a file, in the format that `MemoryProfileReader` reads.
void hw_profile_write(int file);

#endif
