#define _GNU_SOURCE
#include "java.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// A place in the code, with the number of its function in the log; 0 for one that is left out.
struct place {
  struct hw_java_frame frame;
  uint32_t function;
};

/// A call of a function: its caller's node, and what it holds in live objects.
struct node {
  uint32_t caller, function;
  int64_t live;
};

struct sample {
  int64_t bytes;
  /// The node; in a free slot the next free one.
  uint32_t node;
  int is_live;
};

/// Items in a table that grows; places and nodes are found by hash slots with their numbers, from 1.
struct table {
  uint32_t *slots;
  uint32_t slot_count, count, capacity;
};

#define MAX_ITEMS (UINT32_C(1) << 22)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static struct table place_table, node_table, sample_table;
static struct place *places;
static struct node *nodes;
static struct sample *samples;
static uint32_t function_count, free_sample;
static int64_t sample_count;

/// The lines that define functions and nodes, and are not written yet.
static FILE *definitions;
static char *defined;
static size_t defined_size;

int64_t hw_java_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: - Tables

/// Makes room for one more item; 0 if there is no memory for it. Item 0 is not used.
static int grow(struct table *table, void **items, size_t size) {
  if (table->count + 1 < table->capacity) return 1;
  uint32_t larger = table->capacity == 0 ? 1024 : table->capacity * 2;
  void *grown = larger > MAX_ITEMS ? NULL : realloc(*items, larger * size);
  if (grown == NULL) return 0;
  *items = grown;
  table->capacity = larger;
  return 1;
}

