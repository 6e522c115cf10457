/// Declarations shared by the files of this module, not exported.

#ifndef HW_STACKS_INTERNAL_H
#define HW_STACKS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CCallStacks.h"
#include "machine.h"

// MARK: - ELF files

/// A segment that is loaded into memory.
struct hw_segment {
  uint64_t offset, size, address;
  int is_executable;
};

#define HW_MAX_SEGMENTS 64

/// A 64-bit ELF file of this architecture; all its numbers are untrusted.
struct hw_elf {
  /// The file, or -1: then `image` has the bytes.
  int file;
  const uint8_t *image;
  uint64_t size;
  int segment_count;
  struct hw_segment segments[HW_MAX_SEGMENTS];
  /// Read when first needed.
  Elf64_Shdr *sections;
  char *section_names;
  uint64_t section_names_size;
  uint64_t section_offset;
  uint16_t section_count, section_names_at;
};

/// Reads the headers of a file or an image; whether it is such an ELF file. `elf` owns the descriptor then.
int hw_elf_open(struct hw_elf *elf, int file, const uint8_t *image, uint64_t size);

void hw_elf_close(struct hw_elf *elf);

/// Copies bytes of the file, with a zero byte after them; NULL if the file or the memory does not have so many.
void *hw_elf_read(const struct hw_elf *elf, uint64_t offset, uint64_t size);

/// A section by its name, or by its type if `name` is NULL; NULL if there is none.
const Elf64_Shdr *hw_elf_section(struct hw_elf *elf, const char *name, uint32_t type);

/// A copy of a section's bytes; NULL if it has none.
void *hw_elf_section_bytes(const struct hw_elf *elf, const Elf64_Shdr *section);

/// The build id; its length, at most `capacity`, or 0.
size_t hw_elf_build_id(struct hw_elf *elf, uint8_t *id, size_t capacity);

/// The value of a symbol in the table of a type: `SHT_DYNSYM` has those that the file exports; 0 if there is none.
uint64_t hw_elf_symbol(struct hw_elf *elf, uint32_t type, const char *name);

/// The size of all sections, decompressed, and of those alone that are compressed in the file.
struct hw_section_sizes {
  uint64_t all, decompressed;
};

struct hw_section_sizes hw_elf_section_sizes(struct hw_elf *elf);

/// Opens the separate file with the symbols or the DWARF of another one; whether there is one.
int hw_elf_open_debug_file(struct hw_elf *elf, const char *path, struct hw_elf *debug);

// MARK: - Modules

struct hw_symbols;
struct hw_unwind_tables;
struct hw_sources;

/// A file with code, or the vdso.
struct hw_module {
  uint64_t device, inode;
  char *path;
  /// Whether `elf` can be used.
  int is_elf;
  struct hw_elf elf;
  /// Read when first needed; NULL before that.
  struct hw_unwind_tables *tables;
  struct hw_symbols *symbols;
  struct hw_sources *sources;
};

/// An executable mapping of a process.
struct hw_mapping {
  uint64_t start, end, offset, device, inode;
  /// Owned by the process's `hw_code`.
  char *path;
  /// Whether `module` and `bias` have been determined.
  int is_resolved;
  uint32_t module;
  /// The process's address of a place, minus the one by the file's program headers.
  uint64_t bias;
};

/// Determines the module and the bias of a mapping.
void hw_resolve_mapping(struct hw_mapping *mapping, pid_t thread);

/// NULL for `HW_NO_MODULE`.
struct hw_module *hw_module(uint32_t number);

// MARK: - Mappings

/// The mapping at an address of the process; NULL if it is not executable. Valid until the next call.
const struct hw_mapping *hw_code_find(struct hw_code *code, uint64_t address);

/// Reads mappings and files by a thread that is alive.
void hw_code_use_thread(struct hw_code *code, pid_t thread);

/// Reads a file below `/proc/THREAD`; NULL if it cannot be read. At most `limit` bytes.
char *hw_read_process_file(pid_t thread, const char *name, size_t limit, size_t *length);

/// An executable mapping by its index; NULL beyond the last one. Valid until the next call.
const struct hw_mapping *hw_code_mapping(struct hw_code *code, size_t at);

/// A number that no other `hw_code` has.
uint64_t hw_code_number(const struct hw_code *code);

/// The number of a thread as its process knows it, which may be in another pid namespace.
pid_t hw_code_thread_number(struct hw_code *code, pid_t thread);

struct hw_python;

/// The Python interpreter of a process, allocated by who searches the current mappings for it; NULL before.
struct hw_python **hw_code_python(struct hw_code *code);

