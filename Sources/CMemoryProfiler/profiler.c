#define _GNU_SOURCE
#include "profiler.h"

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

/// `si_code` of a SIGTRAP by a perf event, which older headers lack (asm-generic/siginfo.h).
#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

/// Marks a breakpoint of the preloaded library, in its first register; see Sources/AllocationSampler.
#define ALLOCATION_MARK UINT64_C(0x68776d656d6f7279)

#define PROCESS_SLOTS 1024
static struct hw_process *processes[PROCESS_SLOTS];
static int is_on;
/// The first program.
static pid_t main_process;

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
  if (memory->code != NULL) hw_code_close(memory->code);
  free(memory->snapshot.weights);
  free(memory);
}

static struct hw_memory *new_memory(void) {
  struct hw_memory *memory = calloc(1, sizeof *memory);
  if (memory != NULL) memory->users = 1;
  return memory;
}

/// The memory of a forked child: the same pages and blocks, which it has not shown at its own peak yet.
static struct hw_memory *copy_memory(struct hw_memory *from) {
  struct hw_memory *copy = new_memory();
  if (copy == NULL) return NULL;
  hw_pages_copy(&from->pages, &copy->pages);
  hw_blocks_copy(&from->blocks, &copy->blocks);
  copy->has_blocks = from->has_blocks;
  copy->heap_end = from->heap_end;
  copy->origin = from;
  copy->fork_time = from->pages.time;
  copy->fork_order = from->blocks.order;
  return copy;
}

struct hw_process *hw_find_process(pid_t pid) { return *slot_of(pid); }

static struct hw_process *obtain(pid_t pid) {
  struct hw_process **slot = slot_of(pid);
  if (*slot != NULL) return *slot;
  struct hw_process *process = calloc(1, sizeof *process);
  if (process == NULL) return NULL;
  process->pid = pid;
  process->event = -1;
  *slot = process;
  return process;
}

// MARK: - Page faults

