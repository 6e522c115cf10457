#define _GNU_SOURCE
#include "internal.h"
#include "tracer.h"

#include <errno.h>
#include <fcntl.h>
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

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/// How long a shepherd tries to kill what is below it.
#define PATIENCE_NANOSECONDS INT64_C(5000000000)

/// How many processes one round of killing reaches; what is beyond is reached by the next round.
#define ROUND_CAPACITY 8192

/// How often a shepherd looks for another event after one, a look and a yield being about 1 µs.
#define LOOKS 30

/// After so many events a shepherd sees to its control pipe, lest a program that forks without end keep it from that.
#define MOST_EVENTS 256

/// What the pipe of events should hold: some ten thousand (pipe(7): 1 MiB is everybody's).
#define EVENTS_PIPE_SIZE 1048576

/// A shepherd's state; it lives in the forked process only.
struct shepherd {
  const struct hw_plan *plan;
  pid_t self;
  pid_t program;
  int control;
  int report;
  int events;
  /// Readable when a child has ended.
  int children;
  /// Whether there may be more to take in than was.
  int is_behind;
  /// Whether the runner has gone.
  int abandoned;
  /// 0 until all is to be killed; then the instant at which to give up.
  int64_t deadline;
};

/// The list of a round of killing; in the zeroed part of the image, so that it costs nothing until it is used.
static struct hw_process herd[ROUND_CAPACITY];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: - Killing

/// Kills a process that is not the shepherd's own child.
///
/// Its parent may reap it at any time, and its number may be given to a stranger. So it is pinned first, and then
/// looked at: a pinned process that still lives is the one that was looked at.
static void kill_pinned(struct hw_process process, pid_t self) {
  int pin = hw_pidfd_open(process.pid);
  if (pin < 0) return;
  pid_t parent = hw_parent(process.pid);
  if (parent == process.parent || parent == self) hw_pidfd_send_signal(pin, SIGKILL);
  close(pin);
}

/// Sends SIGKILL to everything below the shepherd; orphans become its children and are found by the next round.
static void kill_round(const struct shepherd *shepherd) {
  char *const *setting = shepherd->plan->cgroup.before_killing;
  for (; *setting != NULL; setting += 2) hw_write_text(setting[0], setting[1]);
  int count = hw_descendants(shepherd->self, herd, ROUND_CAPACITY);
  for (int at = 0; at < count; at++) {
    // Only the shepherd reaps its children, so their numbers cannot have been given to others.
    if (herd[at].parent == shepherd->self) {
      kill(herd[at].pid, SIGKILL);
    } else {
      kill_pinned(herd[at], shepherd->self);
    }
  }
}

/// Takes what the control pipe says, a byte being the runner's wish and its end the runner's own: from now on all is
/// killed, round by round.
static void heed_control(struct shepherd *shepherd) {
  char wish;
  if (read(shepherd->control, &wish, 1) == 0) shepherd->abandoned = 1;
  shepherd->deadline = now() + PATIENCE_NANOSECONDS;
}

// MARK: - Reporting

/// Whether the runner can wait for the record until it looks by itself.
static int is_event(const struct shepherd *shepherd, const struct hw_record *record) {
  if (record->news == HW_NEWS_ENDED) return shepherd->plan->traced && record->pid != shepherd->program;
  return record->news > HW_NEWS_DONE;
}

/// Writes a record. Where the pipe is full it waits for the runner, yet still heeds the control pipe.
static void tell(struct shepherd *shepherd, struct hw_record record) {
  int pipe = is_event(shepherd, &record) ? shepherd->events : shepherd->report;
  record.time = now();
  while (write(pipe, &record, sizeof record) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return;  // the runner is gone
    struct pollfd wanted[2] = {
      {.fd = pipe, .events = POLLOUT},
      {.fd = shepherd->deadline == 0 ? shepherd->control : -1, .events = POLLIN},
    };
    poll(wanted, 2, shepherd->deadline == 0 ? -1 : 20);
    if (wanted[1].revents != 0) heed_control(shepherd);
    if (shepherd->deadline == 0) continue;
    kill_round(shepherd);
    if (now() > shepherd->deadline) return;
  }
}

/// Copies what the program's memory consists of, while it is still there.
static void copy_mappings(const struct shepherd *shepherd) {
  char path[32], text[16384];
  snprintf(path, sizeof path, "/proc/%d/smaps", (int)shepherd->program);
  int from = open(path, O_RDONLY | O_CLOEXEC);
  if (from < 0) return;
  int to = shepherd->plan->mappings;
  ssize_t length = read(from, text, sizeof text);
  // Each thread of it has an end. Once the first thread is gone nothing is told any more, and the copy that there is stays.
  if (length > 0) {
    if (ftruncate(to, 0) != 0 || lseek(to, 0, SEEK_SET) != 0) length = -1;
    while (length > 0) length = write(to, text, (size_t)length) == length ? read(from, text, sizeof text) : -1;
    if (length < 0) (void)!ftruncate(to, 0);
  }
  close(from);
}

