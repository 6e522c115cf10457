/// Which blocks are sampled, and which of them are live.

#include "sampler.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// MARK: - Sampled blocks

/// The addresses of sampled live blocks, the lowest bit of which is set if the block is large. A block that finds its bucket,
/// a cache line, full is not sampled.
#define BUCKETS 16384
#define BUCKET_SIZE 8
static _Atomic uintptr_t sampled[BUCKETS][BUCKET_SIZE] __attribute__((aligned(64)));

/// How many sampled blocks have a hash: small enough for the second cache, so that `free` looks up most blocks here only.
static _Atomic uint16_t counts[65536];

static uint64_t hash_of(const void *block) { return (uintptr_t)block * UINT64_C(0x9e3779b97f4a7c15); }

static int add_sample(void *block, int is_large) {
  uint64_t hash = hash_of(block);
  _Atomic uintptr_t *bucket = sampled[hash >> 50];
  for (int at = 0; at < BUCKET_SIZE; at++) {
    uintptr_t empty = 0;
    if (!atomic_compare_exchange_strong(&bucket[at], &empty, (uintptr_t)block | (uintptr_t)is_large)) continue;
    atomic_fetch_add_explicit(&counts[hash >> 48], 1, memory_order_release);
    return 1;
  }
  return 0;
}

static int is_large(uintptr_t entry) { return (entry & 1) != 0; }

uintptr_t hw_take(const void *block) {
  uint64_t hash = hash_of(block);
  if (atomic_load_explicit(&counts[hash >> 48], memory_order_acquire) == 0) return 0;
  _Atomic uintptr_t *bucket = sampled[hash >> 50];
  for (int at = 0; at < BUCKET_SIZE; at++) {
    uintptr_t found = atomic_load_explicit(&bucket[at], memory_order_relaxed);
    if ((found & ~(uintptr_t)1) != (uintptr_t)block) continue;
    if (!atomic_compare_exchange_strong(&bucket[at], &found, 0)) continue;
    atomic_fetch_sub_explicit(&counts[hash >> 48], 1, memory_order_relaxed);
    return found;
  }
  return 0;
}

// MARK: - Sampling

int hw_is_sampling;

/// Differs from run to run, even without address randomisation.
static uint64_t seed;

static PER_THREAD int64_t bytes_left;
static PER_THREAD uint64_t random_state;
/// The interval with which `bytes_left` was drawn.
static PER_THREAD double drawn_interval;
PER_THREAD uint64_t hw_blocks_seen;

/// Marsaglia's xorshift64*: the sampling needs no better numbers.
static uint64_t next_random(void) {
  if (random_state == 0) random_state = seed ^ (uintptr_t)&random_state;
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

/// The natural logarithm of (0, 1], without libm: of the mantissa by its series in (m - 1) / (m + 1).
static double logarithm(double value) {
  union { double number; uint64_t bits; } parts = {value};
  int exponent = (int)(parts.bits >> 52) - 1023;
  parts.bits = (parts.bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000);
  double ratio = (parts.number - 1) / (parts.number + 1), square = ratio * ratio;
  return exponent * 0.6931471805599453 + 2 * ratio * (1 + square * (1.0 / 3 + square * (0.2 + square / 7)));
}

/// The distance to the next sample: exponentially distributed, so that each byte has the same chance.
static int64_t next_distance(void) {
  double uniform = (double)((next_random() >> 11) + 1) / 9007199254740992.0;
  drawn_interval = hw_interval();
  return (int64_t)(-logarithm(uniform) * drawn_interval) + 1;
}

static __attribute__((noinline)) void take_sample(void *block, size_t given) {
  double interval = drawn_interval;
  if (bytes_left < 0) bytes_left = next_distance();
  if (add_sample(block, (double)given >= interval)) hw_report_block(block, given, interval);
}

/// Takes each block that is as large as the interval, and of the others each byte that is new has the same chance.
static void sample_growth(void *block, size_t given, size_t former) {
  if (random_state == 0) bytes_left = next_distance();
  bytes_left -= (int64_t)(given - former);
  if (bytes_left < 0 || ((double)given >= drawn_interval && (double)former < drawn_interval)) take_sample(block, given);
}

void hw_sample(void *block, size_t given) { sample_growth(block, given, 0); }

/// Of small blocks one release in so many has a stack, since most are temporary; large ones are few, and each counts.
#define RELEASES_WITH_STACK 4

void hw_release(const void *block) {
  uintptr_t entry = !hw_is_sampling || block == NULL ? 0 : hw_take(block);
  if (entry == 0) return;
  uint32_t small = next_random() >> 32 < (UINT64_C(1) << 32) / RELEASES_WITH_STACK ? RELEASES_WITH_STACK : 0;
  hw_report_release(block, is_large(entry) ? 1 : small);
}

// MARK: - realloc(3)

/// Each power of two has four.
static unsigned size_class(size_t size) {
  unsigned power = 63u - (unsigned)__builtin_clzll(size | 4);
  return power * 4 + ((unsigned)(size >> (power - 2)) & 3);
}

/// Text that is built by appending to it grows thousands of times: as a new block it counts only in another class, and within
/// one a sampled block, which stays one, reports each further page.
void hw_moved(uintptr_t entry, size_t former, const void *block, void *moved, size_t given) {
  int is_as_new = size_class(given) != size_class(former);
  int is_kept = entry != 0 && !is_as_new && add_sample(moved, is_large(entry));
  if (entry != 0 && !is_kept) hw_report_release(block, 0);
  // Also where it was sampled: the supervisor may have thinned it since.
  if (is_as_new) hw_sample(moved, given);
  else if (entry == 0 && given > former) sample_growth(moved, given, former);
  else if (is_kept && (block != moved || former >> 12 != given >> 12)) hw_report_move(block, moved, given);
}

void hw_not_moved(uintptr_t entry, const void *block, int is_live) {
  if (entry != 0 && (!is_live || !add_sample((void *)block, is_large(entry)))) hw_report_release(block, 0);
}

// MARK: - The start

/// Whether a tracer is there to take the stops, which would end the program otherwise.
static int is_traced(void) {
  char text[1024];
  int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = '\0';
  const char *line = strstr(text, "\nTracerPid:\t");
  return line != NULL && line[12] != '0';
}

/// `HIGHWATER_SAMPLING` has the interval in bytes, and after a colon the path of the ring.
__attribute__((constructor)) static void start(void) {
  const char *wanted = getenv("HIGHWATER_SAMPLING");
  const uint64_t *random_bytes = (const uint64_t *)getauxval(AT_RANDOM);
  seed = random_bytes == NULL ? UINT64_C(0x2545f4914f6cdd1d) : *random_bytes | 1;
  if (wanted == NULL || !is_traced()) return;
  char *path = NULL;
  double interval = (double)strtol(wanted, &path, 10);
  if (interval <= 0) return;
  hw_set_interval(interval);
  if (*path == ':') hw_open_ring(path + 1);
  hw_announce();
  hw_hook_python();
  hw_is_sampling = 1;
}