/// Opens the event that stops a process at each of its page faults, unless it is disabled; -1 and errno on failure.
static int open_event(pid_t process, unsigned disabled) {
  struct perf_event_attr event = {
    .size = sizeof event, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
    .sample_type = PERF_SAMPLE_ADDR, .inherit = 1, .exclude_kernel = 1, .exclude_hv = 1, .remove_on_exec = 1,
    .sigtrap = 1, .sig_data = ALLOCATION_MARK, .disabled = disabled,
  };
  return (int)syscall(SYS_perf_event_open, &event, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int hw_profile_may_stop_at_faults(void) {
  // A page fault of this process would end it.
  int event = open_event(0, 1);
  if (event < 0) return errno;
  close(event);
  return 0;
}

// MARK: - Stacks

uint32_t hw_process_stack(struct hw_process *process, pid_t thread) {
  if (process->memory->code == NULL) process->memory->code = hw_code_open(process->pid);
  return process->memory->code == NULL ? HW_NO_STACK : hw_stack_of(process->memory->code, thread);
}

// MARK: - The life of processes

void hw_profile_begin(int64_t interval) {
  is_on = 1;
  hw_sampling_interval = interval;
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

void hw_take_moment(int moment) {
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
      hw_snapshot_if_larger(process->pid, memory);
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
  struct hw_process *process = obtain(pid);
  if (process == NULL) return;
  if (main_process == 0) main_process = pid;
  // A process that has shared its memory since a vfork leaves it to its parent.
  if (process->memory != NULL && process->memory->users == 1) keep(process);
  release_memory(process->memory);
  process->memory = new_memory();
  process->awaited.caller = 0;
  if (process->event >= 0) close(process->event);
  process->event = open_event(pid, 0);
}

void hw_profile_fork(pid_t parent, pid_t child, int shares) {
  struct hw_process *from = *slot_of(parent), *to = obtain(child);
  if (to == NULL || to->memory != NULL || from == NULL || from->memory == NULL) return;
  to->memory = shares ? from->memory : copy_memory(from->memory);
  if (shares) from->memory->users++;
}

void hw_profile_exit(pid_t pid) {
  struct hw_process *process = *slot_of(pid);
  if (process == NULL || process->memory == NULL || process->memory->users > 1) return;
  hw_snapshot_if_larger(pid, process->memory);
  if (pid == main_process) hw_note_exit();
  process->memory->is_ending = 1;
  keep(process);
}

void hw_profile_end(pid_t pid) {
  struct hw_process **slot = slot_of(pid), *process = *slot;
  if (process == NULL) return;
  release_memory(process->memory);
  if (process->event >= 0) close(process->event);
  *slot = process->next;
  free(process);
}

// MARK: - Traps

typedef struct user_regs_struct registers;

static int read_registers(pid_t thread, registers *state) {
  struct iovec set = {.iov_base = state, .iov_len = sizeof *state};
  return ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &set) == 0 && set.iov_len == sizeof *state;
}

/// The values that the preloaded library passes at its breakpoint: mark, address and size of a new block, address of a
/// released one.
static void read_breakpoint(const registers *state, uint64_t values[4]) {
#if defined(__x86_64__)
  values[0] = state->rax, values[1] = state->rdi, values[2] = state->rsi, values[3] = state->rdx;
#else
  for (int at = 0; at < 4; at++) values[at] = state->regs[at];
#endif
}

/// Lets the thread continue behind the breakpoint; on x86_64 it stands there already.
static void skip_breakpoint(pid_t thread, registers *state) {
#if defined(__aarch64__)
  state->pc += 4;
  struct iovec set = {.iov_base = state, .iov_len = sizeof *state};
  ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &set);
#else
  (void)thread, (void)state;
#endif
}

static int note_breakpoint(struct hw_process *process, pid_t thread) {
  registers state;
  uint64_t values[4];
  if (!read_registers(thread, &state)) return 0;
  read_breakpoint(&state, values);
  if (values[0] != ALLOCATION_MARK) return 0;
  skip_breakpoint(thread, &state);
  struct hw_memory *memory = process == NULL ? NULL : process->memory;
  if (memory == NULL) return 1;
  memory->has_blocks = 1;
  hw_blocks_remove(&memory->blocks, values[3]);
  if (values[1] == 0) return 1;
  hw_note_allocation();
  struct hw_block block = {.address = values[1], .size = values[2], .stack = hw_process_stack(process, thread)};
  hw_blocks_add(&memory->blocks, block, memory->pages.time);
  if (values[2] >= HW_LARGE_BLOCK) return 1;
  memory->samples++;
  hw_pages_note_block(&memory->pages, values[1]);
  return 1;
}

/// A process is unknown, and its memory too, until the stop of its creator has been handled.
int hw_profile_trap(pid_t thread, pid_t pid) {
  struct hw_process *process = *slot_of(pid);
  struct hw_memory *memory = process == NULL ? NULL : process->memory;
  siginfo_t signal;
  if (ptrace(PTRACE_GETSIGINFO, thread, NULL, &signal) != 0) return 0;
  if (signal.si_code == TRAP_PERF) {
    uint64_t address = (uint64_t)(uintptr_t)signal.si_addr;
    if (memory == NULL) return 1;
    hw_note_allocation();
    hw_pages_set(&memory->pages, address, hw_process_stack(process, thread));
    hw_blocks_note_pages(&memory->blocks, memory->pages.time);
    return 1;
  }
  return (signal.si_code == SI_KERNEL || signal.si_code == TRAP_BRKPT) && note_breakpoint(process, thread);
}

/// A signal that most programs end by, and that comes from outside the target, ends the steps.
void hw_profile_signal(pid_t thread, int number) {
  siginfo_t signal;
  if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH) return;
  if (ptrace(PTRACE_GETSIGINFO, thread, NULL, &signal) != 0 || signal.si_code > 0) return;
  if (*slot_of(signal.si_pid) == NULL) hw_note_end();
}
