#define _GNU_SOURCE
#include "cpus.h"
#include "internal.h"
#include "tracer.h"

#include <CMemoryProfiler.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// How long a supervisor tries to kill its descendants.
#define KILL_TIMEOUT_NANOSECONDS INT64_C(5000000000)

/// How many processes one round of kills covers; the next round covers the rest.
#define ROUND_CAPACITY 8192

/// How often a supervisor polls for the next event before it sleeps; a poll and a yield take about 1 µs.
#define POLLS 30

/// A yield that takes longer has let others run: the CPUs are busy.
#define SLOW_YIELD_NANOSECONDS 100000

/// For how many events a supervisor then sleeps at once instead of polling: the kernel soon runs one that wakes up, while
/// one that yields waits for its turn after all others.
#define EVENTS_WITHOUT_POLLS 100

/// The slice of CPU time that a supervisor asks for: one that needs little at a time runs soon (EEVDF, Linux 6.12 and
/// later; 0.1 ms is the least).
#define SLICE_NANOSECONDS 100000

/// After this many events a supervisor reads its control pipe, so that a program that forks endlessly cannot starve it.
#define MAX_EVENTS 256

/// The size of the events pipe: room for some ten thousand (pipe(7): 1 MiB is the limit for unprivileged users).
#define EVENTS_PIPE_SIZE 1048576

/// The state of a supervisor; used in the forked process only.
struct supervisor {
  const struct hw_plan *plan;
  pid_t self;
  pid_t program;
  int control;
  int report;
  int events;
  /// Readable when the target asks for the number of CPUs (`hw_plan.cpu_count`); -1 for none.
  int listener;
  /// Readable when a child has ended.
  int children;
  /// Whether unread events may remain.
  int has_backlog;
  /// For how many further events it does not poll.
  int events_without_polls;
  /// Whether the runner has exited.
  int runner_gone;
  /// 0 until the kill begins; then the time at which to give up.
  int64_t deadline;
  /// A pidfd of the attached leader that is to be killed; -1 for none.
  int owned;
};

/// The list for a round of kills; in .bss, so that it costs nothing until it is used.
static struct hw_process processes[ROUND_CAPACITY];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: - Killing

/// Kills a process that is not the supervisor's own child.
///
/// Its parent may reap it at any time, and the kernel may reuse its pid. So open a pidfd first and check the parent
/// afterwards: the signal then reaches the process that was checked, or none.
static void kill_pinned(struct hw_process process, pid_t self) {
  int pin = hw_pidfd_open(process.pid);
  if (pin < 0) return;
  pid_t parent = hw_parent(process.pid);
  if (parent == process.parent || parent == self) hw_pidfd_send_signal(pin, SIGKILL);
  close(pin);
}

/// Sends SIGKILL to all descendants; orphans become children of the supervisor, and the next round finds them.
static void kill_round(const struct supervisor *supervisor) {
  char *const *setting = supervisor->plan->cgroup.before_killing;
  for (; *setting != NULL; setting += 2) hw_write_text(setting[0], setting[1]);
  int count = hw_descendants(supervisor->self, processes, ROUND_CAPACITY);
  for (int at = 0; at < count; at++) {
    // Only the supervisor reaps its children, so their pids cannot have been reused.
    if (processes[at].parent == supervisor->self) {
      kill(processes[at].pid, SIGKILL);
    } else {
      kill_pinned(processes[at], supervisor->self);
    }
  }
}

/// Reads the control pipe: a byte is a request, end of file means that the runner has exited, which starts the kill.
static void read_control(struct supervisor *supervisor) {
  char request = HW_REQUEST_KILL_ALL;
  if (read(supervisor->control, &request, 1) == 0) supervisor->runner_gone = 1;
  if (request == HW_REQUEST_PROFILE_STEPS) {
    hw_profile_steps_begin();
    return;
  }
  supervisor->deadline = now() + KILL_TIMEOUT_NANOSECONDS;
}

// MARK: - Reporting

