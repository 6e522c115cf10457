#include "profiler.h"

#include <stdlib.h>
#include <string.h>

static uint32_t slot_of(const struct hw_blocks *blocks, uint64_t address) {
  return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (blocks->capacity - 1);
}

/// The slot of an address, or the free one where it belongs.
static struct hw_block *slot_for(const struct hw_blocks *blocks, uint64_t address) {
  uint32_t at = slot_of(blocks, address);
  while (blocks->slots[at].address != 0 && blocks->slots[at].address != address) at = (at + 1) & (blocks->capacity - 1);
  return &blocks->slots[at];
}

/// The slot of a live block; NULL if there is none at the address.
static struct hw_block *live_slot(const struct hw_blocks *blocks, uint64_t address) {
  struct hw_block *slot = blocks->capacity == 0 || address == 0 ? NULL : slot_for(blocks, address);
  return slot == NULL || slot->address == 0 ? NULL : slot;
}

static int grow(struct hw_blocks *blocks) {
  struct hw_blocks larger = *blocks;
  larger.capacity = blocks->capacity == 0 ? 1024 : blocks->capacity * 2;
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (larger.slots == NULL) return 0;
  for (uint32_t at = 0; at < blocks->capacity; at++) {
    const struct hw_block *block = &blocks->slots[at];
    if (block->address != 0) *slot_for(&larger, block->address) = *block;
  }
  free(blocks->slots);
  *blocks = larger;
  return 1;
}

// MARK: - The top

static void start_top(struct hw_blocks *blocks, uint32_t time) {
  blocks->top_order = blocks->order;
  blocks->top_sum = blocks->sum;
  blocks->top_time = time;
  blocks->released_count = 0;
}

void hw_blocks_note_pages(struct hw_blocks *blocks, uint32_t time) {
  // As many as make the process larger by more than the few pages that its end touches.
  if (time - blocks->top_time > 32 + blocks->top_time / 50) start_top(blocks, time);
}

static void note_release(struct hw_blocks *blocks, struct hw_block block) {
  blocks->sum -= hw_estimated_size(block.size);
  if (block.order > blocks->top_order) return;
  if (blocks->released_count == blocks->released_capacity) {
    uint32_t capacity = blocks->released_capacity == 0 ? 1024 : blocks->released_capacity * 2;
    struct hw_block *larger = realloc(blocks->released, capacity * sizeof *larger);
    if (larger == NULL) return;
    blocks->released = larger;
    blocks->released_capacity = capacity;
  }
  blocks->released[blocks->released_count++] = block;
}

struct hw_block *hw_blocks_at_top(const struct hw_blocks *blocks, size_t *count) {
  *count = 0;
  struct hw_block *found = calloc(blocks->count + blocks->released_count + 1, sizeof *found);
  if (found == NULL) return NULL;
  for (uint32_t at = 0; at < blocks->capacity; at++) {
    const struct hw_block *block = &blocks->slots[at];
    if (block->address != 0 && block->order <= blocks->top_order) found[(*count)++] = *block;
  }
  for (uint32_t at = 0; at < blocks->released_count; at++) found[(*count)++] = blocks->released[at];
  return found;
}

struct hw_block *hw_blocks_now(const struct hw_blocks *blocks, size_t *count) {
  *count = 0;
  struct hw_block *found = calloc(blocks->count + 1, sizeof *found);
  for (uint32_t at = 0; found != NULL && at < blocks->capacity; at++) {
    if (blocks->slots[at].address != 0) found[(*count)++] = blocks->slots[at];
  }
  return found;
}

int hw_block_is_live(const struct hw_blocks *blocks, struct hw_block block) {
  const struct hw_block *slot = live_slot(blocks, block.address);
  return slot != NULL && slot->order == block.order;
}

// MARK: - Live blocks

void hw_blocks_add(struct hw_blocks *blocks, struct hw_block block, uint32_t time) {
  if (block.address == 0 || (blocks->count >= blocks->capacity / 2 && !grow(blocks))) return;
  hw_blocks_remove(blocks, block.address);
  block.order = ++blocks->order;
  *slot_for(blocks, block.address) = block;
  blocks->count++;
  blocks->sum += hw_estimated_size(block.size);
  if (blocks->sum >= blocks->top_sum) start_top(blocks, time);
}

/// Moves up the entries that the removed one had displaced (Knuth, TAOCP 3, 6.4, algorithm R).
struct hw_block hw_blocks_remove(struct hw_blocks *blocks, uint64_t address) {
  struct hw_block *slot = live_slot(blocks, address);
  if (slot == NULL) return (struct hw_block){0};
  struct hw_block removed = *slot;
  note_release(blocks, removed);
  uint32_t mask = blocks->capacity - 1, hole = (uint32_t)(slot - blocks->slots);
  for (uint32_t at = (hole + 1) & mask; blocks->slots[at].address != 0; at = (at + 1) & mask) {
    uint32_t home = slot_of(blocks, blocks->slots[at].address);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    blocks->slots[hole] = blocks->slots[at];
    hole = at;
  }
  blocks->slots[hole].address = 0;
  blocks->count--;
  return removed;
}

int hw_blocks_have(const struct hw_blocks *blocks, uint64_t address) { return live_slot(blocks, address) != NULL; }

// MARK: - Thinning

/// Keeps some of the blocks of an array, which lie at its beginning then; how many.
static uint32_t keep(struct hw_block *blocks, uint32_t count, double former) {
  uint32_t kept = 0;
  for (uint32_t at = 0; at < count; at++) {
    if (blocks[at].address != 0 && hw_keeps_sample(blocks[at].size, former)) blocks[kept++] = blocks[at];
  }
  return kept;
}

void hw_blocks_thin(struct hw_blocks *blocks, double former) {
  uint32_t count = keep(blocks->slots, blocks->capacity, former);
  struct hw_block *kept = blocks->slots;
  blocks->slots = calloc(blocks->capacity, sizeof *blocks->slots);
  if (blocks->slots == NULL) blocks->capacity = count = 0;
  blocks->count = count;
  blocks->sum = blocks->top_sum = 0;
  for (uint32_t at = 0; at < count; at++) {
    *slot_for(blocks, kept[at].address) = kept[at];
    blocks->sum += hw_estimated_size(kept[at].size);
    if (kept[at].order <= blocks->top_order) blocks->top_sum += hw_estimated_size(kept[at].size);
  }
  free(kept);
  blocks->released_count = keep(blocks->released, blocks->released_count, former);
  for (uint32_t at = 0; at < blocks->released_count; at++) {
    blocks->top_sum += hw_estimated_size(blocks->released[at].size);
  }
}

// MARK: - Copies

/// A copy of an array; NULL if it is empty, or if there is no memory for it.
static struct hw_block *copy(const struct hw_block *from, uint32_t count) {
  struct hw_block *to = count == 0 ? NULL : malloc(count * sizeof *to);
  if (to != NULL) memcpy(to, from, count * sizeof *to);
  return to;
}

void hw_blocks_copy(const struct hw_blocks *from, struct hw_blocks *to) {
  *to = *from;
  to->slots = copy(from->slots, from->capacity);
  to->released = copy(from->released, from->released_count);
  to->released_capacity = to->released_count = to->released == NULL ? 0 : from->released_count;
  if (to->slots == NULL) to->capacity = to->count = 0;
}

void hw_blocks_clear(struct hw_blocks *blocks) {
  free(blocks->slots);
  free(blocks->released);
  *blocks = (struct hw_blocks){0};
}
