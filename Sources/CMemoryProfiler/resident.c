#define _GNU_SOURCE
#include "profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/// The kernel's interface of PAGEMAP_SCAN (Linux 6.7, Documentation/admin-guide/mm/pagemap.rst), which older headers
/// lack.
struct region {
  uint64_t start, end, categories;
};

struct scan {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  uint64_t inverted, mask, any_of, returned;
};

#define SCAN _IOWR('f', 16, struct scan)
#define IS_FILE (UINT64_C(1) << 2)
#define IS_PRESENT (UINT64_C(1) << 3)
#define IS_ZERO_PAGE (UINT64_C(1) << 5)
#define IS_HUGE (UINT64_C(1) << 6)
#define REGIONS 512

/// Bits of an entry of `/proc/<pid>/pagemap` (the same document).
#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_FILE (UINT64_C(1) << 61)
#define ENTRY_EXCLUSIVE (UINT64_C(1) << 56)

// MARK: - Mappings

/// Notes a mapping of the preloaded library. Its variables that start as zero are a mapping without a name behind it.
static void note_library(struct hw_layout *layout, uint64_t start, uint64_t end, const char *line) {
  int is_named = strstr(line, "/" HW_LIBRARY) != NULL;
  if (is_named && layout->library_end == 0) layout->library_start = start;
  if (is_named || (start == layout->library_end && strchr(line, '/') == NULL)) layout->library_end = end;
}

/// Adds a mapping that may have anonymous pages; 0 if there is no memory for it.
static int add_area(struct hw_layout *layout, struct hw_area area) {
  if (layout->area_count == layout->area_capacity) {
    size_t larger = layout->area_capacity * 2 + 256;
    struct hw_area *areas = realloc(layout->areas, larger * sizeof *areas);
    if (areas == NULL) return 0;
    layout->areas = areas;
    layout->area_capacity = larger;
  }
  layout->areas[layout->area_count++] = area;
  return 1;
}

static void read_line(struct hw_layout *layout, const char *line) {
  char *at;
  uint64_t start = strtoull(line, &at, 16), end = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
  if (end <= start || strlen(at) < 5) return;
  if (strstr(at, " [heap]\n") != NULL) {
    // The heap may consist of several mappings.
    if (layout->heap_end == 0) layout->heap_start = start;
    layout->heap_end = end;
  }
  // The kernel's own page is above.
  if (end >> 63 == 0) layout->end = end;
  if (strstr(at, "/" HW_PROFILE_RING_FILE) != NULL) layout->ring = (struct hw_area){.start = start, .end = end};
  note_library(layout, start, end, at);
  if (at[4] != 'p') return;
  int is_file = strchr(at, '/') != NULL, has_name = is_file || strchr(at, '[') != NULL;
  int is_static = is_file || (!has_name && start == layout->variables_end);
  add_area(layout, (struct hw_area){start, end, is_file, is_static});
  if (is_file && at[2] == 'w') layout->variables_end = end;
}

void hw_read_layout(pid_t thread, struct hw_layout *layout) {
  int descriptor = hw_open_process_file(thread, "maps");
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
  *layout = (struct hw_layout){0};
  if (file == NULL) return;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) read_line(layout, line);
  free(line);
  fclose(file);
}

void hw_layout_clear(struct hw_layout *layout) {
  free(layout->areas);
  layout->areas = NULL;
}

// MARK: - Pages

/// Visits the anonymous pages of a range by their entries in pagemap.
static void read_entries(int pagemap, struct hw_area range, struct hw_page page, hw_page_visitor visit, void *context) {
  uint64_t entries[512];
  for (uint64_t at = range.start >> HW_PAGE_SHIFT; at < range.end >> HW_PAGE_SHIFT; at += 512) {
    uint64_t left = (range.end >> HW_PAGE_SHIFT) - at, wanted = left < 512 ? left : 512;
    ssize_t length = pread(pagemap, entries, wanted * sizeof *entries, (off_t)(at * sizeof *entries));
    for (ssize_t each = 0; each < length / (ssize_t)sizeof *entries; each++) {
      if ((entries[each] & ENTRY_PRESENT) == 0 || (entries[each] & ENTRY_FILE) != 0) continue;
      page.address = (at + (uint64_t)each) << HW_PAGE_SHIFT;
      page.is_exclusive = (entries[each] & ENTRY_EXCLUSIVE) != 0;
      visit(context, page);
    }
  }
}

/// Visits the anonymous pages of a range that has nothing else.
static void visit_region(int pagemap, const struct region *region, int exclusive, hw_page_visitor visit, void *context) {
  struct hw_page page = {.is_huge = (region->categories & IS_HUGE) != 0, .is_exclusive = 1};
  if (exclusive) {
    read_entries(pagemap, (struct hw_area){.start = region->start, .end = region->end}, page, visit, context);
    return;
  }
  for (page.address = region->start; page.address < region->end; page.address += HW_PAGE_SIZE) visit(context, page);
}

