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

/// The state of one join.
struct join {
  struct hw_memory *memory;
  /// Per node.
  int64_t *live, *touched;
  /// The large live blocks by address, and the first one that does not end before the current page.
  struct hw_block *large;
  size_t large_count, next_large;
  /// The range of the heap that brk(2) manages.
  uint64_t heap_start, heap_end;
  /// The ranges of the preloaded library: its file's mappings, and the one of its variables behind them.
  uint64_t library_start, library_end;
  int64_t scanned, heap, unseen, library;
};

int64_t hw_sampling_interval = 16384;

// MARK: - Reading /proc

static int open_file(pid_t process, const char *name) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

static void read_peak(pid_t process, struct hw_snapshot *snapshot) {
  char text[4096];
  int file = open_file(process, "status");
  if (file < 0) return;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  const char *line = strstr(text, "\nVmHWM:");
  snapshot->peak = line == NULL ? 0 : strtoll(line + 7, NULL, 10) * 1024;
}

/// RSS in bytes; 0 if the process has no memory.
static int64_t resident_size(pid_t process) {
  char text[128];
  long resident = 0;
  int file = open_file(process, "statm");
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  return sscanf(text, "%*d %ld", &resident) == 1 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}

// MARK: - Joining

static int by_address(const void *one, const void *other) {
  uint64_t a = ((const struct hw_block *)one)->address, b = ((const struct hw_block *)other)->address;
  return a < b ? -1 : a > b;
}

/// Adds the small blocks to their stacks, and lists the large ones.
static int64_t sum_blocks(struct join *join) {
  int64_t sum = 0;
  size_t count = 0;
  join->large = hw_blocks_at_top(&join->memory->blocks, &count);
  for (size_t at = 0; at < count; at++) {
    struct hw_block block = join->large[at];
    if (block.size >= HW_LARGE_BLOCK) {
      join->large[join->large_count++] = block;
      continue;
    }
    int64_t size = (int64_t)hw_estimated_size(block.size);
    join->live[block.stack] += size;
    sum += size;
  }
  if (join->large != NULL) qsort(join->large, join->large_count, sizeof *join->large, by_address);
  return sum;
}

/// The earliest stack of a huge page: the kernel maps all of it at one fault.
static uint32_t earliest(const struct hw_stretch *stretch) {
  uint32_t found = HW_NO_STACK, time = UINT32_MAX;
  for (unsigned at = 0; at < 512; at++) {
    if (stretch->stacks[at] == HW_NO_STACK || stretch->times[at] >= time) continue;
    found = stretch->stacks[at];
    time = stretch->times[at];
  }
  return found;
}

/// The stack of the large block that a page lies in; pages come in ascending order.
static uint32_t holder(struct join *join, uint64_t address) {
  const struct hw_block *large = join->large;
  size_t at = join->next_large;
  while (at < join->large_count && large[at].address + large[at].size <= address) at++;
  join->next_large = at;
  return at < join->large_count && large[at].address < address + HW_PAGE_SIZE ? large[at].stack : HW_NO_STACK;
}

static void add_page(struct join *join, uint64_t address, int is_huge) {
  join->scanned += (int64_t)HW_PAGE_SIZE;
  if (address >= join->library_start && address < join->library_end) {
    join->library += (int64_t)HW_PAGE_SIZE;
    return;
  }
  uint32_t stack = holder(join, address);
  if (stack != HW_NO_STACK) {
    join->live[stack] += (int64_t)HW_PAGE_SIZE;
    return;
  }
  const struct hw_stretch *stretch = hw_pages_stretch(&join->memory->pages, address);
  int is_heap = (address >= join->heap_start && address < join->heap_end) || (stretch != NULL && stretch->has_small_blocks);
  if (is_heap) {
    join->heap += (int64_t)HW_PAGE_SIZE;
    return;
  }
  if (stretch != NULL) stack = stretch->stacks[(address >> HW_PAGE_SHIFT) & 511];
  if (stack == HW_NO_STACK && stretch != NULL && is_huge) stack = earliest(stretch);
  if (stack == HW_NO_STACK) join->unseen += (int64_t)HW_PAGE_SIZE;
  else join->touched[stack] += (int64_t)HW_PAGE_SIZE;
}

// MARK: - Finding resident pages

/// Visits the anonymous pages by PAGEMAP_SCAN; 0, or an errno before the first page.
static int scan_pages(int pagemap, struct join *join) {
  struct region regions[REGIONS];
  struct scan scan = {
    .size = sizeof scan, .end = UINT64_C(1) << 47, .regions = (uint64_t)(uintptr_t)regions, .region_count = REGIONS,
    .inverted = IS_FILE | IS_ZERO_PAGE, .mask = IS_PRESENT | IS_FILE | IS_ZERO_PAGE, .returned = IS_HUGE,
  };
  for (;;) {
    int count = ioctl(pagemap, SCAN, &scan);
    if (count < 0) return join->scanned == 0 ? errno : 0;
    for (int at = 0; at < count; at++) {
      for (uint64_t address = regions[at].start; address < regions[at].end; address += HW_PAGE_SIZE) {
        add_page(join, address, (regions[at].categories & IS_HUGE) != 0);
      }
    }
    // `walk_end` is not used: with a full list it may lie before the end of the last region (seen on Linux 6.18).
    if (count < REGIONS) return 0;
    scan.start = regions[count - 1].end;
  }
}

