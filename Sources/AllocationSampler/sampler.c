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

static size_t before_moving(void *block) {
  return hw_is_sampling && block != NULL && hw_release_to_move(block) ? given_size(block, 1) : 0;
}

static void after_moving(size_t former, void *block, void *moved, size_t size) {
  if (moved == NULL && size > 0 && former > 0) hw_sample_again(block, former);
  hw_sample_block(moved, size);
}
