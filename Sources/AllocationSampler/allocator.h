/// malloc(3) and its relatives in front of the next allocator, which may be one that the target preloads itself: included by
/// the one file of each library that watches allocations, which defines what it does with them, and `EXPORTED`.
///
/// It is a header so that the compiler can join both.

#ifndef HW_ALLOCATOR_H
#define HW_ALLOCATOR_H

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// MARK: - What the library does

/// With a new block of which this many bytes were asked for, or NULL; returns it.
static void *new_block(void *block, size_t size);

/// Before a block, or NULL, is released.
static void old_block(void *block);

/// What is known of a block before realloc(3), which may move it.
struct hw_moving {
  /// What the allocator gave for it, or 0.
  size_t former;
  /// What the library knows of it, or 0.
  uintptr_t entry;
};

/// Before realloc(3) of a block, or NULL.
static struct hw_moving before_moving(void *block);

/// After it: the block lives on if `moved` is NULL and `size` is not 0.
static void after_moving(struct hw_moving moving, void *block, void *moved, size_t size);

// MARK: - The next allocator

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static size_t (*next_usable_size)(void *);

/// For the allocations of dlsym(3) itself, before the next allocator is known; never watched or released.
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

/// What the allocator gave for a block; `otherwise` if it does not say.
static size_t given_size(void *block, size_t otherwise) {
  return next_usable_size == NULL ? otherwise : next_usable_size(block);
}

/// Finds the next allocator before the target has threads.
__attribute__((constructor)) static void start_allocator(void) {
  if (next_malloc == NULL) find_next();
}

// MARK: - malloc(3)

EXPORTED void *malloc(size_t size) {
  if (next_malloc == NULL) find_next();
  return next_malloc == NULL ? allocate_early(size) : new_block(next_malloc(size), size);
}

EXPORTED void *calloc(size_t count, size_t size) {
  if (next_malloc == NULL) find_next();
  // Of the static array, which is zero.
  if (next_malloc == NULL) return allocate_early(count * size);
  return new_block(next_calloc(count, size), count * size);
}

EXPORTED void free(void *block) {
  if (is_early(block) || next_free == NULL) return;
  old_block(block);
  next_free(block);
}

static void *move_early(void *block, size_t size) {
  void *moved = malloc(size);
  if (block == NULL || moved == NULL) return moved;
  size_t available = (size_t)(early + sizeof early - (char *)block);
  return memcpy(moved, block, size < available ? size : available);
}

EXPORTED void *realloc(void *block, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_malloc == NULL || is_early(block)) return move_early(block, size);
  struct hw_moving moving = before_moving(block);
  void *moved = next_realloc(block, size);
  after_moving(moving, block, moved, size);
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
  return next_memalign == NULL ? NULL : new_block(next_memalign(alignment, size), size);
}

EXPORTED void *valloc(size_t size) { return memalign((size_t)sysconf(_SC_PAGESIZE), size); }

EXPORTED void *pvalloc(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (size <= SIZE_MAX - page) return valloc((size + page - 1) & ~(page - 1));
  errno = ENOMEM;
  return NULL;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  return next_aligned_alloc == NULL ? NULL : new_block(next_aligned_alloc(alignment, size), size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_posix_memalign == NULL) return ENOMEM;
  int code = next_posix_memalign(block, alignment, size);
  if (code == 0) new_block(*block, size);
  return code;
}

#endif
