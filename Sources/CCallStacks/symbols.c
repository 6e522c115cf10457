#define _GNU_SOURCE
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Chromium with all its debug symbols has 1.5 million.
#define MAX_SYMBOLS (4u << 20)

/// A function that covers an address may start before others that do not.
#define MAX_OVERLAPS 64

/// In the rank of a symbol without size; its `end` is at first that of its section.
#define UNSIZED (1u << 12)

static void append(struct hw_symbols *symbols, struct hw_symbol symbol) {
  if (symbols->count == MAX_SYMBOLS) return;
  if (symbols->count == symbols->capacity) {
    size_t larger = symbols->capacity * 2 + 1024;
    struct hw_symbol *grown = realloc(symbols->entries, larger * sizeof *grown);
    if (grown == NULL) return;
    symbols->entries = grown;
    symbols->capacity = larger;
  }
  symbols->entries[symbols->count++] = symbol;
}

void hw_symbols_free(struct hw_symbols *symbols) {
  if (symbols == NULL) return;
  free(symbols->entries);
  for (int at = 0; at < HW_MAX_TABLES; at++) free(symbols->texts[at]);
  free(symbols);
}

// MARK: - Order

static int compare(const void *left, const void *right) {
  const struct hw_symbol *one = left, *other = right;
  if (one->start != other->start) return one->start < other->start ? -1 : 1;
  if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
  size_t length = strlen(one->name), other_length = strlen(other->name);
  return length != other_length ? (length < other_length ? -1 : 1) : strcmp(one->name, other->name);
}

/// The digits of the radix sort, in bits.
#define DIGIT 16u
#define DIGITS (UINT32_C(1) << DIGIT)

/// Moves the symbols to another array in the order of one digit of their distance from the lowest; equal ones keep theirs.
static void move_by_digit(
  const struct hw_symbol *from, struct hw_symbol *to, size_t count, uint64_t lowest, unsigned shift, uint32_t *places
) {
  memset(places, 0, (DIGITS + 1) * sizeof *places);
  for (size_t at = 0; at < count; at++) places[((from[at].start - lowest) >> shift & (DIGITS - 1)) + 1]++;
  for (uint32_t digit = 0; digit < DIGITS; digit++) places[digit + 1] += places[digit];
  for (size_t at = 0; at < count; at++) to[places[(from[at].start - lowest) >> shift & (DIGITS - 1)]++] = from[at];
}

/// Sorts the symbols by address: a large program has 200,000, which a sort by comparison takes ten times as long for.
/// 0 if there is no memory for it.
static int sort_by_start(struct hw_symbols *symbols) {
  uint64_t lowest = UINT64_MAX, highest = 0;
  for (size_t at = 0; at < symbols->count; at++) {
    uint64_t start = symbols->entries[at].start;
    if (start < lowest) lowest = start;
    if (start > highest) highest = start;
  }
  struct hw_symbol *other = malloc(symbols->capacity * sizeof *other);
  uint32_t *places = malloc((DIGITS + 1) * sizeof *places);
  int is_possible = other != NULL && places != NULL;
  for (unsigned shift = 0; is_possible && shift < 64 && (highest - lowest) >> shift != 0; shift += DIGIT) {
    move_by_digit(symbols->entries, other, symbols->count, lowest, shift, places);
    struct hw_symbol *former = symbols->entries;
    symbols->entries = other;
    other = former;
  }
  free(other);
  free(places);
  return is_possible;
}

/// The first symbol behind those with the same address as one.
static size_t end_of_equal(const struct hw_symbols *symbols, size_t at) {
  uint64_t start = symbols->entries[at].start;
  while (at < symbols->count && symbols->entries[at].start == start) at++;
  return at;
}

/// Sorts the symbols, and keeps the best one at each address, with the largest size of all.
static void sort(struct hw_symbols *symbols) {
  size_t kept = 0;
  if (symbols->count == 0) return;
  if (!sort_by_start(symbols)) qsort(symbols->entries, symbols->count, sizeof *symbols->entries, compare);
  for (size_t from = 0, end; from < symbols->count; from = end) {
    end = end_of_equal(symbols, from);
    struct hw_symbol best = symbols->entries[from];
    for (size_t at = from + 1; at < end; at++) {
      if (compare(&symbols->entries[at], &best) < 0) best = symbols->entries[at];
    }
    for (size_t at = from; at < end && !symbols->is_perf_map; at++) {
      const struct hw_symbol *symbol = &symbols->entries[at];
      if (!(symbol->rank & UNSIZED) && symbol->end > best.end) best.end = symbol->end;
    }
    symbols->entries[kept++] = best;
  }
  symbols->count = kept;
}

