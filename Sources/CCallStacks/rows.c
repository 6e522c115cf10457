#define _GNU_SOURCE
#include "libraries.h"

#include <stdlib.h>
#include <string.h>

// MARK: - The tables of a module

/// The longest CPU time for the tables of one module; damaged ones are searched from end to end.
#define MAX_NANOSECONDS 2000000000

struct hw_unwind_tables {
  /// `.eh_frame` and `.debug_frame`; NULL if there is none.
  Dwarf_CFI *tables[2];
  int is_debug_read;
  int64_t spent;
};

/// libdw reads all sections of DWARF at once. Larger files have `.eh_frame`, which is not one of them.
#define MAX_DWARF (UINT64_C(256) << 20)

static Dwarf_CFI *debug_frame_of(struct hw_elf *elf) {
  Dwarf *dwarf = hw_open_dwarf(elf, ".debug_frame", MAX_DWARF);
  return dwarf == NULL ? NULL : hw_dw.dwarf_getcfi(dwarf);
}

/// The tables of a module; libelf may read the files later on, so they stay open.
static struct hw_unwind_tables *tables_of(struct hw_module *module) {
  if (module->tables != NULL || !hw_has_libraries() || !module->is_elf) return module->tables;
  module->tables = calloc(1, sizeof *module->tables);
  if (module->tables == NULL) return NULL;
  struct hw_elf *elf = &module->elf;
  Elf *handle = elf->image != NULL ? hw_dw.elf_memory((char *)(uintptr_t)elf->image, elf->size)
                                   : hw_dw.elf_begin(elf->file, ELF_C_READ, NULL);
  if (handle != NULL) module->tables->tables[0] = hw_dw.dwarf_getcfi_elf(handle);
  return module->tables;
}

/// The table for debuggers, which is read only if the other one lacks an address.
static Dwarf_CFI *debug_table_of(struct hw_module *module) {
  struct hw_unwind_tables *tables = module->tables;
  struct hw_elf debug;
  if (tables->is_debug_read) return tables->tables[1];
  tables->is_debug_read = 1;
  tables->tables[1] = debug_frame_of(&module->elf);
  if (tables->tables[1] != NULL || !hw_elf_open_debug_file(&module->elf, module->path, &debug)) return tables->tables[1];
  tables->tables[1] = debug_frame_of(&debug);
  if (tables->tables[1] == NULL) hw_elf_close(&debug);
  return tables->tables[1];
}

static Dwarf_Frame *find_in(Dwarf_CFI *table, uint64_t address) {
  Dwarf_Frame *frame = NULL;
  return table != NULL && hw_dw.dwarf_cfi_addrframe(table, address, &frame) == 0 ? frame : NULL;
}

static Dwarf_Frame *find_frame(struct hw_module *module, uint64_t address) {
  struct hw_unwind_tables *tables = tables_of(module);
  if (tables == NULL || tables->spent > MAX_NANOSECONDS) return NULL;
  int64_t before = hw_cpu_time();
  Dwarf_Frame *frame = find_in(tables->tables[0], address);
  if (frame == NULL) frame = find_in(debug_table_of(module), address);
  tables->spent += hw_cpu_time() - before;
  return frame;
}

// MARK: - Expressions

/// More would be of damaged tables.
#define MAX_EXPRESSIONS 65536
#define MAX_OPERATIONS 64

static struct hw_expression *expressions;
static int expression_count;

const struct hw_expression *hw_find_expression(int32_t number) {
  return &expressions[number];
}

static void forget_expressions(void) {
  for (int at = 0; at < expression_count; at++) free(expressions[at].operations);
  expression_count = 0;
}

/// Stores an expression as a rule; `HW_RULE_UNDEFINED` if it is too long.
static struct hw_rule add_expression(const Dwarf_Op *from, size_t count, int is_location) {
  struct hw_rule undefined = {.kind = HW_RULE_UNDEFINED};
  if (count == 0 || count > MAX_OPERATIONS || expression_count == MAX_EXPRESSIONS) return undefined;
  if (expressions == NULL) expressions = calloc(MAX_EXPRESSIONS, sizeof *expressions);
  struct hw_operation *operations = expressions == NULL ? NULL : calloc(count, sizeof *operations);
  if (operations == NULL) return undefined;
  for (size_t at = 0; at < count; at++) {
    operations[at] = (struct hw_operation){from[at].atom, from[at].number, from[at].number2, from[at].offset};
  }
  expressions[expression_count] = (struct hw_expression){(int)count, is_location, operations};
  return (struct hw_rule){.kind = HW_RULE_EXPRESSION, .value = expression_count++};
}

// MARK: - Rules

static int fits(uint64_t number) { return (int64_t)number == (int32_t)number; }

/// The CFA is nearly always a register plus an offset.
static struct hw_rule cfa_rule(const Dwarf_Op *operations, size_t count) {
  const Dwarf_Op *first = operations;
  int is_short = count == 1 && first->atom >= DW_OP_breg0 && first->atom <= DW_OP_breg31;
  uint64_t number = is_short ? first->atom - DW_OP_breg0 : first->number;
  uint64_t offset = is_short ? first->number : first->number2;
  if (!is_short && !(count == 1 && first->atom == DW_OP_bregx)) return add_expression(operations, count, 0);
  if (number >= HW_REGISTERS || !fits(offset)) return (struct hw_rule){.kind = HW_RULE_UNDEFINED};
  return (struct hw_rule){.kind = HW_RULE_REGISTER, .value = (int32_t)number, .offset = (int32_t)offset};
}

