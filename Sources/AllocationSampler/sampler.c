/// The library that is preloaded into profiled targets: samples allocations by bytes, and stops for the tracer at each
/// sample, and at the release of a sampled block.
///
/// The tracer (Sources/CMemoryProfiler) then reads the stack; this library only counts. It calls the next allocator,
/// which may be one that the target preloads itself, also for C++, whose operators such allocators replace, too. It is
/// compiled by the plugin Embed, and needs only libc.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
/// Without the calls that a dynamic TLS model makes, which may allocate.
#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))

// MARK: - The next allocator

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static size_t (*next_usable_size)(void *);

/// For the allocations of dlsym(3) itself, before the next allocator is known; never released.
static char early[65536] __attribute__((aligned(16)));
static _Atomic size_t early_used;

static void *allocate_early(size_t size) {
  size_t from = atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15);
  return from + size <= sizeof early ? early + from : NULL;
}

static int is_early(const void *block) {
  return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void find_next(void) {
  static _Atomic int is_searching;
  if (atomic_exchange(&is_searching, 1)) return;
  next_calloc = dlsym(RTLD_NEXT, "calloc");
  next_realloc = dlsym(RTLD_NEXT, "realloc");
  next_free = dlsym(RTLD_NEXT, "free");
  next_memalign = dlsym(RTLD_NEXT, "memalign");
  next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  next_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
  next_malloc = dlsym(RTLD_NEXT, "malloc");
}

// MARK: - Sampled blocks

/// The addresses of sampled live blocks. A bucket is a cache line, so that `free` looks at one; a block that finds its
/// bucket full is not sampled.
#define BUCKETS 16384
#define BUCKET_SIZE 8
static _Atomic uintptr_t sampled[BUCKETS][BUCKET_SIZE] __attribute__((aligned(64)));

static _Atomic uintptr_t *bucket_of(const void *block) {
  return sampled[((uintptr_t)block * UINT64_C(0x9e3779b97f4a7c15)) >> 50];
}

static int add_sample(void *block) {
  _Atomic uintptr_t *bucket = bucket_of(block);
  for (int at = 0; at < BUCKET_SIZE; at++) {
    uintptr_t empty = 0;
    if (atomic_compare_exchange_strong(&bucket[at], &empty, (uintptr_t)block)) return 1;
  }
  return 0;
}

static int remove_sample(const void *block) {
  _Atomic uintptr_t *bucket = bucket_of(block);
  for (int at = 0; at < BUCKET_SIZE; at++) {
    uintptr_t found = (uintptr_t)block;
    if (atomic_load_explicit(&bucket[at], memory_order_relaxed) != found) continue;
    if (atomic_compare_exchange_strong(&bucket[at], &found, 0)) return 1;
  }
  return 0;
}

// MARK: - Stopping for the tracer

/// Marks a stop of this library (Sources/CMemoryProfiler/profiler.c).
#define MARK UINT64_C(0x68776d656d6f7279)

/// Passes a new block to the tracer, and one that is released; NULL for none.
static __attribute__((noinline)) void stop(const void *block, size_t size, const void *released) {
#if defined(__x86_64__)
  __asm__ volatile("int3" : : "a"(MARK), "D"(block), "S"(size), "d"(released) : "memory");
#elif defined(__aarch64__)
  register uint64_t mark __asm__("x0") = MARK;
  register const void *address __asm__("x1") = block;
  register size_t bytes __asm__("x2") = size;
  register const void *other __asm__("x3") = released;
  __asm__ volatile("brk #0" : : "r"(mark), "r"(address), "r"(bytes), "r"(other) : "memory");
#endif
}

// MARK: - Sampling

/// The mean number of bytes between two samples; 0: none are taken.
static double interval;

/// Differs from run to run, even without address randomisation.
static uint64_t seed;

PER_THREAD int64_t bytes_left;
PER_THREAD uint64_t random_state;

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
  return (int64_t)(-logarithm(uniform) * interval) + 1;
}

/// Whether the next sample falls into a new block.
static int is_sampled(size_t size) {
  if (random_state == 0) bytes_left = next_distance();
  bytes_left -= (int64_t)size;
  if (bytes_left >= 0) return 0;
  bytes_left = next_distance();
  return 1;
}

/// What the allocator gave for a block: of many small ones, rounding up is a large part of what they hold.
static size_t given_size(void *block, size_t size) {
  if (next_usable_size != NULL) return next_usable_size(block);
  return size > 0 ? size : 1;
}

/// The blocks that this thread has got from `malloc` and its relatives.
PER_THREAD uint64_t blocks_seen;

/// Samples a new block; returns its size if it was, which the tracer must then be told.
static size_t sampled_size(void *block, size_t size) {
  if (block == NULL || interval == 0) return 0;
  blocks_seen++;
  size_t given = given_size(block, size);
  return is_sampled(given) && add_sample(block) ? given : 0;
}

static void *sample(void *block, size_t size) {
  size_t given = sampled_size(block, size);
  if (given > 0) stop(block, given, NULL);
  return block;
}

/// Before the block is released, so that no other thread can get the same address earlier.
static void release(const void *block) {
  if (interval != 0 && block != NULL && remove_sample(block)) stop(NULL, 0, block);
}

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

