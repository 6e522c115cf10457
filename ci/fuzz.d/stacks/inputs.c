#define _GNU_SOURCE
#include "StackInputs.h"

#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: - Files

/// A copy without a byte more, so that a sanitizer sees what is read after it.
static uint8_t *copy(const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size > 0 ? size : 1);
  if (copy == NULL) abort();
  if (size > 0) memcpy(copy, bytes, size);
  return copy;
}

/// Finds each function by its first and last address.
static size_t find_all(const struct hw_symbols *symbols) {
  for (size_t at = 0; at < symbols->count; at++) {
    hw_symbols_find(symbols, symbols->entries[at].start);
    const struct hw_symbol *found = hw_symbols_find(symbols, symbols->entries[at].end - 1);
    if (found != NULL && strlen(found->name) == 0) abort();
  }
  hw_symbols_find(symbols, 0);
  hw_symbols_find(symbols, UINT64_MAX);
  return symbols->count;
}

size_t hw_read_elf_input(const uint8_t *bytes, size_t size) {
  uint8_t *image = copy(bytes, size);
  struct hw_module module = {.path = "/nowhere/program", .is_elf = 1};
  size_t count = 0;
  if (hw_elf_open(&module.elf, -1, image, size)) {
    const struct hw_symbols *symbols = hw_symbols_of(&module);
    if (symbols != NULL) count = find_all(symbols);
    hw_elf_symbol(&module.elf, SHT_DYNSYM, "Py_Version");
    hw_elf_section_sizes(&module.elf);
    hw_symbols_free(module.symbols);
    hw_elf_close(&module.elf);
  }
  free(image);
  return count;
}

size_t hw_read_perf_map_input(const uint8_t *text, size_t size) {
  char *map = malloc(size + 1);
  if (map == NULL) abort();
  if (size > 0) memcpy(map, text, size);
  map[size] = 0;
  struct hw_symbols *symbols = hw_symbols_of_perf_map(map, size);
  size_t count = symbols == NULL ? 0 : find_all(symbols);
  hw_symbols_free(symbols);
  return count;
}

// MARK: - Stacks

/// Where the stack of an input is.
#define STACK UINT64_C(0x600000000000)

static const uint8_t *stack_bytes;
static size_t stack_size;

static size_t read_stack(const struct hw_memory *memory, uint64_t from, void *to, size_t size) {
  (void)memory;
  if (from < STACK || from - STACK >= stack_size) return 0;
  size_t left = stack_size - (from - STACK), count = size < left ? size : left;
  memcpy(to, stack_bytes + (from - STACK), count);
  return count;
}

static struct hw_stack stack;

static struct hw_registers open_stack(const uint8_t *bytes, size_t size) {
  static const struct hw_memory memory = {.read = read_stack};
  struct hw_registers registers = {.known = (UINT64_C(1) << HW_REGISTERS) - 1};
  stack_bytes = bytes;
  stack_size = size;
  size_t read = size < sizeof registers.values ? size : sizeof registers.values;
  if (read > 0) memcpy(registers.values, bytes, read);
  registers.values[HW_STACK_POINTER] = STACK;
  hw_stack_open(&stack, &memory, STACK);
  return registers;
}

#define MAX_OPERATIONS 64

int hw_evaluate_input(const uint8_t *bytes, size_t size) {
  struct hw_operation operations[MAX_OPERATIONS];
  struct hw_expression expression = {.is_location = size % 2 == 1, .operations = operations};
  for (size_t at = 0; at + 10 <= size && expression.count < MAX_OPERATIONS; at += 10) {
    struct hw_operation *operation = &operations[expression.count++];
    *operation = (struct hw_operation){.code = bytes[at], .number2 = bytes[at + 1], .position = at / 10 * 3};
    memcpy(&operation->number, bytes + at + 2, sizeof operation->number);
  }
  struct hw_registers registers = open_stack(bytes, size);
  uint64_t value = 0;
  return expression.count > 0 && hw_evaluate(&expression, &registers, STACK + 16, &stack, &value);
}

/// Words become addresses in this program's code or on the stack by their lowest byte: random ones would rarely be.
static void aim(uint64_t *words, size_t count, size_t size) {
  extern const char __executable_start, etext;
  uint64_t code = (uint64_t)(uintptr_t)&__executable_start, code_size = (uint64_t)(&etext - &__executable_start);
  for (size_t at = 0; at < count; at++) {
    switch (words[at] & 3) {
      case 1: words[at] = code + (words[at] >> 2) % code_size; break;
      case 2: words[at] = STACK + ((words[at] >> 2) % size & ~UINT64_C(7)); break;
      default: break;
    }
  }
}

int hw_walk_input(const uint8_t *bytes, size_t size) {
  static struct hw_code *code;
  struct hw_place places[HW_MAX_FRAMES];
  uint64_t words[1024] = {0};
  int is_complete = 0;
  if (code == NULL) code = hw_code_open(getpid());
  if (code == NULL || size < sizeof *words) return 0;
  if (size > sizeof words) size = sizeof words;
  memcpy(words, bytes, size);
  aim(words, size / sizeof *words, size);
  struct hw_registers registers = open_stack((const uint8_t *)words, size);
  return hw_walk_from(code, registers, &stack, places, HW_MAX_FRAMES, &is_complete);
}
