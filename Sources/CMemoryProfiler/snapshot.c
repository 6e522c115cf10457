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

/// The state of one join.
struct join {
  struct hw_memory *memory;
  /// Whether the blocks count that are live now, and not those at the top.
  int is_now;
  /// Per node.
  int64_t *live, *touched;
  /// The large live blocks by address, and the first one that does not end before the current page.
  struct hw_block *large;
  size_t large_count, next_large;
  /// The small blocks by address that a forked process has inherited, and the first one that is not before the current
  /// page.
  struct hw_block *inherited;
  size_t inherited_count, next_inherited;
  /// The small blocks by address that have whole pages and are live, the first one that does not end before the current
  /// page, and how many of its whole pages so far are resident.
  struct hw_block *paged;
  size_t paged_count, next_paged;
  int64_t resident_pages;
  /// The range of the heap that brk(2) manages.
  uint64_t heap_start, heap_end;
  /// The end of the last mapping: PAGEMAP_SCAN refuses addresses that no program can have.
  uint64_t end;
  /// The ranges of the preloaded library: its file's mappings, and the one of its variables behind them.
  uint64_t library_start, library_end;
  int64_t scanned, heap, small, unseen, library;
};

int64_t hw_sampling_interval = 16384;

// MARK: - Reading /proc

static int open_file(pid_t process, const char *name) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

void hw_read_text(pid_t process, const char *name, char *text, size_t size) {
  int file = open_file(process, name);
  ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = '\0';
}

void hw_read_command(pid_t process, char command[16]) {
  hw_read_text(process, "comm", command, 16);
  command[strcspn(command, "\n")] = '\0';
}

/// Reads the file name of a process's program.
static void read_program(pid_t process, char *name, size_t size) {
  char link[48], path[4096];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  const char *slash = strrchr(path, '/');
  snprintf(name, size, "%s", slash == NULL ? path : slash + 1);
}

/// A number of `status`, in bytes; 0 if it has none.
static int64_t number_of(const char *status, const char *key) {
  const char *line = strstr(status, key);
  return line == NULL ? 0 : strtoll(line + strlen(key), NULL, 10) * 1024;
}

static void read_sizes(pid_t process, struct hw_snapshot *snapshot) {
  char text[4096];
  hw_read_text(process, "status", text, sizeof text);
  snapshot->peak = number_of(text, "\nVmHWM:");
  snapshot->files = number_of(text, "\nRssFile:");
  snapshot->shared = number_of(text, "\nRssShmem:");
}

/// RSS in bytes; 0 if the process has no memory.
static int64_t resident_size(pid_t process) {
  char text[128];
  long resident = 0;
  hw_read_text(process, "statm", text, sizeof text);
  return sscanf(text, "%*d %ld", &resident) == 1 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}

// MARK: - Joining

static int by_address(const void *one, const void *other) {
  uint64_t a = ((const struct hw_block *)one)->address, b = ((const struct hw_block *)other)->address;
  return a < b ? -1 : a > b;
}

/// Adds a share of a block: the part of it that is resident.
static void add_small_block(struct join *join, struct hw_block block, double share) {
  int64_t size = (int64_t)(hw_estimated_size(block.size) * share);
  join->live[block.stack] += size;
  // Blocks without a stack, too, belong to the heap's pages.
  if (block.stack != HW_NO_STACK) join->small += size;
}

/// Whether a process has not touched this since the fork that made it.
static int is_inherited(const struct hw_memory *memory, struct hw_block block) {
  return memory->origin != NULL && block.order <= memory->fork_order;
}

/// The pages that are wholly within a block.
static int64_t whole_pages(struct hw_block block) {
  int64_t first = (int64_t)((block.address + HW_PAGE_SIZE - 1) >> HW_PAGE_SHIFT);
  return (int64_t)((block.address + block.size) >> HW_PAGE_SHIFT) - first;
}

/// Adds the small blocks to their stacks, and lists the others, of which only the pages tell what counts.
///
/// One that was released since the top counts whole: its pages may have been released with it.
static void sum_blocks(struct join *join) {
  size_t count = 0;
  const struct hw_blocks *blocks = &join->memory->blocks;
  join->large = join->is_now ? hw_blocks_now(blocks, &count) : hw_blocks_at_top(blocks, &count);
  join->inherited = calloc(count + 1, sizeof *join->inherited);
  join->paged = calloc(count + 1, sizeof *join->paged);
  if (join->large == NULL || join->inherited == NULL || join->paged == NULL) return;
  for (size_t at = 0; at < count; at++) {
    struct hw_block block = join->large[at];
    if (block.size >= HW_LARGE_BLOCK) join->large[join->large_count++] = block;
    else if (is_inherited(join->memory, block)) join->inherited[join->inherited_count++] = block;
    else if (whole_pages(block) > 0 && hw_block_is_live(blocks, block)) join->paged[join->paged_count++] = block;
    else add_small_block(join, block, 1);
  }
  qsort(join->large, join->large_count, sizeof *join->large, by_address);
  qsort(join->paged, join->paged_count, sizeof *join->paged, by_address);
  qsort(join->inherited, join->inherited_count, sizeof *join->inherited, by_address);
}

