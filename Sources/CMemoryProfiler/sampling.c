#include "profiler.h"
#include "ring.h"

#include <math.h>
#include <time.h>

/// How many samples a run may have: so many at once, and so many more for each second of the run. One costs
/// the program some 2 µs and the supervisor some 6 (x86_64, Linux 6.18, 2026-11), so these are a tenth of it; the sampling
/// error of what a hundredth of them hold is 15 %.
#define FIRST_SAMPLES 2000
#define SAMPLES_PER_SECOND 10000

/// A program that allocates so many times faster than that needs a longer distance by far, and each doubling costs samples.
#define FAST 32

/// The most live samples of one address space: the preloaded library has room for four times as many, since it does not
/// forget those that are thinned.
#define MAX_LIVE 32768

int64_t hw_sampling_interval = 16384;

static double samples;

/// The probability with which a block is chosen: each that is as large as the interval is, as it may be what rose.
static double chance(uint64_t size, double interval) {
  return (double)size >= interval ? 1 : -expm1(-(size > 0 ? (double)size : 1) / interval);
}

double hw_estimated_size(uint64_t size) {
  return (size > 0 ? (double)size : 1) / chance(size, (double)hw_sampling_interval);
}

double hw_sampled_size(uint64_t size) {
  // Horvitz and Thompson: a sampled block adds (1 - p) / p² of its size squared to the variance.
  double interval = (double)hw_sampling_interval, p = chance(size, interval), estimate = hw_estimated_size(size);
  return estimate * estimate * (1 - p) / interval;
}

/// A number of [0, 1) that differs from run to run: repetitions must not share an error.
static double random_start(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)(((uint64_t)time.tv_nsec * UINT64_C(0x9e3779b97f4a7c15)) >> 11) / 9007199254740992.0;
}

int hw_keeps_sample(uint64_t size, double interval) {
  // Systematic sampling: each block has its chance, and the number of those that are kept varies by one only.
  static double part = -1;
  double current = (double)hw_sampling_interval;
  if (!(interval > 0 && interval < current)) return 1;
  if (part < 0) part = random_start();
  part += chance(size, current) / chance(size, interval);
  if (part < 1) return 0;
  part -= 1;
  return 1;
}

void hw_count_sample(double cost, uint32_t live) {
  double limit = FIRST_SAMPLES + SAMPLES_PER_SECOND * hw_run_seconds();
  int is_within = (samples += cost) <= limit && live <= MAX_LIVE;
  if (is_within || hw_sampling_interval > INT64_MAX / 4) return;
  int64_t former = hw_sampling_interval;
  int factor = samples > FAST * SAMPLES_PER_SECOND * hw_run_seconds() ? 4 : 2;
  hw_sampling_interval *= factor;
  samples /= factor;
  hw_ring_set_interval((double)hw_sampling_interval);
  hw_thin_blocks((double)former);
}
