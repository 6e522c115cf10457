/// Passes inputs of fuzzing to those functions of CCallStacks that it does not export.

#ifndef STACK_INPUTS_H
#define STACK_INPUTS_H

#include <stddef.h>
#include <stdint.h>

/// Reads an ELF file: its symbols, names and links; how many functions it has.
size_t hw_read_elf_input(const uint8_t *_Nullable bytes, size_t size);

/// Reads a perf map; how many functions it has.
size_t hw_read_perf_map_input(const uint8_t *_Nullable text, size_t size);

/// Evaluates an unwind expression of ten bytes for each operation, on a stack of the same bytes; whether it has a value.
int hw_evaluate_input(const uint8_t *_Nullable bytes, size_t size);

/// Walks a stack of these bytes, from registers of these bytes, through the code of this process; how many frames it has.
int hw_walk_input(const uint8_t *_Nullable bytes, size_t size);

#endif