/// Adds the inherited blocks of a page; pages come in ascending order.
static void add_inherited(struct join *join, uint64_t address) {
  for (; join->next_inherited < join->inherited_count; join->next_inherited++) {
    struct hw_block block = join->inherited[join->next_inherited];
    if (block.address >= address + HW_PAGE_SIZE) return;
    if (block.address >= address) add_small_block(join, block, 1);
  }
}

/// Adds the next block with whole pages, without those that are not resident.
static void add_paged(struct join *join) {
  struct hw_block block = join->paged[join->next_paged++];
  int64_t absent = (whole_pages(block) - join->resident_pages) * (int64_t)HW_PAGE_SIZE;
  add_small_block(join, block, 1 - (double)absent / (double)block.size);
  join->resident_pages = 0;
}

/// Counts a page for the block that it is within; pages come in ascending order.
static void count_page(struct join *join, uint64_t address) {
  const struct hw_block *paged = join->paged;
  while (join->next_paged < join->paged_count) {
    struct hw_block block = paged[join->next_paged];
    if (block.address + block.size > address) {
      join->resident_pages += block.address <= address && block.address + block.size >= address + HW_PAGE_SIZE;
      return;
    }
    add_paged(join);
  }
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
  int has_small_blocks = stretch != NULL && stretch->has_small_blocks;
  int is_heap = has_small_blocks || (address >= join->heap_start && address < join->heap_end);
  if (is_heap) {
    join->heap += (int64_t)HW_PAGE_SIZE;
    add_inherited(join, address);
    count_page(join, address);
    return;
  }
  if (stretch != NULL) stack = stretch->stacks[(address >> HW_PAGE_SHIFT) & 511];
  if (stack == HW_NO_STACK && stretch != NULL && is_huge) stack = earliest(stretch);
  if (stack == HW_NO_STACK) join->unseen += (int64_t)HW_PAGE_SIZE;
  else join->touched[stack] += (int64_t)HW_PAGE_SIZE;
}

// MARK: - Finding resident pages

/// Whether a page counts for this process. Of a forked one, those count that it has touched, or no longer shares.
static int is_own(const struct join *join, uint64_t address, uint64_t entry) {
  const struct hw_memory *memory = join->memory;
  if (memory->origin == NULL || (entry & ENTRY_EXCLUSIVE) != 0) return 1;
  const struct hw_stretch *stretch = hw_pages_stretch(&memory->pages, address);
  return stretch != NULL && stretch->times[(address >> HW_PAGE_SHIFT) & 511] > memory->fork_time;
}

/// Visits the anonymous pages of a range by their entries in pagemap.
static void read_entries(int pagemap, struct join *join, uint64_t start, uint64_t end, int is_huge) {
  uint64_t entries[512];
  for (uint64_t page = start >> HW_PAGE_SHIFT; page < end >> HW_PAGE_SHIFT; page += 512) {
    uint64_t left = (end >> HW_PAGE_SHIFT) - page, wanted = left < 512 ? left : 512;
    ssize_t length = pread(pagemap, entries, wanted * sizeof *entries, (off_t)(page * sizeof *entries));
    for (ssize_t at = 0; at < length / (ssize_t)sizeof *entries; at++) {
      if ((entries[at] & ENTRY_PRESENT) == 0 || (entries[at] & ENTRY_FILE) != 0) continue;
      uint64_t address = (page + (uint64_t)at) << HW_PAGE_SHIFT;
      if (is_own(join, address, entries[at])) add_page(join, address, is_huge);
    }
  }
}

/// Visits the anonymous pages of a range that has nothing else.
static void visit_region(int pagemap, struct join *join, const struct region *region) {
  int is_huge = (region->categories & IS_HUGE) != 0;
  if (join->memory->origin != NULL) {
    read_entries(pagemap, join, region->start, region->end, is_huge);
    return;
  }
  for (uint64_t address = region->start; address < region->end; address += HW_PAGE_SIZE) {
    add_page(join, address, is_huge);
  }
}

