/// The counts of each class, in memory that another process may read.

#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct hw_instances_file *hw_counts;

/// Where the records of classes are, by a hash of their metadata; at most half of the slots are used.
enum { SLOT_BITS = 14, SLOTS = 1 << SLOT_BITS };
static struct slot {
  uint64_t metadata;
  /// The class's number + 1; 0 while it is being added.
  uint32_t number;
} slots[SLOTS];

bool hw_counts_open(const char *path) {
  size_t size = sizeof *hw_counts;
  // The counters only, since the classes and their names are the same in each run.
  for (uint32_t at = 0; hw_counts != NULL && at < hw_instances_count(); at++) {
    memset(hw_counts->records[at].shards, 0, sizeof hw_counts->records[at].shards);
  }
  if (hw_counts != NULL) return true;
  int file = -1;
  if (path != NULL) {
    // A program that this process executed before had the same path.
    unlink(path);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)size) != 0) path = NULL;
  }
  void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, path != NULL ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                   path != NULL ? file : -1, 0);
  if (file >= 0) close(file);
  if (map == MAP_FAILED) return false;
  hw_counts = map;
  __atomic_store_n(&hw_counts->magic, HW_INSTANCES_MAGIC, __ATOMIC_RELEASE);
  return true;
}

// MARK: - Names

/// Copies a name without the addresses by which the runtime tells private types apart, which differ from run to run.
static size_t copy_name(char *to, size_t most, const char *from, size_t length) {
  static const char private[] = "(unknown context at $";
  size_t copied = 0;
  for (size_t at = 0; at < length && copied < most; at++) {
    size_t left = length - at;
    const char *end = NULL;
    if (left > sizeof private && memcmp(from + at, private, sizeof private - 1) == 0) end = memchr(from + at, ')', left);
    if (end != NULL && end + 1 < from + length && end[1] == '.') {
      at = (size_t)(end + 1 - from);
    } else {
      to[copied++] = from[at];
    }
  }
  return copied;
}

static int kind_of(uint64_t metadata) {
  // The kinds of heap metadata (include/swift/ABI/MetadataKind.def); a class has the address of another one, or 0.
  switch (*(const uint64_t *)(uintptr_t)metadata) {
    case 0x400: case 0x500: return HW_KIND_CONTEXT;
    case 0x501: return HW_KIND_ERROR;
    case HW_TEST_METADATA: return HW_KIND_TEST;
    default: return HW_KIND_CLASS;
  }
}

static void name_class(struct hw_instances_record *record, const char *name, size_t length) {
  char text[HW_LONGEST_NAME];
  size_t size = copy_name(text, sizeof text, name, length);
  uint32_t place = __atomic_fetch_add(&hw_counts->names_used, (uint32_t)size, __ATOMIC_RELAXED);
  if (place > HW_NAMES_SIZE - size) return;
  memcpy(hw_counts->names + place, text, size);
  record->name = place;
  __atomic_store_n(&record->name_length, (uint16_t)size, __ATOMIC_RELEASE);
}

static void describe(struct hw_instances_record *record) {
  static const char *const others[] = {[HW_KIND_CONTEXT] = "closure context", [HW_KIND_ERROR] = "boxed error"};
  record->kind = (uint16_t)kind_of(record->metadata);
  if (record->kind == HW_KIND_CLASS) {
    // Behind kind, superclass, flags and address point (ClassMetadata in include/swift/ABI/Metadata.h).
    record->instance_size = *(const uint32_t *)(uintptr_t)(record->metadata + 24);
    struct hw_type_name name = hw_type_name((const void *)(uintptr_t)record->metadata);
    name_class(record, name.bytes, name.length);
  } else if (record->kind != HW_KIND_TEST) {
    name_class(record, others[record->kind], strlen(others[record->kind]));
  }
}

// MARK: - Classes

static uint32_t first_slot(uint64_t metadata) {
  return (uint32_t)((metadata * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SLOT_BITS));
}

static uint32_t number_in(struct slot *slot) {
  uint32_t number;
  while ((number = __atomic_load_n(&slot->number, __ATOMIC_ACQUIRE)) == 0) continue;
  return number - 1;
}

