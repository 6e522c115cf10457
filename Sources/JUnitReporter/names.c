/// The names of tests, and the tests that are chosen by name.

#define _GNU_SOURCE
#include "junit.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: - Texts

/// A text that is cut off where there is no room.
struct text {
  char *bytes;
  size_t size, length;
};

static void add(struct text *text, const char *bytes, size_t count) {
  if (text->length + count >= text->size) return;
  memcpy(text->bytes + text->length, bytes, count);
  text->length += count;
  text->bytes[text->length] = '\0';
}

static void add_scalar(struct text *text, uint32_t scalar) {
  char bytes[4];
  size_t count = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4;
  static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t at = count - 1; at > 0; at--, scalar >>= 6) bytes[at] = (char)(0x80 | (scalar & 0x3f));
  bytes[0] = (char)(first[count] | scalar);
  add(text, bytes, count);
}

/// Adds a unit of UTF-16; `high` is the one before if it waits for this one, and is set if this one waits for the next.
static void add_unit(struct text *text, uint32_t unit, uint32_t *high) {
  int is_low = (unit & 0xfc00) == 0xdc00;
  if (*high != 0 && !is_low) add_scalar(text, 0xfffd);
  if (*high != 0 && is_low) unit = 0x10000 + ((*high & 0x3ff) << 10 | (unit & 0x3ff));
  else if (is_low) unit = 0xfffd;
  *high = (unit & 0xfffffc00) == 0xd800 ? unit : 0;
  if (*high == 0) add_scalar(text, unit);
}

void hw_write_utf8(char *to, size_t size, const uint16_t *units, int32_t count) {
  struct text text = {to, size, 0};
  uint32_t high = 0;
  to[0] = '\0';
  for (int32_t at = 0; at < count; at++) add_unit(&text, units[at], &high);
  if (high != 0) add_scalar(&text, 0xfffd);
}

size_t hw_write_json(char *to, size_t size, const char *bytes) {
  struct text text = {to, size, 0};
  size_t needed = 3;
  add(&text, "\"", 1);
  for (; *bytes != '\0'; bytes++) {
    char escape[8];
    unsigned char byte = (unsigned char)*bytes;
    int count = byte == '"' || byte == '\\' ? snprintf(escape, sizeof escape, "\\%c", byte)
      : byte < 0x20                         ? snprintf(escape, sizeof escape, "\\u%04x", byte)
                                            : snprintf(escape, sizeof escape, "%c", byte);
    add(&text, escape, (size_t)count);
    needed += (size_t)count;
  }
  add(&text, "\"", 1);
  return needed;
}

// MARK: - The name of a test

/// The next segment of a unique ID, as in `[method:fills(int)]`, decoded: `%5B` is `[`.
static const char *next_segment(const char *id, char *type, size_t type_size, char *value, size_t value_size) {
  struct text parts[] = {{type, type_size, 0}, {value, value_size, 0}};
  int part = 0;
  type[0] = value[0] = '\0';
  for (id += *id == '/'; *id != '\0' && *id != ']'; id++) {
    unsigned code;
    char byte = *id;
    if (byte == '[') continue;
    if (byte == ':' && part == 0) {
      part = 1;
      continue;
    }
    if (byte == '%' && isxdigit((unsigned char)id[1]) && isxdigit((unsigned char)id[2])) {
      sscanf(id + 1, "%2x", &code);
      byte = (char)code;
      id += 2;
    }
    add(&parts[part], &byte, 1);
  }
  return id + (*id == ']');
}

static int is_one_of(const char *type, const char *const *types) {
  for (; *types != NULL; types++) {
    if (strcmp(type, *types) == 0) return 1;
  }
  return 0;
}

/// Without an empty list of parameters, and without the class that JUnit 4 writes there, as in
/// `fills(com.example.CacheTest)`.
static void drop_class(char *value, const char *class) {
  char *open = strrchr(value, '(');
  size_t length = strlen(class);
  if (open != NULL && strncmp(open + 1, class, length) == 0 && strcmp(open + 1 + length, ")") == 0) *open = '\0';
}

