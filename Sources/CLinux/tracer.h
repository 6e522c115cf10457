/// Tracing, for the supervisor and the start of a program; not exported.

#ifndef HW_TRACER_H
#define HW_TRACER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CLinux.h"

/// Gets a record for the runner.
typedef void (*hw_record_handler)(void *context, struct hw_record record);

/// Begins to trace a child that only waits so far; 0, or an errno.
int hw_trace_begin(pid_t pid);

/// Handles a stop of a traced thread that wait(2) has reported, makes records of it, and continues the thread.
void hw_trace_stop(pid_t thread, int status, hw_record_handler handler, void *context);

/// Forgets a thread or process that has ended.
///
/// Returns whether it was a thread other than the first of its process.
int hw_trace_end(pid_t thread);

/// Whether a status is that of the exec of a traced process.
int hw_trace_is_exec(int status);

#endif
