/// Declarations shared by the files of this module, not exported.

#ifndef HW_PROFILER_H
#define HW_PROFILER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CCallStacks.h"
#include "CMemoryProfiler.h"
#include "resident.h"

#define HW_PAGE_SHIFT 12
#define HW_PAGE_SIZE (UINT64_C(1) << HW_PAGE_SHIFT)

/// An advice of madvise(2) since Linux 5.14, which older headers lack.
#define HW_POPULATE_WRITE 23

/// Calls that read so many bytes are followed: the kernel touches their pages, without a page fault of the program.
/// Of smaller ones two stops, some 40 µs, would take longer than the reading.
#define HW_LARGE_READ 1048576

/// Marks a page fault's signal.
#define HW_FAULT_MARK UINT64_C(0x68776d656d6f7279)

// MARK: - Call stacks

/// The outermost node of all stacks; no stack is known.
#define HW_NO_STACK 0

/// The module of places in scripts; their address is a number.
#define HW_SCRIPT UINT32_MAX

/// The module of the place that stands for copying a page, below the function that wrote to it after a fork.
#define HW_COPY (UINT32_MAX - 1)

/// The module of the place that stands for releasing a block, below the stack that had allocated it.
#define HW_RELEASE (UINT32_MAX - 2)

/// Begins the name of a function of Java, before the process and the function's key in hexadecimal digits.
#define HW_JAVA_NAME "[java] "

/// The function of a script at a place with the module `HW_SCRIPT`.
struct hw_python_frame hw_script_at(struct hw_place place);

/// Walks the stack of a stopped thread and stores it; returns its innermost node, or `HW_NO_STACK`.
uint32_t hw_stack_of(struct hw_code *code, pid_t thread);

/// The same of a copy of a stack in a process, with the functions of Python or Java that the thread ran.
uint32_t hw_stack_of_copy(
  struct hw_code *code, pid_t process, const struct hw_stack_copy *copy, const struct hw_python_copy *frames, int count);

/// Stores a stack, innermost place first; returns its innermost node, or `HW_NO_STACK`.
uint32_t hw_tree_insert(const struct hw_place *places, int count);

/// The node of a place that another node has called; returns `HW_NO_STACK` if there is no memory for it.
uint32_t hw_tree_child(uint32_t parent, struct hw_place place);

/// The number of nodes; nodes are numbered from 1, and a parent has a lower number than its children.
uint32_t hw_tree_count(void);

/// The next outer node.
uint32_t hw_tree_parent(uint32_t node);

struct hw_place hw_tree_place(uint32_t node);

// MARK: - Pages

/// A stretch of memory of 512 pages: for those whose page fault was sampled, which stack touched them first, and when.
struct hw_stretch {
  uint64_t number;
  uint32_t stacks[512];
  uint32_t times[512];
  /// Whether a small sampled block lay in it.
  int has_small_blocks;
};

/// Of a stack: the kernel has touched the page for it, so that it says nothing about the pages around.
#define HW_FILLED (UINT32_C(1) << 31)

/// The pages of one address space, by stretches in a hash table; `time` is an estimate of how many were touched.
struct hw_pages {
  struct hw_stretch **slots;
  uint32_t capacity;
  uint32_t count;
  uint32_t time;
};

/// Sets the page of a fault that stands for so many.
void hw_pages_set(struct hw_pages *pages, uint64_t address, uint32_t stack, uint32_t weight);
/// Sets those pages of a range that no stack has touched: the kernel has, for this one.
void hw_pages_fill(struct hw_pages *pages, uint64_t from, uint64_t size, uint32_t stack);
void hw_pages_forget(struct hw_pages *pages, uint64_t from, uint64_t size);
/// Moves the pages of a range, as mremap(2) does.
void hw_pages_move(struct hw_pages *pages, uint64_t from, uint64_t to, uint64_t size);
/// Notes that a small block is at the address.
void hw_pages_note_block(struct hw_pages *pages, uint64_t address);
struct hw_stretch *hw_pages_stretch(const struct hw_pages *pages, uint64_t address);
void hw_pages_copy(const struct hw_pages *from, struct hw_pages *to);
void hw_pages_clear(struct hw_pages *pages);

