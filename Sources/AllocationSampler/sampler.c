/// The library that is preloaded into profiled targets: samples allocations by bytes, and reports each sample, and the
/// release of a sampled block, to the supervisor (Sources/CMemoryProfiler).
///
/// It calls the next allocator, which may be one that the target preloads itself, also for C++, whose operators such
/// allocators also replace. It is compiled by the plugin Embed, and needs only libc.

#define _GNU_SOURCE
#include "sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

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

// MARK: - Sampling

/// What the allocator gave for a block: of many small ones, rounding up is a large part of what they hold.
static size_t given_size(void *block, size_t size) {
  if (next_usable_size != NULL) return next_usable_size(block);
  return size > 0 ? size : 1;
}

void *hw_sample_block(void *block, size_t size) {
  if (block == NULL || !hw_is_sampling) return block;
  hw_blocks_seen++;
  hw_sample(block, given_size(block, size));
  return block;
}

/// Finds the next allocator before the target has threads.
__attribute__((constructor)) static void start(void) {
  if (next_malloc == NULL) find_next();
}

// MARK: - malloc(3)

EXPORTED void *malloc(size_t size) {
  if (next_malloc == NULL) find_next();
  return next_malloc == NULL ? allocate_early(size) : hw_sample_block(next_malloc(size), size);
}

EXPORTED void *calloc(size_t count, size_t size) {
  if (next_malloc == NULL) find_next();
  // Of the static array, which is zero.
  if (next_malloc == NULL) return allocate_early(count * size);
  return hw_sample_block(next_calloc(count, size), count * size);
}

EXPORTED void free(void *block) {
  if (is_early(block) || next_free == NULL) return;
  hw_release(block);
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
  size_t former = hw_is_sampling && block != NULL && hw_release(block) ? given_size(block, 1) : 0;
  void *moved = next_realloc(block, size);
  // The block lives on if there is no memory for the new one.
  if (moved == NULL && size > 0 && former > 0) hw_sample_again(block, former);
  hw_sample_block(moved, size);
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
  return next_memalign == NULL ? NULL : hw_sample_block(next_memalign(alignment, size), size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  return next_aligned_alloc == NULL ? NULL : hw_sample_block(next_aligned_alloc(alignment, size), size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_posix_memalign == NULL) return ENOMEM;
  int code = next_posix_memalign(block, alignment, size);
  if (code == 0) hw_sample_block(*block, size);
  return code;
}
