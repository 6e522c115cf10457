/// What the files of this target share.

#ifndef HW_INTERNAL_H
#define HW_INTERNAL_H

#include "hw_instances.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

// MARK: - counts.c

/// Maps the counts, into a file unless `path` is NULL; all are zero.
bool hw_counts_open(const char *path);

/// The number of a class, which is added if it is new; `HW_MOST_CLASSES` if there is no room.
uint32_t hw_class_of(const void *metadata);

/// The number of a class; `HW_MOST_CLASSES` if no instance of it was counted.
uint32_t hw_known_class(uint64_t metadata);

void hw_count_allocated(uint32_t class, size_t size);
void hw_count_freed(uint32_t class);

/// The kind of the self-test's metadata, which no runtime uses: less than 0x800, so that it is no address.
#define HW_TEST_METADATA 0x7f7

struct hw_type_name {
  const char *bytes;
  uintptr_t length;
};

/// The full name of a class.
struct hw_type_name hw_type_name(const void *metadata);

/// The counts, or NULL before the first start.
extern struct hw_instances_file *hw_counts;

// MARK: - objects.c

/// Forgets all objects.
void hw_objects_reset(void);

void hw_object_add(const void *object, uint32_t class);

/// The class of an object that was added, which is removed; `HW_MOST_CLASSES` for other addresses.
uint32_t hw_object_remove(const void *object);

// MARK: - modules.c

/// The functions of the Swift runtime (stdlib/public/runtime/HeapObject.cpp); NULL where it has none.
struct hw_runtime {
  void *(*allocate)(const void *metadata, size_t size, size_t mask);
  /// Allocates an object of a class with a buffer; the same code as `allocate`.
  void *(*allocate_buffer)(const void *metadata, size_t size, size_t mask);
  /// The variable through which the runtime allocates objects.
  void *(**implementation)(const void *metadata, size_t size, size_t mask);
  void (*discard)(void *object, size_t size, size_t mask);
  struct hw_type_name (*type_name)(const void *metadata, bool is_qualified);
};

/// Finds the Swift runtime of this process.
bool hw_find_runtime(struct hw_runtime *runtime);

/// Whether the program has Swift code, also if it is stripped.
bool hw_program_is_swift(void);

/// Replaces the address of a function in the tables of a module: of that which contains `inside`, or of all others.
///
/// @return How often it was replaced; -1 if the system refused.
int hw_replace_in_tables(const char *name, const void *replacement, const void *inside, bool in_others);

// MARK: - entry.c

/// The machine code at the entry of a function, before it was replaced by a jump.
struct hw_entry {
  unsigned char *code;
  unsigned char saved[16];
};

/// Whether the function only calls the runtime's allocator, so that calling that is the same.
bool hw_entry_is_known(const void *function, const struct hw_runtime *runtime);

/// Replaces the entry by a jump.
bool hw_entry_replace(struct hw_entry *entry, const void *function, const void *target);

void hw_entry_restore(struct hw_entry *entry);

#pragma GCC visibility pop

#endif
