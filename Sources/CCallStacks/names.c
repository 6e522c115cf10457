#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Symbols that are longer, or whose names might become longer, stay as they are: by references to its own parts a
/// symbol of 260 bytes stands for a name of 1 GB (libstdc++ 12, 2026-11).
#define MAX_MANGLED 4096
#define MAX_DEMANGLED (1 << 20)

// MARK: - The set of names

/// One set for each thread, without a lock, which a fork could copy in its locked state.
static _Thread_local char **names;
static _Thread_local size_t name_count, name_capacity;

static size_t hash(const char *name) {
  uint64_t sum = UINT64_C(14695981039346656037);
  for (; *name != 0; name++) sum = (sum ^ (uint8_t)*name) * UINT64_C(1099511628211);
  return (size_t)(sum ^ sum >> 32);
}

static char **slot_of(const char *name) {
  size_t at = hash(name) & (name_capacity - 1);
  while (names[at] != NULL && strcmp(names[at], name) != 0) at = (at + 1) & (name_capacity - 1);
  return &names[at];
}

static int grow_names(void) {
  char **former = names;
  size_t count = name_capacity, larger = count == 0 ? 4096 : count * 2;
  char **grown = calloc(larger, sizeof *grown);
  if (grown == NULL) return 0;
  names = grown;
  name_capacity = larger;
  for (size_t at = 0; at < count; at++) {
    if (former[at] != NULL) *slot_of(former[at]) = former[at];
  }
  free(former);
  return 1;
}

const char *hw_intern(const char *name) {
  if (name_count * 2 >= name_capacity && !grow_names()) return "";
  char **slot = slot_of(name);
  if (*slot != NULL) return *slot;
  *slot = strdup(name);
  if (*slot == NULL) return "";
  name_count++;
  return *slot;
}

// MARK: - What compilers add

/// Removes the symbol version, and the suffixes of parts and copies of functions, such as `.constprop.0`.
static void strip_suffixes(char *name) {
  static const char *const words[] = {"cold", "part", "constprop", "isra", "lto_priv", "llvm", "localalias"};
  char *version = *name == 0 ? NULL : strchr(name + 1, '@');
  if (version != NULL) *version = 0;
  for (char *end = name + strlen(name), *dot; (dot = memrchr(name, '.', (size_t)(end - name))) != NULL;) {
    end = dot;
    if (dot[1] != 0 && dot[1 + strspn(dot + 1, "0123456789")] == 0) continue;
    int is_known = 0;
    for (size_t at = 0; at < sizeof words / sizeof *words; at++) {
      size_t length = strlen(words[at]);
      is_known |= strncmp(dot + 1, words[at], length) == 0 && (dot[1 + length] == 0 || dot[1 + length] == '.');
    }
    if (!is_known || dot == name) return;
    *dot = 0;
  }
}

/// Where the hash begins that Rust's older scheme adds to a name; NULL if there is none.
static char *rust_hash(char *name) {
  size_t length = strlen(name), added = strlen("::h0123456789abcdef");
  if (length <= added) return NULL;
  char *hash = name + length - added;
  return strncmp(hash, "::h", 3) == 0 && strspn(hash + 3, "0123456789abcdef") == 16 ? hash : NULL;
}

