#include "profiler.h"

#include <stdlib.h>
#include <string.h>

/// The pages in a row of which no page fault was sampled: they count for the stack of the next page that has one in the same
/// mapping, since a sampled fault stands for those before it, and at the mapping's end for that of the last one.
///
/// The few pages of a mapping without any sampled fault, such as a thread's stack, count for the next such mapping of its
/// kind that has one; more pages than the period of sampling were not touched by the program, but filled by the kernel.
struct gap {
  int64_t bytes;
  /// The stack of the last page; `HW_NO_STACK` before the first one of the mapping.
  uint32_t last;
};

/// The state of one join.
struct join {
  struct hw_memory *memory;
  /// Whether the blocks count that are live now, and not those at the top.
  int is_now;
  /// Per node.
  int64_t *live, *touched, *sampled;
  uint32_t node_count;
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
  struct hw_layout layout;
  /// The first mapping, and the first range that the process has inherited, that does not end before the current page.
  size_t next_area, next_range;
  /// The pages of the current mapping that were touched, and those that are copies after a fork.
  struct gap touched_gap, copied_gap;
  /// Those of former mappings without a sampled fault: of files, and others.
  struct gap carried[2];
  /// The stretch of the current page.
  uint64_t stretch_number;
  const struct hw_stretch *stretch;
  int64_t scanned, heap, small, unseen, library;
};

// MARK: - Joining

static int by_address(const void *one, const void *other) {
  uint64_t a = ((const struct hw_block *)one)->address, b = ((const struct hw_block *)other)->address;
  return a < b ? -1 : a > b;
}

