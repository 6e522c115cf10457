#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Lists of a damaged interpreter may be endless.
#define MAX_INTERPRETERS 64
#define MAX_THREADS 1024
#define MAX_TEXT 512

// MARK: - Layouts

/// In `frame_in_frames`: the thread has the frame itself.
#define NONE UINT64_MAX

/// Where CPython stores its state, as offsets in bytes.
///
/// Printed by `offsetof` from the headers of 3.11.7 and 3.12.1; such structures do not change between patch releases.
/// 3.13 has a table of them (`_Py_DebugOffsets`).
struct layout {
  /// In `_PyRuntime`.
  uint64_t interpreters;
  /// In an interpreter.
  uint64_t next_interpreter, threads;
  /// In a thread; `frames` is the address of a structure that has the frame, or of the frame.
  uint64_t next_thread, native_thread, frames, frame_in_frames;
  /// In a frame.
  uint64_t code, previous, instruction, owner;
  /// In a code object.
  uint64_t first_line, file, function, lines, bytecode;
  /// Where the characters of a string begin: of ASCII, or of others.
  uint64_t ascii, other;
};

/// The interpreter of a process.
struct hw_python {
  /// 0 if there is none of a known version; else the address of `_PyRuntime`.
  uint64_t runtime;
  /// The address of `PyCode_Type`.
  uint64_t code_type;
  struct layout layout;
};

static const struct layout layout_3_11 = {
  40, 0, 16, 8, 160, 56, 8, 32, 48, 56, 69, 72, 112, 128, 136, 184, 48, 72,
};
static const struct layout layout_3_12 = {
  40, 0, 72, 8, 144, 56, 0, 0, 8, 56, 70, 68, 112, 128, 136, 192, 40, 56,
};

static int read_all(const struct hw_memory *memory, uint64_t from, void *to, size_t size) {
  return memory->read(memory, from, to, size) == size;
}

/// How much is read of a frame and of a code object.
enum { FRAME_SIZE = 80, CODE_SIZE = 160 };

/// Reads the layout from the start of `_PyRuntime`; whether it has one.
static int read_layout(const struct hw_memory *memory, uint64_t runtime, struct layout *layout) {
  uint64_t words[71];
  if (!read_all(memory, runtime, words, sizeof words) || memcmp(words, "xdebugpy", 8) != 0) return 0;
  *layout = (struct layout){
    words[5], words[8], words[9], words[21], words[25], words[23], NONE, words[30], words[29], words[31], words[33],
    words[39], words[35], words[37], words[38], words[43], words[70], words[70] + 16,
  };
  for (int at = 29; at <= 33; at++) {
    if (at != 32 && words[at] > FRAME_SIZE - 8) return 0;
  }
  for (int at = 35; at <= 39; at++) {
    if (words[at] > CODE_SIZE - 8) return 0;
  }
  // Without the global lock, objects are larger.
  return words[2] == 0;
}

/// The value of a variable that the interpreter exports; 0 if it has none.
static uint64_t address_of(const struct hw_mapping *mapping, const char *name) {
  struct hw_module *module = hw_module(mapping->module);
  uint64_t value = module == NULL || !module->is_elf ? 0 : hw_elf_symbol(&module->elf, name);
  return value == 0 ? 0 : value + mapping->bias;
}

/// The program, or its library.
static int is_python(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  return strncmp(name, "python", 6) == 0 || strncmp(name, "libpython", 9) == 0;
}

/// Finds the interpreter in a mapping; whether it is there, and of a known version.
static int find_in(const struct hw_mapping *mapping, const struct hw_memory *memory, struct hw_python *python) {
  uint64_t version = 0, at = is_python(mapping->path) ? address_of(mapping, "Py_Version") : 0;
  if (at == 0 || !read_all(memory, at, &version, sizeof version)) return 0;
  python->runtime = address_of(mapping, "_PyRuntime");
  python->code_type = address_of(mapping, "PyCode_Type");
  if (python->runtime == 0 || python->code_type == 0) return 0;
  switch (version >> 16) {
    case 0x30b: python->layout = layout_3_11; return 1;
    case 0x30c: python->layout = layout_3_12; return 1;
    case 0x30d: return read_layout(memory, python->runtime, &python->layout);
    default: return 0;
  }
}