/// Scans for ranges of anonymous pages; 0, or an errno before the first one.
static int scan(int pagemap, uint64_t end, int (*found)(void *context, const struct region *region), void *context) {
  struct region regions[REGIONS];
  struct scan scan = {
    .size = sizeof scan, .end = end, .regions = (uint64_t)(uintptr_t)regions, .region_count = REGIONS,
    .inverted = IS_FILE | IS_ZERO_PAGE, .mask = IS_PRESENT | IS_FILE | IS_ZERO_PAGE, .returned = IS_HUGE,
  };
  for (;;) {
    int count = ioctl(pagemap, SCAN, &scan);
    if (count < 0) return scan.start == 0 ? errno : 0;
    for (int at = 0; at < count; at++) {
      if (!found(context, &regions[at])) return 0;
    }
    // `walk_end` is not used: with a full list it may lie before the end of the last region (seen on Linux 6.18).
    if (count < REGIONS) return 0;
    scan.start = regions[count - 1].end;
  }
}

struct visit {
  int pagemap, exclusive;
  hw_page_visitor visitor;
  void *context;
};

static int visit_found(void *context, const struct region *region) {
  const struct visit *visit = context;
  visit_region(visit->pagemap, region, visit->exclusive, visit->visitor, visit->context);
  return 1;
}

void hw_visit_pages(
  pid_t thread, const struct hw_layout *layout, int exclusive, hw_page_visitor visitor, void *context
) {
  struct visit visit = {hw_open_process_file(thread, "pagemap"), exclusive, visitor, context};
  if (visit.pagemap < 0) return;
  if (scan(visit.pagemap, layout->end, visit_found, &visit) != 0) {
    struct hw_page page = {0};
    for (size_t at = 0; at < layout->area_count; at++) {
      read_entries(visit.pagemap, layout->areas[at], page, visitor, context);
    }
  }
  close(visit.pagemap);
}

int64_t hw_ring_size(pid_t thread, const struct hw_layout *layout) {
  uint64_t entries[512];
  int64_t present = 0;
  int pagemap = layout->ring.end == 0 ? -1 : hw_open_process_file(thread, "pagemap");
  if (pagemap < 0) return 0;
  for (uint64_t at = layout->ring.start >> HW_PAGE_SHIFT; at < layout->ring.end >> HW_PAGE_SHIFT; at += 512) {
    ssize_t length = pread(pagemap, entries, sizeof entries, (off_t)(at * sizeof *entries));
    for (ssize_t each = 0; each < length / (ssize_t)sizeof *entries; each++) {
      int is_within = at + (uint64_t)each < layout->ring.end >> HW_PAGE_SHIFT;
      present += is_within && (entries[each] & ENTRY_PRESENT) != 0;
    }
  }
  close(pagemap);
  return present * (int64_t)HW_PAGE_SIZE;
}

// MARK: - Ranges

struct ranges {
  struct hw_ranges *list;
  size_t capacity;
};

static int add_range(void *context, const struct region *region) {
  struct ranges *ranges = context;
  if (ranges->list->count == ranges->capacity) {
    size_t larger = ranges->capacity * 2;
    struct hw_ranges *list = realloc(ranges->list, sizeof *list + larger * sizeof *list->ranges);
    if (list == NULL) return 0;
    ranges->list = list;
    ranges->capacity = larger;
  }
  ranges->list->ranges[ranges->list->count++] = (struct hw_area){.start = region->start, .end = region->end};
  return 1;
}

struct hw_ranges *hw_resident_ranges(pid_t thread) {
  struct ranges ranges = {calloc(1, sizeof *ranges.list + 256 * sizeof *ranges.list->ranges), 256};
  struct hw_layout layout;
  int pagemap = ranges.list == NULL ? -1 : hw_open_process_file(thread, "pagemap");
  if (pagemap < 0) {
    free(ranges.list);
    return NULL;
  }
  ranges.list->users = 1;
  hw_read_layout(thread, &layout);
  scan(pagemap, layout.end, add_range, &ranges);
  hw_layout_clear(&layout);
  close(pagemap);
  return ranges.list;
}

void hw_ranges_close(struct hw_ranges *ranges) {
  if (ranges != NULL && --ranges->users == 0) free(ranges);
}

int hw_ranges_have(const struct hw_ranges *ranges, uint64_t address) {
  size_t low = 0, high = ranges->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges->ranges[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low < ranges->count && ranges->ranges[low].start <= address;
}
