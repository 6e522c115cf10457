#define _GNU_SOURCE
#include "cpus.h"
#include "internal.h"
#include "tracer.h"

#include <CMemoryProfiler.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if HW_THREAD_SANITIZER
/// ThreadSanitizer treats each clone as a fork, and would release its own locks twice, in the parent and in the child
/// that shares them (LLVM, tsan_interceptors_posix.cpp); it does not intercept this alias.
int __clone(int (*function)(void *), void *stack, int flags, void *argument, ...);
#define clone __clone
#endif

/// Exits the child after a failed start.
HW_NO_SANITIZER static _Noreturn void fail(struct hw_start *start, int stage) {
  start->code = errno;
  start->stage = stage;
  _exit(127);
}

/// Sets up descriptors 0 to 2. Duplicates the sources above them first, since a source may have one of these numbers.
HW_NO_SANITIZER static void connect_streams(const struct hw_plan *plan, struct hw_start *start) {
  int input = plan->input >= 0 ? fcntl(plan->input, F_DUPFD_CLOEXEC, 3) : -1;
  if (plan->input < 0) {
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) input = fcntl(null, F_DUPFD_CLOEXEC, 3);
  }
  if (input < 0) fail(start, HW_STAGE_INPUT);
  int output = fcntl(plan->output, F_DUPFD_CLOEXEC, 3);
  if (output < 0) fail(start, HW_STAGE_OUTPUT);
  if (dup2(input, 0) < 0) fail(start, HW_STAGE_INPUT);
  if (dup2(output, 1) < 0 || dup2(output, 2) < 0) fail(start, HW_STAGE_OUTPUT);
}

/// Executes the program. Runs in the memory of the supervisor, so it may make system calls only.
HW_NO_SANITIZER static int become_program(void *argument) {
  struct hw_start *start = argument;
  const struct hw_plan *plan = start->plan;
  char byte;
  int turns = 0;
  ssize_t count;
  while ((count = read(start->gate, &byte, 1)) < 0 && hw_is_interrupted(&turns)) continue;
  // Nobody may trace it yet.
  if (count < 0) fail(start, HW_STAGE_SUPERVISOR);
  // Die with the supervisor if it is killed. The supervisor has one thread, so "the parent thread" of prctl(2) is the
  // supervisor itself.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start->supervisor) _exit(127);
  if (setpgid(0, 0) != 0) fail(start, HW_STAGE_GROUP);
  if (hw_join_cgroup(&plan->cgroup, start->is_in_v2) != 0) fail(start, HW_STAGE_CGROUP);
  if (chdir(plan->directory) != 0) fail(start, HW_STAGE_DIRECTORY);
  connect_streams(plan, start);
  if (plan->fixed_addresses) {
    int persona = personality(0xffffffff);
    if (persona < 0 || personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0) fail(start, HW_STAGE_ADDRESSES);
  }
  if (plan->no_huge_pages && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) fail(start, HW_STAGE_HUGE_PAGES);
  if (plan->cpus != NULL && sched_setaffinity(0, plan->cpus_size, plan->cpus) != 0) fail(start, HW_STAGE_CPUS);
  if (plan->cpu_count > 0 && hw_cpus_install(start->sockets[1]) != 0) fail(start, HW_STAGE_CPU_COUNT);
  // Without the filter only the exit shows what a process held.
  if (plan->sampling_interval > 0) hw_profile_install_filter();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(plan->program, plan->arguments, plan->environment);
  fail(start, HW_STAGE_EXEC);
}

/// The stack on which a child runs until its exec.
static char program_stack[65536] __attribute__((aligned(16)));

/// `clone3(args, size)`, whose child calls `body(argument)` on the stack of `args`. The library has no function for it.
///
/// Returns the child, or a negative errno.
pid_t hw_clone3(struct clone_args *args, size_t size, int (*body)(void *), void *argument);

#if defined(__x86_64__)
// The call preserves all registers but rax, rcx and r11.
__asm__(
    ".text\n.type hw_clone3, @function\nhw_clone3:\n"
    "  mov %rcx, %r8\n  mov $435, %eax\n  syscall\n  test %rax, %rax\n  jz 1f\n  ret\n"
    "1: xor %ebp, %ebp\n  mov %r8, %rdi\n  call *%rdx\n  hlt\n.size hw_clone3, . - hw_clone3\n");
