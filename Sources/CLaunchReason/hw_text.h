/// Substrings, string buffers and the lines of files, without allocation. Private to this module.

#ifndef HW_TEXT_H
#define HW_TEXT_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// MARK: - Strings

/// A substring, without a NUL at its end.
struct span {
  const char *bytes;
  size_t length;
};

static inline bool is_space(char byte) { return byte == ' ' || byte == '\t'; }

static inline bool is(struct span span, const char *text) {
  return span.length == strlen(text) && memcmp(span.bytes, text, span.length) == 0;
}

static inline bool begins(struct span span, const char *text) {
  return span.length >= strlen(text) && memcmp(span.bytes, text, strlen(text)) == 0;
}

static inline struct span without(struct span span, size_t first) {
  return (struct span){.bytes = span.bytes + first, .length = span.length - first};
}

/// Removes the bytes up to a separator, and the separator, from the front of a substring; returns the bytes.
static inline struct span take(struct span *rest, const char *separators) {
  struct span taken = {.bytes = rest->bytes, .length = 0};
  while (taken.length < rest->length && memchr(separators, taken.bytes[taken.length], strlen(separators)) == NULL) {
    taken.length++;
  }
  *rest = without(*rest, taken.length + (taken.length < rest->length));
  return taken;
}

/// Removes the next word from the front of a substring; empty at its end.
static inline struct span word(struct span *rest) {
  while (rest->length > 0 && is_space(*rest->bytes)) *rest = without(*rest, 1);
  return take(rest, " \t");
}

static inline struct span word_at(struct span line, size_t index) {
  struct span found = word(&line);
  while (index-- > 0) found = word(&line);
  return found;
}

static inline bool has_member(struct span list, const char *member) {
  while (list.length > 0) {
    if (is(take(&list, ","), member)) return true;
  }
  return false;
}

/// Parses a decimal number, which must be the whole substring.
static inline bool number(struct span digits, uint64_t *value) {
  uint64_t sum = 0;
  for (size_t at = 0; at < digits.length; at++) {
    unsigned digit = (unsigned)(digits.bytes[at] - '0');
    if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum)) return false;
  }
  *value = sum;
  return digits.length > 0;
}

/// A string buffer; a longer string is cut.
struct text {
  char *bytes;
  size_t capacity, length;
};

static inline struct text text_in(char *bytes, size_t capacity) {
  *bytes = '\0';
  return (struct text){.bytes = bytes, .capacity = capacity, .length = 0};
}

static inline void append(struct text *text, struct span span) {
  size_t count = span.length < text->capacity - 1 - text->length ? span.length : text->capacity - 1 - text->length;
  memcpy(text->bytes + text->length, span.bytes, count);
  text->length += count;
  text->bytes[text->length] = '\0';
}

static inline void append_text(struct text *text, const char *other) {
  append(text, (struct span){.bytes = other, .length = strlen(other)});
}

/// A path; files with longer paths are not read, to save stack.
struct path {
  char bytes[1024];
};

static inline const char *join(struct path *path, const char *folder, const char *name) {
  struct text text = text_in(path->bytes, sizeof path->bytes);
  append_text(&text, folder);
  append_text(&text, name);
  if (text.length == sizeof path->bytes - 1) *path->bytes = '\0';
  return path->bytes;
}

// MARK: - Lines

/// The lines of a file; a longer line, such as a mount with many layers, is cut.
struct lines {
  int file;
  size_t start, end;
  bool is_skipping;
  char bytes[1024];
};

static inline bool open_lines(struct lines *lines, const char *path) {
  lines->start = lines->end = 0;
  lines->is_skipping = false;
  lines->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return lines->file >= 0;
}

static inline bool fill(struct lines *lines) {
  memmove(lines->bytes, lines->bytes + lines->start, lines->end - lines->start);
  lines->end -= lines->start;
  lines->start = 0;
  ssize_t count = read(lines->file, lines->bytes + lines->end, sizeof lines->bytes - lines->end);
  if (count > 0) lines->end += (size_t)count;
  return count > 0;
}

static inline bool next_line(struct lines *lines, struct span *line) {
  while (true) {
    char *start = lines->bytes + lines->start;
    size_t count = lines->end - lines->start;
    char *newline = memchr(start, '\n', count);
    bool is_full = newline == NULL && count == sizeof lines->bytes;
    bool is_last = newline == NULL && !is_full && !fill(lines);
    if (newline == NULL && !is_full && !is_last) continue;
    bool is_rest = lines->is_skipping;
    if (newline != NULL) count = (size_t)(newline - start);
    *line = (struct span){.bytes = lines->bytes + lines->start, .length = count};
    lines->start += count + (newline != NULL);
    lines->is_skipping = is_full;
    if (!is_rest && (count > 0 || !is_last)) return true;
    if (is_last) return false;
  }
}

static inline void close_lines(struct lines *lines) { close(lines->file); }

/// Finds the first line that matches.
static inline bool find_line(struct lines *lines, const char *path, bool (*matches)(struct span, const char *),
                             const char *key, struct span *line) {
  if (!open_lines(lines, path)) return false;
  bool is_found = false;
  while (!is_found && next_line(lines, line)) is_found = matches(*line, key);
  close_lines(lines);
  return is_found;
}

static inline bool begins_with_word(struct span line, const char *key) { return key == NULL || is(word(&line), key); }

#endif
