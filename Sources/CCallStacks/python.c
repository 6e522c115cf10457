#define _GNU_SOURCE
#include "internal.h"
#include "python_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/// Lists of a damaged interpreter may be endless.
#define MAX_INTERPRETERS 64
#define MAX_THREADS 1024
#define MAX_TEXT 512

/// The interpreter of a process.
struct hw_python {
  /// 0 if there is none of a known version; else the address of `_PyRuntime`.
  uint64_t runtime;
  /// The address of `PyCode_Type`.
  uint64_t code_type;
  struct hw_python_layout layout;
};

static int read_all(const struct hw_memory *memory, uint64_t from, void *to, size_t size) {
  return memory->read(memory, from, to, size) == size;
}

/// The value of a variable that the interpreter exports; 0 if it has none.
static uint64_t address_of(const struct hw_mapping *mapping, const char *name) {
  struct hw_module *module = hw_module(mapping->module);
  uint64_t value = module == NULL || !module->is_elf ? 0 : hw_elf_symbol(&module->elf, SHT_DYNSYM, name);
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
  uint64_t words[HW_PYTHON_OFFSETS];
  if (!read_all(memory, python->runtime, words, sizeof words)) return 0;
  return hw_python_find_layout(version, words, &python->layout);
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
  const struct hw_python_layout *layout = &python->layout;
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
static const char *read_text(const struct hw_python_layout *layout, const struct hw_memory *memory, uint64_t object) {
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
  int64_t first_line;
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

static uint64_t offset_of(const struct hw_python *python, const struct hw_python_copy *copy) {
  return copy->instruction - (copy->code + python->layout.bytecode);
}

/// The slot of the cache for an instruction of a function, and whether it has it.
static struct cached *slot_for(
  uint64_t program, const struct hw_python *python, const struct hw_python_copy *copy, int *is_cached
) {
  uint64_t instruction = offset_of(python, copy);
  struct cached *slot = &cache[(copy->code / 16 ^ instruction * 31) % 4096];
  *is_cached = slot->program == program && slot->code == copy->code && slot->file == copy->file &&
    slot->function == copy->function && slot->first_line == copy->first_line && slot->instruction == instruction;
  return slot;
}

/// Copies what names the function of a code object; whether it is one.
static int copy_code(const struct hw_python *python, const uint8_t *bytes, uint64_t code, struct hw_python_copy *copy) {
  const struct hw_python_layout *layout = &python->layout;
  int32_t first_line;
  if (word_in(bytes, 8) != python->code_type) return 0;
  memcpy(&first_line, bytes + layout->first_line, sizeof first_line);
  *copy = (struct hw_python_copy){
    code, copy->instruction, word_in(bytes, layout->file), word_in(bytes, layout->function), first_line};
  return 1;
}

/// Names a function, whose code object is read unless it has been before; whether it is still the one that was copied.
static int name_frame(
  const struct hw_python *python, const struct hw_memory *memory, uint64_t program, const struct hw_python_copy *copy,
  struct hw_python_frame *frame
) {
  int is_cached;
  struct cached *slot = slot_for(program, python, copy, &is_cached);
  if (!is_cached) {
    uint8_t bytes[HW_PYTHON_CODE_SIZE];
    struct hw_python_copy now = *copy;
    if (!read_all(memory, copy->code, bytes, sizeof bytes) || !copy_code(python, bytes, copy->code, &now)) return 0;
    if (now.file != copy->file || now.function != copy->function || now.first_line != copy->first_line) return 0;
    uint64_t lines = word_in(bytes, python->layout.lines), instruction = offset_of(python, copy);
    *slot = (struct cached){program, copy->code, copy->file, copy->function, instruction, copy->first_line, {
      read_text(&python->layout, memory, copy->function), read_text(&python->layout, memory, copy->file),
      read_line(memory, lines, (int)copy->first_line, instruction)}};
  }
  *frame = slot->frame;
  return 1;
}

int hw_python_names(
  struct hw_code *code, pid_t thread, const struct hw_python_copy *copies, int count, struct hw_python_frame *frames
) {
  struct hw_memory memory = hw_memory_of(thread);
  hw_code_use_thread(code, thread);
  const struct hw_python *python = count > 0 ? python_of(code, &memory) : NULL;
  int named = 0;
  for (int at = 0; python != NULL && at < count; at++) {
    named += name_frame(python, &memory, hw_code_number(code), &copies[at], &frames[named]);
  }
  return named;
}

// MARK: - Frames of a stopped thread

/// The memory around the last frame: frames that called each other lie side by side, the outer ones below.
struct window {
  uint64_t start;
  size_t filled;
  uint8_t bytes[4096];
};

static int read_frame(const struct hw_memory *memory, struct window *window, uint64_t frame, uint8_t *bytes) {
  if (frame < window->start || frame + HW_PYTHON_FRAME_SIZE > window->start + window->filled) {
    uint64_t above = frame + HW_PYTHON_FRAME_SIZE;
    window->start = above > sizeof window->bytes ? above - sizeof window->bytes : 0;
    window->filled = memory->read(memory, window->start, window->bytes, sizeof window->bytes);
    // The memory may begin with this frame.
    if (window->filled != sizeof window->bytes) {
      window->start = frame;
      window->filled = memory->read(memory, frame, window->bytes, HW_PYTHON_FRAME_SIZE);
    }
  }
  if (frame + HW_PYTHON_FRAME_SIZE > window->start + window->filled) return 0;
  memcpy(bytes, window->bytes + (frame - window->start), HW_PYTHON_FRAME_SIZE);
  return 1;
}

/// So many code objects are read by one call.
#define BATCH 64

struct batch {
  struct hw_python_copy copies[BATCH];
  uint8_t bytes[BATCH][HW_PYTHON_CODE_SIZE];
  int count;
};

/// Reads the code objects of a batch; how many, from the first one.
static int read_codes(pid_t thread, struct batch *batch) {
  struct iovec local[BATCH], remote[BATCH];
  for (int at = 0; at < batch->count; at++) {
    local[at] = (struct iovec){batch->bytes[at], HW_PYTHON_CODE_SIZE};
    remote[at] = (struct iovec){(void *)(uintptr_t)batch->copies[at].code, HW_PYTHON_CODE_SIZE};
  }
  unsigned long count = (unsigned long)batch->count;
  ssize_t length = process_vm_readv(thread, local, count, remote, count, 0);
  return length < 0 ? 0 : (int)(length / HW_PYTHON_CODE_SIZE);
}

/// Names the functions of a batch, and empties it; how many.
static int name_batch(
  const struct hw_python *python, const struct hw_memory *memory, uint64_t program, struct batch *batch,
  struct hw_python_frame *frames
) {
  int named = 0, known = batch->count == 0 ? 0 : read_codes(memory->thread, batch);
  for (int at = 0; at < known; at++) {
    struct hw_python_copy *copy = &batch->copies[at];
    if (!copy_code(python, batch->bytes[at], copy->code, copy)) continue;
    named += name_frame(python, memory, program, copy, &frames[named]);
  }
  batch->count = 0;
  return named;
}

/// The frame in which a thread is; 0 if there is none.
static uint64_t innermost_frame(
  struct hw_code *code, pid_t thread, const struct hw_python *python, const struct hw_memory *memory
) {
  const struct hw_python_layout *layout = &python->layout;
  uint64_t state = find_thread(python, memory, (uint64_t)hw_code_thread_number(code, thread));
  uint64_t frame = word_at(memory, state, layout->frames);
  return layout->frame_in_frames == HW_PYTHON_NONE ? frame : word_at(memory, frame, layout->frame_in_frames);
}

int hw_python_frames(struct hw_code *code, pid_t thread, struct hw_python_frame *frames, int capacity) {
  static struct window window;
  static struct batch batch;
  struct hw_memory memory = hw_memory_of(thread);
  hw_code_use_thread(code, thread);
  const struct hw_python *python = python_of(code, &memory);
  if (python == NULL) return 0;
  uint64_t program = hw_code_number(code), frame = innermost_frame(code, thread, python, &memory);
  int count = 0;
  window.filled = 0;
  for (int steps = 0; frame != 0 && count + batch.count < capacity && steps < 2 * HW_MAX_FRAMES; steps++) {
    uint8_t bytes[HW_PYTHON_FRAME_SIZE];
    if (!read_frame(&memory, &window, frame, bytes)) break;
    uint64_t object = word_in(bytes, python->layout.code), instruction = word_in(bytes, python->layout.instruction);
    if (bytes[python->layout.owner] != HW_PYTHON_OWNED_BY_C && object != 0) {
      batch.copies[batch.count++] = (struct hw_python_copy){.code = object, .instruction = instruction};
    }
    if (batch.count == BATCH) count += name_batch(python, &memory, program, &batch, frames + count);
    frame = word_in(bytes, python->layout.previous);
  }
  return count + name_batch(python, &memory, program, &batch, frames + count);
}
