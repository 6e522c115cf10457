#define _GNU_SOURCE
#include "profiler.h"
#include "ring.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

/// `si_code` of a SIGTRAP by a perf event, which older headers lack (asm-generic/siginfo.h).
#ifndef TRAP_PERF
#define TRAP_PERF 6
#endif

typedef struct user_regs_struct registers;

static int read_registers(pid_t thread, registers *state) {
  struct iovec set = {.iov_base = state, .iov_len = sizeof *state};
  return ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &set) == 0 && set.iov_len == sizeof *state;
}

/// The values that the preloaded library passes at its breakpoint: mark, address and size of a new block, address of a
/// released one, the number of a new address space.
static void read_breakpoint(const registers *state, uint64_t values[5]) {
#if defined(__x86_64__)
  values[0] = state->rax, values[1] = state->rdi, values[2] = state->rsi, values[3] = state->rdx, values[4] = state->rcx;
#else
  for (int at = 0; at < 5; at++) values[at] = state->regs[at];
#endif
}

/// Answers with the sampling interval, and lets the thread continue behind the breakpoint; on x86_64 it stands there
/// already.
static void answer_breakpoint(pid_t thread, registers *state) {
#if defined(__x86_64__)
  state->rax = (uint64_t)hw_sampling_interval;
#else
  state->regs[0] = (uint64_t)hw_sampling_interval;
  state->pc += 4;
#endif
  struct iovec set = {.iov_base = state, .iov_len = sizeof *state};
  ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &set);
}

/// The records of the ring come first.
static int note_breakpoint(pid_t pid, pid_t thread) {
  registers state;
  uint64_t values[5];
  if (!read_registers(thread, &state)) return 0;
  read_breakpoint(&state, values);
  if (values[0] != HW_STOP_MARK) return 0;
  hw_ring_drain();
  struct hw_process *process = hw_find_process(pid);
  if (values[4] != 0) hw_ring_announce((uint32_t)values[4], pid);
  if (process != NULL && process->memory != NULL) {
    process->memory->has_blocks = 1;
    if (values[1] != 0 && values[3] != 0) hw_note_move(process->memory, values[3], values[1], values[2]);
    else if (values[3] != 0) hw_note_release(process->memory, values[3], HW_NO_STACK, 0);
    else if (values[1] != 0) hw_note_block(process->memory, values[1], values[2], hw_process_stack(process, thread));
  }
  answer_breakpoint(thread, &state);
  return 1;
}

/// A process is unknown, and its memory too, until the stop of its creator has been handled.
int hw_profile_trap(pid_t thread, pid_t pid) {
  struct hw_process *process = hw_find_process(pid);
  struct hw_memory *memory = process == NULL ? NULL : process->memory;
  siginfo_t signal;
  if (ptrace(PTRACE_GETSIGINFO, thread, NULL, &signal) != 0) return 0;
  if (signal.si_code == TRAP_PERF) {
    uint64_t address = (uint64_t)(uintptr_t)signal.si_addr;
    uint32_t weight = hw_count_fault();
    if (memory == NULL) return 1;
    int is_of_rate = hw_go_is_watched(memory, address);
    hw_go_check(process);
    if (is_of_rate) return 1;
    hw_pages_set(&memory->pages, address, hw_process_stack(process, thread), weight);
    if (memory->inherited != NULL && hw_ranges_have(memory->inherited, address)) memory->copied += weight;
    hw_blocks_note_pages(&memory->blocks, hw_new_pages(memory));
    return 1;
  }
  return (signal.si_code == SI_KERNEL || signal.si_code == TRAP_BRKPT) && note_breakpoint(pid, thread);
}

/// A signal that most programs end by, and that comes from outside the target, ends the steps.
void hw_profile_signal(pid_t thread, int number) {
  siginfo_t signal;
  if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH) return;
  if (ptrace(PTRACE_GETSIGINFO, thread, NULL, &signal) != 0 || signal.si_code > 0) return;
  if (hw_find_process(signal.si_pid) == NULL) hw_note_end();
}
