/// The heap of Go's runtime, which samples its objects itself: the profile that `runtime.MemProfile` reads, taken from the
/// memory of the process (runtime/mprof.go, Go 1.19 to 1.27); and the stacks of its goroutines.

#define _GNU_SOURCE
#include "profiler.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/// The mean distance between samples that the runtime begins with, in bytes, unless a program has set its own.
#define USUAL_RATE INT64_C(524288)

/// With this one a program that does nothing but allocate takes 1.4 times as long, and half of that with twice the distance
/// (Go 1.19, 800 MB/s).
#define LEAST_RATE INT64_C(4096)

/// The runtime sets its variables within so many stops of the program's start.
#define MAX_CHECKS 4096

/// More call stacks are not read; and the most functions of one (`profStackDepth`, since Go 1.23).
#define MAX_BUCKETS 65536
#define MAX_STACK 128

/// More bytes are the sign of a record that is changing.
#define MAX_LIVE (UINT64_C(1) << 44)

/// The start of a `bucket`; its call stack and its `memRecord` follow.
struct bucket {
  uint64_t next, all_next, type, hash, size, depth;
};

/// `memRecord`: how many objects were allocated and freed, of what is published, and in three cycles that are not yet; before
/// Go 1.27 the same in bytes as well.
#define CYCLES 4
#define RECORD_WORDS (CYCLES * 4)

/// Where the runtime of a process has its variables.
struct hw_go {
  uint64_t rate_at, buckets_at, goroutines_at, goroutine_count_at;
  /// The mean distance between samples in bytes: the one that we set, and the one that the process has, which is 0 before
  /// its runtime sets it and if the program disables sampling.
  int64_t wanted, rate;
  unsigned checks;
  /// The event that stops the process when its runtime sets the rate; -1 without one.
  int watch;
  /// How many words a cycle has: 2, or 4 once a record was seen that has bytes.
  int step;
};

