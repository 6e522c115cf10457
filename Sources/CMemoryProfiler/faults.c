#define _GNU_SOURCE
#include "profiler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// One page fault in so many stops its process: primes, so that no loop of the program keeps step with them. The events of
/// all periods are opened with the program, since only enabling an event reaches the threads and children that inherit it.
static const uint64_t periods[HW_FAULT_LEVELS] = {5, 23, 101, 499};

/// How many stops of some 20 µs a run may have with each period before it becomes longer: so many, and so many more for each
/// second of the run, which is a thirtieth of it.
#define FIRST_STOPS 150
#define STOPS_PER_SECOND 1500

static struct hw_faults *all;
static int level;
static int64_t stops;

/// Opens the event that stops a process at some of its page faults, unless it is disabled; -1 and errno on failure.
static int open_event(pid_t process, uint64_t period, unsigned disabled) {
  struct perf_event_attr event = {
    .size = sizeof event, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = period,
    .sample_type = PERF_SAMPLE_ADDR, .inherit = 1, .exclude_kernel = 1, .exclude_hv = 1, .remove_on_exec = 1,
    .sigtrap = 1, .sig_data = HW_FAULT_MARK, .disabled = disabled,
  };
  return (int)syscall(SYS_perf_event_open, &event, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int hw_profile_may_stop_at_faults(void) {
  // A page fault of this process would end it.
  int event = open_event(0, 1, 1);
  if (event < 0) return errno;
  close(event);
  return 0;
}

struct hw_faults *hw_faults_open(pid_t process) {
  struct hw_faults *faults = calloc(1, sizeof *faults);
  if (faults == NULL) return NULL;
  for (int at = 0; at < HW_FAULT_LEVELS; at++) faults->events[at] = open_event(process, periods[at], at != level);
  faults->users = 1;
  faults->next = all;
  all = faults;
  return faults;
}

struct hw_faults *hw_faults_share(struct hw_faults *faults) {
  if (faults != NULL) faults->users++;
  return faults;
}

/// Closing an event ends those of the children that have inherited it.
void hw_faults_close(struct hw_faults *faults) {
  if (faults == NULL || --faults->users > 0) return;
  for (int at = 0; at < HW_FAULT_LEVELS; at++) {
    if (faults->events[at] >= 0) close(faults->events[at]);
  }
  struct hw_faults **from = &all;
  while (*from != faults) from = &(*from)->next;
  *from = faults->next;
  free(faults);
}

static void change_level(int to) {
  for (const struct hw_faults *faults = all; faults != NULL; faults = faults->next) {
    if (faults->events[level] >= 0) ioctl(faults->events[level], PERF_EVENT_IOC_DISABLE, 0);
    if (faults->events[to] >= 0) ioctl(faults->events[to], PERF_EVENT_IOC_ENABLE, 0);
  }
  level = to;
}

uint32_t hw_fault_period(void) { return (uint32_t)periods[level]; }

uint32_t hw_count_fault(void) {
  uint32_t weight = hw_fault_period();
  double limit = FIRST_STOPS * (level + 1) + STOPS_PER_SECOND * hw_run_seconds();
  if ((double)++stops > limit && level + 1 < HW_FAULT_LEVELS) change_level(level + 1);
  else if (level > 0 && (double)stops < limit - 3 * FIRST_STOPS) change_level(level - 1);
  return weight;
}