uint32_t hw_known_class(uint64_t metadata) {
  for (uint32_t at = first_slot(metadata); metadata != 0; at = (at + 1) % SLOTS) {
    uint64_t found = __atomic_load_n(&slots[at].metadata, __ATOMIC_ACQUIRE);
    if (found == metadata) return number_in(&slots[at]);
    if (found == 0) break;
  }
  return HW_MOST_CLASSES;
}

/// Adds the class in an empty slot; `HW_MOST_CLASSES` if another thread has taken it.
static uint32_t add_class(struct slot *slot, uint64_t metadata) {
  uint64_t empty = 0;
  if (!__atomic_compare_exchange_n(&slot->metadata, &empty, metadata, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return empty == metadata ? number_in(slot) : HW_MOST_CLASSES;
  }
  uint32_t number = __atomic_fetch_add(&hw_counts->classes, 1, __ATOMIC_RELAXED);
  hw_counts->records[number].metadata = metadata;
  __atomic_store_n(&slot->number, number + 1, __ATOMIC_RELEASE);
  describe(&hw_counts->records[number]);
  return number;
}

uint32_t hw_class_of(const void *metadata) {
  uint64_t wanted = (uint64_t)(uintptr_t)metadata;
  for (uint32_t at = first_slot(wanted);; at = (at + 1) % SLOTS) {
    uint64_t found = __atomic_load_n(&slots[at].metadata, __ATOMIC_ACQUIRE);
    if (found == wanted) return number_in(&slots[at]);
    if (found != 0) continue;
    // Room for a class of each thread that is adding one at the same time.
    if (hw_instances_count() >= HW_MOST_CLASSES - 1024) break;
    uint32_t number = add_class(&slots[at], wanted);
    if (number != HW_MOST_CLASSES) return number;
  }
  __atomic_fetch_add(&hw_counts->uncounted, 1, __ATOMIC_RELAXED);
  return HW_MOST_CLASSES;
}

/// The shards that belong to one thread each, which adds without atomic instructions; later threads share the others.
enum { OWN_SHARDS = HW_SHARDS - 2 };

static uint32_t own_shard(void) {
  static uint32_t threads;
  static __thread uint32_t number;
  if (number == 0) number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  return number <= OWN_SHARDS ? number - 1 : OWN_SHARDS + number % 2;
}

static void add(uint64_t *counter, uint64_t amount, uint32_t shard) {
  if (shard < OWN_SHARDS) {
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + amount, __ATOMIC_RELEASE);
  } else {
    __atomic_fetch_add(counter, amount, __ATOMIC_RELEASE);
  }
}

void hw_count_allocated(uint32_t class, size_t size) {
  uint32_t shard = own_shard();
  struct hw_instances_shard *counters = &hw_counts->records[class].shards[shard];
  add(&counters->allocated, 1, shard);
  add(&counters->bytes, size, shard);
}

void hw_count_freed(uint32_t class) {
  uint32_t shard = own_shard();
  add(&hw_counts->records[class].shards[shard].freed, 1, shard);
}

// MARK: - Reading

uint32_t hw_instances_count(void) {
  return hw_counts == NULL ? 0 : __atomic_load_n(&hw_counts->classes, __ATOMIC_ACQUIRE);
}

uint64_t hw_instances_uncounted(void) {
  return hw_counts == NULL ? 0 : __atomic_load_n(&hw_counts->uncounted, __ATOMIC_RELAXED);
}

struct hw_instances_class hw_instances_class_at(uint32_t index) {
  struct hw_instances_record *record = &hw_counts->records[index];
  struct hw_instances_class class = {
      .metadata = record->metadata,
      .name_length = __atomic_load_n(&record->name_length, __ATOMIC_ACQUIRE),
      .kind = record->kind,
      .instance_size = record->instance_size,
  };
  class.name = hw_counts->names + record->name;
  // Releases first: an object that is allocated and released meanwhile must not be counted as released only.
  for (int at = 0; at < HW_SHARDS; at++) class.freed += __atomic_load_n(&record->shards[at].freed, __ATOMIC_ACQUIRE);
  for (int at = 0; at < HW_SHARDS; at++) {
    class.allocated += __atomic_load_n(&record->shards[at].allocated, __ATOMIC_RELAXED);
    class.bytes += __atomic_load_n(&record->shards[at].bytes, __ATOMIC_RELAXED);
  }
  return class;
}

// MARK: - JSON

/// Text on its way to a file, without the buffers of stdio, which signal handlers may not use.
struct output {
  int file, error;
  size_t length;
  char text[4096];
};

