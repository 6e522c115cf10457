#define _GNU_SOURCE
#include "profiler.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_SLOTS 1024
static struct hw_process *processes[PROCESS_SLOTS];
static int is_on;
/// The first program.
static pid_t main_process;

/// What a sample without a stack costs beside one with it.
#define TEMPORARY_COST 0.25

/// The same of one that realloc(3) has moved.
#define MOVE_COST 0.05

/// More processes of one name are not summed up.
#define MAX_ALIKE 4096

static struct hw_process **slot_of(pid_t pid) {
  struct hw_process **at = &processes[(unsigned)pid % PROCESS_SLOTS];
  while (*at != NULL && (*at)->pid != pid) at = &(*at)->next;
  return at;
}

// MARK: - Memories

/// Lets the first copy of a memory that is released count the pages that the others share with it.
static void hand_over_copies(const struct hw_memory *from) {
  struct hw_memory *heir = NULL;
  for (int at = 0; at < PROCESS_SLOTS; at++) {
    for (struct hw_process *process = processes[at]; process != NULL; process = process->next) {
      struct hw_memory *copy = process->memory;
      if (copy == NULL || copy->origin != from) continue;
      if (heir == NULL) {
        heir = copy;
        heir->origin = from->origin;
        heir->fork_time = from->fork_time;
        heir->fork_order = from->fork_order;
        heir->fork_allocated = from->fork_allocated;
      } else {
        copy->origin = heir;
      }
    }
  }
}

static void release_memory(struct hw_memory *memory) {
  if (memory == NULL || --memory->users > 0) return;
  hand_over_copies(memory);
  hw_pages_clear(&memory->pages);
  hw_blocks_clear(&memory->blocks);
  hw_releases_clear(&memory->releases);
  if (memory->code != NULL) hw_code_close(memory->code);
  hw_ranges_close(memory->inherited);
  hw_ranges_close(memory->shared);
  free(memory->snapshot.weights);
  hw_go_end(memory);
  free(memory);
}

static struct hw_memory *new_memory(void) {
  struct hw_memory *memory = calloc(1, sizeof *memory);
  if (memory != NULL) memory->users = 1;
  return memory;
}

uint32_t hw_new_pages(const struct hw_memory *memory) { return memory->pages.time - memory->copied; }

/// The memory of a forked child: the same pages and blocks, which it has not shown at its own peak yet.
static struct hw_memory *copy_memory(struct hw_memory *from) {
  struct hw_memory *copy = new_memory();
  if (copy == NULL) return NULL;
  hw_pages_copy(&from->pages, &copy->pages);
  hw_blocks_copy(&from->blocks, &copy->blocks);
  memcpy(copy->started_as, from->started_as, sizeof copy->started_as);
  copy->has_blocks = from->has_blocks;
  copy->heap_end = from->heap_end;
  copy->origin = from;
  copy->fork_time = from->pages.time;
  copy->copied = from->copied;
  copy->fork_order = from->blocks.order;
  copy->allocated = copy->fork_allocated = from->allocated;
  copy->inherited = from->shared;
  if (copy->inherited != NULL) copy->inherited->users++;
  return copy;
}

struct hw_process *hw_find_process(pid_t pid) { return *slot_of(pid); }

static struct hw_process *obtain(pid_t pid) {
  struct hw_process **slot = slot_of(pid);
  if (*slot != NULL) return *slot;
  struct hw_process *process = calloc(1, sizeof *process);
  if (process == NULL) return NULL;
  process->pid = pid;
  *slot = process;
  return process;
}

// MARK: - Stacks

struct hw_code *hw_process_code(struct hw_process *process) {
  if (process->memory->code == NULL) process->memory->code = hw_code_open(process->pid);
  return process->memory->code;
}

uint32_t hw_process_stack(struct hw_process *process, pid_t thread) {
  struct hw_code *code = hw_process_code(process);
  return code == NULL ? HW_NO_STACK : hw_stack_of(code, thread);
}

uint32_t hw_process_stack_of_copy(
  struct hw_process *process, const struct hw_stack_copy *copy, const struct hw_python_copy *frames, int count
) {
  struct hw_code *code = hw_process_code(process);
  return code == NULL ? HW_NO_STACK : hw_stack_of_copy(code, process->pid, copy, frames, count);
}

// MARK: - Threads

