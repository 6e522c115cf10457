#define _GNU_SOURCE
#include "libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// libdw reads all sections of a file's DWARF at once; a large program of C++ has 500 MB.
#define MAX_DWARF (UINT64_C(1) << 30)

/// The longest CPU time for the sources of all places together.
#define MAX_NANOSECONDS INT64_C(5000000000)

/// Scopes within each other in one function: more would be of a damaged file.
#define MAX_DEPTH 64

/// The longest name with those of its scopes, in bytes.
#define MAX_NAME 4096

/// Code from `low` to before `high`.
struct range {
  uint64_t low, high;
  /// The unit, or the function.
  Dwarf_Die entry;
  /// Of a unit: the index of its functions, or `NOT_READ`.
  size_t functions;
};

#define NOT_READ SIZE_MAX

struct ranges {
  struct range *entries;
  size_t count, capacity;
};

struct hw_sources {
  /// The separate debug file, which stays open since libelf reads it later on.
  struct hw_elf debug;
  /// By address.
  struct ranges units;
  /// The functions of those units that were needed, each unit's by address.
  struct ranges *functions;
  size_t unit_count;
};

// MARK: - Ranges

static void append(struct ranges *ranges, struct range range) {
  if (range.low >= range.high) return;
  if (ranges->count == ranges->capacity) {
    size_t larger = ranges->capacity * 2 + 64;
    struct range *grown = realloc(ranges->entries, larger * sizeof *grown);
    if (grown == NULL) return;
    ranges->entries = grown;
    ranges->capacity = larger;
  }
  ranges->entries[ranges->count++] = range;
}

/// Appends the ranges of a unit or a function.
static void append_all(struct ranges *ranges, Dwarf_Die *entry, size_t functions) {
  Dwarf_Addr base, low, high;
  for (ptrdiff_t at = 0; (at = hw_dw.dwarf_ranges(entry, at, &base, &low, &high)) > 0;) {
    append(ranges, (struct range){low, high, *entry, functions});
  }
}

static int by_address(const void *one, const void *other) {
  uint64_t a = ((const struct range *)one)->low, b = ((const struct range *)other)->low;
  return a < b ? -1 : a > b;
}

static void sort(struct ranges *ranges) {
  if (ranges->count > 0) qsort(ranges->entries, ranges->count, sizeof *ranges->entries, by_address);
}

/// The last range that starts at an address or before, if it covers it.
static struct range *find(const struct ranges *ranges, uint64_t address) {
  size_t low = 0, high = ranges->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges->entries[middle].low <= address) low = middle + 1;
    else high = middle;
  }
  return low > 0 && address < ranges->entries[low - 1].high ? &ranges->entries[low - 1] : NULL;
}

// MARK: - Units and functions

/// Reads which units of a file have which code.
static void read_units(struct hw_sources *sources, Dwarf *dwarf) {
  Dwarf_Off offset = 0, next;
  size_t header;
  Dwarf_Die unit;
  while (hw_dw.dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0 && next > offset) {
    int is_read = hw_dw.dwarf_offdie(dwarf, offset + header, &unit) != NULL;
    if (is_read) append_all(&sources->units, &unit, sources->unit_count++);
    offset = next;
  }
  sort(&sources->units);
  sources->functions = calloc(sources->unit_count + 1, sizeof *sources->functions);
  if (sources->functions == NULL) sources->units.count = 0;
}

/// The sources of a module; without units if it has no debug information.
static struct hw_sources *sources_of(struct hw_module *module) {
  if (module->sources != NULL || !module->is_elf) return module->sources;
  struct hw_sources *sources = module->sources = calloc(1, sizeof *sources);
  if (sources == NULL) return NULL;
  Dwarf *dwarf = hw_open_dwarf(&module->elf, ".debug_info", MAX_DWARF);
  if (dwarf == NULL && hw_elf_open_debug_file(&module->elf, module->path, &sources->debug)) {
    dwarf = hw_open_dwarf(&sources->debug, ".debug_info", MAX_DWARF);
  }
  if (dwarf != NULL) read_units(sources, dwarf);
  return sources;
}

static int add_function(Dwarf_Die *function, void *to) {
  append_all(to, function, NOT_READ);
  return DWARF_CB_OK;
}

