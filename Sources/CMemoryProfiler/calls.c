#define _GNU_SOURCE
#include "profiler.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

// MARK: - Releasing and moving

/// Such ranges may have been arenas of allocators: the reported blocks in them come before their release.
#define ARENA 262144

/// Forgets a range that the call is about to release, and which code may have been mapped to.
static void release_range(struct hw_process *process, uint64_t from, uint64_t size) {
  if (size >= ARENA) hw_ring_drain();
  hw_pages_forget(&process->memory->pages, from, size);
  if (process->memory->code != NULL && hw_code_overlaps(process->memory->code, from, from + size)) {
    hw_ring_drain();
    hw_code_changed(process->memory->code);
  }
}

/// Handles brk(2), which releases memory if the new end is below the old one.
static void note_heap_end(struct hw_process *process, uint64_t end) {
  struct hw_memory *memory = process->memory;
  if (end == 0) return;
  if (end < memory->heap_end) {
    hw_snapshot_if_larger(process->pid, memory, 0);
    release_range(process, end, memory->heap_end - end);
  }
  memory->heap_end = end;
}

/// Notes whose call lets the kernel touch pages.
static int note_filling(struct hw_process *process, struct hw_call *call) {
  call->stack = hw_process_stack(process, call->caller);
  return 1;
}

/// Handles madvise(2); returns whether its result counts.
static int note_advice(struct hw_process *process, struct hw_call *call) {
  const uint64_t *arguments = call->arguments;
  if (arguments[2] == HW_POPULATE_WRITE) return note_filling(process, call);
  hw_snapshot_if_larger(process->pid, process->memory, 0);
  // Pages of MADV_FREE stay until the kernel needs them.
  if (arguments[2] == MADV_DONTNEED) hw_pages_forget(&process->memory->pages, arguments[0], arguments[1]);
  return 0;
}

/// Handles mmap(2), which may replace mappings, touch its pages at once, or map code; returns whether its result counts.
static int note_mapping(struct hw_process *process, struct hw_call *call) {
  uint64_t *arguments = call->arguments, flags = arguments[3];
  if ((flags & MAP_FIXED) != 0) {
    hw_snapshot_if_larger(process->pid, process->memory, 0);
    release_range(process, arguments[0], arguments[1]);
  }
  if ((arguments[2] & PROT_EXEC) != 0 && process->memory->code != NULL) {
    hw_ring_drain();
    hw_code_changed(process->memory->code);
  }
  if ((flags & (MAP_POPULATE | MAP_LOCKED)) == 0 || (flags & MAP_ANONYMOUS) == 0) return 0;
  return note_filling(process, call);
}

static int is_read(uint64_t number) {
  return number == SYS_read || number == SYS_pread64 || number == SYS_recvfrom;
}

/// Returns whether the result of the call counts.
static int note_call(struct hw_process *process, struct hw_call *call) {
  uint64_t *arguments = call->arguments;
  switch (call->number) {
    case SYS_brk: note_heap_end(process, arguments[0]); return 0;
    case SYS_mmap: return note_mapping(process, call);
    case SYS_mremap: hw_snapshot_if_larger(process->pid, process->memory, 0); return 1;
    case SYS_munmap:
      hw_snapshot_if_larger(process->pid, process->memory, 0);
      release_range(process, arguments[0], arguments[1]);
      return 0;
    case SYS_madvise: return note_advice(process, call);
    case SYS_mlock:
    case SYS_mlock2: return note_filling(process, call);
    default:
      if (is_read(call->number)) return note_filling(process, call);
      hw_snapshot_if_larger(process->pid, process->memory, 0);
      return 0;
  }
}

int hw_profile_call(pid_t thread, pid_t pid) {
  struct hw_process *process = hw_find_process(pid);
  struct __ptrace_syscall_info info = {0};
  if (process == NULL || process->memory == NULL) return 0;
  hw_go_check(process);
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info) <= 0) return 0;
  if (info.op != PTRACE_SYSCALL_INFO_SECCOMP) return 0;
  struct hw_call call = {.caller = thread, .number = info.seccomp.nr};
  memcpy(call.arguments, info.seccomp.args, sizeof call.arguments);
  // One result at a time: another thread's may be awaited, which of a read may take long.
  int is_busy = process->awaited.caller != 0 && !is_read(process->awaited.number);
  if (!note_call(process, &call) || is_busy) return 0;
  process->awaited = call;
  return 1;
}

/// Handles what a call has returned.
static void note_result(struct hw_pages *pages, const struct hw_call *call, uint64_t result) {
  const uint64_t *arguments = call->arguments;
  switch (call->number) {
    case SYS_mmap: hw_pages_fill(pages, result, arguments[1], call->stack); return;
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_madvise: hw_pages_fill(pages, arguments[0], arguments[1], call->stack); return;
    case SYS_mremap: {
      uint64_t kept = arguments[1] < arguments[2] ? arguments[1] : arguments[2];
      hw_pages_move(pages, arguments[0], result, kept);
      hw_pages_forget(pages, arguments[0] + kept, arguments[1] - kept);
      return;
    }
    default: hw_pages_fill(pages, arguments[1], result, call->stack); return;
  }
}

void hw_profile_call_end(pid_t thread, pid_t pid) {
  struct hw_process *process = hw_find_process(pid);
  if (process == NULL || process->memory == NULL || process->awaited.caller != thread) return;
  process->awaited.caller = 0;
  struct __ptrace_syscall_info info = {0};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info) <= 0) return;
  if (info.op != PTRACE_SYSCALL_INFO_EXIT || info.exit.is_error) return;
  note_result(&process->memory->pages, &process->awaited, (uint64_t)info.exit.rval);
}