/// The interpreter of a process; NULL if it has none.
static const struct hw_python *python_of(struct hw_code *code, const struct hw_memory *memory) {
  struct hw_python **python = hw_code_python(code);
  if (*python == NULL) {
    const struct hw_mapping *mapping;
    int is_found = 0;
    *python = calloc(1, sizeof **python);
    if (*python == NULL) return NULL;
    for (size_t at = 0; !is_found && (mapping = hw_code_mapping(code, at)) != NULL; at++) {
      is_found = find_in(mapping, memory, *python);
    }
    if (!is_found) (*python)->runtime = 0;
  }
  return (*python)->runtime == 0 ? NULL : *python;
}

// MARK: - Threads

/// The word at an offset to an address; 0 if it cannot be read.
static uint64_t word_at(const struct hw_memory *memory, uint64_t address, uint64_t offset) {
  uint64_t word;
  return address != 0 && read_all(memory, address + offset, &word, sizeof word) ? word : 0;
}

/// The interpreter's thread for one of the kernel's; 0 if it has none.
static uint64_t find_thread(const struct hw_python *python, const struct hw_memory *memory, uint64_t number) {
  const struct layout *layout = &python->layout;
  uint64_t interpreter = word_at(memory, python->runtime, layout->interpreters);
  for (int at = 0; interpreter != 0 && at < MAX_INTERPRETERS; at++) {
    uint64_t thread = word_at(memory, interpreter, layout->threads);
    for (int other = 0; thread != 0 && other < MAX_THREADS; other++) {
      if (word_at(memory, thread, layout->native_thread) == number) return thread;
      thread = word_at(memory, thread, layout->next_thread);
    }
    interpreter = word_at(memory, interpreter, layout->next_interpreter);
  }
  return 0;
}

// MARK: - Texts

/// Appends a character as UTF-8.
static char *put(char *to, uint32_t character) {
  static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
  int following = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  *to++ = (char)(heads[following] | character >> following * 6);
  while (following-- > 0) *to++ = (char)(0x80 | (character >> following * 6 & 0x3f));
  return to;
}

/// The text of a string object; empty if it cannot be read.
static const char *read_text(const struct layout *layout, const struct hw_memory *memory, uint64_t object) {
  uint8_t bytes[MAX_TEXT * 4];
  char text[MAX_TEXT * 4 + 1], *to = text;
  uint64_t length = word_at(memory, object, 16), state = word_at(memory, object, 32);
  unsigned width = state >> 2 & 7;
  int is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
  if (length > MAX_TEXT) length = MAX_TEXT;
  if (!is_compact || (width != 1 && width != 2 && width != 4)) return "";
  if (!read_all(memory, object + (is_ascii ? layout->ascii : layout->other), bytes, length * width)) return "";
  for (uint64_t at = 0; at < length; at++) {
    uint32_t character = 0;
    memcpy(&character, bytes + at * width, width);
    to = put(to, character < 0x110000 ? character : '?');
  }
  *to = 0;
  return hw_intern(text);
}

/// Reads a signed number of the table of lines, which has six bits in each byte.
static int read_number(const uint8_t **at, const uint8_t *end) {
  uint32_t number = 0;
  for (unsigned shift = 0; *at < end && shift < 30; shift += 6) {
    uint8_t byte = *(*at)++;
    number |= (byte & 0x3fu) << shift;
    if (!(byte & 0x40)) break;
  }
  return number & 1 ? -(int)(number >> 1) : (int)(number >> 1);
}