/// The function at an address, and its unit; NULL if it is unknown.
static struct range *find_function(struct hw_sources *sources, uint64_t address, Dwarf_Die **unit) {
  struct range *range = find(&sources->units, address);
  if (range == NULL) return NULL;
  struct ranges *functions = &sources->functions[range->functions];
  *unit = &range->entry;
  if (functions->capacity == 0) {
    hw_dw.dwarf_getfuncs(&range->entry, add_function, functions, 0);
    sort(functions);
    // Also of a unit without functions, so that it is not read again.
    if (functions->capacity == 0) functions->capacity = SIZE_MAX;
  }
  return find(functions, address);
}

// MARK: - Inlined functions

/// Finds the outermost function that was inlined in a scope at an address; whether there is one.
static int find_inlined(Dwarf_Die *scope, uint64_t address, Dwarf_Die *found) {
  Dwarf_Die at = *scope;
  for (int depth = 0; depth < MAX_DEPTH; depth++) {
    if (hw_dw.dwarf_child(&at, found) != 0) return 0;
    while (hw_dw.dwarf_haspc(found, address) <= 0) {
      if (hw_dw.dwarf_siblingof(found, found) != 0) return 0;
    }
    if (hw_dw.dwarf_tag(found) == DW_TAG_inlined_subroutine) return 1;
    at = *found;
  }
  return 0;
}

static const char *text_of(Dwarf_Die *entry, unsigned name) {
  Dwarf_Attribute attribute;
  return hw_dw.dwarf_formstring(hw_dw.dwarf_attr_integrate(entry, name, &attribute));
}

/// The entry that declares a function, of which others are the code or an inlined copy.
static Dwarf_Die declaration_of(Dwarf_Die *entry) {
  static const unsigned references[] = {DW_AT_abstract_origin, DW_AT_specification};
  Dwarf_Die at = *entry, next;
  Dwarf_Attribute attribute;
  for (size_t each = 0; each < 2; each++) {
    if (hw_dw.dwarf_formref_die(hw_dw.dwarf_attr(&at, references[each], &attribute), &next) != NULL) at = next;
  }
  return at;
}

/// What a scope adds to the names of functions in it; NULL for nothing. A class without a name is a lambda's.
static const char *scope_name(Dwarf_Die *scope) {
  int tag = hw_dw.dwarf_tag(scope);
  switch (tag) {
    case DW_TAG_namespace: case DW_TAG_class_type: case DW_TAG_structure_type: case DW_TAG_union_type:
    case DW_TAG_subprogram: break;
    default: return NULL;
  }
  Dwarf_Die declaration = declaration_of(scope);
  const char *name = hw_dw.dwarf_diename(&declaration);
  if (name != NULL) return name;
  return tag == DW_TAG_namespace ? "(anonymous namespace)" : tag == DW_TAG_subprogram ? NULL : "{lambda()}";
}

/// A function of C++ that has no symbol's name, such as a lambda's or a template's for it: as in
/// `serve()::{lambda()}::operator()`.
static const char *qualified_name(Dwarf_Die *declaration, const char *name) {
  Dwarf_Die *scopes = NULL;
  // Reads the unit from its beginning.
  int count = hw_dw.dwarf_getscopes_die(declaration, &scopes);
  char text[MAX_NAME];
  size_t length = 0;
  for (int at = count - 1; at > 0; at--) {
    const char *outer = scope_name(&scopes[at]);
    if (outer == NULL) continue;
    const char *calls = hw_dw.dwarf_tag(&scopes[at]) == DW_TAG_subprogram ? "()" : "";
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%s::", outer, calls);
    if (length >= sizeof text) break;
  }
  free(scopes);
  if (length >= sizeof text) return hw_intern(name);
  snprintf(text + length, sizeof text - length, "%s", name);
  return hw_intern(text);
}

