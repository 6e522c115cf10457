#include "profiler.h"

#include <stdlib.h>
#include <string.h>

struct node {
  struct hw_place place;
  uint32_t parent;
  /// The next node in the same slot of the hash table.
  uint32_t next;
};

/// Nodes beyond this limit are not stored; their memory counts as that of a caller.
#define MAX_NODES (UINT32_C(1) << 22)

/// Node 0 stands for "no stack".
static struct node *nodes;
static uint32_t count = 1, capacity;
static uint32_t *slots;
static uint32_t slot_count;

static uint32_t hash(uint32_t parent, struct hw_place place) {
  uint64_t mixed = (place.address ^ ((uint64_t)place.module << 48) ^ ((uint64_t)parent << 20)) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mixed >> 32) & (slot_count - 1);
}

/// Doubles the table; 0 if there is no memory for that.
static int grow(void) {
  uint32_t wanted = capacity == 0 ? 4096 : capacity * 2;
  if (wanted > MAX_NODES) return 0;
  struct node *larger = realloc(nodes, wanted * sizeof *nodes);
  if (larger == NULL) return 0;
  nodes = larger;
  uint32_t *table = calloc(wanted, sizeof *table);
  if (table == NULL) return 0;
  free(slots);
  slots = table;
  slot_count = capacity = wanted;
  for (uint32_t at = 1; at < count; at++) {
    uint32_t slot = hash(nodes[at].parent, nodes[at].place);
    nodes[at].next = slots[slot];
    slots[slot] = at;
  }
  return 1;
}

static int is_equal(struct hw_place one, struct hw_place other) {
  return one.address == other.address && one.module == other.module && one.is_return == other.is_return;
}

uint32_t hw_tree_child(uint32_t parent, struct hw_place place) {
  if (slot_count > 0) {
    for (uint32_t at = slots[hash(parent, place)]; at != 0; at = nodes[at].next) {
      const struct node *node = &nodes[at];
      if (node->parent == parent && is_equal(node->place, place)) return at;
    }
  }
  if (count >= capacity && !grow()) return HW_NO_STACK;
  uint32_t slot = hash(parent, place);
  nodes[count] = (struct node){.place = place, .parent = parent, .next = slots[slot]};
  slots[slot] = count;
  return count++;
}

uint32_t hw_tree_insert(const struct hw_place *places, int length) {
  uint32_t node = HW_NO_STACK;
  for (int at = length - 1; at >= 0; at--) {
    uint32_t next = hw_tree_child(node, places[at]);
    if (next == HW_NO_STACK) break;
    node = next;
  }
  return node;
}

uint32_t hw_tree_count(void) {
  return count;
}

uint32_t hw_tree_parent(uint32_t node) {
  return nodes[node].parent;
}

struct hw_place hw_tree_place(uint32_t node) {
  return nodes[node].place;
}