/// The line of an instruction, by CPython's Objects/locations.md; 0 if unknown.
static int64_t line_of(const uint8_t *table, size_t size, int64_t line, uint64_t instruction) {
  const uint8_t *at = table, *end = table + size;
  uint64_t address = 0;
  while (at < end) {
    uint8_t head = *at++, kind = head >> 3 & 15;
    if (kind == 13 || kind == 14) line += read_number(&at, end);
    else if (kind >= 10 && kind <= 12) line += kind - 10;
    address += ((head & 7u) + 1) * 2;
    if (instruction < address) return kind == 15 ? 0 : line;
    while (at < end && !(*at & 0x80)) at++;
  }
  return 0;
}

// MARK: - Frames

/// What was read for an instruction; a power of two of them.
static struct cached {
  uint64_t program, code, file, function, instruction;
  struct hw_python_frame frame;
} cache[4096];

static uint64_t word_in(const uint8_t *bytes, uint64_t offset) {
  uint64_t word;
  memcpy(&word, bytes + offset, sizeof word);
  return word;
}

static int read_line(const struct hw_memory *memory, uint64_t table, int first_line, uint64_t instruction) {
  uint64_t size = word_at(memory, table, 16);
  uint8_t *bytes = size > 0 && size <= 1 << 20 ? malloc(size) : NULL;
  int64_t line = 0;
  if (bytes != NULL && read_all(memory, table + 32, bytes, size)) line = line_of(bytes, size, first_line, instruction);
  free(bytes);
  return line > 0 && line <= INT32_MAX ? (int)line : first_line;
}

/// Reads the function of a code object, and the line of an instruction in it; whether it is a code object.
static int read_code(
  const struct hw_python *python, const struct hw_memory *memory, uint64_t program, uint64_t code, uint64_t instruction,
  struct hw_python_frame *frame
) {
  const struct layout *layout = &python->layout;
  uint8_t bytes[CODE_SIZE];
  if (code == 0 || !read_all(memory, code, bytes, sizeof bytes) || word_in(bytes, 8) != python->code_type) return 0;
  instruction -= code + layout->bytecode;
  uint64_t file = word_in(bytes, layout->file), function = word_in(bytes, layout->function);
  struct cached *slot = &cache[(code / 16 ^ instruction * 31) % 4096];
  int is_cached = slot->program == program && slot->code == code && slot->file == file && slot->function == function;
  if (!is_cached || slot->instruction != instruction) {
    int32_t first_line;
    memcpy(&first_line, bytes + layout->first_line, sizeof first_line);
    *slot = (struct cached){program, code, file, function, instruction, {
      read_text(layout, memory, function), read_text(layout, memory, file),
      read_line(memory, word_in(bytes, layout->lines), first_line, instruction)}};
  }
  *frame = slot->frame;
  return 1;
}

/// The owner of the frames that the interpreter adds where C calls Python.
#define OWNED_BY_C_STACK 3

int hw_python_frames(struct hw_code *code, pid_t thread, struct hw_python_frame *frames, int capacity) {
  struct hw_memory memory = hw_memory_of(thread);
  hw_code_use_thread(code, thread);
  const struct hw_python *python = python_of(code, &memory);
  if (python == NULL) return 0;
  const struct layout *layout = &python->layout;
  uint64_t state = find_thread(python, &memory, (uint64_t)hw_code_thread_number(code, thread));
  uint64_t frame = word_at(&memory, state, layout->frames);
  if (layout->frame_in_frames != NONE) frame = word_at(&memory, frame, layout->frame_in_frames);
  int count = 0;
  for (int steps = 0; frame != 0 && count < capacity && steps < 2 * HW_MAX_FRAMES; steps++) {
    uint8_t bytes[FRAME_SIZE];
    if (!read_all(&memory, frame, bytes, sizeof bytes)) break;
    uint64_t object = word_in(bytes, layout->code), instruction = word_in(bytes, layout->instruction);
    int is_of_program = bytes[layout->owner] != OWNED_BY_C_STACK;
    if (is_of_program && read_code(python, &memory, hw_code_number(code), object, instruction, &frames[count])) count++;
    frame = word_in(bytes, layout->previous);
  }
  return count;
}
