/// Counts the living instances of Swift classes in this process.
///
/// In C, because the hooks run inside the Swift runtime, where Swift code may not allocate. Also compiled into the library
/// that Highwater preloads (Sources/InstanceCounter), so it needs only libc.
///
/// Allocations are seen by a jump at the entry of `swift_allocObject`, or by replacing its address in the tables of the
/// modules that call it (GOT); releases by replacing the address of `free` in the module with the Swift runtime. The
/// runtime's own hook `_swift_allocObject` is not set: up to Swift 6.3 setting it breaks `swift_retain` of small strings
/// (swiftlang/swift#88924).

#ifndef HW_INSTANCES_H
#define HW_INSTANCES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif
#pragma GCC visibility push(hidden)

// MARK: - Starting

/// How allocations are seen.
enum hw_instances_hook {
  /// The entry if possible, else the tables.
  HW_HOOK_AUTO = 0,
  /// A jump at the entry of `swift_allocObject`: all allocations. Only in a process of one thread.
  HW_HOOK_ENTRY = 1,
  /// The tables of all modules but the runtime's own, which has the standard library: its allocations are not seen.
  HW_HOOK_TABLES = 2,
};

/// Why nothing is counted.
enum hw_instances_refusal {
  HW_REFUSED_NOT = 0,
  /// The process has no Swift runtime, or its functions are not found because the program is stripped.
  HW_REFUSED_NO_RUNTIME = 1,
  /// The entry of `swift_allocObject` has other machine code than this library knows; or another tool changed it.
  HW_REFUSED_UNKNOWN_CODE = 2,
  /// Other threads run, which may be executing the code that is to be changed.
  HW_REFUSED_THREADS = 3,
  /// The system does not allow the code or the tables to be changed (mprotect(2)).
  HW_REFUSED_PROTECTION = 4,
  /// No module calls the runtime through a table.
  HW_REFUSED_NO_TABLES = 5,
  /// A test object was not counted.
  HW_REFUSED_SELF_TEST = 6,
  HW_REFUSED_NO_MEMORY = 7,
  HW_REFUSED_RUNNING = 8,
};

/// Starts counting from zero; does nothing on refusal.
///
/// @param file The path of a file for the counts, which another process may read (`hw_instances_file`); NULL for none.
/// @param is_exact Whether each object is remembered, for generations and for exact counts after a late start.
int hw_instances_start(const char *_Nullable file, int hook, int is_exact);

/// Stops counting; the counts stay as they are.
void hw_instances_stop(void);

int hw_instances_is_running(void);

/// Whether Highwater's library counts in this process, so that the program must not.
int hw_instances_is_preloaded(void);

/// The hook of the last start.
int hw_instances_hook(void);

// MARK: - Counts

/// Kinds of heap objects.
enum hw_instances_kind {
  HW_KIND_CLASS = 0,
  /// A captured variable, or the context of a closure.
  HW_KIND_CONTEXT = 1,
  /// A boxed error.
  HW_KIND_ERROR = 2,
  /// Of the self-test.
  HW_KIND_TEST = 3,
};

struct hw_instances_class {
  uint64_t metadata;
  /// Not terminated by NUL; at most `HW_LONGEST_NAME` bytes of UTF-8.
  const char *name;
  size_t name_length;
  int kind;
  uint64_t allocated, freed, bytes;
  uint64_t instance_size;
};

/// The number of classes seen so far.
uint32_t hw_instances_count(void);

/// One of them.
struct hw_instances_class hw_instances_class_at(uint32_t index);

/// The allocations that were not counted, because there were more classes than fit.
uint64_t hw_instances_uncounted(void);

/// Writes the counts in JSON, as `InstanceSnapshot` encodes them. May be called in a signal handler.
///
/// @return 0, or an errno.
int hw_instances_write(int file, const char *label, const char *build);

/// Writes the counts to a file, with the label `signal`, at each signal of this number.
///
/// @param build A string that stays valid.
/// @return 0, or an errno.
int hw_instances_write_at(int signal, const char *path, const char *build);

// MARK: - Objects, in exact mode

/// Begins the next generation, and returns its number; 0 in other modes.
uint32_t hw_instances_mark_generation(void);

/// Copies the addresses of the living objects of a class and a generation.
///
/// @return The number of objects, which may be more than `most`.
size_t hw_instances_objects(uint64_t metadata, uint32_t generation, uint64_t *_Nullable addresses, size_t most);

// MARK: - The file

enum { HW_LONGEST_NAME = 380, HW_MOST_CLASSES = 8192, HW_NAMES_SIZE = 1 << 20, HW_SHARDS = 8 };

#define HW_INSTANCES_MAGIC UINT64_C(0x31736e4977684948)

/// One of several counters of a class, so that threads do not wait for each other.
struct hw_instances_shard {
  uint64_t allocated, freed, bytes, reserved;
};

struct hw_instances_record {
  uint64_t metadata;
  /// The name's place in `names`.
  uint32_t name;
  uint16_t name_length;
  uint16_t kind;
  uint64_t instance_size, reserved;
  struct hw_instances_shard shards[HW_SHARDS];
};

struct hw_instances_file {
  uint64_t magic;
  int32_t hook;
  int32_t refusal;
  uint32_t classes;
  uint32_t names_used;
  uint64_t uncounted;
  uint64_t reserved[4];
  struct hw_instances_record records[HW_MOST_CLASSES];
  char names[HW_NAMES_SIZE];
};

#pragma GCC visibility pop
#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#endif