/// Passes on what the tracer has seen; the process concerned is stopped meanwhile.
static void tell_of_trace(void *context, struct hw_record record) {
  struct shepherd *shepherd = context;
  int is_end = record.news == HW_NEWS_EXITING && record.pid == shepherd->program;
  if (is_end && shepherd->plan->mappings >= 0) copy_mappings(shepherd);
  tell(shepherd, record);
}

/// Takes in what has happened to children and traced processes; 0 when there are none any more.
///
/// After an event it looks for the next one again and again before it leaves off: a fork makes five within some 100 µs,
/// and a process that stops while its tracer sleeps pays for waking it, mostly on another CPU. The yield is for where
/// both have the same one. Medians of 25 interleaved runs of 500 children that only fork and end: 1.22 × the CPU time
/// that they take alone, 1.30 with one look (2 CPUs, both under load, 2026-11).
static int reap(struct shepherd *shepherd) {
  int events = 0;
  for (int looks = 1; looks > 0 && events < MOST_EVENTS; looks--) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
    if (pid < 0) return errno != ECHILD;
    if (pid == 0) {
      sched_yield();
      continue;
    }
    looks = LOOKS;
    events++;
    if (WIFSTOPPED(status)) {
      hw_trace_stop(pid, status, tell_of_trace, shepherd);
      continue;
    }
    if (hw_trace_end(pid)) continue;
    tell(shepherd, (struct hw_record){.news = HW_NEWS_ENDED, .pid = pid, .value = status});
  }
  shepherd->is_behind = events == MOST_EVENTS;
  return 1;
}

/// Waits until the runner has read the cgroup's counters, or has gone itself.
///
/// A wish to kill may still stand in the pipe: it came when all had just ended.
static void await_release(struct shepherd *shepherd) {
  for (;;) {
    char wish = 0;
    ssize_t length = read(shepherd->control, &wish, 1);
    if (length > 0 && wish == HW_WISH_RELEASE) return;
    if (length == 0) shepherd->abandoned = 1;
    if (length == 0 || (length < 0 && errno != EINTR)) return;
  }
}

static _Noreturn void leave(struct shepherd *shepherd) {
  const struct hw_plan *plan = shepherd->plan;
  tell(shepherd, (struct hw_record){.news = HW_NEWS_DONE});
  if (!shepherd->abandoned && *plan->cgroup.folders != NULL) await_release(shepherd);
  hw_remove_cgroup(&plan->cgroup);
  if (shepherd->abandoned && plan->scratch_file != NULL) {
    unlink(plan->scratch_file);
    rmdir(plan->scratch_folder);
  }
  _exit(0);
}

/// Takes the pending SIGCHLD; one reading takes all, since standard signals do not queue.
static void forget_signal(int descriptor) {
  struct signalfd_siginfo ended;
  while (read(descriptor, &ended, sizeof ended) < 0 && errno == EINTR) continue;
}

/// Waits until nothing is left, or until all that is left could not be killed.
static _Noreturn void watch(struct shepherd *shepherd) {
  while (reap(shepherd)) {
    struct pollfd wanted[2] = {
      {.fd = shepherd->children, .events = POLLIN},
      {.fd = shepherd->deadline == 0 ? shepherd->control : -1, .events = POLLIN},
    };
    // An orphan that comes to the shepherd announces itself by no signal: look again soon while killing. What was left
    // for later may have no signal of its own, either.
    poll(wanted, 2, shepherd->is_behind ? 0 : shepherd->deadline == 0 ? -1 : 2);
    if (wanted[0].revents != 0) forget_signal(shepherd->children);
    if (wanted[1].revents != 0) heed_control(shepherd);
    if (shepherd->deadline == 0) continue;
    if (!reap(shepherd)) break;
    kill_round(shepherd);
    if (now() < shepherd->deadline) continue;
    int count = hw_descendants(shepherd->self, herd, ROUND_CAPACITY);
    for (int at = 0; at < count; at++) {
      tell(shepherd, (struct hw_record){.news = HW_NEWS_SURVIVOR, .pid = herd[at].pid});
    }
    break;
  }
  leave(shepherd);
}

// MARK: - Becoming a shepherd

/// Closes the descriptors from `first` to `last`.
static void close_between(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  struct rlimit limit;
  unsigned end = 1u << 20;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < end) end = (unsigned)limit.rlim_cur;
  for (unsigned descriptor = first; descriptor <= last && descriptor < end; descriptor++) close((int)descriptor);
}

