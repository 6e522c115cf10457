/// The living objects by address, in exact mode.

#define _GNU_SOURCE
#include "internal.h"

#include <stdatomic.h>
#include <sched.h>
#include <sys/mman.h>

struct object {
  uint64_t address;
  uint32_t class;
  uint32_t generation;
};

/// One of several tables with a lock each; open addressing with linear probing, at most 3/4 full.
struct table {
  atomic_flag is_locked;
  struct object *objects;
  size_t capacity, count;
} __attribute__((aligned(64)));

enum { TABLE_BITS = 6, TABLES = 1 << TABLE_BITS, FIRST_CAPACITY = 1024 };
static struct table tables[TABLES];
static uint32_t generation;

static void lock(struct table *table) {
  while (atomic_flag_test_and_set_explicit(&table->is_locked, memory_order_acquire)) sched_yield();
}

static void unlock(struct table *table) { atomic_flag_clear_explicit(&table->is_locked, memory_order_release); }

/// Objects are at multiples of 16 bytes.
static uint64_t hash(uint64_t address) { return (address >> 4) * UINT64_C(0x9e3779b97f4a7c15); }

static struct table *table_of(uint64_t address) { return &tables[hash(address) >> (64 - TABLE_BITS)]; }

static size_t first_place(const struct table *table, uint64_t address) {
  return (hash(address) >> (32 - TABLE_BITS)) & (table->capacity - 1);
}

/// The place of an address, or that where it is to be added.
static size_t place_of(const struct table *table, uint64_t address) {
  size_t at = first_place(table, address);
  while (table->objects[at].address != 0 && table->objects[at].address != address) at = (at + 1) & (table->capacity - 1);
  return at;
}

static void release_objects(struct object *objects, size_t capacity) {
  if (objects != NULL) munmap(objects, capacity * sizeof *objects);
}

static bool grow(struct table *table) {
  struct table grown = {.capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2};
  grown.objects = mmap(NULL, grown.capacity * sizeof *grown.objects, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
  if (grown.objects == MAP_FAILED) return false;
  for (size_t at = 0; at < table->capacity; at++) {
    const struct object *object = &table->objects[at];
    if (object->address != 0) grown.objects[place_of(&grown, object->address)] = *object;
  }
  release_objects(table->objects, table->capacity);
  table->objects = grown.objects;
  table->capacity = grown.capacity;
  return true;
}

void hw_objects_reset(void) {
  for (int at = 0; at < TABLES; at++) {
    lock(&tables[at]);
    release_objects(tables[at].objects, tables[at].capacity);
    tables[at].objects = NULL;
    tables[at].capacity = tables[at].count = 0;
    unlock(&tables[at]);
  }
  __atomic_store_n(&generation, 0, __ATOMIC_RELAXED);
}

void hw_object_add(const void *pointer, uint32_t class) {
  uint64_t address = (uint64_t)(uintptr_t)pointer;
  struct table *table = table_of(address);
  lock(table);
  if (table->count * 4 < table->capacity * 3 || grow(table)) {
    struct object *object = &table->objects[place_of(table, address)];
    table->count += object->address == 0;
    *object = (struct object){address, class, __atomic_load_n(&generation, __ATOMIC_RELAXED)};
  }
  unlock(table);
}

/// Moves later objects forward that would not be found behind the hole.
static void close_hole(struct table *table, size_t hole) {
  size_t mask = table->capacity - 1;
  for (size_t at = (hole + 1) & mask; table->objects[at].address != 0; at = (at + 1) & mask) {
    size_t first = first_place(table, table->objects[at].address);
    if (((at - first) & mask) < ((at - hole) & mask)) continue;
    table->objects[hole] = table->objects[at];
    hole = at;
  }
  table->objects[hole] = (struct object){0};
  table->count--;
}

uint32_t hw_object_remove(const void *pointer) {
  uint64_t address = (uint64_t)(uintptr_t)pointer;
  struct table *table = table_of(address);
  uint32_t class = HW_MOST_CLASSES;
  lock(table);
  if (table->count > 0) {
    size_t at = place_of(table, address);
    if (table->objects[at].address != 0) {
      class = table->objects[at].class;
      close_hole(table, at);
    }
  }
  unlock(table);
  return class;
}

uint32_t hw_instances_mark_generation(void) { return __atomic_add_fetch(&generation, 1, __ATOMIC_RELAXED); }

size_t hw_instances_objects(uint64_t metadata, uint32_t wanted, uint64_t *addresses, size_t most) {
  uint32_t class = hw_known_class(metadata);
  size_t count = 0;
  for (struct table *table = tables; table < tables + TABLES; table++) {
    lock(table);
    for (size_t at = 0; at < table->capacity; at++) {
      const struct object *object = &table->objects[at];
      if (object->address == 0 || object->class != class || object->generation != wanted) continue;
      if (count < most) addresses[count] = object->address;
      count++;
    }
    unlock(table);
  }
  return count;
}