static uint64_t mix(uint64_t one, uint64_t other) {
  return ((one * UINT64_C(0x9e3779b97f4a7c15) ^ other) * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
}

static uint64_t place_hash(struct hw_java_frame frame) { return mix((uintptr_t)frame.method, (uint64_t)frame.location); }

static uint64_t hash_of(const struct table *table, uint32_t number) {
  return table == &place_table ? place_hash(places[number].frame) : mix(nodes[number].caller, nodes[number].function);
}

static void put(struct table *table, uint32_t number) {
  uint64_t at = hash_of(table, number);
  while (table->slots[at & (table->slot_count - 1)] != 0) at++;
  table->slots[at & (table->slot_count - 1)] = number;
}

/// Enters the last item into the slots, of which at most half are used; 0 if there is no memory for that.
static int enter(struct table *table) {
  if (table->count * 2 >= table->slot_count) {
    uint32_t larger = table->slot_count == 0 ? 4096 : table->slot_count * 2;
    uint32_t *grown = calloc(larger, sizeof *grown);
    if (grown == NULL) return 0;
    free(table->slots);
    table->slots = grown;
    table->slot_count = larger;
    for (uint32_t number = 1; number < table->count; number++) put(table, number);
  }
  put(table, table->count);
  return 1;
}

/// The number of a place; 0 if it is not known.
static uint32_t find_place(struct hw_java_frame frame) {
  if (place_table.slot_count == 0) return 0;
  for (uint64_t at = place_hash(frame);; at++) {
    uint32_t number = place_table.slots[at & (place_table.slot_count - 1)];
    const struct hw_java_frame *known = &places[number].frame;
    if (number == 0 || (known->method == frame.method && known->location == frame.location)) return number;
  }
}

static uint32_t find_node(uint32_t caller, uint32_t function) {
  if (node_table.slot_count == 0) return 0;
  for (uint64_t at = mix(caller, function);; at++) {
    uint32_t number = node_table.slots[at & (node_table.slot_count - 1)];
    if (number == 0 || (nodes[number].caller == caller && nodes[number].function == function)) return number;
  }
}

/// The node of a function that another node has called; 0 if there is no memory for it.
static uint32_t child(uint32_t caller, uint32_t function) {
  uint32_t number = find_node(caller, function);
  if (number != 0 || !grow(&node_table, (void **)&nodes, sizeof *nodes)) return number;
  number = ++node_table.count;
  nodes[number] = (struct node){.caller = caller, .function = function};
  if (!enter(&node_table)) {
    node_table.count--;
    return 0;
  }
  fprintf(definitions, "node\t%u\t%u\t%u\n", number, caller, function);
  return number;
}

// MARK: - Stacks

int hw_knows_frame(struct hw_java_frame frame) {
  pthread_mutex_lock(&lock);
  uint32_t found = find_place(frame);
  pthread_mutex_unlock(&lock);
  return found != 0;
}

/// Writes a text on one line, without tabs.
static void write_text(const char *text) {
  for (; *text != '\0'; text++) fputc((unsigned char)*text < 32 || *text == 127 ? '?' : *text, definitions);
  fputc('\t', definitions);
}

static void define(uint32_t function, const struct hw_java_name *name) {
  fprintf(definitions, "function\t%u\t", function);
  write_text(name->function);
  write_text(name->file);
  fprintf(definitions, "%d\n", name->line);
}

void hw_add_frame(struct hw_java_frame frame, const struct hw_java_name *name) {
  pthread_mutex_lock(&lock);
  if (find_place(frame) == 0 && grow(&place_table, (void **)&places, sizeof *places)) {
    int is_named = name->function[0] != '\0';
    places[++place_table.count] = (struct place){frame, is_named ? function_count + 1 : 0};
    if (!enter(&place_table)) place_table.count--;
    else if (is_named) define(++function_count, name);
  }
  pthread_mutex_unlock(&lock);
}

void hw_log_place(struct hw_java_frame frame, uint64_t key) {
  pthread_mutex_lock(&lock);
  fprintf(definitions, "place\t%llx\t%u\n", (unsigned long long)key, places[find_place(frame)].function);
  pthread_mutex_unlock(&lock);
}

uint32_t hw_node_of(const struct hw_java_frame *frames, int count) {
  uint32_t node = 0;
  pthread_mutex_lock(&lock);
  for (int at = count - 1; at >= 0; at--) {
    uint32_t place = find_place(frames[at]);
    if (place == 0 || places[place].function == 0) continue;
    uint32_t next = child(node, places[place].function);
    if (next == 0) break;
    node = next;
  }
  pthread_mutex_unlock(&lock);
  return node;
}

// MARK: - Samples

int64_t hw_add_sample(uint32_t node, int64_t bytes) {
  pthread_mutex_lock(&lock);
  uint32_t number = node == 0 ? 0 : free_sample;
  if (number != 0) free_sample = samples[number].node;
  else if (node != 0 && grow(&sample_table, (void **)&samples, sizeof *samples)) number = ++sample_table.count;
  sample_count++;
  if (number != 0) {
    samples[number] = (struct sample){.bytes = bytes, .node = node, .is_live = 1};
    nodes[node].live += bytes;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

void hw_remove_sample(int64_t number) {
  pthread_mutex_lock(&lock);
  if (number > 0 && number <= sample_table.count && samples[number].is_live) {
    nodes[samples[number].node].live -= samples[number].bytes;
    samples[number] = (struct sample){.node = free_sample};
    free_sample = (uint32_t)number;
  }
  pthread_mutex_unlock(&lock);
}

int64_t hw_sample_count(void) {
  pthread_mutex_lock(&lock);
  int64_t count = sample_count;
  pthread_mutex_unlock(&lock);
  return count;
}

// MARK: - The log

static void write_all(const char *text, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, text, size);
    if (written <= 0) return;
    text += written;
    size -= (size_t)written;
  }
}

int hw_log_open(const char *folder) {
  char path[4096], first[64];
  snprintf(path, sizeof path, "%s/%d.0.running", folder, (int)getpid());
  file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  definitions = open_memstream(&defined, &defined_size);
  if (file < 0 || definitions == NULL) return 0;
  write_all(first, (size_t)snprintf(first, sizeof first, "heap\tjava\t%lld\n", (long long)hw_java_time()));
  return 1;
}

void hw_log_refuse(void) { write_all("refused\n", 8); }

/// Adds what is live to the definitions, which come first; how many bytes. Called with the lock.
static int64_t describe(int64_t interval) {
  int64_t sum = 0;
  fprintf(definitions, "profile\t%lld\t%lld\n", (long long)hw_java_time(), (long long)interval);
  for (uint32_t number = 1; number <= node_table.count; number++) {
    if (nodes[number].live <= 0) continue;
    fprintf(definitions, "live\t%u\t%lld\n", number, (long long)nodes[number].live);
    sum += nodes[number].live;
  }
  fputs("end\n", definitions);
  fflush(definitions);
  return sum;
}

int64_t hw_log_write(int64_t interval) {
  pthread_mutex_lock(&lock);
  int64_t sum = describe(interval);
  write_all(defined, defined_size);
  rewind(definitions);
  pthread_mutex_unlock(&lock);
  return sum;
}