// MARK: - Blocks

/// The file name of the preloaded library.
#define HW_LIBRARY "libhighwater-allocations.so"

/// From this size on the blocks of malloc(3) are mappings of their own, or whole pages: their resident part is counted.
#define HW_LARGE_BLOCK 131072

/// A sampled block, of which the allocator gave `size` bytes; `address` is 0 in free slots.
struct hw_block {
  uint64_t address;
  uint64_t size;
  /// The number of the allocation.
  uint64_t order;
  uint32_t stack;
};

/// The live blocks, and those that were live at the top: when their sum was highest.
///
/// A program that frees all at its end gives the pages back only when most blocks are gone: what was live then does not
/// tell what the pages were for. The top starts anew when the process has touched many further pages.
struct hw_blocks {
  struct hw_block *slots;
  uint32_t capacity;
  uint32_t count;
  /// The number of the last allocation, and of the last one before the top.
  uint64_t order, top_order;
  /// In bytes, estimated from the samples.
  double sum, top_sum;
  /// `hw_new_pages` at the top.
  uint32_t top_time;
  /// Blocks that were live at the top and are released.
  struct hw_block *released;
  uint32_t released_count, released_capacity;
};

/// Adds a block; `time` is `hw_new_pages`.
void hw_blocks_add(struct hw_blocks *blocks, struct hw_block block, uint32_t time);
/// The removed block; zero if there is none at the address.
struct hw_block hw_blocks_remove(struct hw_blocks *blocks, uint64_t address);
int hw_blocks_have(const struct hw_blocks *blocks, uint64_t address);
/// Removes samples as if they had been taken with the sampling interval of now, instead of a former one.
void hw_blocks_thin(struct hw_blocks *blocks, double former);
/// Says that pages were touched; `time` is `hw_new_pages`.
void hw_blocks_note_pages(struct hw_blocks *blocks, uint32_t time);
/// The blocks that were live at the top, as an array that the caller frees; NULL if there is no memory for it.
struct hw_block *hw_blocks_at_top(const struct hw_blocks *blocks, size_t *count);
/// The same for those that are live now.
struct hw_block *hw_blocks_now(const struct hw_blocks *blocks, size_t *count);
/// Whether a block is still live.
int hw_block_is_live(const struct hw_blocks *blocks, struct hw_block block);
void hw_blocks_copy(const struct hw_blocks *from, struct hw_blocks *to);
void hw_blocks_clear(struct hw_blocks *blocks);

// MARK: - Releases

/// What was released, in bytes by the node of the stack that released it, innermost place first, below `HW_RELEASE` and the
/// stack that had allocated it; an estimate. What was not released stands at `HW_RELEASE` itself. A hash table.
struct hw_releases {
  struct hw_released {
    /// 0 in free slots.
    uint32_t node;
    double bytes;
  } *slots;
  uint32_t capacity, count;
};

/// Adds the release of a block, whose stack stands for so many; without a stack a block that is not released.
void hw_releases_add(struct hw_releases *releases, struct hw_block block, uint32_t stack, uint32_t count);
/// The blocks that are still live, after some of them in order, are not released.
void hw_releases_end(struct hw_releases *releases, const struct hw_blocks *blocks, uint64_t after);
/// Moves all to other ones.
void hw_releases_move(struct hw_releases *to, struct hw_releases *from);
void hw_releases_clear(struct hw_releases *releases);

// MARK: - Memory

/// The memory that one stack holds.
struct hw_weight {
  uint32_t node;
  /// Bytes of live blocks: estimated from samples below `HW_LARGE_BLOCK`, without whole pages that are not resident, else
  /// the resident pages.
  int64_t live;
  /// Bytes of other pages that this stack touched first.
  int64_t touched;
  /// The part of `live` that sampling estimates, in bytes: times the interval it is the variance of `live`.
  int64_t sampled;
};

