#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A longer name stays as it is. References to earlier parts of a symbol can make it grow exponentially.
#define MAX_NAME 4096
#define MAX_STEPS 65536
#define MAX_DEPTH 128

/// The state of demangling, by the grammar of RFC 2603.
struct v0 {
  const char *at, *start;
  char *name;
  size_t used;
  int steps, depth;
  /// While it is not 0, nothing is written.
  int silent;
  /// The lifetimes that surrounding types have bound.
  uint64_t lifetimes;
  int has_failed;
};

static void write_bytes(struct v0 *v0, const char *bytes, size_t length) {
  if (v0->silent) return;
  if (length >= MAX_NAME - v0->used) {
    v0->has_failed = 1;
    return;
  }
  memcpy(v0->name + v0->used, bytes, length);
  v0->used += length;
}

static void write_text(struct v0 *v0, const char *text) { write_bytes(v0, text, strlen(text)); }

static void write_number(struct v0 *v0, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  write_text(v0, text);
}

// MARK: - Numbers and identifiers

static int skip(struct v0 *v0, char expected) {
  if (v0->has_failed || *v0->at != expected) return 0;
  v0->at++;
  return 1;
}

static char next(struct v0 *v0) {
  if (v0->has_failed || *v0->at == 0) {
    v0->has_failed = 1;
    return 0;
  }
  return *v0->at++;
}

/// A number to the base 62, which ends with an underscore.
static uint64_t base_62(struct v0 *v0) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (skip(v0, '_')) return 0;
  uint64_t number = 0;
  for (char digit = next(v0); digit != '_' && !v0->has_failed; digit = next(v0)) {
    const char *found = strchr(digits, digit);
    if (found == NULL || number > (UINT64_MAX - 64) / 62) v0->has_failed = 1;
    else number = number * 62 + (uint64_t)(found - digits);
  }
  return number + 1;
}

static uint64_t optional_base_62(struct v0 *v0, char tag) { return skip(v0, tag) ? base_62(v0) + 1 : 0; }

/// Reads an identifier without writing it.
static const char *identifier(struct v0 *v0, uint64_t *disambiguator, size_t *length) {
  *disambiguator = optional_base_62(v0, 's');
  if (skip(v0, 'u')) v0->has_failed = 1;
  const char *text = v0->at;
  size_t number = 0;
  // After a zero, another number may follow.
  if (*text == '0') text++;
  else while (*text >= '0' && *text <= '9' && number < SIZE_MAX / 16) number = number * 10 + (size_t)(*text++ - '0');
  *length = 0;
  if (text == v0->at) v0->has_failed = 1;
  if (*text == '_') text++;
  if (number > strlen(text)) v0->has_failed = 1;
  if (v0->has_failed) return "";
  *length = number;
  v0->at = text + number;
  return text;
}

// MARK: - Paths and types

static void path(struct v0 *v0, int is_value);
static void type(struct v0 *v0);

/// Reads something at an earlier position of the symbol.
static void reference(struct v0 *v0, void (*read)(struct v0 *)) {
  const char *from = v0->at - 1;
  uint64_t position = base_62(v0);
  if (v0->has_failed || position >= (uint64_t)(from - v0->start)) {
    v0->has_failed = 1;
    return;
  }
  const char *back = v0->at;
  v0->at = v0->start + position;
  read(v0);
  v0->at = back;
}

static void value_path(struct v0 *v0) { path(v0, 1); }
static void type_path(struct v0 *v0) { path(v0, 0); }

static void lifetime(struct v0 *v0, uint64_t index) {
  char text[3] = {'\'', '_', 0};
  if (index > v0->lifetimes || (index > 0 && v0->lifetimes - index > 25)) v0->has_failed = 1;
  else if (index > 0) text[1] = (char)('a' + (v0->lifetimes - index));
  write_text(v0, text);
}

