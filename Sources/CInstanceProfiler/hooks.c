/// Starts and stops counting, and sees each allocation and release.

#define _GNU_SOURCE
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { OFF = 0, COUNTS = 1, EXACT = 2 };
static int mode;
/// Of the last start.
static int hook;
static struct hw_runtime runtime;
/// It is searched once: other threads may call it through a jump that could not be removed.
static bool has_runtime;
static struct hw_entry entries[2];
/// Volatile, since the compiler would call `free` itself instead: through the table with the hook, where the runtime is
/// in the same module.
static void (*volatile next_free)(void *);

// MARK: - What the hooks do

static void note_allocated(const void *object, const void *metadata, size_t size) {
  int now = __atomic_load_n(&mode, __ATOMIC_RELAXED);
  if (now == OFF) return;
  uint32_t class = hw_class_of(metadata);
  if (class == HW_MOST_CLASSES) return;
  hw_count_allocated(class, size);
  if (now == EXACT) hw_object_add(object, class);
}

/// Instead of the functions whose entry is replaced, which do the same but for the count.
static void *allocate_by_entry(const void *metadata, size_t size, size_t mask) {
  void *object = (*runtime.implementation)(metadata, size, mask);
  note_allocated(object, metadata, size);
  return object;
}

static void *allocate_by_table(const void *metadata, size_t size, size_t mask) {
  void *object = runtime.allocate(metadata, size, mask);
  note_allocated(object, metadata, size);
  return object;
}

/// Whether the block's second word is the reference count of an object that is being deallocated, or whose count is in
/// a side table (stdlib/public/SwiftShims/swift/shims/RefCount.h); blocks of other kinds are released, too.
static bool is_deallocated(const uint64_t *block) { return block[1] >> 63 != 0 || (block[1] >> 32 & 1) != 0; }

static void note_freed(const uint64_t *block) {
  int now = __atomic_load_n(&mode, __ATOMIC_RELAXED);
  if (now == OFF) return;
  uint32_t class = now == EXACT ? hw_object_remove(block) : hw_known_class(block[0]);
  if (class != HW_MOST_CLASSES && (now == EXACT || is_deallocated(block))) hw_count_freed(class);
}

static void free_and_count(void *block) {
  // Before the release: another thread may get the same address.
  if (block != NULL) note_freed(block);
  next_free(block);
}

struct hw_type_name hw_type_name(const void *metadata) { return runtime.type_name(metadata, true); }

// MARK: - Installing them

