/// Tracing, used by the supervisor and by the start of a program; not exported.

#ifndef HW_TRACER_H
#define HW_TRACER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#include "CLinux.h"

/// The events that stop a traced thread. EXITKILL: the kernel kills all tracees when the supervisor exits. TRACESYSGOOD
/// marks the stops at system calls that `hw_add_ballast` and the profiler ask for.
#define HW_TRACE_OPTIONS                                                                                          \
  (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |       \
   PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD)

/// Receives a record for the runner.
typedef void (*hw_record_handler)(void *context, struct hw_record record);

/// Attaches to a child that waits for its start; 0, or an errno.
///
/// `ballast` is `hw_plan.ballast`.
int hw_trace_begin(pid_t pid, size_t ballast);

/// Attaches to a thread of a process that runs already, and is not stopped by it; 0, EALREADY if it is known, or an errno.
///
/// The first thread of a process comes first.
int hw_trace_adopt(pid_t thread, pid_t process);

/// Lets what is adopted from now on continue to run when the supervisor exits, which otherwise ends it.
void hw_trace_lets_live(void);

/// Whether this process traces the thread, as one that a traced thread has created.
int hw_is_traced_here(pid_t thread);

/// Attaches to a process that runs already, with all its threads; 0, or an errno.
int hw_attach_process(pid_t process);

/// Attaches to all but the first of these processes, and to the descendants of all; reports those that cannot be traced.
void hw_attach_others(const pid_t *roots, int count, hw_record_handler handler, void *context);

/// Calls wait4(2) for traced threads, and stores `hw_record.highest`.
pid_t hw_trace_wait(pid_t pid, int *status, int options, int64_t *highest);

/// Handles a stop of a traced thread that wait4(2) reported: passes records to the handler, and continues the thread.
void hw_trace_stop(pid_t thread, int status, int64_t highest, hw_record_handler handler, void *context);

/// Removes the entry of an ended thread or process; returns whether it was a thread but not the first of its process.
int hw_trace_end(pid_t thread);

/// Whether a wait status is the exec stop of a traced process.
int hw_trace_is_exec(int status);

/// Makes a process at its exec stop map so many bytes and touch them; 0, or an errno, with the process as it was.
///
/// The memory is the process's own: its counters include it, forked children share it, and the next exec frees it.
/// ENOEXEC: the program is of another architecture, such as a 32-bit one. EINTR: something else stopped the process.
int hw_add_ballast(pid_t process, size_t size);

/// The number of the system call in which a stopped thread is; undefined outside of one, and -1 if it cannot be read, as
/// in a 32-bit program.
long hw_system_call_of(pid_t thread);

/// Whether a thread that is stopped where it has created another one made it in its own process (CLONE_THREAD); -1 if
/// that cannot be read, as in a 32-bit program.
int hw_creates_thread(pid_t creator);

#endif
