/// The library that is preloaded into targets whose allocations are counted: counts the calls of malloc(3) and its
/// relatives, the bytes that they asked for, and the bytes of living blocks.
///
/// It calls the next allocator, which may be one that the target preloads itself. It is compiled by the plugin Embed, and
/// needs only libc. Each process counts in a file of its own (`counts.h`), which outlives it, however it ends.

#define _GNU_SOURCE
#include "counts.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

// MARK: - The next allocator

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static void *(*next_memalign)(size_t, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static size_t (*next_usable_size)(void *);

/// For the allocations of dlsym(3) itself, before the next allocator is known; never counted or released.
static char early[65536] __attribute__((aligned(16)));
static size_t early_used;

static void *allocate_early(size_t size) {
  size_t from = __atomic_fetch_add(&early_used, (size + 15) & ~(size_t)15, __ATOMIC_RELAXED);
  return from + size <= sizeof early ? early + from : NULL;
}

static int is_early(const void *block) {
  return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void find_next(void) {
  static int is_searching;
  if (__atomic_exchange_n(&is_searching, 1, __ATOMIC_RELAXED)) return;
  next_calloc = dlsym(RTLD_NEXT, "calloc");
  next_realloc = dlsym(RTLD_NEXT, "realloc");
  next_free = dlsym(RTLD_NEXT, "free");
  next_memalign = dlsym(RTLD_NEXT, "memalign");
  next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  next_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
  next_malloc = dlsym(RTLD_NEXT, "malloc");
}

// MARK: - Counting

/// Those before the file is mapped, which then takes them over.
static struct hw_counts first_counts;
static struct hw_counts *counts = &first_counts;

static void add_living(int64_t size) {
  int64_t living = __atomic_add_fetch(&counts->living, size, __ATOMIC_RELAXED);
  int64_t highest = __atomic_load_n(&counts->highest, __ATOMIC_RELAXED);
  while (living > highest &&
         !__atomic_compare_exchange_n(&counts->highest, &highest, living, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

/// What the allocator gave for a block.
static int64_t given(void *block) { return next_usable_size == NULL ? 0 : (int64_t)next_usable_size(block); }

static void *count(void *block, size_t size) {
  if (block == NULL) return NULL;
  __atomic_fetch_add(&counts->allocations, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counts->bytes, (int64_t)size, __ATOMIC_RELAXED);
  add_living(given(block));
  return block;
}

// MARK: - malloc(3)

EXPORTED void *malloc(size_t size) {
  if (next_malloc == NULL) find_next();
  return next_malloc == NULL ? allocate_early(size) : count(next_malloc(size), size);
}

EXPORTED void *calloc(size_t number, size_t size) {
  if (next_malloc == NULL) find_next();
  // Of the static array, which is zero.
  if (next_malloc == NULL) return allocate_early(number * size);
  return count(next_calloc(number, size), number * size);
}

EXPORTED void free(void *block) {
  if (block == NULL || is_early(block) || next_free == NULL) return;
  add_living(-given(block));
  next_free(block);
}

static void *move_early(void *block, size_t size) {
  void *moved = malloc(size);
  if (block == NULL || moved == NULL) return moved;
  size_t available = (size_t)(early + sizeof early - (char *)block);
  return memcpy(moved, block, size < available ? size : available);
}

/// Counts as an allocation even if the block stays where it is: whether it moves depends on its neighbours.
EXPORTED void *realloc(void *block, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_malloc == NULL || is_early(block)) return move_early(block, size);
  int64_t former = block == NULL ? 0 : given(block);
  void *moved = next_realloc(block, size);
  // The block lives on if there is no memory for the new one.
  if (moved != NULL || size == 0) add_living(-former);
  return count(moved, size);
}

/// The C library's own calls its `realloc`, not ours.
EXPORTED void *reallocarray(void *block, size_t number, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(number, size, &bytes)) return realloc(block, bytes);
  errno = ENOMEM;
  return NULL;
}

EXPORTED void *memalign(size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  return next_memalign == NULL ? NULL : count(next_memalign(alignment, size), size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  return next_aligned_alloc == NULL ? NULL : count(next_aligned_alloc(alignment, size), size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size) {
  if (next_malloc == NULL) find_next();
  if (next_posix_memalign == NULL) return ENOMEM;
  int code = next_posix_memalign(block, alignment, size);
  if (code == 0) count(*block, size);
  return code;
}

// MARK: - The file

/// A process may execute several programs, each with a file of its own.
static int create_file(const char *folder) {
  char path[4096];
  for (int number = 0; number < 1000; number++) {
    if (snprintf(path, sizeof path, "%s/%d.%d", folder, (int)getpid(), number) >= (int)sizeof path) return -1;
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

/// Maps a file for the counts of this process, which starts with these.
static void open_file(struct hw_counts initial) {
  const char *folder = getenv("HIGHWATER_ALLOCATIONS");
  int file = folder == NULL ? -1 : create_file(folder);
  if (file < 0) return;
  void *mapped = MAP_FAILED;
  if (ftruncate(file, sizeof *counts) == 0) {
    mapped = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (mapped == MAP_FAILED) return;
  *(struct hw_counts *)mapped = initial;
  counts = mapped;
}

/// A forked child has its parent's blocks, and has allocated nothing itself.
static void start_child(void) {
  struct hw_counts initial = {.living = counts->living, .highest = counts->living, .state = counts->state};
  open_file(initial);
}

/// Whether the program has an allocator of its own, which is found before this one, also by this library.
static int is_replaced(void) {
  Dl_info found, own;
  void *first = dlsym(RTLD_DEFAULT, "malloc");
  return dladdr(first, &found) != 0 && dladdr(&first_counts, &own) != 0 && found.dli_fbase != own.dli_fbase;
}

__attribute__((constructor)) static void start(void) {
  if (next_malloc == NULL) find_next();
  first_counts.state = is_replaced() ? HW_COUNTS_REPLACED : HW_COUNTS_COUNTING;
  open_file(first_counts);
  pthread_atfork(NULL, NULL, start_child);
}
