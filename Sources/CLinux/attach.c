#define _GNU_SOURCE
#include "internal.h"
#include "tracer.h"

#include <errno.h>
#include <stdio.h>

/// How often to look for threads and processes that were created meanwhile by those that are not traced yet.
#define MAX_PASSES 100

/// How many processes are attached to.
#define MAX_KNOWN 8192

/// A pass over the threads of a process.
struct pass {
  pid_t process;
  /// How many threads it has found that were not traced.
  int added;
  /// The error of the first thread that could not be traced; 0 for none.
  int code;
};

static int adopt(long thread, void *context) {
  struct pass *pass = context;
  int code = hw_trace_adopt((pid_t)thread, pass->process);
  if (code == 0) pass->added++;
  if (code == 0 || code == EALREADY || code == ESRCH || hw_is_traced_here((pid_t)thread)) return 1;
  pass->code = code;
  return 0;
}

int hw_attach_process(pid_t process) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  for (int count = 0; count < MAX_PASSES; count++) {
    struct pass pass = {.process = process};
    // The entry of the first thread stands for the process.
    if (count == 0) adopt(process, &pass);
    if (pass.code == 0 && hw_visit_numbers(path, adopt, &pass) != 0) return ESRCH;
    if (pass.code != 0 || pass.added == 0) return pass.code;
  }
  return 0;
}

/// The processes that are known; in .bss, so that it costs nothing until it is used.
static struct {
  pid_t processes[MAX_KNOWN];
  int count;
} known;

/// Attaches to a process unless it is known.
static void attach_once(pid_t process, hw_record_handler handler, void *context) {
  for (int at = 0; at < known.count; at++) {
    if (known.processes[at] == process) return;
  }
  if (known.count == MAX_KNOWN) return;
  known.processes[known.count++] = process;
  int code = hw_attach_process(process);
  if (code == 0 || code == ESRCH) return;
  handler(context, (struct hw_record){.event = HW_EVENT_NOT_TRACED, .pid = process, .value = code});
}

void hw_attach_others(const pid_t *roots, int count, hw_record_handler handler, void *context) {
  static struct hw_process found[MAX_KNOWN];
  known.processes[known.count++] = roots[0];
  for (int at = 1; at < count; at++) attach_once(roots[at], handler, context);
  for (int pass = 0, before = -1; pass < MAX_PASSES && known.count != before; pass++) {
    before = known.count;
    for (int root = 0; root < count; root++) {
      int listed = hw_descendants(roots[root], found, MAX_KNOWN);
      for (int at = 0; at < listed; at++) attach_once(found[at].pid, handler, context);
    }
  }
}