#elif defined(__aarch64__)
// The call preserves all registers but x0.
__asm__(
    ".text\n.type hw_clone3, %function\nhw_clone3:\n"
    "  mov x8, #435\n  svc #0\n  cbz x0, 1f\n  ret\n"
    "1: mov x29, #0\n  mov x30, #0\n  mov x0, x3\n  blr x2\n  brk #1\n.size hw_clone3, . - hw_clone3\n");
#else
pid_t hw_clone3(struct clone_args *args, size_t size, int (*body)(void *), void *argument) {
  (void)args, (void)size, (void)body, (void)argument;
  return -ENOSYS;
}
#endif

/// Creates the child: in its v2 cgroup, which spares the kernel a migration of some 12 ms, or in the supervisor's if the
/// kernel or a filter of system calls does not allow that.
static pid_t clone_program(struct hw_start *start) {
  int folder = hw_open_v2_cgroup(&start->plan->cgroup);
  if (folder >= 0) {
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_INTO_CGROUP,
        .exit_signal = SIGCHLD,
        .stack = (uint64_t)(uintptr_t)program_stack,
        .stack_size = sizeof program_stack,
        .cgroup = (uint64_t)folder,
    };
    start->is_in_v2 = 1;
    pid_t pid = hw_clone3(&args, sizeof args, become_program, start);
    close(folder);
    if (pid > 0) return pid;
  }
  start->is_in_v2 = 0;
  return clone(become_program, program_stack + sizeof program_stack, CLONE_VM | SIGCHLD, start);
}

/// Waits for the exec or exit of an untraced child: both close its end of the pipe.
static void await_exec(int executed) {
  char byte;
  int turns = 0;
  while (read(executed, &byte, 1) < 0 && hw_is_interrupted(&turns)) continue;
}

static void ignore_record(void *context, struct hw_record record) {
  (void)context, (void)record;
}

/// Continues a traced child until its exec stop, or its exit before that.
static void await_traced_exec(struct hw_start *start) {
  for (int turns = 0;;) {
    if (hw_trace_wait(start->pid, &start->status, 0, &start->highest) < 0 && hw_is_interrupted(&turns)) continue;
    if (!WIFSTOPPED(start->status) || hw_trace_is_exec(start->status)) return;
    hw_trace_stop(start->pid, start->status, start->highest, ignore_record, NULL);
  }
}

/// Lets the child execute its program; -1 and errno on failure.
static int open_gate(int gate) {
  ssize_t written;
  int turns = 0;
  do written = write(gate, "", 1);
  while (written < 0 && hw_is_interrupted(&turns));
  return written < 0 ? -1 : 0;
}

/// Ends a child that has not executed its program.
static void give_up(struct hw_start *start, int stage, int code) {
  kill(start->pid, SIGKILL);
  hw_reap(start->pid, NULL);
  start->stage = stage;
  start->code = code;
}

void hw_start_program(struct hw_start *start) {
  int traced = start->plan->traced;
  int gate[2], executed[2];
  start->supervisor = getpid();
  start->stage = HW_STAGE_SUPERVISOR;
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(executed, O_CLOEXEC) != 0) {
    start->code = errno;
    return;
  }
  start->gate = gate[0];
  start->listener = -1;
  if (start->plan->cpu_count > 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, start->sockets) != 0) {
    start->code = errno;
    return;
  }
  pid_t pid = clone_program(start);
  start->code = errno;
  if (pid < 0) return;
  start->pid = pid;
  start->stage = 0;
  close(executed[1]);
  int code = traced ? hw_trace_begin(pid, start->plan->ballast) : 0;
  if (code != 0) {
    give_up(start, HW_STAGE_TRACE, code);
    return;
  }
  if (open_gate(gate[1]) != 0) {
    give_up(start, HW_STAGE_SUPERVISOR, errno);
    return;
  }
  if (traced) await_traced_exec(start);
  else await_exec(executed[0]);
  close(gate[0]);
  close(gate[1]);
  close(executed[0]);
  if (start->plan->cpu_count > 0) start->listener = hw_cpus_accept(start->sockets, pid);
  if (start->stage != 0 && !traced) hw_reap(pid, NULL);
}
