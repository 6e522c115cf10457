#include "profiler.h"

#include <stdlib.h>

/// So many of the functions that release a block are followed: the nearest ones tell why.
#define MAX_CALLERS 32

/// More nodes than any program has: the stacks of releases add no further ones then.
#define MAX_NODES (UINT32_C(1) << 21)

/// The slot of a node, or the free one where it belongs.
static struct hw_released *slot_for(const struct hw_releases *releases, uint32_t node) {
  uint32_t mask = releases->capacity - 1, at = (node * UINT32_C(0x9e3779b1)) & mask;
  while (releases->slots[at].node != 0 && releases->slots[at].node != node) at = (at + 1) & mask;
  return &releases->slots[at];
}

/// Doubles the table; 0 if there is no memory for that.
static int grow(struct hw_releases *releases) {
  struct hw_releases larger = {.capacity = releases->capacity == 0 ? 256 : releases->capacity * 2, .count = releases->count};
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (larger.slots == NULL) return 0;
  for (uint32_t at = 0; at < releases->capacity; at++) {
    if (releases->slots[at].node != 0) *slot_for(&larger, releases->slots[at].node) = releases->slots[at];
  }
  free(releases->slots);
  *releases = larger;
  return 1;
}

static void add(struct hw_releases *releases, uint32_t node, double bytes) {
  if (node == HW_NO_STACK || (releases->count >= releases->capacity / 2 && !grow(releases))) return;
  struct hw_released *slot = slot_for(releases, node);
  releases->count += slot->node == 0;
  slot->node = node;
  slot->bytes += bytes;
}

/// The node of a stack below that of an allocation, innermost place first.
static uint32_t node_below(uint32_t allocation, uint32_t stack) {
  uint32_t node = hw_tree_child(allocation, (struct hw_place){.module = HW_RELEASE});
  for (int count = 0; stack != HW_NO_STACK && node != HW_NO_STACK && count < MAX_CALLERS; count++) {
    node = hw_tree_child(node, hw_tree_place(stack));
    stack = hw_tree_parent(stack);
  }
  return node;
}

void hw_releases_add(struct hw_releases *releases, struct hw_block block, uint32_t stack, uint32_t count) {
  if (block.stack == HW_NO_STACK || hw_tree_count() > MAX_NODES) return;
  add(releases, node_below(block.stack, stack), hw_estimated_size(block.size) * count);
}

void hw_releases_end(struct hw_releases *releases, const struct hw_blocks *blocks, uint64_t after) {
  for (uint32_t at = 0; at < blocks->capacity; at++) {
    const struct hw_block *block = &blocks->slots[at];
    if (block->address != 0 && block->order > after) hw_releases_add(releases, *block, HW_NO_STACK, 1);
  }
}

void hw_releases_move(struct hw_releases *to, struct hw_releases *from) {
  for (uint32_t at = 0; at < from->capacity; at++) {
    if (from->slots[at].node != 0) add(to, from->slots[at].node, from->slots[at].bytes);
  }
  hw_releases_clear(from);
}

void hw_releases_clear(struct hw_releases *releases) {
  free(releases->slots);
  *releases = (struct hw_releases){0};
}
