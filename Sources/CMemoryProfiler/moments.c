#include "profiler.h"

/// The first early moment is after so many stops of the profiler, and each further one after an eighth more: so one of the
/// last few is between 4/9 and half of any number.
///
/// Stops are the measure of progress, and not time, since they do not depend on what else the machine does.
#define FIRST_STOPS 32
#define LATER(stops) ((stops) + (stops) / 8)

/// Since the beginning of the steps: the stops so far, those until the next early moment, and those before the end.
static int64_t stops, next = FIRST_STOPS, end = -1;
/// When the early moments were; 0 for those that were not.
static int64_t moments[HW_EARLY_MOMENTS];
static unsigned count;

void hw_profile_steps_begin(void) {
  for (unsigned at = 0; at < HW_EARLY_MOMENTS; at++) {
    hw_result_forget(HW_EARLY + (int)at);
    moments[at] = 0;
  }
  stops = 0;
  next = FIRST_STOPS;
}

static void take_early_moment(void) {
  unsigned at = count++ % HW_EARLY_MOMENTS;
  moments[at] = next;
  hw_take_moment(HW_EARLY + (int)at);
  next = LATER(next);
}

void hw_note_stop(void) {
  // What the earlier stops have shown; this one is not handled yet.
  if (stops >= next && end < 0) take_early_moment();
  stops++;
}

void hw_note_end(void) {
  hw_take_moment(HW_END);
  end = stops;
}

int hw_has_end(void) {
  return end >= 0;
}

/// The latest of the early moments in the first half of the steps: from then on, what only starts up no longer counts.
int hw_early_moment(void) {
  int found = -1;
  for (int at = 0; at < HW_EARLY_MOMENTS; at++) {
    int is_early = moments[at] > 0 && moments[at] <= end / 2;
    if (is_early && (found < 0 || moments[at] > moments[found])) found = at;
  }
  return found < 0 ? -1 : HW_EARLY + found;
}