/// Whether the record can wait until the runner polls for it.
static int is_trace_event(const struct supervisor *supervisor, const struct hw_record *record) {
  if (record->event == HW_EVENT_GONE) return 0;
  if (record->event == HW_EVENT_ENDED) return supervisor->plan->traced && record->pid != supervisor->program;
  return record->event > HW_EVENT_DONE;
}

/// Waits for one of the descriptors.
///
/// Exits if that fails over and over: the supervisor would spin, and hear no request.
static void wait_for(struct pollfd *wanted, nfds_t count, int milliseconds) {
  static int failures;
  failures = poll(wanted, count, milliseconds) < 0 ? failures + 1 : 0;
  if (failures >= HW_MOST_INTERRUPTIONS) _exit(1);
}

/// Writes a record. If the pipe is full, waits for the runner and still serves the control pipe.
///
/// Exits if a record cannot be written to a living runner, which would wait for it or miss what was measured: it finds the
/// end of the pipe, and kills what is left of the tree.
static void send_record(struct supervisor *supervisor, struct hw_record record) {
  int pipe = is_trace_event(supervisor, &record) ? supervisor->events : supervisor->report;
  record.time = now();
  for (int turns = 0; write(pipe, &record, sizeof record) < 0;) {
    if (hw_is_interrupted(&turns)) continue;
    if (errno == EPIPE) return;  // the runner has exited
    if (errno != EAGAIN) _exit(1);
    struct pollfd wanted[2] = {
      {.fd = pipe, .events = POLLOUT},
      {.fd = supervisor->deadline == 0 ? supervisor->control : -1, .events = POLLIN},
    };
    wait_for(wanted, 2, supervisor->deadline == 0 ? -1 : 20);
    if (wanted[1].revents != 0) read_control(supervisor);
    if (supervisor->deadline == 0) continue;
    kill_round(supervisor);
    if (now() > supervisor->deadline) return;
  }
}

/// Copies the program's mappings while its memory still exists.
static void copy_mappings(const struct supervisor *supervisor) {
  char path[32], text[16384];
  snprintf(path, sizeof path, "/proc/%d/smaps", (int)supervisor->program);
  int from = open(path, O_RDONLY | O_CLOEXEC);
  if (from < 0) return;
  int to = supervisor->plan->mappings;
  ssize_t length = read(from, text, sizeof text);
  // Called at the end of each thread. After the first thread has ended, the file is empty; keep the previous copy.
  if (length > 0) {
    if (ftruncate(to, 0) != 0 || lseek(to, 0, SEEK_SET) != 0) length = -1;
    while (length > 0) length = write(to, text, (size_t)length) == length ? read(from, text, sizeof text) : -1;
    if (length < 0) (void)!ftruncate(to, 0);
  }
  close(from);
}

/// Sends a record of the tracer; the traced process is stopped meanwhile.
static void send_trace_record(void *context, struct hw_record record) {
  struct supervisor *supervisor = context;
  int is_end = record.event == HW_EVENT_EXITING && record.pid == supervisor->program;
  if (is_end && supervisor->plan->mappings >= 0) copy_mappings(supervisor);
  send_record(supervisor, record);
}

/// Lets others run; whether none kept the CPU.
static int yields_at_once(void) {
  int64_t before = now();
  sched_yield();
  return now() - before < SLOW_YIELD_NANOSECONDS;
}