int hw_read_from(pid_t process, uint64_t address, void *to, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static int write_to(pid_t process, uint64_t address, const void *from, size_t size) {
  struct iovec local = {(void *)(uintptr_t)from, size}, remote = {(void *)(uintptr_t)address, size};
  return process_vm_writev(process, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

// MARK: - Sampling

/// The linker disables sampling in programs that do not read it.
static void enable(pid_t process, struct hw_code *code) {
  static const uint8_t no = 0;
  uint64_t disabled = hw_variable_address(code, process, "runtime.disableMemoryProfiling");
  if (disabled != 0) write_to(process, disabled, &no, 1);
}

/// Stops the process when its runtime sets the rate. With that one it would skip its first half megabyte or more, such as
/// the tables that it builds at its start. -1 where the machine has no hardware breakpoints.
static int watch_rate(pid_t process, uint64_t address) {
  struct perf_event_attr event = {
    .size = sizeof event, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_addr = address,
    .bp_len = HW_BREAKPOINT_LEN_8, .sample_period = 1, .sample_type = PERF_SAMPLE_ADDR, .exclude_kernel = 1,
    .exclude_hv = 1, .remove_on_exec = 1, .sigtrap = 1, .sig_data = HW_FAULT_MARK,
  };
  return (int)syscall(SYS_perf_event_open, &event, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void end_watch(struct hw_go *go) {
  if (go->watch >= 0) close(go->watch);
  go->watch = -1;
}

void hw_go_begin(struct hw_process *process) {
  struct hw_memory *memory = process->memory;
  struct hw_code *code = hw_process_code(process);
  if (code == NULL || !hw_has_section(code, process->pid, ".gopclntab")) return;
  memory->is_go = 1;
  struct hw_go found = {
    .rate_at = hw_variable_address(code, process->pid, "runtime.MemProfileRate"),
    .buckets_at = hw_variable_address(code, process->pid, "runtime.mbuckets"),
    .goroutines_at = hw_variable_address(code, process->pid, "runtime.allgptr"),
    .goroutine_count_at = hw_variable_address(code, process->pid, "runtime.allglen"),
    .wanted = hw_sampling_interval > LEAST_RATE ? hw_sampling_interval : LEAST_RATE,
  };
  if (found.rate_at == 0 || found.buckets_at == 0 || (memory->go = malloc(sizeof found)) == NULL) return;
  found.step = 2;
  found.watch = watch_rate(process->pid, found.rate_at);
  *memory->go = found;
  enable(process->pid, code);
  hw_go_check(process);
}

int hw_go_is_watched(const struct hw_memory *memory, uint64_t address) {
  return memory->go != NULL && memory->go->watch >= 0 && address == memory->go->rate_at;
}

void hw_go_end(struct hw_memory *memory) {
  if (memory->go == NULL) return;
  end_watch(memory->go);
  free(memory->go);
  memory->go = NULL;
}

void hw_go_check(struct hw_process *process) {
  struct hw_go *go = process->memory == NULL ? NULL : process->memory->go;
  int64_t rate = 0;
  if (go == NULL || go->checks >= MAX_CHECKS) return;
  go->checks++;
  if (!hw_read_from(process->pid, go->rate_at, &rate, sizeof rate)) return;
  if (rate == USUAL_RATE) write_to(process->pid, go->rate_at, &go->wanted, sizeof go->wanted);
  if (rate != 0) end_watch(go);
}

const char *hw_go_obstacle(const struct hw_memory *memory) {
  if (!memory->is_go) return "";
  return memory->go == NULL ? "no-symbols" : memory->go->rate <= 0 ? "refused" : "";
}

// MARK: - Reading

/// Whether a record has bytes as well: all objects of a bucket have its size.
static int has_bytes(const uint64_t *record, uint64_t size) {
  uint64_t sum = 0;
  for (int cycle = 0; cycle < CYCLES; cycle++) {
    const uint64_t *words = record + cycle * 4;
    if (words[2] != words[0] * size || words[3] != words[1] * size) return 0;
    sum += words[0];
  }
  return sum > 0;
}

/// How many objects of a call stack are not freed; 0 if the record is changing.
static uint64_t live_count(struct hw_go *go, const uint64_t *record, uint64_t size) {
  int64_t count = 0;
  if (has_bytes(record, size)) go->step = 4;
  int step = go->step;
  for (int cycle = 0; cycle < CYCLES; cycle++) count += (int64_t)(record[cycle * step] - record[cycle * step + 1]);
  return count > 0 && (uint64_t)count < MAX_LIVE / (size + 1) ? (uint64_t)count : 0;
}

static uint32_t node_of(struct hw_process *process, const uint64_t *stack, uint64_t depth) {
  struct hw_place places[MAX_STACK];
  struct hw_code *code = hw_process_code(process);
  if (code == NULL) return HW_NO_STACK;
  for (uint64_t at = 0; at < depth; at++) places[at] = hw_return_place(code, process->pid, stack[at]);
  return hw_tree_insert(places, (int)depth);
}

/// What the samples of a call stack stand for: each object was one with a chance that depends on its size.
static struct hw_weight weight_of(struct hw_process *process, const struct bucket *bucket, const uint64_t *words) {
  struct hw_weight weight = {0};
  uint64_t count = live_count(process->memory->go, words + bucket->depth, bucket->size);
  if (count == 0 || bucket->size == 0) return weight;
  double size = (double)bucket->size, chance = -expm1(-size / (double)process->memory->go->rate);
  weight.node = node_of(process, words, bucket->depth);
  weight.live = (int64_t)((double)count * size / chance);
  weight.sampled = (int64_t)((double)weight.live / chance * size * (1 - chance) / (double)hw_sampling_interval);
  return weight;
}

int64_t hw_go_rate(const struct hw_memory *memory) { return memory->go == NULL ? 0 : memory->go->rate; }

void hw_weights_add(struct hw_weights *weights, struct hw_weight weight) {
  if (weight.node == HW_NO_STACK) return;
  if (weights->count == weights->capacity) {
    size_t capacity = weights->capacity * 2 + 64;
    struct hw_weight *larger = realloc(weights->all, capacity * sizeof *larger);
    if (larger == NULL) return;
    weights->all = larger;
    weights->capacity = capacity;
  }
  weights->all[weights->count++] = weight;
}

static void read_buckets(struct hw_process *process, struct hw_weights *weights) {
  uint64_t next = 0, words[MAX_STACK + RECORD_WORDS];
  if (!hw_read_from(process->pid, process->memory->go->buckets_at, &next, sizeof next)) return;
  for (unsigned seen = 0; next != 0 && seen < MAX_BUCKETS; seen++) {
    struct bucket bucket;
    if (!hw_read_from(process->pid, next, &bucket, sizeof bucket) || bucket.depth > MAX_STACK) break;
    // The shorter record may be the last one before memory that does not exist.
    memset(words + bucket.depth, 0, RECORD_WORDS * 8);
    size_t size = (size_t)(bucket.depth + RECORD_WORDS) * 8, least = size - CYCLES * 16;
    uint64_t at = next + sizeof bucket;
    if (!hw_read_from(process->pid, at, words, size) && !hw_read_from(process->pid, at, words, least)) break;
    hw_weights_add(weights, weight_of(process, &bucket, words));
    next = bucket.all_next;
  }
}

struct hw_weights hw_go_read(struct hw_process *process) {
  struct hw_go *go = process->memory->go;
  struct hw_weights weights = {0};
  if (go == NULL || !hw_read_from(process->pid, go->rate_at, &go->rate, sizeof go->rate) || go->rate <= 0) return weights;
  read_buckets(process, &weights);
  if (go->goroutines_at != 0 && go->goroutine_count_at != 0)
    hw_goroutines_read(process, go->goroutines_at, go->goroutine_count_at, &weights);
  return weights;
}
