#include "profiler.h"

#include <math.h>
#include <time.h>

/// The CPU time of the processes that have ended; when the first began; and the time of the run when it was last asked for.
static double ended, began, latest;

static double seconds(clockid_t clock) {
  struct timespec time;
  return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9 : 0;
}

int64_t hw_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

double hw_own_seconds(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

double hw_process_seconds(pid_t process) {
  clockid_t clock;
  return clock_getcpuclockid(process, &clock) == 0 ? seconds(clock) : 0;
}

void hw_note_ended_time(pid_t process) { ended += hw_process_seconds(process); }

double hw_run_seconds(void) {
  // Reading the clocks takes as long as handling a sample.
  static unsigned calls;
  if (began == 0) began = seconds(CLOCK_MONOTONIC);
  if (calls++ % 64 == 0) latest = fmax(ended + hw_living_seconds(), seconds(CLOCK_MONOTONIC) - began);
  return latest;
}
