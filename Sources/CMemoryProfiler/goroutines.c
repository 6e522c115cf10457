/// The stacks of goroutines, which Go's own profile of its heap does not have: those that never end are its usual leak.

#define _GNU_SOURCE
#include "profiler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/// More goroutines are counted by each second, fourth … one of them.
#define MAX_GOROUTINES 65536
/// More are the sign of a list that is changing.
#define MOST_GOROUTINES (UINT64_C(1) << 24)

/// So many are read at once, and so much of each `g` (runtime/runtime2.go): up to its `startpc`, and less than it has.
#define BATCH 256
#define G_WORDS 52

/// A larger stack is the sign of a `g` that is changing (`runtime.maxstackceiling`).
#define MAX_STACK (UINT64_C(1) << 31)

/// The stack of a goroutine, which began with one function and was created by another.
struct goroutine {
  uint64_t start, creator, bytes;
};

/// The words of a `g` that say where it began: `gopc`, a pointer that is nil, and `startpc`, in Go 1.19 to 1.27. The place
/// of the first differs between versions.
static int is_origin(struct hw_code *code, const uint64_t *words) {
  return words[0] != 0 && words[1] == 0 && words[2] != 0 && hw_code_overlaps(code, words[0], words[0] + 1)
    && hw_code_overlaps(code, words[2], words[2] + 1);
}

/// The word of `gopc`, by the goroutines of one batch: that of most of them; 0 if it is not found.
static int origin_word(struct hw_code *code, uint64_t (*goroutines)[G_WORDS], int count) {
  int best = 0, most = 0;
  for (int word = 2; word + 2 < G_WORDS; word++) {
    int found = 0;
    for (int at = 0; at < count; at++) found += is_origin(code, goroutines[at] + word);
    if (found > most) best = word, most = found;
  }
  return best;
}

static int by_origin(const void *left, const void *right) {
  const struct goroutine *a = left, *b = right;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return a->creator < b->creator ? -1 : a->creator > b->creator;
}

/// Reads a batch of `g`; how many.
static int read_batch(pid_t process, const uint64_t *addresses, int count, uint64_t (*goroutines)[G_WORDS]) {
  struct iovec local = {goroutines, (size_t)count * sizeof *goroutines}, remote[BATCH];
  for (int at = 0; at < count; at++) remote[at] = (struct iovec){(void *)(uintptr_t)addresses[at], sizeof *goroutines};
  ssize_t got = process_vm_readv(process, &local, 1, remote, (unsigned long)count, 0);
  return got <= 0 ? 0 : (int)((size_t)got / sizeof *goroutines);
}

/// Reads the stacks of all goroutines; how many.
static size_t read_stacks(struct hw_process *process, const uint64_t *addresses, size_t count, struct goroutine *stacks) {
  static uint64_t goroutines[BATCH][G_WORDS];
  struct hw_code *code = hw_process_code(process);
  int word = 0;
  size_t used = 0;
  for (size_t first = 0; first < count && code != NULL;) {
    int batch = (int)(count - first < BATCH ? count - first : BATCH);
    int read = read_batch(process->pid, addresses + first, batch, goroutines);
    // The next one cannot be read.
    first += (size_t)(read < batch ? read + 1 : batch);
    if (word == 0) word = origin_word(code, goroutines, read);
    for (int at = 0; at < read; at++) {
      const uint64_t *g = goroutines[at], bytes = g[1] - g[0];
      // One that has ended has no stack, or one for the next goroutine.
      if (g[0] == 0 || g[1] <= g[0] || bytes > MAX_STACK) continue;
      int is_known = word != 0 && is_origin(code, g + word);
      stacks[used++] = (struct goroutine){is_known ? g[word + 2] : 0, is_known ? g[word] : 0, bytes};
    }
  }
  return used;
}

static uint32_t node_of(struct hw_process *process, const struct goroutine *stack) {
  struct hw_code *code = hw_process_code(process);
  if (code == NULL || stack->start == 0) return HW_NO_STACK;
  struct hw_place places[] = {
    hw_return_place(code, process->pid, stack->start + 1), hw_return_place(code, process->pid, stack->creator)};
  return hw_tree_insert(places, 2);
}

/// Adds up what began alike.
static void sum(struct hw_process *process, struct goroutine *stacks, size_t count, size_t step, struct hw_weights *weights) {
  qsort(stacks, count, sizeof *stacks, by_origin);
  for (size_t at = 0, next; at < count; at = next) {
    uint64_t bytes = 0;
    for (next = at; next < count && by_origin(&stacks[at], &stacks[next]) == 0; next++) bytes += stacks[next].bytes;
    hw_weights_add(weights, (struct hw_weight){.node = node_of(process, &stacks[at]), .live = (int64_t)(bytes * step)});
  }
}

void hw_goroutines_read(struct hw_process *process, uint64_t list, uint64_t length, struct hw_weights *weights) {
  uint64_t first = 0, count = 0;
  if (!hw_read_from(process->pid, length, &count, sizeof count) || count > MOST_GOROUTINES) return;
  if (!hw_read_from(process->pid, list, &first, sizeof first)) return;
  size_t step = 1, kept = 0;
  while (count / step > MAX_GOROUTINES) step *= 2;
  uint64_t *addresses = malloc((count + 1) * sizeof *addresses);
  struct goroutine *stacks = malloc((count / step + 1) * sizeof *stacks);
  if (addresses != NULL && stacks != NULL && hw_read_from(process->pid, first, addresses, count * sizeof *addresses)) {
    for (size_t at = 0; at < count; at += step) addresses[kept++] = addresses[at];
    sum(process, stacks, read_stacks(process, addresses, kept, stacks), step, weights);
  }
  free(addresses);
  free(stacks);
}