static const char *cached_qualified_name(Dwarf_Die *entry, const char *name) {
  static struct {
    const void *declaration;
    const char *name;
  } known[1024];
  Dwarf_Die declaration = declaration_of(entry);
  size_t at = ((uintptr_t)declaration.addr * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (sizeof known / sizeof *known);
  if (known[at].declaration != declaration.addr) {
    known[at].name = qualified_name(&declaration, name);
    known[at].declaration = declaration.addr;
  }
  return known[at].name;
}

static int is_of_cpp(Dwarf_Die *unit) {
  switch (hw_dw.dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus: case DW_LANG_C_plus_plus_03: case DW_LANG_C_plus_plus_11: case DW_LANG_C_plus_plus_14:
    // C++17 and C++20 (dwarfstd.org/languages.html), which elfutils 0.188 does not name.
    case 0x2b: case 0x2c: return 1;
    default: return 0;
  }
}

static const char *function_name(Dwarf_Die *entry, Dwarf_Die *unit) {
  const char *symbol = text_of(entry, DW_AT_linkage_name), *name = hw_dw.dwarf_diename(entry);
  if (symbol == NULL) symbol = text_of(entry, DW_AT_MIPS_linkage_name);
  if (symbol != NULL) return hw_demangle(symbol);
  return name == NULL ? "" : is_of_cpp(unit) ? cached_qualified_name(entry, name) : hw_intern(name);
}

static Dwarf_Word number_of(Dwarf_Die *entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  return hw_dw.dwarf_formudata(hw_dw.dwarf_attr_integrate(entry, name, &attribute), &number) == 0 ? number : 0;
}

/// A path with the folder that the compiler ran in, if it is relative to that: a library's `src/lib.rs` is not the program's.
static const char *whole_path(const char *file, Dwarf_Die *unit) {
  const char *folder = file == NULL || file[0] == '/' ? NULL : text_of(unit, DW_AT_comp_dir);
  if (folder == NULL || folder[0] != '/') return file == NULL ? "" : hw_intern(file);
  char path[MAX_NAME];
  int length = snprintf(path, sizeof path, "%s/%s", folder, file);
  return hw_intern(length < (int)sizeof path ? path : file);
}

/// Sets the line at which an inlined function was called.
static void set_call(struct hw_source *caller, Dwarf_Die *unit, Dwarf_Die *inlined) {
  Dwarf_Files *files = NULL;
  size_t count = 0, number = number_of(inlined, DW_AT_call_file);
  if (hw_dw.dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count) return;
  const char *file = hw_dw.dwarf_filesrc(files, number, NULL, NULL);
  caller->file = whole_path(file, unit);
  caller->line = (int)number_of(inlined, DW_AT_call_line);
}

static void set_line(struct hw_source *source, Dwarf_Die *unit, uint64_t address) {
  Dwarf_Line *line = hw_dw.dwarf_getsrc_die(unit, address);
  const char *file = line == NULL ? NULL : hw_dw.dwarf_linesrc(line, NULL, NULL);
  source->file = whole_path(file, unit);
  if (file == NULL || hw_dw.dwarf_lineno(line, &source->line) != 0) source->line = 0;
}

static int find_sources(struct hw_sources *sources, uint64_t address, struct hw_source *found, int capacity) {
  Dwarf_Die *unit, scope, inlined;
  const struct range *function = find_function(sources, address, &unit);
  if (function == NULL) return 0;
  int count = 1;
  scope = function->entry;
  found[0] = (struct hw_source){"", "", 0};
  while (count < capacity && find_inlined(&scope, address, &inlined)) {
    set_call(&found[count - 1], unit, &inlined);
    found[count++] = (struct hw_source){function_name(&inlined, unit), "", 0};
    scope = inlined;
  }
  set_line(&found[count - 1], unit, address);
  return count;
}

// MARK: - Places

/// Many stacks have the same places.
#define CACHE 16384u

static struct cached {
  struct hw_place place;
  int count;
  struct hw_source sources[HW_MAX_INLINED];
} *cache;

int hw_sources_at(struct hw_place place, const struct hw_source **found) {
  static int64_t spent;
  struct hw_module *module = hw_module(place.module);
  if (cache == NULL) cache = calloc(CACHE, sizeof *cache);
  if (module == NULL || cache == NULL) return 0;
  uint64_t address = place.address - (place.is_return != 0);
  uint64_t mixed = (address ^ (uint64_t)place.module << 40) * UINT64_C(0x9e3779b97f4a7c15);
  struct cached *entry = &cache[mixed >> 32 & (CACHE - 1)];
  *found = entry->sources;
  if (entry->place.module == place.module && entry->place.address == address) return entry->count;
  int64_t before = hw_cpu_time();
  struct hw_sources *sources = spent > MAX_NANOSECONDS ? NULL : sources_of(module);
  entry->place = (struct hw_place){.module = place.module, .address = address};
  entry->count = sources == NULL ? 0 : find_sources(sources, address, entry->sources, HW_MAX_INLINED);
  spent += hw_cpu_time() - before;
  return entry->count;
}