/// An array of them that grows.
struct hw_weights {
  struct hw_weight *all;
  size_t count, capacity;
};

/// Adds one with a stack; none if there is no memory for it.
void hw_weights_add(struct hw_weights *weights, struct hw_weight weight);

/// What held the memory of a process at one moment.
///
/// A forked process still shares pages with the one that it is a copy of: these count for the process that touched them.
struct hw_snapshot {
  struct hw_weight *weights;
  uint32_t count;
  /// The name of the process, the file name of its program, and the name by which that was started: a link's, or a script's.
  char command[16], program[256], started_as[16];
  pid_t process;
  /// When it was, by CLOCK_MONOTONIC in nanoseconds: by it samplers of collected heaps know what they had at that moment.
  int64_t time;
  /// In bytes: VmHWM, and the anonymous pages that the page tables show. RssAnon may differ by some dozen KiB, since the
  /// kernel counts in batches for each CPU.
  int64_t peak, anonymous;
  /// In bytes: pages of mapped files, and of shared memory, which are not anonymous.
  int64_t files, shared;
  /// Bytes of heap pages beyond the live blocks. Who touched a page of the heap first need not hold it.
  int64_t overhead;
  /// Bytes of pages of which no fault was seen.
  int64_t unseen;
  /// Bytes of the preloaded library's own pages.
  int64_t library;
  /// Bytes of objects in the heap of Go, which are live blocks as well.
  int64_t objects;
};

/// One address space, which processes share after vfork(2).
struct hw_memory {
  int users;
  /// The memory that it is a copy of, since a fork; NULL for none.
  struct hw_memory *origin;
  /// The count of touched pages, the number of the last allocation, and what was allocated, at the fork.
  uint32_t fork_time;
  uint64_t fork_order;
  double fork_allocated;
  /// What was resident at the fork, which the process now has as copies; NULL if unknown.
  struct hw_ranges *inherited;
  /// The count of those that it has touched.
  uint32_t copied;
  /// What was resident when this process last forked another one.
  struct hw_ranges *shared;
  /// Whether its process is about to exit.
  int is_ending;
  /// Whether its own peak is kept: several threads of a process may show that it is about to exit.
  int is_kept;
  /// The last visit of all memories that found it.
  uint32_t visit;
  struct hw_code *code;
  struct hw_pages pages;
  struct hw_blocks blocks;
  struct hw_releases releases;
  /// Whether the preloaded library reports its blocks.
  int has_blocks;
  /// An estimate of what it has allocated in blocks below `HW_LARGE_BLOCK`, in bytes.
  double allocated;
  /// What it has allocated in larger blocks, in bytes.
  double allocated_large;
  /// Whether its program has Go's runtime; and where that counts, NULL if this is unknown.
  int is_go;
  struct hw_go *go;
  /// The name of the process when it executed its program, which may change it.
  char started_as[16];
  /// The end of the heap as last requested by brk(2).
  uint64_t heap_end;
  /// The size in bytes at the last snapshot: RSS, or of a forked process what it has touched itself.
  int64_t last_size;
  struct hw_snapshot snapshot;
};

// MARK: - Processes

/// A system call of the filter.
struct hw_call {
  /// The thread that makes it; 0 for none.
  pid_t caller;
  uint64_t number, arguments[6];
  /// For `mmap` with MAP_POPULATE: the stack that its pages belong to.
  uint32_t stack;
};

/// A traced process.
struct hw_process {
  pid_t pid;
  struct hw_memory *memory;
  /// The perf events of its program, which its threads and forked children inherit; NULL for none.
  struct hw_faults *faults;
  /// A living thread other than the first one, which has ended and shows nothing; 0 while it lives.
  pid_t other_thread;
  /// Whether it is about to exit.
  int is_ending;
  /// The call at whose end a thread of it will stop.
  struct hw_call awaited;
  struct hw_process *next;
};

/// NULL if it is unknown.
struct hw_process *hw_find_process(pid_t pid);

