#define _GNU_SOURCE
#include "internal.h"
#include "tracer.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// How often the child looks for its parent, every 10 ms.
#define MAX_TURNS 200

/// Waits for the next status of a traced child; -1 if there is none.
static int next_status(pid_t child) {
  int status = 0, turns = 0;
  pid_t found;
  do found = waitpid(child, &status, __WALL);
  while (found < 0 && hw_is_interrupted(&turns));
  return found == child ? status : -1;
}

int hw_can_trace(void) {
  pid_t self = getpid();
  pid_t child = hw_fork_blocking_signals();
  if (child < 0) return errno;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // No signal comes if the parent was killed before that call, or may not send one.
    for (int turn = 0; turn < MAX_TURNS && getppid() == self; turn++) {
      nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    _exit(0);
  }
  int code = ptrace(PTRACE_SEIZE, child, NULL, (void *)(intptr_t)HW_TRACE_OPTIONS) == 0 ? 0 : errno;
  kill(child, SIGKILL);
  // An emulated kernel may accept the call and then not report the exit.
  int status = next_status(child);
  if (code == 0 && !(status >= 0 && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)) code = ENOSYS;
  while (status >= 0 && WIFSTOPPED(status)) {
    ptrace(PTRACE_CONT, child, NULL, NULL);
    status = next_status(child);
  }
  return code;
}