// MARK: - Memory

/// Reads memory of a process; how many bytes were read from its start.
struct hw_memory {
  size_t (*read)(const struct hw_memory *memory, uint64_t from, void *to, size_t size);
  pid_t thread;
};

/// The memory of the process of a thread, by process_vm_readv(2).
struct hw_memory hw_memory_of(pid_t thread);

/// The words of one stack, read in few calls.
struct hw_stack {
  const struct hw_memory *memory;
  uint64_t start;
  size_t filled;
  uint8_t bytes[72 << 10];
  /// Other words, at an address that is a multiple of their size, so that they are on one page.
  uint64_t others_start;
  uint8_t others[512];
  /// How many more reads may follow.
  int other_reads;
};

/// Reads the first bytes of a stack from its stack pointer.
void hw_stack_open(struct hw_stack *stack, const struct hw_memory *memory, uint64_t stack_pointer);

/// Uses a copy of the stack instead.
void hw_stack_open_copy(
  struct hw_stack *stack, const struct hw_memory *memory, uint64_t stack_pointer, const void *bytes, size_t size);

/// Reads a word at an address; whether it could be read.
int hw_stack_word(struct hw_stack *stack, uint64_t address, uint64_t *word);

// MARK: - Unwind rules

enum hw_rule_kind {
  HW_RULE_NONE,
  /// The value is not preserved.
  HW_RULE_UNDEFINED,
  /// The value is in memory at the CFA plus `value`.
  HW_RULE_AT_CFA,
  /// The value is the CFA plus `value`.
  HW_RULE_CFA,
  /// The value is in the register with the number `value`; for the CFA, plus `offset`.
  HW_RULE_REGISTER,
  /// The value is that of the expression with the number `value`.
  HW_RULE_EXPRESSION,
};

/// How to compute one register of the calling frame, or the CFA, which is the stack pointer before the call.
struct hw_rule {
  uint8_t kind, target;
  int32_t value, offset;
};

/// The rules at one place; other registers keep their values.
struct hw_row {
  struct hw_rule cfa;
  uint8_t count, is_signal_frame;
  struct hw_rule rules[HW_REGISTERS];
};

/// The rules at an address of a module; NULL if there are none. Valid until the next call.
const struct hw_row *hw_find_row(uint32_t module, uint64_t address);

struct hw_operation {
  uint8_t code;
  uint64_t number, number2;
  /// Its position in the bytes of the expression, for jumps.
  uint64_t position;
};

struct hw_expression {
  int count;
  /// Whether the result is the address of the value.
  int is_location;
  struct hw_operation *operations;
};

const struct hw_expression *hw_find_expression(int32_t number);

/// Computes an expression; whether it has a value.
int hw_evaluate(
  const struct hw_expression *expression, const struct hw_registers *registers, uint64_t cfa, struct hw_stack *stack,
  uint64_t *value);

/// Walks a stack from these registers; see `hw_walk`.
int hw_walk_from(
  struct hw_code *code, struct hw_registers registers, struct hw_stack *stack, struct hw_place *places, int capacity,
  int *is_complete);

// MARK: - Names

/// The tables of a file, of its debug file, and of what it exports.
#define HW_MAX_TABLES 3

/// Functions by address: of a module, or of a JIT compiler.
struct hw_symbols {
  struct hw_symbol *entries;
  size_t count, capacity;
  /// Whether functions may overlap: then the one that was written last counts.
  int is_perf_map;
  /// The texts that the names are in.
  char *texts[HW_MAX_TABLES];
  int text_count;
};

struct hw_symbol {
  uint64_t start, end;
  const char *name;
  /// The name as `hw_function_at` returns it; NULL before it was needed.
  const char *display;
  /// Of symbols at one address, the one with the lowest rank gives the name.
  uint32_t rank;
};

struct hw_symbols *hw_symbols_of(struct hw_module *module);

/// The symbol that covers an address; NULL if there is none.
struct hw_symbol *hw_symbols_find(const struct hw_symbols *symbols, uint64_t address);

/// Reads the text of a perf map, and owns it; NULL if it has no functions.
struct hw_symbols *hw_symbols_of_perf_map(char *text, size_t length);

void hw_symbols_free(struct hw_symbols *symbols);

/// The functions that `hw_code_read_perf_map` has read; may be NULL.
const struct hw_symbols *hw_code_perf_map(const struct hw_code *code);

/// Demangles a symbol of Rust's newer scheme, to be freed; NULL if it is none.
char *hw_demangle_rust(const char *symbol);

#endif