/// How many pages a process has touched, without those that a fork had left shared: writing to these copies what exists
/// already, as a Python process does with all of its objects at its exit.
uint32_t hw_new_pages(const struct hw_memory *memory);

/// The mappings of a process's code; NULL if there is no memory for them.
struct hw_code *hw_process_code(struct hw_process *process);

/// The stack of a stopped thread of the process.
uint32_t hw_process_stack(struct hw_process *process, pid_t thread);

/// The same of a copy; see `hw_stack_of_copy`.
uint32_t hw_process_stack_of_copy(
  struct hw_process *process, const struct hw_stack_copy *copy, const struct hw_python_copy *frames, int count);

/// A thread of a process by which the kernel shows its memory: the first one as long as it lives.
pid_t hw_living_thread(pid_t process);

// MARK: - Sampling

/// The mean number of bytes between samples. It doubles when a run has used up its samples, which are thinned then.
extern int64_t hw_sampling_interval;

/// How long the run has taken since its first sample, in seconds, or the CPU time of its processes if that is more.
///
/// What profiling may cost is a part of it, so that a target that waits most of the time is not seen less exactly.
double hw_run_seconds(void);

/// That of one process, and of all living ones.
double hw_process_seconds(pid_t process);
double hw_living_seconds(void);

/// A process is about to exit.
void hw_note_ended_time(pid_t process);

/// The CPU time of this process.
double hw_own_seconds(void);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t hw_now(void);

/// The memory that a sampled block stands for, in bytes.
double hw_estimated_size(uint64_t size);

/// The part of that which is estimated: all of a small block, and nothing of one that was sampled for certain.
double hw_sampled_size(uint64_t size);

/// Whether a sample that was drawn with an earlier interval would also be one with that of now.
int hw_keeps_sample(uint64_t size, double interval);

/// Counts a sample against the limits; `cost` is 1 if its stack was followed, and `live` how many of its address space are
/// live.
void hw_count_sample(double cost, uint32_t live);

/// Thins the blocks of all processes.
void hw_thin_blocks(double former);

/// A process has allocated a block, which was sampled; one that it released soon after; or released one, with a stack that
/// stands for so many releases, or none.
void hw_note_temporary(struct hw_memory *memory, uint64_t address, uint64_t size);
void hw_note_block(struct hw_memory *memory, uint64_t address, uint64_t size, uint32_t stack);
void hw_note_release(struct hw_memory *memory, uint64_t address, uint32_t stack, uint32_t releases);

/// realloc(3) has moved a sampled block, or changed its size: it keeps the stack of its allocation.
void hw_note_move(struct hw_memory *memory, uint64_t from, uint64_t to, uint64_t size);

// MARK: - The ring of the preloaded library

/// Maps the ring of a file; whether there is one.
int hw_ring_open(int file, double interval);
void hw_ring_set_interval(double interval);

/// Whether the ring is in shared memory, and not in a file on a disk.
int hw_ring_is_shared_memory(void);

/// A process has announced the number of its address space.
void hw_ring_announce(uint32_t space, pid_t process);

/// The address spaces of a process belong to another one from now on, or are gone: 0.
void hw_ring_replace(pid_t process, pid_t heir);

/// Handles the complete records; whether there were any. It never waits.
int hw_ring_drain(void);

// MARK: - Page faults

#define HW_FAULT_LEVELS 4

/// The perf events of a program, one for each period.
struct hw_faults {
  int users;
  int events[HW_FAULT_LEVELS];
  struct hw_faults *next;
};

/// NULL if there is no memory for it.
struct hw_faults *hw_faults_open(pid_t process);
struct hw_faults *hw_faults_share(struct hw_faults *faults);
void hw_faults_close(struct hw_faults *faults);

/// Counts a page fault that has stopped a process; how many it stands for.
uint32_t hw_count_fault(void);

/// How many page faults a sampled one stands for now.
uint32_t hw_fault_period(void);

// MARK: - Go