/// Adds a share of a block: the part of it that is resident.
static void add_small_block(struct join *join, struct hw_block block, double share) {
  int64_t size = (int64_t)(hw_estimated_size(block.size) * share);
  join->live[block.stack] += size;
  join->sampled[block.stack] += (int64_t)(hw_sampled_size(block.size) * share * share);
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

static const struct hw_stretch *stretch_of(struct join *join, uint64_t address) {
  uint64_t number = address / (512 * HW_PAGE_SIZE);
  if (join->stretch_number != number || join->scanned == 0) {
    join->stretch = hw_pages_stretch(&join->memory->pages, address);
    join->stretch_number = number;
  }
  return join->stretch;
}

/// The stack of a page whose fault was sampled, or that the kernel has filled; else `HW_NO_STACK`.
static uint32_t stack_of(const struct hw_stretch *stretch, struct hw_page page) {
  if (stretch == NULL) return HW_NO_STACK;
  uint32_t stack = stretch->stacks[(page.address >> HW_PAGE_SHIFT) & 511];
  return stack == HW_NO_STACK && page.is_huge ? earliest(stretch) : stack;
}

/// The node of copying, called by the one that wrote; of copies that nobody is known to have written it stands alone.
static uint32_t copying_node(uint32_t writer) {
  return hw_tree_child(writer, (struct hw_place){.module = HW_COPY});
}

/// Adds pages to a node, which may be newer than the join.
static void add_touched(struct join *join, uint32_t node, int64_t bytes) {
  if (node == HW_NO_STACK || node >= join->node_count) join->unseen += bytes;
  else join->touched[node] += bytes;
}

/// Ends a mapping, the pages of which were touched.
static void close_touched(struct join *join, int is_file) {
  struct gap *gap = &join->touched_gap, *carried = &join->carried[is_file];
  if (gap->last != HW_NO_STACK) {
    add_touched(join, gap->last, gap->bytes + carried->bytes);
    *carried = (struct gap){.last = gap->last};
  } else if (gap->bytes <= (int64_t)hw_fault_period() * (int64_t)HW_PAGE_SIZE) {
    carried->bytes += gap->bytes;
  } else {
    join->unseen += gap->bytes;
  }
  *gap = (struct gap){0};
}

/// Ends the current mapping.
static void close_gaps(struct join *join) {
  const struct hw_layout *layout = &join->layout;
  close_touched(join, join->next_area < layout->area_count && layout->areas[join->next_area].is_file);
  if (join->copied_gap.bytes > 0) add_touched(join, copying_node(join->copied_gap.last), join->copied_gap.bytes);
  join->copied_gap = (struct gap){0};
}

/// Ends the last mapping.
static void close_all(struct join *join) {
  close_gaps(join);
  for (int kind = 0; kind < 2; kind++) add_touched(join, join->carried[kind].last, join->carried[kind].bytes);
}

/// Moves on to the mapping of a page; pages come in ascending order.
static void enter_area(struct join *join, uint64_t address) {
  const struct hw_area *areas = join->layout.areas;
  if (join->next_area >= join->layout.area_count || areas[join->next_area].end > address) return;
  close_gaps(join);
  while (join->next_area < join->layout.area_count && areas[join->next_area].end <= address) join->next_area++;
}

/// Whether a page existed before the fork that made the process; pages come in ascending order.
static int is_copy(struct join *join, uint64_t address) {
  const struct hw_memory *memory = join->memory;
  if (memory->origin == NULL || memory->inherited == NULL) return 0;
  const struct hw_area *ranges = memory->inherited->ranges;
  while (join->next_range < memory->inherited->count && ranges[join->next_range].end <= address) join->next_range++;
  return join->next_range < memory->inherited->count && ranges[join->next_range].start <= address;
}

/// Adds a page for the stack of its fault, or to the gap up to the next one.
static void add_to_gap(struct join *join, struct gap *gap, uint32_t stack, int is_copied) {
  gap->bytes += (int64_t)HW_PAGE_SIZE;
  if (stack == HW_NO_STACK) return;
  add_touched(join, is_copied ? copying_node(stack) : stack, gap->bytes);
  *gap = (struct gap){.last = stack};
}

static void add_copied(struct join *join, const struct hw_stretch *stretch, struct hw_page page) {
  unsigned at = (page.address >> HW_PAGE_SHIFT) & 511;
  int is_written = stretch != NULL && stretch->times[at] > join->memory->fork_time;
  add_to_gap(join, &join->copied_gap, is_written ? stretch->stacks[at] & ~HW_FILLED : HW_NO_STACK, 1);
}

/// Whether a page counts for this process. Of a forked one, those count that it has touched, or no longer shares.
static int is_own(const struct join *join, const struct hw_stretch *stretch, struct hw_page page) {
  const struct hw_memory *memory = join->memory;
  if (memory->origin == NULL || page.is_exclusive) return 1;
  return stretch != NULL && stretch->times[(page.address >> HW_PAGE_SHIFT) & 511] > memory->fork_time;
}

/// Whether a page is in the current mapping, and that is one of a file or of its variables.
static int is_static(const struct join *join, uint64_t address) {
  const struct hw_layout *layout = &join->layout;
  if (join->next_area >= layout->area_count) return 0;
  struct hw_area area = layout->areas[join->next_area];
  return area.is_static && area.start <= address;
}

static void add_heap_page(struct join *join, uint64_t address) {
  join->heap += (int64_t)HW_PAGE_SIZE;
  add_inherited(join, address);
  count_page(join, address);
}

static void add_page(void *context, struct hw_page page) {
  struct join *join = context;
  const struct hw_layout *layout = &join->layout;
  uint64_t address = page.address;
  const struct hw_stretch *stretch = stretch_of(join, address);
  if (!is_own(join, stretch, page)) return;
  enter_area(join, address);
  join->scanned += (int64_t)HW_PAGE_SIZE;
  if (address >= layout->library_start && address < layout->library_end) {
    join->library += (int64_t)HW_PAGE_SIZE;
    return;
  }
  if (is_copy(join, address)) {
    add_copied(join, stretch, page);
    return;
  }
  uint32_t stack = holder(join, address);
  if (stack != HW_NO_STACK) {
    join->live[stack] += (int64_t)HW_PAGE_SIZE;
    return;
  }
  int is_heap = address >= layout->heap_start && address < layout->heap_end;
  if (is_heap || (stretch != NULL && stretch->has_small_blocks && !is_static(join, address))) {
    add_heap_page(join, address);
    return;
  }
  stack = stack_of(stretch, page);
  if ((stack & HW_FILLED) != 0) add_touched(join, stack & ~HW_FILLED, (int64_t)HW_PAGE_SIZE);
  else add_to_gap(join, &join->touched_gap, stack, 0);
}

// MARK: - Snapshots

/// Stores the weights of the nodes that have any.
static void store(const struct join *join, struct hw_snapshot *snapshot) {
  uint32_t count = join->node_count, used = 0;
  for (uint32_t node = 1; node < count; node++) used += join->live[node] != 0 || join->touched[node] != 0;
  snapshot->weights = calloc(used + 1, sizeof *snapshot->weights);
  if (snapshot->weights == NULL) return;
  for (uint32_t node = 1; node < count; node++) {
    if (join->live[node] == 0 && join->touched[node] == 0) continue;
    snapshot->weights[snapshot->count++] = (struct hw_weight){node, join->live[node], join->touched[node], join->sampled[node]};
  }
}

/// More nodes than those that copying adds to one join; others count as not seen.
#define MORE_NODES 4096

static void fill(pid_t process, struct join *join, struct hw_snapshot *taken) {
  pid_t thread = hw_living_thread(process);
  hw_read_layout(thread, &join->layout);
  sum_blocks(join);
  hw_visit_pages(thread, &join->layout, join->memory->origin != NULL, add_page, join);
  close_all(join);
  while (join->next_paged < join->paged_count) add_paged(join);
  hw_read_sizes(thread, taken);
  int64_t *ring_part = hw_ring_is_shared_memory() ? &taken->shared : &taken->files;
  int64_t ring = hw_ring_size(thread, &join->layout);
  *ring_part -= ring;
  taken->peak -= ring;
  hw_layout_clear(&join->layout);
  taken->process = process;
  taken->time = hw_now();
  hw_read_command(process, taken->command);
  memcpy(taken->started_as, join->memory->started_as, sizeof taken->started_as);
  hw_read_program(process, taken->program, sizeof taken->program);
  taken->anonymous = join->scanned;
  taken->library = join->library;
  taken->overhead = join->heap - join->small;
  taken->unseen = join->unseen;
  store(join, taken);
}

/// Adds what call stacks hold in a collected heap; how many bytes.
static int64_t add_objects(struct join *join, const struct hw_weights *objects) {
  int64_t bytes = 0;
  for (size_t at = 0; at < objects->count; at++) {
    const struct hw_weight *weight = &objects->all[at];
    join->live[weight->node] += weight->live;
    join->sampled[weight->node] += weight->sampled;
    bytes += weight->live;
  }
  return bytes;
}

/// What a process holds; without weights if there is no memory for them.
static struct hw_snapshot take_snapshot(pid_t process, struct hw_memory *memory, int is_now) {
  struct hw_process *known = hw_find_process(process);
  struct hw_weights objects = known == NULL ? (struct hw_weights){0} : hw_go_read(known);
  struct join join = {.memory = memory, .is_now = is_now, .node_count = hw_tree_count() + MORE_NODES};
  struct hw_snapshot taken = {0};
  join.live = calloc(join.node_count, sizeof *join.live);
  join.touched = calloc(join.node_count, sizeof *join.touched);
  join.sampled = calloc(join.node_count, sizeof *join.sampled);
  if (join.live != NULL && join.touched != NULL && join.sampled != NULL) {
    taken.objects = add_objects(&join, &objects);
    fill(process, &join, &taken);
  }
  free(objects.all);
  free(join.live);
  free(join.touched);
  free(join.sampled);
  free(join.large);
  free(join.inherited);
  free(join.paged);
  return taken;
}

/// RSS; of a forked process, what it has touched and allocated since then, since RSS also counts what it shares.
static int64_t size_of(pid_t process, const struct hw_memory *memory) {
  if (memory->origin == NULL) return hw_resident_size(hw_living_thread(process));
  int64_t touched = (int64_t)(memory->pages.time - memory->fork_time) << HW_PAGE_SHIFT;
  return touched + (int64_t)(memory->allocated - memory->fork_allocated);
}

/// Each join visits all resident pages. At 1 % more the number of joins is small for any way to the peak, unless the process
/// releases memory again and again while it grows: then joins wait for 5 % more, so that they take little of the run.
static int is_worth(int64_t growth, int64_t former, double spent, int is_last) {
  return growth > former / 20 || (growth > former / 100 && (is_last || spent < hw_run_seconds() / 20));
}

void hw_snapshot_if_larger(pid_t process, struct hw_memory *memory, int is_last) {
  static double spent;
  int64_t size = size_of(process, memory);
  if (!is_worth(size - memory->last_size, memory->last_size, spent, is_last)) return;
  double begin = hw_own_seconds();
  hw_ring_drain();
  memory->last_size = size;
  struct hw_snapshot taken = take_snapshot(process, memory, 0);
  spent += hw_own_seconds() - begin;
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