/// Handles the pending events of children and traced processes; 0 when none are left.
///
/// After an event it polls several times before it sleeps: a fork causes five events within some 100 µs, and a process
/// that stops while its tracer sleeps has to wake it, mostly on another CPU. The yield helps when both share a CPU.
/// Medians of 25 interleaved runs of 500 children that only fork and exit: 1.22 × the CPU time of an untraced run,
/// 1.30 with a single poll (2 CPUs, both under load, 2026-11).
///
/// Where others keep the CPUs busy it does not yield: a program whose 16 threads spin on 2 CPUs while it creates 200 more
/// took 3.3 s instead of 0.5 s (2026-11).
static int reap(struct supervisor *supervisor) {
  int events = 0;
  for (int polls = 1; polls > 0 && events < MAX_EVENTS; polls--) {
    int status = 0;
    int64_t highest = 0;
    pid_t pid = hw_trace_wait(-1, &status, WNOHANG, &highest);
    if (pid < 0) return errno != ECHILD;
    if (pid == 0) {
      if (polls > 1 && !yields_at_once()) {
        supervisor->events_without_polls = EVENTS_WITHOUT_POLLS;
        polls = 2;
      }
      continue;
    }
    // At least one more, which finds that none is left.
    polls = supervisor->events_without_polls > 0 ? 2 : POLLS;
    if (supervisor->events_without_polls > 0) supervisor->events_without_polls--;
    events++;
    if (WIFSTOPPED(status)) {
      hw_trace_stop(pid, status, highest, send_trace_record, supervisor);
      continue;
    }
    if (hw_trace_end(pid)) continue;
    send_record(supervisor, (struct hw_record){HW_EVENT_ENDED, .pid = pid, .value = status, .highest = highest});
  }
  supervisor->has_backlog = events == MAX_EVENTS;
  return 1;
}

/// Waits until the runner has read the cgroup's counters, or has exited.
///
/// The pipe may still hold a kill request that arrived after the last process had ended.
static void await_release(struct supervisor *supervisor) {
  for (int turns = 0;;) {
    char request = 0;
    ssize_t length = read(supervisor->control, &request, 1);
    if (length > 0 && request == HW_REQUEST_RELEASE) return;
    if (length == 0) supervisor->runner_gone = 1;
    if (length == 0 || (length < 0 && !hw_is_interrupted(&turns))) return;
  }
}

static _Noreturn void finish(struct supervisor *supervisor) {
  const struct hw_plan *plan = supervisor->plan;
  if (plan->sampling_interval > 0) hw_profile_write(plan->profile);
  send_record(supervisor, (struct hw_record){.event = HW_EVENT_DONE});
  if (!supervisor->runner_gone && *plan->cgroup.folders != NULL) await_release(supervisor);
  hw_remove_cgroup(&plan->cgroup);
  _exit(0);
}

/// Consumes the pending SIGCHLD; one read is enough, since standard signals do not queue.
static void consume_signal(int descriptor) {
  struct signalfd_siginfo ended;
  int turns = 0;
  while (read(descriptor, &ended, sizeof ended) < 0 && hw_is_interrupted(&turns)) continue;
}

/// How long to wait for the next event in milliseconds; -1 for any time.
///
/// No signal announces that an orphan was reparented to the supervisor, so poll often while killing; nor that events remain
/// after MAX_EVENTS, nor what the profiler's library reports.
static int timeout(const struct supervisor *supervisor) {
  if (supervisor->has_backlog) return 0;
  if (hw_profile_is_on()) return hw_profile_drain() ? 1 : 5;
  return supervisor->deadline == 0 ? -1 : 2;
}

/// Answers a call of the target; stops listening when no process is left that could make one.
static void serve_cpus(struct supervisor *supervisor, int events) {
  if ((events & POLLIN) != 0 && hw_cpus_serve(supervisor->listener, supervisor->plan->cpu_count)) return;
  close(supervisor->listener);
  supervisor->listener = -1;
}

/// Waits until no process is left, or only ones that could not be killed.
static _Noreturn void watch(struct supervisor *supervisor) {
  while (reap(supervisor)) {
    struct pollfd wanted[3] = {
      {.fd = supervisor->children, .events = POLLIN},
      {.fd = supervisor->deadline == 0 ? supervisor->control : -1, .events = POLLIN},
      {.fd = supervisor->listener, .events = POLLIN},
    };
    wait_for(wanted, 3, timeout(supervisor));
    if (wanted[2].revents != 0) serve_cpus(supervisor, wanted[2].revents);
    if (wanted[0].revents != 0) consume_signal(supervisor->children);
    if (wanted[1].revents != 0) read_control(supervisor);
    if (supervisor->deadline == 0) continue;
    if (!reap(supervisor)) break;
    kill_round(supervisor);
    if (now() < supervisor->deadline) continue;
    int count = hw_descendants(supervisor->self, processes, ROUND_CAPACITY);
    for (int at = 0; at < count; at++) {
      send_record(supervisor, (struct hw_record){.event = HW_EVENT_SURVIVOR, .pid = processes[at].pid});
    }
    break;
  }
  finish(supervisor);
}