/// Visits the anonymous pages by PAGEMAP_SCAN; 0, or an errno before the first page.
static int scan_pages(int pagemap, struct join *join) {
  struct region regions[REGIONS];
  struct scan scan = {
    .size = sizeof scan, .end = join->end, .regions = (uint64_t)(uintptr_t)regions, .region_count = REGIONS,
    .inverted = IS_FILE | IS_ZERO_PAGE, .mask = IS_PRESENT | IS_FILE | IS_ZERO_PAGE, .returned = IS_HUGE,
  };
  for (;;) {
    int count = ioctl(pagemap, SCAN, &scan);
    if (count < 0) return join->scanned == 0 ? errno : 0;
    for (int at = 0; at < count; at++) visit_region(pagemap, join, &regions[at]);
    // `walk_end` is not used: with a full list it may lie before the end of the last region (seen on Linux 6.18).
    if (count < REGIONS) return 0;
    scan.start = regions[count - 1].end;
  }
}

/// Notes a mapping of the preloaded library. Its variables that start as zero are a mapping without a name behind it.
static void note_library(struct join *join, uint64_t start, uint64_t end, const char *line) {
  int is_named = strstr(line, "/" HW_LIBRARY) != NULL;
  if (is_named && join->library_end == 0) join->library_start = start;
  if (is_named || (start == join->library_end && strchr(line, '/') == NULL)) join->library_end = end;
}

/// Finds the heap and the preloaded library; visits the pages of each private mapping if `pagemap` is open, which is for
/// kernels without PAGEMAP_SCAN.
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
    // The kernel's own page is above.
    if (end >> 63 == 0) join->end = end;
    note_library(join, start, end, line);
    if (pagemap >= 0 && rights[3] == 'p') read_entries(pagemap, join, start, end, 0);
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
  snapshot->weights = calloc(used + 1, sizeof *snapshot->weights);
  if (snapshot->weights == NULL) return;
  for (uint32_t node = 1; node < count; node++) {
    if (join->live[node] == 0 && join->touched[node] == 0) continue;
    snapshot->weights[snapshot->count++] = (struct hw_weight){node, join->live[node], join->touched[node]};
  }
}

/// What a process holds; without weights if there is no memory for them.
static struct hw_snapshot take_snapshot(pid_t process, struct hw_memory *memory, int is_now) {
  struct join join = {.memory = memory, .is_now = is_now};
  struct hw_snapshot taken = {0};
  join.live = calloc(hw_tree_count(), sizeof *join.live);
  join.touched = calloc(hw_tree_count(), sizeof *join.touched);
  if (join.live != NULL && join.touched != NULL) {
    sum_blocks(&join);
    visit_pages(process, &join);
    while (join.next_paged < join.paged_count) add_paged(&join);
    read_sizes(process, &taken);
    hw_read_command(process, taken.command);
    read_program(process, taken.program, sizeof taken.program);
    taken.anonymous = join.scanned;
    taken.library = join.library;
    taken.overhead = join.heap - join.small;
    taken.unseen = join.unseen;
    store(&join, &taken);
  }
  free(join.live);
  free(join.touched);
  free(join.large);
  free(join.inherited);
  free(join.paged);
  return taken;
}

/// RSS; of a forked process, what it has touched and allocated since then, since RSS also counts what it shares.
static int64_t size_of(pid_t process, const struct hw_memory *memory) {
  if (memory->origin == NULL) return resident_size(process);
  int64_t touched = (int64_t)(memory->pages.time - memory->fork_time) << HW_PAGE_SHIFT;
  return touched + (int64_t)(memory->blocks.order - memory->fork_order) * hw_sampling_interval;
}

void hw_snapshot_if_larger(pid_t process, struct hw_memory *memory) {
  int64_t size = size_of(process, memory);
  // Each join visits all resident pages: at 1 % more the number of joins is small for any way to the peak.
  if (size <= memory->last_size + memory->last_size / 100) return;
  memory->last_size = size;
  struct hw_snapshot taken = take_snapshot(process, memory, 0);
  // What a forked process touched may have been released.
  int is_smaller = memory->origin != NULL && taken.anonymous <= memory->snapshot.anonymous;
  if (taken.weights == NULL || is_smaller) {
    free(taken.weights);
    return;
  }
  free(memory->snapshot.weights);
  memory->snapshot = taken;
}

struct hw_snapshot hw_snapshot_now(pid_t process, struct hw_memory *memory) {
  return take_snapshot(process, memory, 1);
}