/// Reads the lifetimes that a type binds; how many.
static uint64_t binder(struct v0 *v0) {
  uint64_t count = optional_base_62(v0, 'G');
  if (count > 26) v0->has_failed = 1;
  for (uint64_t at = 0; at < count && !v0->has_failed; at++) {
    write_text(v0, at == 0 ? "for<" : ", ");
    v0->lifetimes++;
    lifetime(v0, 1);
  }
  if (count > 0) write_text(v0, "> ");
  return count;
}

/// A number, a truth value or a character among the arguments of a generic type.
static void constant(struct v0 *v0) {
  char kind = next(v0);
  if (kind == 'B') return reference(v0, constant);
  if (kind == 'p') return write_text(v0, "_");
  if (kind == 0 || strchr("hijlmnotxyasbc", kind) == NULL) v0->has_failed = 1;
  if (skip(v0, 'n')) write_text(v0, "-");
  char *end;
  uint64_t number = strtoull(v0->at, &end, 16);
  size_t digits = strspn(v0->at, "0123456789abcdef");
  if (v0->has_failed || digits > 16 || end != v0->at + digits || *end != '_') {
    v0->has_failed = 1;
    return;
  }
  v0->at = end + 1;
  if (kind == 'b') return write_text(v0, number == 0 ? "false" : "true");
  if (kind != 'c') return write_number(v0, number);
  char character[2] = {(char)number, 0};
  if (number < ' ' || number > '~') v0->has_failed = 1;
  write_text(v0, "'");
  write_text(v0, character);
  write_text(v0, "'");
}

static void generic_argument(struct v0 *v0) {
  if (skip(v0, 'L')) lifetime(v0, base_62(v0));
  else if (skip(v0, 'K')) constant(v0);
  else type(v0);
}

/// Reads elements up to an E, with commas between them; how many.
static int list(struct v0 *v0, void (*read)(struct v0 *)) {
  int count = 0;
  for (; !v0->has_failed && !skip(v0, 'E'); count++) {
    if (count > 0) write_text(v0, ", ");
    read(v0);
  }
  return count;
}

static void function_type(struct v0 *v0) {
  uint64_t bound = binder(v0), ignored;
  size_t length;
  if (skip(v0, 'U')) write_text(v0, "unsafe ");
  if (skip(v0, 'K')) {
    const char *abi = skip(v0, 'C') ? (length = 1, "C") : identifier(v0, &ignored, &length);
    write_text(v0, "extern \"");
    write_bytes(v0, abi, length);
    write_text(v0, "\" ");
  }
  write_text(v0, "fn(");
  list(v0, type);
  write_text(v0, ")");
  if (!skip(v0, 'u')) {
    write_text(v0, " -> ");
    type(v0);
  }
  v0->lifetimes -= bound;
}

/// A trait of an object, with the types that belong to it.
static void object_trait(struct v0 *v0) {
  path(v0, 0);
  for (int count = 0; skip(v0, 'p'); count++) {
    uint64_t ignored;
    size_t length;
    const char *name = identifier(v0, &ignored, &length);
    int is_open = !v0->silent && v0->used > 0 && v0->name[v0->used - 1] == '>';
    if (is_open) v0->used--;
    write_text(v0, is_open || count > 0 ? ", " : "<");
    write_bytes(v0, name, length);
    write_text(v0, " = ");
    type(v0);
    write_text(v0, ">");
  }
}

static void object_type(struct v0 *v0) {
  write_text(v0, "dyn ");
  uint64_t bound = binder(v0);
  for (int count = 0; !v0->has_failed && !skip(v0, 'E'); count++) {
    if (count > 0) write_text(v0, " + ");
    object_trait(v0);
  }
  v0->lifetimes -= bound;
  uint64_t index = skip(v0, 'L') ? base_62(v0) : (v0->has_failed = 1, 0);
  if (index == 0) return;
  write_text(v0, " + ");
  lifetime(v0, index);
}

static void reference_type(struct v0 *v0, int is_mutable) {
  write_text(v0, "&");
  uint64_t index = skip(v0, 'L') ? base_62(v0) : 0;
  if (index > 0) {
    lifetime(v0, index);
    write_text(v0, " ");
  }
  if (is_mutable) write_text(v0, "mut ");
  type(v0);
}