/// Visits the pages of one mapping by their entries in pagemap, on kernels without PAGEMAP_SCAN.
static void read_entries(int pagemap, struct join *join, uint64_t start, uint64_t end) {
  uint64_t entries[512];
  for (uint64_t page = start >> HW_PAGE_SHIFT; page < end >> HW_PAGE_SHIFT; page += 512) {
    uint64_t left = (end >> HW_PAGE_SHIFT) - page, wanted = left < 512 ? left : 512;
    ssize_t length = pread(pagemap, entries, wanted * sizeof *entries, (off_t)(page * sizeof *entries));
    for (ssize_t at = 0; at < length / (ssize_t)sizeof *entries; at++) {
      if ((entries[at] & ENTRY_PRESENT) == 0 || (entries[at] & ENTRY_FILE) != 0) continue;
      add_page(join, (page + (uint64_t)at) << HW_PAGE_SHIFT, 0);
    }
  }
}

/// Notes a mapping of the preloaded library. Its variables that start as zero are a mapping without a name behind it.
static void note_library(struct join *join, uint64_t start, uint64_t end, const char *line) {
  int is_named = strstr(line, "/" HW_LIBRARY) != NULL;
  if (is_named && join->library_end == 0) join->library_start = start;
  if (is_named || (start == join->library_end && strchr(line, '/') == NULL)) join->library_end = end;
}

/// Finds the heap and the preloaded library; visits the pages of each private mapping if `pagemap` is open.
static void read_mappings(pid_t process, int pagemap, struct join *join) {
  int descriptor = open_file(process, "maps");
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
  if (file == NULL) return;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    unsigned long start = 0, end = 0;
    char rights[8] = "";
    if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3) continue;
    if (strstr(line, " [heap]\n") != NULL) {
      // The heap may consist of several mappings.
      if (join->heap_end == 0) join->heap_start = start;
      join->heap_end = end;
    }
    note_library(join, start, end, line);
    if (pagemap >= 0 && rights[3] == 'p') read_entries(pagemap, join, start, end);
  }
  free(line);
  fclose(file);
}

static void visit_pages(pid_t process, struct join *join) {
  read_mappings(process, -1, join);
  int pagemap = open_file(process, "pagemap");
  if (pagemap < 0) return;
  if (scan_pages(pagemap, join) != 0) read_mappings(process, pagemap, join);
  close(pagemap);
}

// MARK: - Snapshots

/// Stores the weights of the nodes that have any.
static void store(const struct join *join, struct hw_snapshot *snapshot) {
  uint32_t count = hw_tree_count(), used = 0;
  for (uint32_t node = 1; node < count; node++) used += join->live[node] != 0 || join->touched[node] != 0;
  struct hw_weight *weights = calloc(used + 1, sizeof *weights);
  if (weights == NULL) return;
  free(snapshot->weights);
  snapshot->weights = weights;
  snapshot->count = 0;
  for (uint32_t node = 1; node < count; node++) {
    if (join->live[node] == 0 && join->touched[node] == 0) continue;
    weights[snapshot->count++] = (struct hw_weight){node, join->live[node], join->touched[node]};
  }
}

static void take_snapshot(pid_t process, struct hw_memory *memory) {
  struct join join = {.memory = memory};
  join.live = calloc(hw_tree_count(), sizeof *join.live);
  join.touched = calloc(hw_tree_count(), sizeof *join.touched);
  if (join.live != NULL && join.touched != NULL) {
    int64_t small = sum_blocks(&join);
    // Blocks without a stack, too, belong to the heap's pages.
    small -= join.live[HW_NO_STACK];
    visit_pages(process, &join);
    read_peak(process, &memory->snapshot);
    memory->snapshot.anonymous = join.scanned;
    memory->snapshot.library = join.library;
    memory->snapshot.overhead = join.heap - small;
    memory->snapshot.unseen = join.unseen;
    store(&join, &memory->snapshot);
  }
  free(join.live);
  free(join.touched);
  free(join.large);
}

void hw_snapshot_if_larger(pid_t process, struct hw_memory *memory) {
  int64_t size = resident_size(process);
  // Each join visits all resident pages: at 1 % more the number of joins is small for any way to the peak.
  if (size <= memory->last_size + memory->last_size / 100) return;
  memory->last_size = size;
  take_snapshot(process, memory);
}