/// Python takes its objects from arenas of its own, which hide single blocks; `PYTHONMALLOC` (3.6) gives them to malloc.
/// The build without a global lock, which alone exports the second function, does not start with it.
static void show_objects_of_python(void) {
  if (dlsym(RTLD_DEFAULT, "PyMem_RawMalloc") == NULL) return;
  const char *allocator = getenv("PYTHONMALLOC");
  if (dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount") == NULL) setenv("PYTHONMALLOC", "malloc", 0);
  else if (allocator != NULL && strcmp(allocator, "malloc") == 0) unsetenv("PYTHONMALLOC");
}

__attribute__((constructor)) static void start(void) {
  const char *wanted = getenv("HIGHWATER_SAMPLING");
  if (next_malloc == NULL) find_next();
  const uint64_t *random_bytes = (const uint64_t *)getauxval(AT_RANDOM);
  seed = random_bytes == NULL ? UINT64_C(0x2545f4914f6cdd1d) : *random_bytes | 1;
  if (wanted != NULL && is_traced()) interval = (double)atol(wanted);
  if (interval != 0) show_objects_of_python();
}

// MARK: - malloc(3)

EXPORTED void *malloc(size_t size) {
  if (next_malloc == NULL) find_next();
  return next_malloc == NULL ? allocate_early(size) : sample(next_malloc(size), size);
}

EXPORTED void *calloc(size_t count, size_t size) {
  if (next_malloc == NULL) find_next();
  // Of the static array, which is zero.
  if (next_malloc == NULL) return allocate_early(count * size);
  return sample(next_calloc(count, size), count * size);
}

EXPORTED void free(void *block) {
  if (is_early(block) || next_free == NULL) return;
  release(block);
  next_free(block);
}

static void *move_early(void *block, size_t size) {
  void *moved = malloc(size);
  if (block == NULL) return moved;
  size_t available = (size_t)(early + sizeof early - (char *)block);
  if (moved != NULL) memcpy(moved, block, size < available ? size : available);
  return moved;
}

EXPORTED void *realloc(void *block, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_malloc == NULL || is_early(block)) return move_early(block, size);
  int was_sampled = interval != 0 && block != NULL && remove_sample(block);
  void *moved = next_realloc(block, size);
  // The block lives on if there is no memory for the new one.
  if (moved == NULL && size > 0 && was_sampled) was_sampled = !add_sample(block);
  size_t given = sampled_size(moved, size);
  if (given > 0 || was_sampled) stop(given > 0 ? moved : NULL, given, was_sampled ? block : NULL);
  return moved;
}

/// The C library's own calls its `realloc`, not ours.
EXPORTED void *reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(block, bytes);
  errno = ENOMEM;
  return NULL;
}

EXPORTED void *memalign(size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  return next_memalign == NULL ? NULL : sample(next_memalign(alignment, size), size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  return next_aligned_alloc == NULL ? NULL : sample(next_aligned_alloc(alignment, size), size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_posix_memalign == NULL) return ENOMEM;
  int code = next_posix_memalign(block, alignment, size);
  if (code == 0) sample(*block, size);
  return code;
}

// MARK: - operator new and operator delete

/// Arguments that an operator does not have are ignored by the calling conventions of both machines.
typedef void *(*operator_new)(size_t, uintptr_t, uintptr_t);
typedef void (*operator_delete)(void *, uintptr_t, uintptr_t);

/// The next operator of a name, also of a runtime that was loaded later, with a module; NULL if there is none.
static void *find_operator(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1"};
  for (size_t at = 0; found == NULL && at < sizeof runtimes / sizeof *runtimes; at++) {
    void *runtime = dlopen(runtimes[at], RTLD_LAZY | RTLD_NOLOAD);
    if (runtime != NULL) found = dlsym(runtime, name);
  }
  return found;
}

/// For a module that contains its runtime, whose operators nobody else finds: memory that `free` takes back.
static void *create_alone(const char *name, size_t size, uintptr_t second) {
  if (size == 0) size = 1;
  void *block = strstr(name, "align_val_t") == NULL ? malloc(size) : memalign(second, size);
  if (block == NULL && strstr(name, "nothrow") == NULL) abort();
  return block;
}

/// An operator that calls `malloc` has its block sampled there.
static void *create(operator_new next, const char *name, size_t size, uintptr_t second, uintptr_t third) {
  if (next == NULL) return create_alone(name, size, second);
  uint64_t seen = blocks_seen;
  void *block = next(size, second, third);
  return blocks_seen == seen ? sample(block, size) : block;
}

static void destroy(operator_delete next, void *block, uintptr_t second, uintptr_t third) {
  release(block);
  if (next != NULL) next(block, second, third);
  else free(block);
}

#define NEW(name) \
  EXPORTED void *name(size_t size, uintptr_t second, uintptr_t third) { \
    static _Atomic operator_new next; \
    if (next == NULL) next = (operator_new)find_operator(#name); \
    return create(next, #name, size, second, third); \
  }
#define DELETE(name) \
  EXPORTED void name(void *block, uintptr_t second, uintptr_t third) { \
    static _Atomic operator_delete next; \
    if (next == NULL) next = (operator_delete)find_operator(#name); \
    destroy(next, block, second, third); \
  }

NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
