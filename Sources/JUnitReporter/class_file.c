/// Makes methods of a class native (https://docs.oracle.com/javase/specs/jvms/se17/html/jvms-4.html), without changing any
/// code: the constants get the new names, the methods are renamed, and native ones of the old names are added.

#define _GNU_SOURCE
#include "junit.h"

#include <string.h>

#define MAX_METHODS 4
#define PUBLIC_NATIVE 0x0101

/// A class file with the place up to which it is read.
struct reader {
  const unsigned char *bytes;
  size_t size, at;
  /// Whether it ended too early or is of another form.
  int is_bad;
};

/// The place of the next bytes, which are skipped.
static size_t skip(struct reader *reader, size_t count) {
  size_t at = reader->at;
  if (count > reader->size - at) {
    reader->is_bad = 1;
    return 0;
  }
  reader->at += count;
  return at;
}

static unsigned u2_at(const unsigned char *bytes) { return (unsigned)bytes[0] << 8 | bytes[1]; }

static unsigned u2(struct reader *reader) {
  size_t at = skip(reader, 2);
  return reader->is_bad ? 0 : u2_at(reader->bytes + at);
}

static uint32_t u4(struct reader *reader) {
  unsigned high = u2(reader);
  return (uint32_t)high << 16 | u2(reader);
}

static void put_u2(unsigned char *to, unsigned value) {
  to[0] = (unsigned char)(value >> 8);
  to[1] = (unsigned char)value;
}

// MARK: - The parts

enum { UTF8 = 1, LONG = 5, DOUBLE = 6 };

/// The bytes of a constant after its tag; 0 for a tag that is not known.
static size_t constant_size(unsigned tag) {
  switch (tag) {
  case 7: case 8: case 16: case 19: case 20: return 2;
  case 15: return 3;
  case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18: return 4;
  case LONG: case DOUBLE: return 8;
  default: return 0;
  }
}

/// What of a class is needed: the indices of the names and types of the methods, and where the parts are.
struct parts {
  unsigned names[MAX_METHODS], types[MAX_METHODS];
  unsigned constant_count, method_count;
  size_t constants_end, methods, methods_end;
  /// Where the index of each name stands in its method.
  size_t renamed[MAX_METHODS];
};

static int is_text(const struct reader *reader, size_t at, size_t length, const char *text) {
  return length == strlen(text) && memcmp(reader->bytes + at, text, length) == 0;
}

static void read_constants(
  struct reader *reader, struct parts *parts, const struct hw_renamed *methods, int count
) {
  skip(reader, 8);
  parts->constant_count = u2(reader);
  for (unsigned index = 1; index < parts->constant_count && !reader->is_bad; index++) {
    size_t tag_at = skip(reader, 1);
    unsigned tag = reader->bytes[tag_at];
    if (tag == UTF8) {
      size_t length = u2(reader), at = skip(reader, length);
      if (reader->is_bad) return;
      for (int method = 0; method < count; method++) {
        if (is_text(reader, at, length, methods[method].name)) parts->names[method] = index;
        if (is_text(reader, at, length, methods[method].types)) parts->types[method] = index;
      }
    } else {
      size_t size = constant_size(tag);
      if (size == 0) reader->is_bad = 1;
      skip(reader, size);
      if (tag == LONG || tag == DOUBLE) index++;
    }
  }
  parts->constants_end = reader->at;
}

static void skip_attributes(struct reader *reader) {
  for (unsigned left = u2(reader); left > 0 && !reader->is_bad; left--) {
    skip(reader, 2);
    skip(reader, u4(reader));
  }
}

static void read_methods(struct reader *reader, struct parts *parts, int count) {
  skip(reader, 6);
  skip(reader, 2 * (size_t)u2(reader));
  for (unsigned left = u2(reader); left > 0 && !reader->is_bad; left--) {
    skip(reader, 6);
    skip_attributes(reader);
  }
  parts->methods = reader->at;
  parts->method_count = u2(reader);
  for (unsigned left = parts->method_count; left > 0 && !reader->is_bad; left--) {
    skip(reader, 2);
    size_t name_at = reader->at;
    unsigned name = u2(reader), types = u2(reader);
    for (int method = 0; method < count; method++) {
      if (name != parts->names[method] || types != parts->types[method]) continue;
      if (parts->renamed[method] != 0) reader->is_bad = 1;
      parts->renamed[method] = name_at;
    }
    skip_attributes(reader);
  }
  parts->methods_end = reader->at;
}

// MARK: - The new class

/// Writes to the end of a buffer that is large enough.
struct writer {
  unsigned char *bytes;
  size_t size;
};

static void copy(struct writer *writer, const void *from, size_t count) {
  memcpy(writer->bytes + writer->size, from, count);
  writer->size += count;
}

static void add_u2(struct writer *writer, unsigned value) {
  put_u2(writer->bytes + writer->size, value);
  writer->size += 2;
}

static void write_class(
  struct writer *writer, const struct reader *class, const struct parts *parts, const struct hw_renamed *methods,
  int count
) {
  copy(writer, class->bytes, parts->constants_end);
  put_u2(writer->bytes + 8, parts->constant_count + (unsigned)count);
  for (int method = 0; method < count; method++) {
    size_t length = strlen(methods[method].to);
    copy(writer, &(unsigned char){UTF8}, 1);
    add_u2(writer, (unsigned)length);
    copy(writer, methods[method].to, length);
  }
  size_t moved = writer->size - parts->constants_end;
  copy(writer, class->bytes + parts->constants_end, parts->methods_end - parts->constants_end);
  put_u2(writer->bytes + moved + parts->methods, parts->method_count + (unsigned)count);
  for (int method = 0; method < count; method++) {
    put_u2(writer->bytes + moved + parts->renamed[method], parts->constant_count + (unsigned)method);
    add_u2(writer, PUBLIC_NATIVE);
    add_u2(writer, parts->names[method]);
    add_u2(writer, parts->types[method]);
    add_u2(writer, 0);
  }
  copy(writer, class->bytes + parts->methods_end, class->size - parts->methods_end);
}

unsigned char *hw_make_native(
  const unsigned char *class, int32_t size, const struct hw_renamed *methods, int count,
  unsigned char *(*allocate)(int32_t), int32_t *new_size
) {
  struct reader reader = {.bytes = class, .size = (size_t)size};
  struct parts parts = {0};
  size_t added = 0;
  if (size < 10 || count > MAX_METHODS) return NULL;
  read_constants(&reader, &parts, methods, count);
  if (!reader.is_bad) read_methods(&reader, &parts, count);
  for (int method = 0; method < count; method++) {
    if (parts.renamed[method] == 0) reader.is_bad = 1;
    added += 3 + strlen(methods[method].to) + 8;
  }
  if (reader.is_bad || parts.constant_count + (unsigned)count > UINT16_MAX) return NULL;
  if (parts.method_count + (unsigned)count > UINT16_MAX) return NULL;
  struct writer writer = {.bytes = allocate(size + (int32_t)added)};
  if (writer.bytes == NULL) return NULL;
  write_class(&writer, &reader, &parts, methods, count);
  *new_size = (int32_t)writer.size;
  return writer.bytes;
}