/// Closes every descriptor but those few; other shepherds' pipes must not be held open by this one.
static void close_all_but(int *kept, int count) {
  for (int at = 1; at < count; at++) {
    for (int left = at; left > 0 && kept[left - 1] > kept[left]; left--) {
      int swapped = kept[left];
      kept[left] = kept[left - 1];
      kept[left - 1] = swapped;
    }
  }
  unsigned next = 0;
  for (int at = 0; at < count; at++) {
    if (kept[at] < 0) continue;
    if ((unsigned)kept[at] > next) close_between(next, (unsigned)kept[at] - 1);
    next = (unsigned)kept[at] + 1;
  }
  close_between(next, ~0u);
}

/// Gives every signal its default effect; all stay blocked, so that only SIGKILL can end a shepherd.
///
/// By the bare call: libc's own refuses the signals 32 and 33, which it uses itself, though an ignored one would reach
/// the program. All zero is SIG_DFL without flags, whatever the order of the kernel's fields.
static void reset_signals(void) {
  static const uint64_t standard[8];
  for (int signal = 1; signal <= 64; signal++) syscall(SYS_rt_sigaction, signal, standard, NULL, sizeof(uint64_t));
}

/// Leaves the runner's session, and becomes the one to whom orphans below it come.
static int settle_down(struct shepherd *shepherd) {
  prctl(PR_SET_NAME, "hw-shepherd");
  if (setsid() < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) return -1;
  sigset_t ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  shepherd->children = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
  return shepherd->children < 0 ? -1 : 0;
}

/// Ends a shepherd whose program was not started.
static _Noreturn void give_up(struct shepherd *shepherd, int stage, int code) {
  hw_remove_cgroup(&shepherd->plan->cgroup);
  tell(shepherd, (struct hw_record){.news = HW_NEWS_FAILED, .value = code, .stage = stage});
  _exit(0);
}

/// Tells that the program was executed, and lets it go on where it is traced, for it is stopped at its exec then.
static void tell_of_start(struct shepherd *shepherd, const struct hw_start *start) {
  shepherd->program = start->pid;
  tell(shepherd, (struct hw_record){.news = HW_NEWS_STARTED, .pid = start->pid});
  if (!shepherd->plan->traced) return;
  if (WIFSTOPPED(start->status)) hw_trace_stop(start->pid, start->status, tell_of_trace, shepherd);
  else tell(shepherd, (struct hw_record){.news = HW_NEWS_ENDED, .pid = start->pid, .value = start->status});
}

static _Noreturn void be_shepherd(struct shepherd *shepherd) {
  const struct hw_plan *plan = shepherd->plan;
  int kept[] = {shepherd->control, shepherd->report, shepherd->events, plan->input, plan->output, plan->mappings};
  close_all_but(kept, sizeof kept / sizeof kept[0]);
  reset_signals();
  shepherd->self = getpid();
  if (settle_down(shepherd) != 0) give_up(shepherd, HW_STAGE_SHEPHERD, errno);
  if (hw_make_cgroup(&plan->cgroup) != 0) give_up(shepherd, HW_STAGE_CGROUP, errno);
  struct hw_start start = {.plan = plan};
  hw_start_program(&start);
  // Whoever reads the program's output must see its end, and whoever feeds it must see that nobody reads.
  if (plan->input >= 0) close(plan->input);
  close(plan->output);
  if (start.stage != 0) give_up(shepherd, start.stage, start.code);
  tell_of_start(shepherd, &start);
  if (chdir("/") != 0) _exit(126);
  watch(shepherd);
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

/// Closes what there is of one end of each pipe.
static void close_ends(int control, int report, int events) {
  if (control >= 0) close(control);
  if (report >= 0) close(report);
  if (events >= 0) close(events);
}

int hw_shepherd_start(const struct hw_plan *plan, struct hw_shepherd *started) {
  struct pipes pipes = {{-1, -1}, {-1, -1}, {-1, -1}};
  pid_t pid = open_pipes(&pipes, plan) == 0 ? hw_fork_quietly() : -1;
  if (pid == 0) {
    struct shepherd shepherd = {
      .plan = plan, .control = pipes.control[0], .report = pipes.report[1], .events = pipes.events[1]
    };
    be_shepherd(&shepherd);
  }
  int code = errno;
  close_ends(pipes.control[0], pipes.report[1], pipes.events[1]);
  if (pid < 0) {
    close_ends(pipes.control[1], pipes.report[0], pipes.events[0]);
    return code;
  }
  *started = (struct hw_shepherd){
    .pid = pid, .control = pipes.control[1], .report = pipes.report[0], .events = pipes.events[0]
  };
  return 0;
}
