#define _GNU_SOURCE
#include "internal.h"
#include "tracer.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)
typedef struct user_regs_struct registers;
/// `syscall`
static const unsigned char instruction[] = {0x0f, 0x05};
#elif defined(__aarch64__)
typedef struct user_regs_struct registers;
/// `svc #0`
static const unsigned char instruction[] = {0x01, 0x00, 0x00, 0xd4};
#else
#error "no system call of another process is known for this architecture"
#endif

static unsigned long *instruction_pointer(registers *state) {
#if defined(__x86_64__)
  return (unsigned long *)&state->rip;
#else
  return (unsigned long *)&state->pc;
#endif
}

static unsigned long stack_pointer(const registers *state) {
#if defined(__x86_64__)
  return (unsigned long)state->rsp;
#else
  return (unsigned long)state->sp;
#endif
}

/// How far the ballast is below the stack: in the part of the address space that every program may use (sanitizers claim
/// others), and below all that is mapped from there downwards.
///
/// If it were mapped among the libraries, their addresses would change, and with them the pages around each fault that
/// the kernel maps as well: sqlite3 then has 50 KiB less (x86_64, Linux 6.18, 2026-11).
#define DISTANCE (UINT64_C(64) << 30)

/// The size of a huge page, up to which addresses are aligned.
#define ALIGNMENT (UINT64_C(2) << 20)

/// Prepares a system call with up to six arguments (syscall(2), architecture calling conventions).
static void set_call(registers *state, long number, const unsigned long arguments[6]) {
#if defined(__x86_64__)
  state->rax = (unsigned long)number;
  // The thread is not in a system call that the kernel would restart.
  state->orig_rax = (unsigned long)-1;
  state->rdi = arguments[0], state->rsi = arguments[1], state->rdx = arguments[2];
  state->r10 = arguments[3], state->r8 = arguments[4], state->r9 = arguments[5];
#else
  state->regs[8] = (unsigned long)number;
  for (int at = 0; at < 6; at++) state->regs[at] = arguments[at];
#endif
}

static long result_of(const registers *state) {
#if defined(__x86_64__)
  return (long)state->rax;
#else
  return (long)state->regs[0];
#endif
}

/// Reads the registers; ENOEXEC for a program of another architecture, such as a 32-bit one.
static int get_registers(pid_t thread, registers *state) {
  struct iovec set = {.iov_base = state, .iov_len = sizeof *state};
  if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &set) != 0) return errno;
  return set.iov_len == sizeof *state ? 0 : ENOEXEC;
}

/// The system call in which a stopped thread is.
static long number_of(const registers *state) {
#if defined(__x86_64__)
  return (long)state->orig_rax;
#else
  return (long)state->regs[8];
#endif
}

long hw_system_call_of(pid_t thread) {
  registers state;
  return get_registers(thread, &state) == 0 ? number_of(&state) : -1;
}

/// The first argument of the system call in which a stopped thread is.
static unsigned long first_argument_of(const registers *state) {
#if defined(__x86_64__)
  return (unsigned long)state->rdi;
#else
  return (unsigned long)state->regs[0];
#endif
}

int hw_creates_thread(pid_t creator) {
  registers state;
  if (get_registers(creator, &state) != 0) return -1;
  unsigned long flags = first_argument_of(&state);
  switch (number_of(&state)) {
    case SYS_clone: break;
    case SYS_clone3:
      // The first member of `struct clone_args` (clone3(2)).
      errno = 0;
      flags = (unsigned long)ptrace(PTRACE_PEEKDATA, creator, (void *)flags, NULL);
      if (errno != 0) return -1;
      break;
    default: return 0;
  }
  return (flags & CLONE_THREAD) != 0;
}

static int set_registers(pid_t thread, registers *state) {
  struct iovec set = {.iov_base = state, .iov_len = sizeof *state};
  return ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &set) == 0 ? 0 : errno;
}

/// Continues the thread to the next start or end of a system call.
///
/// Any other stop, and the end of the thread, stays pending for the supervisor: EINTR.
static int continue_to_call(pid_t thread) {
  if (ptrace(PTRACE_SYSCALL, thread, NULL, NULL) != 0) return errno;
  siginfo_t stop;
  int turns = 0;
  while (waitid(P_PID, (id_t)thread, &stop, WSTOPPED | WEXITED | WNOWAIT | __WALL) != 0) {
    if (!hw_is_interrupted(&turns)) return errno;
  }
  // With PTRACE_O_TRACESYSGOOD (ptrace(2)).
  if (stop.si_code != CLD_TRAPPED || stop.si_status != (SIGTRAP | 0x80)) return EINTR;
  int status;
  return waitpid(thread, &status, __WALL) == thread ? 0 : EINTR;
}

/// Makes a stopped thread call the system; it must be at the instruction for that.
static int call(pid_t thread, const registers *start, long number, const unsigned long arguments[6], long *result) {
  registers state = *start;
  set_call(&state, number, arguments);
  int code = set_registers(thread, &state);
  if (code == 0) code = continue_to_call(thread);
  if (code == 0) code = continue_to_call(thread);
  if (code == 0) code = get_registers(thread, &state);
  *result = result_of(&state);
  return code;
}

/// Maps memory in the stopped process and touches all of it.
static int map(pid_t process, const registers *start, size_t size) {
  // The kernel chooses another address if this one is in use.
  unsigned long wanted = (stack_pointer(start) - DISTANCE) & ~(ALIGNMENT - 1);
  const unsigned long mapping[6] = {
    wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, (unsigned long)-1, 0
  };
  long address = 0, ignored = 0;
  int code = call(process, start, SYS_mmap, mapping, &address);
  if (code != 0) return code;
  if (address < 0 && address > -4096) return (int)-address;
  // So that the kernel does not merge it with mappings of the program, and put huge pages across both. It fails, and is
  // not needed, on kernels without huge pages.
  const unsigned long advice[6] = {(unsigned long)address, size, MADV_NOHUGEPAGE};
  return call(process, start, SYS_madvise, advice, &ignored);
}

/// Replaces the instructions at the address for a while.
static int map_at(pid_t process, registers *start, void *address, size_t size) {
  errno = 0;
  long before = ptrace(PTRACE_PEEKTEXT, process, address, NULL);
  if (errno != 0) return errno;
  long replaced = before;
  memcpy(&replaced, instruction, sizeof instruction);
  if (ptrace(PTRACE_POKETEXT, process, address, (void *)replaced) != 0) return errno;
  int code = map(process, start, size);
  if (ptrace(PTRACE_POKETEXT, process, address, (void *)before) != 0 && code == 0) code = errno;
  if (set_registers(process, start) != 0 && code == 0) code = errno;
  return code;
}

int hw_add_ballast(pid_t process, size_t size) {
  registers start;
  // The thread is still in execve(2), whose result would overwrite that of another call.
  int code = continue_to_call(process);
  if (code == 0) code = get_registers(process, &start);
  if (code != 0) return code;
  // A signal would end the call, or run a handler in the middle of it.
  uint64_t before = 0, all = ~UINT64_C(0);
  if (ptrace(PTRACE_GETSIGMASK, process, (void *)sizeof before, &before) != 0) return errno;
  if (ptrace(PTRACE_SETSIGMASK, process, (void *)sizeof all, &all) != 0) return errno;
  code = map_at(process, &start, (void *)*instruction_pointer(&start), size);
  ptrace(PTRACE_SETSIGMASK, process, (void *)sizeof before, &before);
  return code;
}