/// A process has executed a program, which may have Go's runtime: then it samples its objects.
void hw_go_begin(struct hw_process *process);

/// Whether an address is one at which a stop tells that the runtime has begun.
int hw_go_is_watched(const struct hw_memory *memory, uint64_t address);

void hw_go_end(struct hw_memory *memory);

/// Sets the distance between samples once the runtime has set its own.
void hw_go_check(struct hw_process *process);

/// What call stacks hold in the heap of Go, and its goroutines as their stacks; the caller frees the array.
struct hw_weights hw_go_read(struct hw_process *process);

/// Adds what the stacks of goroutines hold, as blocks of the function that each began with and of its creator. `list` and
/// `length` are the addresses of the runtime's variables for them.
void hw_goroutines_read(struct hw_process *process, uint64_t list, uint64_t length, struct hw_weights *weights);

/// Reads memory of a process; 0 if not all of it exists.
int hw_read_from(pid_t process, uint64_t address, void *to, size_t size);

/// Why there are none in the heap of Go, as a `HeapObstacle`; empty if there are, or if the program has no such heap.
const char *hw_go_obstacle(const struct hw_memory *memory);

/// The mean number of bytes between Go's samples; 0 if there are none.
int64_t hw_go_rate(const struct hw_memory *memory);

// MARK: - Snapshots

/// Joins the resident pages of a process with stacks and blocks, if it is larger than at the last snapshot.
///
/// If the process is not stopped, pages that it touches meanwhile may have no stack.
/// `is_last` is whether there may be no later one of this size: then it is not put off for its costs.
void hw_snapshot_if_larger(pid_t process, struct hw_memory *memory, int is_last);

/// What a process holds now, at a moment that may not be its peak.
struct hw_snapshot hw_snapshot_now(pid_t process, struct hw_memory *memory);

/// Opens a file under `/proc/<thread>`; -1 if there is none.
int hw_open_process_file(pid_t thread, const char *name);

/// Reads the file name of the program of a process.
void hw_read_program(pid_t process, char *name, size_t size);

/// Reads the sizes of the process of a thread.
void hw_read_sizes(pid_t thread, struct hw_snapshot *snapshot);

/// Reads a file of a process under /proc, at most `size - 1` bytes of it; empty if it cannot be read.
void hw_read_text(pid_t process, const char *name, char *text, size_t size);

/// RSS in bytes of the process of a thread; 0 if it has no memory.
int64_t hw_resident_size(pid_t thread);

/// Reads the name of a process; empty if there is none.
void hw_read_command(pid_t process, char command[16]);

// MARK: - Moments

/// The moments at which it is kept what processes hold: the peaks of those of one name together, and of each of them, the
/// end of the steps, and some before it.
enum { HW_PEAK, HW_SINGLE, HW_END, HW_MOMENT, HW_MOMENTS = 12 };

/// Keeps what all processes hold now.
void hw_take_moment(int moment);

/// Time has passed without a stop: a moment may be due. `is_active` is whether the target has allocated or released.
void hw_note_time(int is_active);

/// The end of the steps is now; a later one replaces it.
void hw_note_end(void);

/// The first program is about to exit.
void hw_note_exit(void);

/// The moments that count: the end of the steps, the middle before it, from which on growth counts, and one between the two;
/// -1 for none.
struct hw_moments {
  int early, middle, end;
};

struct hw_moments hw_chosen_moments(void);

// MARK: - Results

/// Keeps what the processes of one name hold, if it is more than at an earlier moment. The first of them is about to
/// lose its memory.
void hw_result_keep(const char *command, struct hw_memory *const *memories, size_t count);

/// Adds what one process holds at a moment that is not its peak; takes over the weights.
void hw_result_add(int moment, struct hw_memory *memory, struct hw_snapshot snapshot);

/// Forgets what was added at a moment.
void hw_result_forget(int moment);

/// What all processes held at a moment, in bytes, without the holes of their heaps: what is freed may stay resident.
int64_t hw_result_held(int moment);

#endif