/// What stands in a Rust symbol for characters that C++ does not have in names.
static size_t rust_escape(const char *at, char *character) {
  static const struct {
    const char *text;
    char character;
  } escapes[] = {
    {"$LT$", '<'}, {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'},
    {"$RF$", '&'}, {"$BP$", '*'}, {"$SP$", '@'}, {"$C$", ','},
  };
  for (size_t escape = 0; escape < sizeof escapes / sizeof *escapes; escape++) {
    size_t length = strlen(escapes[escape].text);
    if (strncmp(at, escapes[escape].text, length) != 0) continue;
    *character = escapes[escape].character;
    return length;
  }
  unsigned code;
  int length = 0;
  if (sscanf(at, "$u%2x$%n", &code, &length) != 1 || length == 0 || code < ' ' || code > '~') return 0;
  *character = (char)code;
  return (size_t)length;
}

/// Replaces what stands for other characters, in place.
static void read_rust_escapes(char *name) {
  char *to = name;
  for (const char *at = name; *at != 0;) {
    size_t length = rust_escape(at, to);
    int is_path = at[0] == '.' && at[1] == '.';
    // A component that starts with an escape has an underscore before it.
    int is_filler = at[0] == '_' && at[1] == '$' && (at == name || at[-1] == ':');
    if (is_path) *to++ = ':';
    if (length == 0 && !is_filler) *to = is_path ? ':' : *at;
    if (!is_filler) to++;
    at += length > 0 ? length : is_path ? 2 : 1;
  }
  *to = 0;
}

// MARK: - Demangling

/// Of libswiftCore; NULL in a program without Swift.
extern char *swift_demangle(const char *name, size_t length, char *to, size_t *size, uint32_t flags)
  __attribute__((weak));

typedef char *(*cpp_demangler)(const char *name, char *to, size_t *size, int *status);

static cpp_demangler find_cpp_demangler(void) {
  void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
  void *library = found != NULL ? NULL : dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
  if (library != NULL) found = dlsym(library, "__cxa_demangle");
  cpp_demangler demangler = NULL;
  memcpy(&demangler, &found, sizeof demangler);
  return demangler;
}

/// Whether the name of a symbol cannot become too long.
///
/// References, such as `S1_` and `T_`, double and triple it if each is to all before it: n of them let it become at most
/// 3^(n/3) times as long. 99.7 % of the symbols of clang 21 and LLDB are within the limit.
static int is_bounded(const char *symbol) {
  double most = (double)strlen(symbol);
  for (const char *at = symbol; (at = strpbrk(at, "ST")) != NULL; at++) {
    size_t number = strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (at[1 + number] == '_') most *= 1.4422;
  }
  return most <= MAX_DEMANGLED;
}

static char *demangle_cpp(const char *name) {
  static cpp_demangler demangler;
  int status;
  if (!is_bounded(name)) return NULL;
  if (demangler == NULL) demangler = find_cpp_demangler();
  char *demangled = demangler == NULL ? NULL : demangler(name, NULL, NULL, &status);
  char *hash = demangled == NULL ? NULL : rust_hash(demangled);
  if (hash == NULL) return demangled;
  *hash = 0;
  read_rust_escapes(demangled);
  return demangled;
}

static int is_swift(const char *name) {
  if (*name == '_') name++;
  return strncmp(name, "$s", 2) == 0 || strncmp(name, "$S", 2) == 0 || strncmp(name, "T0", 2) == 0;
}

const char *hw_demangle(const char *symbol) {
  char *name = strdup(symbol), *demangled = NULL;
  if (name == NULL) return "";
  strip_suffixes(name);
  size_t length = strlen(name);
  if (length > MAX_MANGLED) demangled = NULL;
  else if (strncmp(name, "_Z", 2) == 0) demangled = demangle_cpp(name);
  else if (strncmp(name, "_R", 2) == 0) demangled = hw_demangle_rust(name);
  else if (is_swift(name) && swift_demangle != NULL) demangled = swift_demangle(name, length, NULL, NULL, 0);
  const char *display = hw_intern(demangled != NULL ? demangled : name);
  free(demangled);
  free(name);
  return display;
}

// MARK: - Functions

const char *hw_function_at(const struct hw_code *code, struct hw_place place) {
  struct hw_module *module = hw_module(place.module);
  const struct hw_symbols *symbols = module != NULL ? hw_symbols_of(module) : NULL;
  if (place.module == HW_NO_MODULE && code != NULL) symbols = hw_code_perf_map(code);
  struct hw_symbol *symbol = symbols == NULL ? NULL : hw_symbols_find(symbols, place.address - (place.is_return != 0));
  if (symbol == NULL) return "";
  if (symbol->display == NULL) symbol->display = module != NULL ? hw_demangle(symbol->name) : hw_intern(symbol->name);
  return symbol->display;
}
