/// The library that is preloaded into targets whose allocations are counted: counts the calls of malloc(3) and its
/// relatives, the bytes that they asked for, and the bytes of living blocks.
///
/// It calls the next allocator, which may be one that the target preloads itself. It is compiled by the plugin Embed, and
/// needs only libc. Each process counts in a file of its own (`counts.h`), which outlives it, however it ends.

#define _GNU_SOURCE
#include "counts.h"

#define EXPORTED __attribute__((visibility("default")))

#include "../AllocationSampler/allocator.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

static void *new_block(void *block, size_t size) {
  if (block == NULL) return NULL;
  __atomic_fetch_add(&counts->allocations, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counts->bytes, (int64_t)size, __ATOMIC_RELAXED);
  add_living((int64_t)given_size(block, 0));
  return block;
}

static void old_block(void *block) {
  if (block != NULL) add_living(-(int64_t)given_size(block, 0));
}

static struct hw_moving before_moving(void *block) {
  return (struct hw_moving){.former = block == NULL ? 0 : given_size(block, 0)};
}

/// Counts as an allocation even if the block stays where it is: whether it moves depends on its neighbours.
static void after_moving(struct hw_moving moving, void *block, void *moved, size_t size) {
  (void)block;
  if (moved != NULL || size == 0) add_living(-(int64_t)moving.former);
  new_block(moved, size);
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

/// Whether the program has an allocator of its own, whose blocks this one does not see.
///
/// Where its `malloc` is says nothing: a program at a fixed address that takes the address of malloc(3) has an entry of its own
/// for it, which leads here.
static int is_replaced(void) {
  struct hw_counts before = first_counts;
  void *(*first_malloc)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
  void (*first_free)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "free");
  void *block = first_malloc(1);
  int is_seen = first_counts.allocations > before.allocations;
  first_free(block);
  first_counts = before;
  return !is_seen;
}

__attribute__((constructor)) static void start(void) {
  first_counts.state = is_replaced() ? HW_COUNTS_REPLACED : HW_COUNTS_COUNTING;
  first_counts.is_executed = 1;
  open_file(first_counts);
  pthread_atfork(NULL, NULL, start_child);
}