/// The rule of a register that is preserved; nearly always in memory at an offset to the CFA.
static struct hw_rule saved_rule(const Dwarf_Op *operations, size_t count) {
  int is_value = operations[count - 1].atom == DW_OP_stack_value;
  size_t length = is_value ? count - 1 : count;
  uint8_t code = operations[0].atom;
  uint64_t offset = length == 2 ? operations[1].number : 0;
  int has_offset = length == 1 || (length == 2 && operations[1].atom == DW_OP_plus_uconst && fits(offset));
  if (code == DW_OP_call_frame_cfa && has_offset) {
    return (struct hw_rule){.kind = is_value ? HW_RULE_CFA : HW_RULE_AT_CFA, .value = (int32_t)offset};
  }
  uint64_t number = code == DW_OP_regx ? operations[0].number : (uint64_t)(code - DW_OP_reg0);
  if (count == 1 && (code == DW_OP_regx || (code >= DW_OP_reg0 && code <= DW_OP_reg31)) && number < HW_REGISTERS) {
    return (struct hw_rule){.kind = HW_RULE_REGISTER, .value = (int32_t)number};
  }
  return add_expression(operations, length, !is_value);
}

static struct hw_rule register_rule(Dwarf_Frame *frame, int number) {
  Dwarf_Op memory[3], *operations = NULL;
  size_t count = 0;
  // Until a function has saved a register, its table says nothing about it.
  uint8_t kind = HW_PRESERVED >> number & 1 ? HW_RULE_NONE : HW_RULE_UNDEFINED;
  struct hw_rule rule = {.kind = kind, .target = (uint8_t)number};
  if (hw_dw.dwarf_frame_register(frame, number, memory, &operations, &count) != 0) return rule;
  if (count > 0) rule = saved_rule(operations, count);
  else if (operations == NULL) rule.kind = HW_RULE_NONE;
  rule.target = (uint8_t)number;
  return rule;
}

/// Translates the rules of a frame; whether the calling frame can be computed with them.
static int translate(Dwarf_Frame *frame, struct hw_row *row) {
  Dwarf_Op *operations;
  size_t count;
  bool is_signal_frame = false;
  *row = (struct hw_row){0};
  if (hw_dw.dwarf_frame_info(frame, NULL, NULL, &is_signal_frame) != HW_RETURN) return 0;
  if (hw_dw.dwarf_frame_cfa(frame, &operations, &count) != 0 || count == 0) return 0;
  row->is_signal_frame = is_signal_frame;
  row->cfa = cfa_rule(operations, count);
  for (int number = 0; number < HW_REGISTERS; number++) {
    struct hw_rule rule = register_rule(frame, number);
    if (rule.kind != HW_RULE_NONE) row->rules[row->count++] = rule;
  }
  return row->cfa.kind != HW_RULE_UNDEFINED;
}

// MARK: - The cache

/// A power of two. 6,000 places are many for a program (Java, 2026-11); a full table is emptied.
#define CAPACITY 131072u

static struct {
  uint64_t address;
  uint32_t module;
  /// Its index in `rows`, or `NO_ROW`.
  uint32_t row;
} entries[CAPACITY];

#define NO_ROW UINT32_MAX

static struct hw_row *rows;
static uint32_t entry_count, row_count, row_capacity;

static unsigned slot_of(uint32_t module, uint64_t address) {
  uint64_t mixed = (address ^ (uint64_t)module << 40) * UINT64_C(0x9e3779b97f4a7c15);
  return (unsigned)(mixed >> 32) & (CAPACITY - 1);
}

static void forget_rows(void) {
  memset(entries, 0, sizeof entries);
  forget_expressions();
  entry_count = row_count = 0;
}

/// Stores the row of an address; its index, or `NO_ROW`.
static uint32_t add_row(struct hw_module *module, uint64_t address) {
  if (row_count == row_capacity) {
    uint32_t larger = row_capacity * 2 + 256;
    struct hw_row *grown = realloc(rows, larger * sizeof *grown);
    if (grown == NULL) return NO_ROW;
    rows = grown;
    row_capacity = larger;
  }
  Dwarf_Frame *frame = find_frame(module, address);
  int is_usable = frame != NULL && translate(frame, &rows[row_count]);
  free(frame);
  return is_usable ? row_count++ : NO_ROW;
}

const struct hw_row *hw_find_row(uint32_t number, uint64_t address) {
  struct hw_module *module = hw_module(number);
  if (module == NULL) return NULL;
  unsigned at = slot_of(number, address);
  while (entries[at].module != HW_NO_MODULE && (entries[at].module != number || entries[at].address != address)) {
    at = (at + 1) & (CAPACITY - 1);
  }
  if (entries[at].module == HW_NO_MODULE) {
    if (entry_count == CAPACITY / 2) {
      forget_rows();
      at = slot_of(number, address);
    }
    uint32_t row = add_row(module, address);
    entries[at].address = address;
    entries[at].module = number;
    entries[at].row = row;
    entry_count++;
  }
  return entries[at].row == NO_ROW ? NULL : &rows[entries[at].row];
}
