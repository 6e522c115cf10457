#define _GNU_SOURCE
#include "internal.h"

#include <string.h>
#include <sys/uio.h>

/// Of 1,000 stacks of g++ 998 fit into 16 KiB, but imports in Python need 32 KiB (Linux 6.18, x86_64, 2026-11).
#define FIRST_READ (8u << 10)
/// Two for each frame.
#define MAX_OTHER_READS (2 * HW_MAX_FRAMES)

static size_t read_process(const struct hw_memory *memory, uint64_t from, void *to, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};
  // It reads up to the first page that is not mapped.
  ssize_t got = process_vm_readv(memory->thread, &local, 1, &remote, 1, 0);
  return got > 0 ? (size_t)got : 0;
}

struct hw_memory hw_memory_of(pid_t thread) {
  return (struct hw_memory){.read = read_process, .thread = thread};
}

void hw_stack_open(struct hw_stack *stack, const struct hw_memory *memory, uint64_t stack_pointer) {
  stack->memory = memory;
  stack->start = stack_pointer;
  stack->other_reads = MAX_OTHER_READS;
  stack->others_start = UINT64_MAX;
  stack->filled = memory->read(memory, stack_pointer, stack->bytes, FIRST_READ);
}

void hw_stack_open_copy(
  struct hw_stack *stack, const struct hw_memory *memory, uint64_t stack_pointer, const void *bytes, size_t size
) {
  stack->memory = memory;
  stack->start = stack_pointer;
  // The thread has continued, and its stack has changed since.
  stack->other_reads = 0;
  stack->others_start = UINT64_MAX;
  stack->filled = size < sizeof stack->bytes ? size : sizeof stack->bytes;
  memcpy(stack->bytes, bytes, stack->filled);
}

/// Reads the stack on up to a word, if that is not farther than the buffer reaches.
static void extend(struct hw_stack *stack, uint64_t distance) {
  size_t wanted = (distance + sizeof(uint64_t) + FIRST_READ - 1) / FIRST_READ * FIRST_READ;
  if (wanted > sizeof stack->bytes) wanted = sizeof stack->bytes;
  stack->other_reads--;
  stack->filled += stack->memory->read(
    stack->memory, stack->start + stack->filled, stack->bytes + stack->filled, wanted - stack->filled);
}

/// Reads a word far from the stack pointer, and those around it, since a frame has several saved registers.
static int other_word(struct hw_stack *stack, uint64_t address, uint64_t *word) {
  uint64_t distance = address % sizeof stack->others, start = address - distance;
  if (distance > sizeof stack->others - sizeof *word) return 0;
  if (start != stack->others_start) {
    if (stack->other_reads-- <= 0) return 0;
    size_t got = stack->memory->read(stack->memory, start, stack->others, sizeof stack->others);
    stack->others_start = got == sizeof stack->others ? start : UINT64_MAX;
  }
  if (start != stack->others_start) return 0;
  memcpy(word, stack->others + distance, sizeof *word);
  return 1;
}

int hw_stack_word(struct hw_stack *stack, uint64_t address, uint64_t *word) {
  uint64_t distance = address - stack->start;
  int fits = distance <= sizeof stack->bytes - sizeof *word;
  if (fits && distance + sizeof *word > stack->filled && stack->other_reads > 0) extend(stack, distance);
  if (fits && distance + sizeof *word <= stack->filled) {
    memcpy(word, stack->bytes + distance, sizeof *word);
    return 1;
  }
  return other_word(stack, address, word);
}