/// How often a write is repeated that a signal interrupts.
#define MOST_INTERRUPTIONS 10000

static void flush(struct output *output) {
  int turns = 0;
  for (size_t from = 0; from < output->length && output->error == 0;) {
    ssize_t written = write(output->file, output->text + from, output->length - from);
    if (written >= 0) from += (size_t)written;
    else if (errno != EINTR || ++turns == MOST_INTERRUPTIONS) output->error = errno;
  }
  output->length = 0;
}

static void put(struct output *output, const char *text, size_t length) {
  for (size_t at = 0; at < length; at++) {
    if (output->length == sizeof output->text) flush(output);
    output->text[output->length++] = text[at];
  }
}

static void put_text(struct output *output, const char *text) { put(output, text, strlen(text)); }

static void put_number(struct output *output, uint64_t number) {
  char digits[20];
  size_t from = sizeof digits;
  do {
    digits[--from] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  put(output, digits + from, sizeof digits - from);
}

static void put_signed(struct output *output, int64_t number) {
  if (number < 0) put_text(output, "-");
  put_number(output, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void put_string(struct output *output, const char *text, size_t length) {
  put_text(output, "\"");
  for (size_t at = 0; at < length; at++) {
    // Names have no control characters; one of a later runtime would make the text invalid.
    char byte = (unsigned char)text[at] < 0x20 ? '?' : text[at];
    if (byte == '"' || byte == '\\') put_text(output, "\\");
    put(output, &byte, 1);
  }
  put_text(output, "\"");
}

static void put_class(struct output *output, const struct hw_instances_class *class) {
  static const char *const kinds[] = {"class", "context", "error"};
  put_text(output, "{\"name\":");
  put_string(output, class->name, class->name_length);
  put_text(output, ",\"kind\":\"");
  put_text(output, kinds[class->kind]);
  put_text(output, "\",\"live\":");
  put_signed(output, (int64_t)(class->allocated - class->freed));
  put_text(output, ",\"allocated\":");
  put_number(output, class->allocated);
  put_text(output, ",\"deallocated\":");
  put_number(output, class->freed);
  put_text(output, ",\"bytesAllocated\":");
  put_number(output, class->bytes);
  put_text(output, ",\"instanceSize\":");
  put_number(output, class->instance_size);
  put_text(output, "}");
}

static void put_field(struct output *output, const char *key, const char *value) {
  put_string(output, key, strlen(key));
  put_text(output, ":");
  put_string(output, value, strlen(value));
  put_text(output, ",");
}

int hw_instances_write(int file, const char *label, const char *build) {
  struct output output = {.file = file};
  put_text(&output, "{");
  put_field(&output, "label", label);
  put_field(&output, "build", build);
  put_field(&output, "hook", hw_instances_hook() == HW_HOOK_TABLES ? "tables" : "entry");
  put_text(&output, "\"uncounted\":");
  put_number(&output, hw_instances_uncounted());
  put_text(&output, ",\"classes\":[");
  const char *separator = "\n";
  for (uint32_t at = 0; at < hw_instances_count(); at++) {
    struct hw_instances_class class = hw_instances_class_at(at);
    if (class.kind == HW_KIND_TEST || class.allocated + class.freed == 0) continue;
    put_text(&output, separator);
    put_class(&output, &class);
    separator = ",\n";
  }
  put_text(&output, "\n]}\n");
  flush(&output);
  return output.error;
}

// MARK: - Signals

static char signal_path[4096];
static const char *signal_build;

/// Writes to another name first, so that no reader sees half a file.
static void write_at_signal(int signal) {
  (void)signal;
  int before = errno;
  char draft[sizeof signal_path + 4];
  size_t length = strlen(signal_path);
  memcpy(draft, signal_path, length);
  memcpy(draft + length, ".new", 5);
  int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) {
    int code = hw_instances_write(file, "signal", signal_build);
    close(file);
    if (code == 0) rename(draft, signal_path);
  }
  errno = before;
}

int hw_instances_write_at(int signal, const char *path, const char *build) {
  if (strlen(path) >= sizeof signal_path) return ENAMETOOLONG;
  signal_build = build;
  strcpy(signal_path, path);
  struct sigaction action = {.sa_handler = write_at_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  return sigaction(signal, &action, NULL) == 0 ? 0 : errno;
}