struct hw_symbol *hw_symbols_find(const struct hw_symbols *symbols, uint64_t address) {
  size_t low = 0, high = symbols->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (symbols->entries[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  struct hw_symbol *found = NULL;
  for (size_t tries = 0; tries < MAX_OVERLAPS && low > 0; tries++) {
    struct hw_symbol *symbol = &symbols->entries[--low];
    if (address >= symbol->end || (found != NULL && symbol->rank > found->rank)) continue;
    found = symbol;
    if (!symbols->is_perf_map) return found;
  }
  return found;
}

// MARK: - Symbol tables

/// Sized before unsized, functions before other labels, global before weak before local, few underscores before many;
/// then the shortest: `free` before `cfree`.
static uint32_t rank(const Elf64_Sym *symbol, const char *name) {
  static const uint8_t bindings[16] = {[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1};
  uint32_t unsized = symbol->st_size == 0 ? UNSIZED : 0, is_label = ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;
  uint32_t underscores = (uint32_t)strspn(name, "_");
  uint32_t binding = bindings[ELF64_ST_BIND(symbol->st_info)];
  return unsized | is_label << 11 | binding << 8 | (underscores < 255 ? underscores : 255);
}

/// Labels that assemblers and linkers write.
static int is_artificial(const char *name) {
  int is_mapping_symbol = name[0] == '$' && strchr("adtx", name[1]) != NULL && (name[2] == 0 || name[2] == '.');
  return name[0] == 0 || is_mapping_symbol || strncmp(name, ".L", 2) == 0;
}

/// The section with the code of a symbol; NULL if it is not a function.
static const Elf64_Shdr *section_of(const struct hw_elf *elf, const Elf64_Sym *symbol) {
  int type = ELF64_ST_TYPE(symbol->st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) return NULL;
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= elf->section_count) return NULL;
  const Elf64_Shdr *section = &elf->sections[symbol->st_shndx];
  int is_inside = symbol->st_value - section->sh_addr < section->sh_size;
  return (section->sh_flags & SHF_EXECINSTR) && is_inside ? section : NULL;
}

/// Appends the functions of a symbol table.
static void read_table(struct hw_symbols *symbols, struct hw_elf *elf, uint32_t type) {
  const Elf64_Shdr *table = hw_elf_section(elf, NULL, type);
  if (table == NULL || table->sh_link >= elf->section_count) return;
  const Elf64_Shdr *texts = &elf->sections[table->sh_link];
  Elf64_Sym *entries = hw_elf_section_bytes(elf, table);
  size_t count = symbols->count;
  char *names = entries == NULL ? NULL : hw_elf_section_bytes(elf, texts);
  for (uint64_t at = 0; names != NULL && at < table->sh_size / sizeof *entries; at++) {
    const Elf64_Sym *symbol = &entries[at];
    const Elf64_Shdr *section = section_of(elf, symbol);
    if (section == NULL || symbol->st_name >= texts->sh_size || is_artificial(names + symbol->st_name)) continue;
    struct hw_symbol added = {.start = symbol->st_value, .name = names + symbol->st_name};
    added.end = symbol->st_size > 0 ? added.start + symbol->st_size : section->sh_addr + section->sh_size;
    added.rank = rank(symbol, added.name);
    if (added.end > added.start) append(symbols, added);
  }
  if (symbols->count == count) free(names);
  else symbols->texts[symbols->text_count++] = names;
  free(entries);
}

/// The number of entries of a symbol table. A full one has what the file exports as well, so that it is not read twice.
static uint64_t table_size(struct hw_elf *elf, uint32_t type) {
  const Elf64_Shdr *table = hw_elf_section(elf, NULL, type);
  return table == NULL ? 0 : table->sh_size / sizeof(Elf64_Sym);
}

/// Lets symbols without size end at the next one, and removes those inside of others: they are labels.
static void end_unsized(struct hw_symbols *symbols) {
  uint64_t covered = 0;
  size_t kept = 0;
  for (size_t at = 0; at < symbols->count; at++) {
    struct hw_symbol symbol = symbols->entries[at];
    if (symbol.rank & UNSIZED) {
      if (symbol.start < covered) continue;
      if (at + 1 < symbols->count && symbols->entries[at + 1].start < symbol.end) {
        symbol.end = symbols->entries[at + 1].start;
      }
    } else if (symbol.end > covered) {
      covered = symbol.end;
    }
    symbols->entries[kept++] = symbol;
  }
  symbols->count = kept;
}

struct hw_symbols *hw_symbols_of(struct hw_module *module) {
  if (module->symbols != NULL || !module->is_elf) return module->symbols;
  struct hw_symbols *symbols = module->symbols = calloc(1, sizeof *symbols);
  struct hw_elf *elf = &module->elf, debug;
  if (symbols == NULL) return NULL;
  read_table(symbols, elf, SHT_SYMTAB);
  if (symbols->count == 0 && hw_elf_open_debug_file(elf, module->path, &debug)) {
    read_table(symbols, &debug, SHT_SYMTAB);
    hw_elf_close(&debug);
  }
  if (symbols->count < table_size(elf, SHT_DYNSYM)) read_table(symbols, elf, SHT_DYNSYM);
  sort(symbols);
  end_unsized(symbols);
  return symbols;
}

// MARK: - Perf maps

/// Reads a line `START SIZE NAME`, both numbers hexadecimal; whether it has a sense.
static int read_line(char *line, struct hw_symbol *symbol) {
  char *end;
  symbol->start = strtoull(line, &end, 16);
  if (end == line || *end != ' ') return 0;
  char *size = end + 1;
  symbol->end = symbol->start + strtoull(size, &end, 16);
  symbol->name = end + 1;
  return end != size && *end == ' ' && end[1] != 0 && symbol->end > symbol->start;
}

struct hw_symbols *hw_symbols_of_perf_map(char *text, size_t length) {
  struct hw_symbols *symbols = calloc(1, sizeof *symbols);
  if (symbols == NULL) {
    free(text);
    return NULL;
  }
  symbols->is_perf_map = 1;
  symbols->texts[symbols->text_count++] = text;
  char *rest = memchr(text, 0, length) == NULL ? text : NULL;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
    struct hw_symbol symbol = {.rank = MAX_SYMBOLS - (uint32_t)symbols->count};
    if (read_line(line, &symbol)) append(symbols, symbol);
  }
  sort(symbols);
  return symbols;
}
