#include "profiler.h"

#include <stdlib.h>
#include <string.h>

#define STRETCH_SHIFT (HW_PAGE_SHIFT + 9)
#define PAGES 512

/// Of larger ranges, 256 GiB, only the first pages are noted: no process has them all.
#define MAX_RANGE (UINT64_C(1) << 26)

static uint32_t slot_of(uint64_t number, uint32_t capacity) {
  return (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
}

static struct hw_stretch *find(const struct hw_pages *pages, uint64_t number) {
  if (pages->capacity == 0) return NULL;
  uint32_t at = slot_of(number, pages->capacity);
  for (; pages->slots[at] != NULL; at = (at + 1) & (pages->capacity - 1)) {
    if (pages->slots[at]->number == number) return pages->slots[at];
  }
  return NULL;
}

static void insert(struct hw_pages *pages, struct hw_stretch *stretch) {
  uint32_t at = slot_of(stretch->number, pages->capacity);
  while (pages->slots[at] != NULL) at = (at + 1) & (pages->capacity - 1);
  pages->slots[at] = stretch;
}

static int grow(struct hw_pages *pages) {
  struct hw_pages larger = *pages;
  larger.capacity = pages->capacity == 0 ? 64 : pages->capacity * 2;
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (larger.slots == NULL) return 0;
  for (uint32_t at = 0; at < pages->capacity; at++) {
    if (pages->slots[at] != NULL) insert(&larger, pages->slots[at]);
  }
  free(pages->slots);
  *pages = larger;
  return 1;
}

/// Finds or creates a stretch; NULL if there is no memory for it.
static struct hw_stretch *obtain(struct hw_pages *pages, uint64_t address) {
  uint64_t number = address >> STRETCH_SHIFT;
  struct hw_stretch *found = find(pages, number);
  if (found != NULL) return found;
  if (pages->count >= pages->capacity / 2 && !grow(pages)) return NULL;
  found = calloc(1, sizeof *found);
  if (found == NULL) return NULL;
  found->number = number;
  insert(pages, found);
  pages->count++;
  return found;
}

static unsigned index_of(uint64_t address) {
  return (unsigned)(address >> HW_PAGE_SHIFT) & (PAGES - 1);
}

void hw_pages_set(struct hw_pages *pages, uint64_t address, uint32_t stack, uint32_t weight) {
  struct hw_stretch *stretch = obtain(pages, address);
  if (stretch == NULL) return;
  stretch->stacks[index_of(address)] = stack;
  pages->time += weight;
  stretch->times[index_of(address)] = pages->time;
}

void hw_pages_fill(struct hw_pages *pages, uint64_t from, uint64_t size, uint32_t stack) {
  uint64_t first = from >> HW_PAGE_SHIFT, end = (from + size + HW_PAGE_SIZE - 1) >> HW_PAGE_SHIFT;
  if (size == 0) return;
  for (uint64_t page = first; page < end && page - first <= MAX_RANGE; page++) {
    uint64_t address = page << HW_PAGE_SHIFT;
    const struct hw_stretch *stretch = find(pages, address >> STRETCH_SHIFT);
    if (stretch == NULL || stretch->stacks[index_of(address)] == HW_NO_STACK) hw_pages_set(pages, address, stack | HW_FILLED, 1);
  }
}

/// Clears the pages of a stretch that lie in the range.
static void clear(struct hw_stretch *stretch, uint64_t from, uint64_t end) {
  uint64_t start = stretch->number << STRETCH_SHIFT;
  for (unsigned at = 0; at < PAGES; at++) {
    uint64_t address = start + ((uint64_t)at << HW_PAGE_SHIFT);
    if (address >= from && address < end) stretch->stacks[at] = HW_NO_STACK;
  }
  if (start >= from && end - start >= UINT64_C(1) << STRETCH_SHIFT) stretch->has_small_blocks = 0;
}

void hw_pages_forget(struct hw_pages *pages, uint64_t from, uint64_t size) {
  uint64_t end = size > UINT64_MAX - from ? UINT64_MAX : from + size;
  uint64_t first = from >> STRETCH_SHIFT, last = (end - 1) >> STRETCH_SHIFT;
  if (size == 0) return;
  // A range may be larger than all that is stored: runtimes release reservations of gigabytes.
  if (last - first > pages->capacity) {
    for (uint32_t at = 0; at < pages->capacity; at++) {
      struct hw_stretch *stretch = pages->slots[at];
      if (stretch != NULL && stretch->number >= first && stretch->number <= last) clear(stretch, from, end);
    }
    return;
  }
  for (uint64_t number = first; number <= last; number++) {
    struct hw_stretch *stretch = find(pages, number);
    if (stretch != NULL) clear(stretch, from, end);
  }
}

/// The entries of a range are read before any is written, since the ranges may overlap.
void hw_pages_move(struct hw_pages *pages, uint64_t from, uint64_t to, uint64_t size) {
  uint64_t count = size >> HW_PAGE_SHIFT;
  if (from == to || count == 0 || count > MAX_RANGE) return;
  struct { uint32_t stack, time; } *entries = malloc(count * sizeof *entries);
  if (entries == NULL) return;
  for (uint64_t at = 0; at < count; at++) {
    uint64_t address = from + (at << HW_PAGE_SHIFT);
    const struct hw_stretch *stretch = find(pages, address >> STRETCH_SHIFT);
    entries[at].stack = stretch == NULL ? HW_NO_STACK : stretch->stacks[index_of(address)];
    entries[at].time = stretch == NULL ? 0 : stretch->times[index_of(address)];
  }
  hw_pages_forget(pages, from, size);
  for (uint64_t at = 0; at < count; at++) {
    uint64_t address = to + (at << HW_PAGE_SHIFT);
    struct hw_stretch *stretch = entries[at].stack == HW_NO_STACK ? NULL : obtain(pages, address);
    if (stretch == NULL) continue;
    stretch->stacks[index_of(address)] = entries[at].stack;
    stretch->times[index_of(address)] = entries[at].time;
  }
  free(entries);
}

void hw_pages_note_block(struct hw_pages *pages, uint64_t address) {
  struct hw_stretch *stretch = obtain(pages, address);
  if (stretch != NULL) stretch->has_small_blocks = 1;
}

struct hw_stretch *hw_pages_stretch(const struct hw_pages *pages, uint64_t address) {
  return find(pages, address >> STRETCH_SHIFT);
}

void hw_pages_copy(const struct hw_pages *from, struct hw_pages *to) {
  *to = (struct hw_pages){.time = from->time};
  for (uint32_t at = 0; at < from->capacity; at++) {
    const struct hw_stretch *stretch = from->slots[at];
    if (stretch == NULL) continue;
    struct hw_stretch *copy = obtain(to, stretch->number << STRETCH_SHIFT);
    if (copy != NULL) *copy = *stretch;
  }
}

void hw_pages_clear(struct hw_pages *pages) {
  for (uint32_t at = 0; at < pages->capacity; at++) free(pages->slots[at]);
  free(pages->slots);
  *pages = (struct hw_pages){0};
}