/// A thread of a process that has memory; the process itself if none is found.
static pid_t find_living_thread(pid_t pid) {
  char path[48];
  pid_t found = pid;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *folder = opendir(path);
  const struct dirent *entry;
  while (folder != NULL && found == pid && (entry = readdir(folder)) != NULL) {
    pid_t thread = (pid_t)atoi(entry->d_name);
    if (thread > 0 && thread != pid && hw_resident_size(thread) > 0) found = thread;
  }
  if (folder != NULL) closedir(folder);
  return found;
}

pid_t hw_living_thread(pid_t pid) {
  struct hw_process *process = *slot_of(pid);
  if (process == NULL || process->other_thread == 0) return pid;
  if (hw_resident_size(process->other_thread) == 0) process->other_thread = find_living_thread(pid);
  return process->other_thread;
}

void hw_profile_first_exit(pid_t pid) {
  struct hw_process *process = *slot_of(pid);
  // The search waits until it is needed: this thread still has the memory.
  if (process != NULL) process->other_thread = pid;
}

// MARK: - The life of processes

void hw_profile_begin(int64_t interval, int ring) {
  is_on = 1;
  hw_sampling_interval = interval;
  hw_ring_open(ring, (double)interval);
}

int hw_profile_is_on(void) {
  return is_on;
}

const char *hw_profile_load(void) {
  return hw_stacks_load();
}

/// Starts a visit of all living memories, each of which several processes may share.
static uint32_t begin_visit(void) {
  static uint32_t visit;
  return ++visit;
}

/// Whether this is the first process with this memory in a visit.
static int is_first_visit(struct hw_memory *memory, uint32_t visit) {
  if (memory == NULL || memory->visit == visit) return 0;
  memory->visit = visit;
  return 1;
}

double hw_living_seconds(void) {
  double sum = 0;
  for (int at = 0; at < PROCESS_SLOTS; at++) {
    for (const struct hw_process *process = processes[at]; process != NULL; process = process->next) {
      if (!process->is_ending) sum += hw_process_seconds(process->pid);
    }
  }
  return sum;
}

void hw_take_moment(int moment) {
  hw_ring_drain();
  uint32_t visit = begin_visit();
  hw_result_forget(moment);
  for (int at = 0; at < PROCESS_SLOTS; at++) {
    for (struct hw_process *process = processes[at]; process != NULL; process = process->next) {
      if (!is_first_visit(process->memory, visit)) continue;
      hw_result_add(moment, process->memory, hw_snapshot_now(process->pid, process->memory));
    }
  }
}

/// The living memories of processes with a name, without one of them; returns how many there are, at most `capacity`.
static size_t find_alike(const char *name, struct hw_memory *without, struct hw_memory **found, size_t capacity) {
  char command[16];
  size_t count = 0;
  uint32_t visit = begin_visit();
  without->visit = visit;
  for (int at = 0; at < PROCESS_SLOTS; at++) {
    for (struct hw_process *process = processes[at]; process != NULL; process = process->next) {
      struct hw_memory *memory = process->memory;
      if (memory == NULL || memory->is_ending || count == capacity || memory->visit == visit) continue;
      hw_read_command(process->pid, command);
      if (strcmp(command, name) != 0) continue;
      memory->visit = visit;
      hw_snapshot_if_larger(process->pid, memory, 1);
      found[count++] = memory;
    }
  }
  return count;
}

/// Keeps what a process that is about to lose its memory holds together with the living ones of its name.
///
/// Until one of them ends, they can only become larger, so that these are the moments at which they held most.
static void keep(struct hw_process *process) {
  static struct hw_memory *alike[MAX_ALIKE];
  const char *name = process->memory->snapshot.command;
  if (*name == '\0') return;
  alike[0] = process->memory;
  hw_result_keep(name, alike, 1 + find_alike(name, alike[0], alike + 1, MAX_ALIKE - 1));
}

void hw_profile_exec(pid_t pid) {
  // The records of the program that it was come first; so it is below with a fork and an exit.
  hw_ring_drain();
  struct hw_process *process = obtain(pid);
  if (process == NULL) return;
  if (main_process == 0) main_process = pid;
  // A process that has shared its memory since a vfork leaves it to its parent.
  if (process->memory != NULL && process->memory->users == 1) keep(process);
  hw_ring_replace(pid, 0);
  release_memory(process->memory);
  process->memory = new_memory();
  if (process->memory != NULL) {
    hw_read_command(pid, process->memory->started_as);
    hw_go_begin(process);
  }
  process->awaited.caller = process->other_thread = 0;
  hw_faults_close(process->faults);
  process->faults = hw_faults_open(pid);
}

