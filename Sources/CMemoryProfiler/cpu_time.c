#include "profiler.h"

#include <time.h>

/// The CPU time of the processes that have ended, and of all when it was last asked for.
static double ended, latest;

static double seconds(clockid_t clock) {
  struct timespec time;
  return clock_gettime(clock, &time) == 0 ? (double)time.tv_sec + (double)time.tv_nsec / 1e9 : 0;
}

double hw_own_seconds(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

double hw_process_seconds(pid_t process) {
  clockid_t clock;
  return clock_getcpuclockid(process, &clock) == 0 ? seconds(clock) : 0;
}

void hw_note_ended_time(pid_t process) { ended += hw_process_seconds(process); }

double hw_target_seconds(void) {
  // Reading the clocks takes as long as handling a sample.
  static unsigned calls;
  if (calls++ % 64 == 0) latest = ended + hw_living_seconds();
  return latest;
}