/// A process has a folder for each thread, and each folder is a link to its parent (proc(5)).
static bool has_one_thread(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

static int install_at_entry(void) {
  if (!hw_entry_is_known(runtime.allocate, &runtime)) return HW_REFUSED_UNKNOWN_CODE;
  if (!has_one_thread()) return HW_REFUSED_THREADS;
  if (!hw_entry_replace(&entries[0], runtime.allocate, allocate_by_entry)) return HW_REFUSED_PROTECTION;
  if (runtime.allocate_buffer != NULL && hw_entry_is_known(runtime.allocate_buffer, &runtime)) {
    hw_entry_replace(&entries[1], runtime.allocate_buffer, allocate_by_entry);
  }
  hook = HW_HOOK_ENTRY;
  return HW_REFUSED_NOT;
}

static int install_in_tables(void) {
  int replaced = hw_replace_in_tables("swift_allocObject", allocate_by_table, runtime.allocate, true);
  if (replaced == 0) return HW_REFUSED_NO_TABLES;
  hook = HW_HOOK_TABLES;
  return replaced < 0 ? HW_REFUSED_PROTECTION : HW_REFUSED_NOT;
}

static int install_allocation(int wanted) {
  int refusal = wanted == HW_HOOK_TABLES ? HW_REFUSED_NOT : install_at_entry();
  if (wanted == HW_HOOK_ENTRY || (wanted == HW_HOOK_AUTO && refusal == HW_REFUSED_NOT)) return refusal;
  int other = install_in_tables();
  return other == HW_REFUSED_NO_TABLES && refusal != HW_REFUSED_NOT ? refusal : other;
}

static void uninstall(void) {
  if (hook == HW_HOOK_TABLES) hw_replace_in_tables("swift_allocObject", runtime.allocate, runtime.allocate, true);
  // Other threads may be executing the entry, and then it keeps the jump, which costs one call.
  if (has_one_thread()) {
    for (int at = 0; at < 2; at++) hw_entry_restore(&entries[at]);
  }
  hw_replace_in_tables("free", next_free, runtime.allocate, false);
}

static int install(int wanted) {
  // A jump that could not be removed is used again.
  bool has_jump = entries[0].code != NULL;
  if (has_jump) hook = HW_HOOK_ENTRY;
  int refusal = has_jump ? HW_REFUSED_NOT : install_allocation(wanted);
  if (refusal == HW_REFUSED_NOT) {
    int replaced = hw_replace_in_tables("free", free_and_count, runtime.allocate, false);
    if (replaced <= 0) refusal = replaced == 0 ? HW_REFUSED_NO_TABLES : HW_REFUSED_PROTECTION;
  }
  if (refusal != HW_REFUSED_NOT) uninstall();
  return refusal;
}

/// Allocates an object without fields through the runtime, and releases it.
static bool passes_self_test(void) {
  // Kind, and the other words that the runtime reads of heap metadata.
  static const uint64_t metadata[4] = {HW_TEST_METADATA};
  enum { SIZE = 32, ALIGNMENT_MASK = 15 };
  void *(*allocate)(const void *, size_t, size_t) = hook == HW_HOOK_TABLES ? allocate_by_table : runtime.allocate;
  uint64_t *object = allocate(metadata, SIZE, ALIGNMENT_MASK);
  bool is_object = object[0] == (uint64_t)(uintptr_t)metadata;
  uint32_t class = hw_known_class((uint64_t)(uintptr_t)metadata);
  bool is_counted = class != HW_MOST_CLASSES && hw_instances_class_at(class).allocated == 1;
  runtime.discard(object, SIZE, ALIGNMENT_MASK);
  return is_object && is_counted && hw_instances_class_at(class).freed == 1;
}

// MARK: - Starting

/// A forked child shares the file with its parent, and must not count in it; another thread of the parent may have held
/// a lock (objects.c), which nobody in the child releases.
static void stop_in_child(void) { __atomic_store_n(&mode, OFF, __ATOMIC_RELAXED); }

static void stop_in_children(void) {
  static bool is_registered;
  if (!is_registered) is_registered = pthread_atfork(NULL, NULL, stop_in_child) == 0;
}

static int begin(const char *file, int wanted, int wanted_mode) {
  if (!has_runtime) has_runtime = hw_find_runtime(&runtime);
  if (!has_runtime) {
    // For the refusal; programs in other languages need no file.
    if (file != NULL && hw_program_is_swift()) hw_counts_open(file);
    return HW_REFUSED_NO_RUNTIME;
  }
  // Not through the table that is replaced.
  next_free = free;
  if (!hw_counts_open(file)) return HW_REFUSED_NO_MEMORY;
  hw_objects_reset();
  int refusal = install(wanted);
  if (refusal != HW_REFUSED_NOT) return refusal;
  stop_in_children();
  __atomic_store_n(&mode, wanted_mode, __ATOMIC_RELEASE);
  if (passes_self_test()) return HW_REFUSED_NOT;
  hw_instances_stop();
  return HW_REFUSED_SELF_TEST;
}

int hw_instances_start(const char *file, int wanted, int is_exact) {
  if (__atomic_load_n(&mode, __ATOMIC_RELAXED) != OFF) return HW_REFUSED_RUNNING;
  int refusal = begin(file, wanted, is_exact ? EXACT : COUNTS);
  if (hw_counts != NULL) {
    hw_counts->hook = hook;
    __atomic_store_n(&hw_counts->refusal, refusal, __ATOMIC_RELEASE);
  }
  return refusal;
}

void hw_instances_stop(void) {
  if (__atomic_exchange_n(&mode, OFF, __ATOMIC_RELAXED) != OFF) uninstall();
}

int hw_instances_is_running(void) { return __atomic_load_n(&mode, __ATOMIC_RELAXED) != OFF; }

/// Of the preloaded library (Sources/InstanceCounter).
extern int hw_instances_preload_counts __attribute__((weak, visibility("default")));

int hw_instances_is_preloaded(void) { return &hw_instances_preload_counts != NULL && hw_instances_preload_counts; }

int hw_instances_hook(void) { return hook; }
