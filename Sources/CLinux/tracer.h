/// Tracing, as a shepherd and the start of a program use it; nothing of it leaves the room.

#ifndef HW_TRACER_H
#define HW_TRACER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CLinux.h"

/// Takes a record on its way to the runner.
typedef void (*hw_teller)(void *context, struct hw_record record);

/// Begins to trace a child that does nothing yet but wait; 0, or an errno.
int hw_trace_begin(pid_t pid);

/// Serves a stop of a traced thread, told by wait(2), and lets the thread go on; tells of what matters.
void hw_trace_stop(pid_t thread, int status, hw_teller tell, void *context);

/// Forgets a thread or process that has ended; whether it was a thread of a process that was more than it.
int hw_trace_end(pid_t thread);

/// Whether a status tells of the exec of a traced process.
int hw_trace_is_exec(int status);

#endif