static void array_type(struct v0 *v0, int has_length) {
  write_text(v0, "[");
  type(v0);
  if (has_length) {
    write_text(v0, "; ");
    constant(v0);
  }
  write_text(v0, "]");
}

static const char *basic_type(char tag) {
  static const char *const names[26] = {
    "i8", "bool", "char", "f64", "str", "f32", NULL, "u8", "isize", "usize", NULL, "i32", "u32", "i128", "u128", "_",
    NULL, NULL, "i16", "u16", "()", "...", NULL, "i64", "u64", "!"};
  return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static int enter(struct v0 *v0) {
  if (++v0->depth > MAX_DEPTH || ++v0->steps > MAX_STEPS) v0->has_failed = 1;
  return !v0->has_failed;
}

static void type(struct v0 *v0) {
  char tag = enter(v0) ? next(v0) : 0;
  const char *basic = basic_type(tag);
  switch (basic != NULL ? 0 : tag) {
    case 0: write_text(v0, basic == NULL ? "" : basic); break;
    case 'R': case 'Q': reference_type(v0, tag == 'Q'); break;
    case 'P': write_text(v0, "*const "); type(v0); break;
    case 'O': write_text(v0, "*mut "); type(v0); break;
    case 'A': case 'S': array_type(v0, tag == 'A'); break;
    case 'T':
      write_text(v0, "(");
      if (list(v0, type) == 1) write_text(v0, ",");
      write_text(v0, ")");
      break;
    case 'F': function_type(v0); break;
    case 'D': object_type(v0); break;
    case 'B': reference(v0, type); break;
    default:
      v0->at--;
      path(v0, 0);
  }
  v0->depth--;
}

static void implementation(struct v0 *v0, char tag) {
  if (tag != 'Y') {
    v0->silent++;
    optional_base_62(v0, 's');
    path(v0, 0);
    v0->silent--;
  }
  write_text(v0, "<");
  type(v0);
  if (tag != 'M') {
    write_text(v0, " as ");
    path(v0, 0);
  }
  write_text(v0, ">");
}

static void nested(struct v0 *v0, int is_value) {
  char space = next(v0);
  uint64_t disambiguator;
  size_t length;
  path(v0, is_value);
  const char *name = identifier(v0, &disambiguator, &length);
  int is_special = space >= 'A' && space <= 'Z';
  if (length == 0 && !is_special) return;
  write_text(v0, is_special ? "::{" : "::");
  if (is_special) write_text(v0, space == 'C' ? "closure" : space == 'S' ? "shim" : (char[]){space, 0});
  if (is_special && length > 0) write_text(v0, ":");
  write_bytes(v0, name, length);
  if (!is_special) return;
  write_text(v0, "#");
  write_number(v0, disambiguator);
  write_text(v0, "}");
}

static void path(struct v0 *v0, int is_value) {
  uint64_t ignored;
  size_t length;
  const char *name;
  char tag = enter(v0) ? next(v0) : 0;
  switch (tag) {
    case 'C':
      name = identifier(v0, &ignored, &length);
      write_bytes(v0, name, length);
      break;
    case 'M': case 'X': case 'Y': implementation(v0, tag); break;
    case 'N': nested(v0, is_value); break;
    case 'I':
      path(v0, is_value);
      write_text(v0, is_value ? "::<" : "<");
      list(v0, generic_argument);
      write_text(v0, ">");
      break;
    case 'B': reference(v0, is_value ? value_path : type_path); break;
    default: v0->has_failed = 1;
  }
  v0->depth--;
}

char *hw_demangle_rust(const char *symbol) {
  char *name = malloc(MAX_NAME);
  struct v0 v0 = {.at = symbol + 2, .start = symbol + 2, .name = name, .has_failed = name == NULL};
  path(&v0, 1);
  if (!v0.has_failed) {
    name[v0.used] = 0;
    return name;
  }
  free(name);
  return NULL;
}