// MARK: - Setting up a supervisor

/// Resets all signals to their default action; they stay blocked, so that only SIGKILL can end a supervisor.
///
/// Uses the system call, because libc's wrapper rejects its own signals 32 and 33, and the program would inherit them
/// if ignored. All zero is SIG_DFL without flags, whatever the order of the kernel's fields.
static void reset_signals(void) {
  static const uint64_t standard[8];
  for (int signal = 1; signal <= 64; signal++) syscall(SYS_rt_sigaction, signal, standard, NULL, sizeof(uint64_t));
}

/// Starts its own session, and becomes the child subreaper of its descendants.
static int become_subreaper(struct supervisor *supervisor) {
  if (setsid() < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return -1;
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  supervisor->children = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
  return supervisor->children < 0 ? -1 : 0;
}

/// Exits after a failed start.
static _Noreturn void fail_start(struct supervisor *supervisor, int stage, int code) {
  hw_remove_cgroup(&supervisor->plan->cgroup);
  send_record(supervisor, (struct hw_record){.event = HW_EVENT_FAILED, .value = code, .stage = stage});
  _exit(0);
}

/// Reports that the program was executed, and continues a traced one, which is stopped at its exec.
static void send_start(struct supervisor *supervisor, const struct hw_start *start) {
  supervisor->program = start->pid;
  send_record(supervisor, (struct hw_record){.event = HW_EVENT_STARTED, .pid = start->pid});
  if (!supervisor->plan->traced) return;
  if (WIFSTOPPED(start->status)) {
    hw_trace_stop(start->pid, start->status, start->highest, send_trace_record, supervisor);
    return;
  }
  send_record(supervisor, (struct hw_record){.event = HW_EVENT_ENDED, .pid = start->pid, .value = start->status});
}

/// Whether to go on following processes that run already; kills an own leader after a request.
static int follows(const struct supervisor *supervisor) {
  if (supervisor->deadline == 0) return 1;
  return supervisor->owned >= 0 && hw_pidfd_send_signal(supervisor->owned, SIGKILL) == 0 && now() < supervisor->deadline;
}

/// Waits for the end of a process that runs already and is not traced, or for a request.
static void await_end(struct supervisor *supervisor, int process) {
  send_record(supervisor, (struct hw_record){.event = HW_EVENT_STARTED, .pid = supervisor->program});
  while (follows(supervisor)) {
    struct pollfd wanted[2] = {
      {.fd = process, .events = POLLIN},
      {.fd = supervisor->deadline == 0 ? supervisor->control : -1, .events = POLLIN},
    };
    wait_for(wanted, 2, timeout(supervisor));
    if (wanted[1].revents != 0) read_control(supervisor);
    if (wanted[0].revents == 0) continue;
    send_record(supervisor, (struct hw_record){.event = HW_EVENT_GONE, .pid = supervisor->program});
    process = supervisor->owned = -1;
  }
}

/// Traces processes that run already, until they end or a request arrives.
///
/// A stopped one continues when its tracer exits (ptrace(2)), with the signal that it was about to get.
static void trace_attached(struct supervisor *supervisor) {
  const struct hw_plan *plan = supervisor->plan;
  if (!plan->owns_attached) hw_trace_lets_live();
  int code = hw_attach_process(plan->attached[0]);
  if (code != 0) fail_start(supervisor, HW_STAGE_TRACE, code);
  hw_attach_others(plan->attached, plan->attached_count, send_trace_record, supervisor);
  send_record(supervisor, (struct hw_record){.event = HW_EVENT_STARTED, .pid = supervisor->program});
  while (reap(supervisor)) {
    struct pollfd wanted[2] = {
      {.fd = supervisor->children, .events = POLLIN},
      {.fd = supervisor->deadline == 0 ? supervisor->control : -1, .events = POLLIN},
    };
    wait_for(wanted, 2, timeout(supervisor));
    if (wanted[0].revents != 0) consume_signal(supervisor->children);
    if (wanted[1].revents != 0) read_control(supervisor);
    if (!follows(supervisor)) return;
  }
}

/// Follows processes that run already.
static _Noreturn void follow(struct supervisor *supervisor) {
  const struct hw_plan *plan = supervisor->plan;
  supervisor->program = plan->attached[0];
  if (chdir("/") != 0) _exit(126);
  int is_pinned = plan->owns_attached || !plan->traced;
  int process = is_pinned ? hw_pidfd_open(supervisor->program) : -1;
  if (is_pinned && process < 0) fail_start(supervisor, HW_STAGE_SUPERVISOR, errno);
  supervisor->owned = plan->owns_attached ? process : -1;
  if (plan->traced) trace_attached(supervisor);
  else await_end(supervisor, process);
  finish(supervisor);
}

/// Asks for short slices of CPU time, which the target does not inherit; older kernels ignore it.
static void ask_for_short_slices(void) {
  // The first members of `struct sched_attr` (sched_setattr(2)), whose size is checked.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } wanted = {.size = 48, .flags = SCHED_FLAG_RESET_ON_FORK, .runtime = SLICE_NANOSECONDS};
  wanted.nice = getpriority(PRIO_PROCESS, 0);
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

static _Noreturn void run_supervisor(struct supervisor *supervisor) {
  const struct hw_plan *plan = supervisor->plan;
  int kept[] = {
    supervisor->control, supervisor->report, supervisor->events, plan->input, plan->output, plan->mappings, plan->lock,
    plan->profile, plan->ring
  };
  hw_close_all_but(kept, sizeof kept / sizeof kept[0]);
  reset_signals();
  supervisor->self = getpid();
  ask_for_short_slices();
  if (become_subreaper(supervisor) != 0) fail_start(supervisor, HW_STAGE_SUPERVISOR, errno);
  if (plan->attached_count > 0) follow(supervisor);
  if (hw_make_cgroup(&plan->cgroup) != 0) fail_start(supervisor, HW_STAGE_CGROUP, errno);
  if (plan->sampling_interval > 0) hw_profile_begin(plan->sampling_interval, plan->ring);
  struct hw_start start = {.plan = plan};
  hw_start_program(&start);
  // Otherwise the reader of the program's output gets no end of file, and the writer of its input no EPIPE.
  if (plan->input >= 0) close(plan->input);
  close(plan->output);
  if (start.stage != 0) fail_start(supervisor, start.stage, start.code);
  supervisor->listener = start.listener;
  send_start(supervisor, &start);
  if (chdir("/") != 0) _exit(126);
  watch(supervisor);
}

// MARK: - In the runner

struct pipes {
  int control[2], report[2], events[2];
};

static int open_pipes(struct pipes *pipes, const struct hw_plan *plan) {
  if (pipe2(pipes->control, O_CLOEXEC) != 0) return -1;
  if (pipe2(pipes->report, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  if (pipe2(pipes->events, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  if (plan->traced) fcntl(pipes->events[1], F_SETPIPE_SZ, EVENTS_PIPE_SIZE);
  return 0;
}

/// Closes one end of each pipe, if open.
static void close_ends(int control, int report, int events) {
  if (control >= 0) close(control);
  if (report >= 0) close(report);
  if (events >= 0) close(events);
}

int hw_supervisor_start(const struct hw_plan *plan, struct hw_supervisor *started) {
  struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}};
  pid_t pid = open_pipes(&pipes, plan) == 0 ? hw_fork_blocking_signals() : -1;
  if (pid == 0) {
    struct supervisor supervisor = {
      .plan = plan, .control = pipes.control[0], .report = pipes.report[1], .events = pipes.events[1]
    };
    run_supervisor(&supervisor);
  }
  int code = errno;
  close_ends(pipes.control[0], pipes.report[1], pipes.events[1]);
  if (pid < 0) {
    close_ends(pipes.control[1], pipes.report[0], pipes.events[0]);
    return code;
  }
  *started = (struct hw_supervisor){
    .pid = pid, .control = pipes.control[1], .report = pipes.report[0], .events = pipes.events[0]
  };
  return 0;
}