/// Finds what a process shares with the child that it has forked, unless that is nearly what it shared with the last one.
static void note_shared(pid_t pid, struct hw_memory *memory) {
  int64_t size = hw_resident_size(hw_living_thread(pid)), former = memory->shared == NULL ? -1 : memory->shared->size;
  if (former >= 0 && size - former <= former / 50 && former - size <= former / 50) return;
  hw_ranges_close(memory->shared);
  memory->shared = hw_resident_ranges(hw_living_thread(pid));
  if (memory->shared != NULL) memory->shared->size = size;
}

void hw_profile_fork(pid_t parent, pid_t child, int shares) {
  hw_ring_drain();
  struct hw_process *from = *slot_of(parent), *to = obtain(child);
  if (to == NULL || to->memory != NULL || from == NULL || from->memory == NULL) return;
  to->faults = hw_faults_share(from->faults);
  if (!shares) note_shared(parent, from->memory);
  to->memory = shares ? from->memory : copy_memory(from->memory);
  if (shares) from->memory->users++;
}

int hw_profile_drain(void) {
  int is_any = hw_ring_drain();
  hw_note_time(is_any);
  return is_any;
}

void hw_profile_exit(pid_t pid) {
  hw_ring_drain();
  struct hw_process *process = *slot_of(pid);
  if (process == NULL) return;
  if (!process->is_ending) hw_note_ended_time(pid);
  process->is_ending = 1;
  if (process->memory == NULL || process->memory->users > 1) return;
  hw_snapshot_if_larger(pid, process->memory, 1);
  if (pid == main_process) hw_note_exit();
  process->memory->is_ending = 1;
  keep(process);
}

/// Another process with the same memory; 0 if there is none.
static pid_t find_sharer(const struct hw_process *process) {
  if (process->memory == NULL || process->memory->users < 2) return 0;
  for (int at = 0; at < PROCESS_SLOTS; at++) {
    for (const struct hw_process *other = processes[at]; other != NULL; other = other->next) {
      if (other != process && other->memory == process->memory) return other->pid;
    }
  }
  return 0;
}

void hw_profile_end(pid_t pid) {
  struct hw_process **slot = slot_of(pid), *process = *slot;
  hw_ring_replace(pid, process == NULL ? 0 : find_sharer(process));
  if (process == NULL) return;
  release_memory(process->memory);
  hw_faults_close(process->faults);
  *slot = process->next;
  free(process);
}

// MARK: - Blocks

void hw_note_release(struct hw_memory *memory, uint64_t address, uint32_t stack, uint32_t releases) {
  struct hw_block block = hw_blocks_remove(&memory->blocks, address);
  if (stack == HW_NO_STACK) return;
  hw_count_sample(1, memory->blocks.count);
  hw_releases_add(&memory->releases, block, stack, releases);
}

/// A small block at an address was allocated.
static void note_small(struct hw_memory *memory, uint64_t address, uint64_t size) {
  memory->allocated += hw_estimated_size(size);
  hw_pages_note_block(&memory->pages, address);
}

void hw_note_temporary(struct hw_memory *memory, uint64_t address, uint64_t size) {
  hw_count_sample(TEMPORARY_COST, memory->blocks.count);
  note_small(memory, address, size);
}

void hw_note_block(struct hw_memory *memory, uint64_t address, uint64_t size, uint32_t stack) {
  hw_count_sample(1, memory->blocks.count);
  hw_blocks_add(&memory->blocks, (struct hw_block){.address = address, .size = size, .stack = stack}, hw_new_pages(memory));
  if (size >= HW_LARGE_BLOCK) memory->allocated_large += (double)size;
  else note_small(memory, address, size);
}

void hw_note_move(struct hw_memory *memory, uint64_t from, uint64_t to, uint64_t size) {
  struct hw_block block = hw_blocks_remove(&memory->blocks, from);
  // A sample that was thinned.
  if (block.address == 0) return;
  hw_count_sample(MOVE_COST, memory->blocks.count);
  double growth = fmax(0, hw_estimated_size(size) - hw_estimated_size(block.size));
  if (size >= HW_LARGE_BLOCK) {
    memory->allocated_large += growth;
  } else {
    memory->allocated += growth;
    hw_pages_note_block(&memory->pages, to);
  }
  block.address = to;
  block.size = size;
  hw_blocks_add(&memory->blocks, block, hw_new_pages(memory));
}

void hw_thin_blocks(double former) {
  uint32_t visit = begin_visit();
  for (int at = 0; at < PROCESS_SLOTS; at++) {
    for (struct hw_process *process = processes[at]; process != NULL; process = process->next) {
      if (is_first_visit(process->memory, visit)) hw_blocks_thin(&process->memory->blocks, former);
    }
  }
}
