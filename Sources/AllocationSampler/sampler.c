/// The library that is preloaded into profiled targets: samples allocations by bytes, and reports each sample, and the
/// release of a sampled block, to the supervisor (Sources/CMemoryProfiler).
///
/// It calls the next allocator, which may be one that the target preloads itself, also for C++, whose operators such
/// allocators also replace. It is compiled by the plugin Embed, and needs only libc.

#define _GNU_SOURCE
#include "sampler.h"

#include "allocator.h"

/// By what the allocator gave for it: of many small blocks, rounding up is a large part of what they hold.
void *hw_sample_block(void *block, size_t size) {
  if (block == NULL || !hw_is_sampling) return block;
  hw_blocks_seen++;
  hw_sample(block, given_size(block, size > 0 ? size : 1));
  return block;
}

static void *new_block(void *block, size_t size) { return hw_sample_block(block, size); }

static void old_block(void *block) { hw_release(block); }

PER_THREAD struct hw_taken hw_taken;

static struct hw_moving before_moving(void *block) {
  if (!hw_is_sampling || block == NULL) return (struct hw_moving){0};
  struct hw_moving moving = {.former = given_size(block, 0)};
  if (hw_taken.block != block) {
    moving.entry = hw_take(block);
  } else {
    moving.entry = hw_taken.entry;
    hw_taken.block = NULL;
  }
  return moving;
}

static void after_moving(struct hw_moving moving, void *block, void *moved, size_t size) {
  if (!hw_is_sampling) return;
  hw_blocks_seen++;
  if (moved != NULL) hw_moved(moving.entry, moving.former, block, moved, given_size(moved, size > 0 ? size : 1));
  else hw_not_moved(moving.entry, block, size > 0);
}