void hw_write_name(char *to, size_t size, const char *id) {
  static const char *const methods[] = {"method", "test-template", "test-factory", "test", NULL};
  struct text name = {to, size, 0};
  char type[64], value[HW_NAME_SIZE], class[HW_NAME_SIZE] = "";
  int has_method = 0;
  to[0] = '\0';
  while (*id != '\0') {
    const char *before = id;
    id = next_segment(id, type, sizeof type, value, sizeof value);
    if (id == before) return;
    if (strcmp(type, "engine") == 0) continue;
    if (strcmp(type, "runner") == 0) strcpy(class, value);
    int is_method = is_one_of(type, methods), is_number = value[0] == '#' && !is_method;
    if (is_method) drop_class(value, class);
    const char *separator = name.length == 0 ? ""
      : is_number                            ? "["
      : is_method && !has_method             ? "#"
      : strcmp(type, "nested-class") == 0    ? "$"
                                             : "/";
    has_method |= is_method;
    add(&name, separator, strlen(separator));
    // Byte by byte, so that a long value is cut off.
    for (const char *byte = value + is_number; *byte != '\0'; byte++) add(&name, byte, 1);
    if (is_number) add(&name, "]", 1);
  }
  // Not within a character.
  while (name.length + 1 == size && name.length > 0 && (to[name.length - 1] & 0x80) != 0) to[--name.length] = '\0';
}

// MARK: - The chosen tests

/// Sorted.
static char **chosen;
static size_t chosen_count;
static int has_chosen;

static int compare(const void *one, const void *other) { return strcmp(*(char *const *)one, *(char *const *)other); }

/// Reads a string of JSON after its quote in place; what follows it, or NULL.
static const char *read_string(const char *from, char *to, size_t size) {
  struct text text = {to, size, 0};
  uint32_t high = 0;
  static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
  to[0] = '\0';
  for (; *from != '"'; from++) {
    unsigned unit;
    if (*from == '\0') return NULL;
    if (*from != '\\') {
      add(&text, from, 1);
      continue;
    }
    const char *name = *++from == '\0' ? NULL : strchr(names, *from);
    if (*from == 'u') {
      if (sscanf(from + 1, "%4x", &unit) != 1) return NULL;
      add_unit(&text, unit, &high);
      from += 4;
    } else {
      add(&text, name == NULL ? from : bytes + (name - names), 1);
    }
  }
  return from + 1;
}

static int add_chosen(const char *name) {
  if ((chosen_count & (chosen_count - 1)) == 0) {
    char **grown = realloc(chosen, (chosen_count == 0 ? 1 : 2 * chosen_count) * sizeof *chosen);
    if (grown == NULL) return 0;
    chosen = grown;
  }
  char *copy = strdup(name);
  if (copy == NULL) return 0;
  chosen[chosen_count++] = copy;
  return 1;
}

/// The text of a file; NULL if it cannot be read.
static char *read_file(const char *path) {
  struct stat facts;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  char *bytes = fstat(file, &facts) == 0 ? calloc(1, (size_t)facts.st_size + 1) : NULL;
  if (bytes != NULL && read(file, bytes, (size_t)facts.st_size) != facts.st_size) {
    free(bytes);
    bytes = NULL;
  }
  close(file);
  return bytes;
}

int hw_read_chosen(const char *path) {
  static char name[HW_NAME_SIZE];
  char *bytes = read_file(path);
  has_chosen = 1;
  if (bytes == NULL) return 0;
  const char *at = strchr(bytes, '"');
  while (at != NULL) {
    at = read_string(at + 1, name, sizeof name);
    if (at == NULL || !add_chosen(name)) break;
    at = strchr(at, '"');
  }
  free(bytes);
  if (chosen_count > 0) qsort(chosen, chosen_count, sizeof *chosen, compare);
  return at == NULL;
}

int hw_has_chosen(void) { return has_chosen; }

/// The place of the first chosen name that is not before this one.
static size_t first_from(const char *name) {
  size_t low = 0, high = chosen_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(chosen[middle], name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

enum hw_choice hw_choice(const char *name) {
  size_t at = first_from(name), length = strlen(name);
  if (at < chosen_count && strcmp(chosen[at], name) == 0) return HW_CHOSEN;
  for (; at < chosen_count && strncmp(chosen[at], name, length) == 0; at++) {
    if (strchr("[#$/", chosen[at][length]) != NULL) return HW_MAY_HAVE_CHOSEN;
  }
  return HW_OTHER;
}

int hw_is_beside_chosen(const char *name) {
  char method[HW_NAME_SIZE];
  snprintf(method, sizeof method, "%s", name);
  const char *hash = strchr(method, '#');
  char *number = hash == NULL ? NULL : strchr(hash, '[');
  if (number == NULL) return 0;
  *number = '\0';
  return hw_choice(method) == HW_MAY_HAVE_CHOSEN;
}
