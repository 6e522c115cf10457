#include "profiler.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/// The first moment is after so many nanoseconds, and each further one after a twelfth more: so some of the last few are in
/// the second half of any time, and in its last quarter.
#define FIRST_MOMENT INT64_C(2000000)
#define LATER(time) ((time) + (time) / 12)

/// So much of a time without a page touched or a block allocated counts, in nanoseconds. A target that does neither for
/// longer is idle: in time without load nothing can grow, and so it must not move the middle of the load.
#define LONGEST_QUIET INT64_C(20000000)

/// A moment at which it is kept what all processes hold.
struct moment {
  int is_kept;
  /// From when until when nothing else was seen to happen, by `run_time`.
  int64_t from, until;
};

static struct moment moments[HW_MOMENTS];
static unsigned count;

/// How long the target has run since the beginning of the steps, in nanoseconds.
///
/// Its stops count little, and waiting for a CPU does not: where a program builds its data it stops so often that it takes many
/// times as long as without the profiler, which would move the middle of a run into its start-up.
static int64_t run_time;
static int64_t next = FIRST_MOMENT;
/// When the last stop ended; 0 before the first one.
static int64_t resumed;
/// Whether the steps have ended, other than by the program's exit; and when they or the program did, or -1.
static int has_end;
static int64_t end_time = -1;

// MARK: - Time

/// What a stop costs beside its handling, in nanoseconds: a low quantile of the times from one stop to the next, many of
/// which follow each other at once. It rises by a third of what it falls by, and so comes to rest at a quarter.
static int64_t stop_cost(int64_t gap) {
  static const int64_t longest = 100000;
  static int64_t cost = 10000;
  cost += gap < cost ? -(cost / 64 * 3) : cost / 64;
  if (cost > longest) cost = longest;
  return cost;
}

/// How long a thread has waited for a CPU in all, in nanoseconds (proc_pid_schedstat, the second number); 0 if unknown.
static int64_t waited(pid_t thread) {
  char text[80];
  long long wait = 0;
  hw_read_text(thread, "schedstat", text, sizeof text);
  return sscanf(text, "%*d %lld", &wait) == 1 ? wait : 0;
}

/// How much of the time since the last stop was the target's own; a short time is mostly the cost of the stop.
static int64_t own_time(int64_t gap, pid_t thread) {
  static pid_t last_thread;
  static int64_t last_waited;
  int64_t cost = stop_cost(gap);
  if (gap <= 4 * cost) return 0;
  int64_t all = waited(thread) + waited(getpid()), own = gap - 2 * cost;
  if (thread == last_thread) own -= all - last_waited;
  last_thread = thread;
  last_waited = all;
  return own < 0 ? 0 : own < LONGEST_QUIET ? own : LONGEST_QUIET;
}

// MARK: - Moments

/// Takes a moment, and returns how long that took, in nanoseconds of CPU time.
static int64_t take_moment(int64_t from, int64_t until) {
  double begin = hw_own_seconds();
  unsigned at = count++ % HW_MOMENTS;
  moments[at] = (struct moment){.is_kept = 1, .from = from, .until = until};
  hw_take_moment(HW_MOMENT + (int)at);
  return (int64_t)((hw_own_seconds() - begin) * 1e9);
}

void hw_profile_steps_begin(void) {
  for (int at = 0; at < HW_MOMENTS; at++) {
    hw_result_forget(HW_MOMENT + at);
    moments[at].is_kept = 0;
  }
  run_time = 0;
  next = FIRST_MOMENT;
}

/// How long after a moment the next one may follow, in nanoseconds: so that moments take a thirtieth of the time. But some
/// moment must be near the end of each run, so it is at most a quarter of the time so far, or four times the cost.
static int64_t pause_after(int64_t cost) {
  int64_t longest = run_time / 4 > 4 * cost ? run_time / 4 : 4 * cost;
  return 30 * cost < longest ? 30 * cost : longest;
}

/// Adds the time since the last stop, or since this was last called; a moment may be due.
static void add_time(int64_t time) {
  int64_t before = run_time;
  run_time += time;
  if (run_time < next || has_end) return;
  // What the last stop has shown; this one is not handled yet.
  int64_t pause = pause_after(take_moment(before, run_time)), later = LATER(run_time);
  next = later > run_time + pause ? later : run_time + pause;
}

void hw_profile_pause(pid_t thread) {
  if (resumed != 0) add_time(own_time(hw_now() - resumed, thread));
}

void hw_note_time(int is_active) {
  static int64_t quiet;
  int64_t time = hw_now(), passed = time - resumed;
  if (resumed == 0) return;
  resumed = time;
  quiet = is_active ? 0 : quiet + passed;
  if (quiet <= LONGEST_QUIET) add_time(passed);
}

void hw_profile_resume(void) {
  resumed = hw_now();
}

static void take_end(void) {
  hw_take_moment(HW_END);
  end_time = run_time;
}

void hw_note_end(void) {
  take_end();
  has_end = 1;
}

void hw_note_exit(void) {
  if (!has_end) take_end();
}

// MARK: - Choosing

/// The latest moment that began by a time; -1 for none.
static int latest(int64_t time) {
  int found = -1;
  for (int at = 0; at < HW_MOMENTS; at++) {
    if (!moments[at].is_kept || moments[at].from > time) continue;
    if (found < 0 || moments[at].from > moments[found].from) found = at;
  }
  return found < 0 ? -1 : HW_MOMENT + found;
}

static int64_t time_of(int moment) {
  return moment == HW_END ? end_time : moments[moment - HW_MOMENT].from;
}

/// Of a program that ends by itself, the moment of the last quarter at which it held a middle amount: at its exit it has
/// released what it held, and any other one may be that of a spike. Where taking moments is slow, the last one may be
/// earlier; one that began after the exit counts for nothing.
static int moment_before_exit(void) {
  int found[HW_MOMENTS + 1] = {HW_END}, number = end_time >= 0;
  // Without an exit the program was killed.
  if (end_time < 0) end_time = run_time;
  int last = latest(end_time - 1);
  for (int at = 0; at < HW_MOMENTS; at++) {
    int is_late = moments[at].is_kept && moments[at].until >= end_time / 4 * 3 && moments[at].from < end_time;
    if (is_late || HW_MOMENT + at == last) found[number++] = HW_MOMENT + at;
  }
  for (int at = 1; at < number; at++) {
    for (int to = at; to > 0 && hw_result_held(found[to]) < hw_result_held(found[to - 1]); to--) {
      int larger = found[to - 1];
      found[to - 1] = found[to];
      found[to] = larger;
    }
  }
  return found[number / 2];
}

struct hw_moments hw_chosen_moments(void) {
  struct hw_moments chosen = {.end = has_end ? HW_END : moment_before_exit()};
  int64_t end = time_of(chosen.end);
  chosen.early = latest(end / 2);
  chosen.middle = chosen.early < 0 ? -1 : latest((time_of(chosen.early) + end) / 2);
  return chosen;
}
