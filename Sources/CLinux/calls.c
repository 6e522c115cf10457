#define _GNU_SOURCE
#include "CLinux.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The same numbers on every architecture (pidfd_open since Linux 5.3); old headers lack them.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

int hw_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int hw_pidfd_send_signal(int descriptor, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int hw_shares_memory(pid_t one, pid_t other) {
  long order = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
  return order < 0 ? -1 : order == 0;
}

int hw_can_fix_addresses(void) {
  int now = personality(0xffffffff);
  if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0) return 0;
  personality((unsigned long)now);
  return 1;
}

int hw_executable(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

int hw_sleep_until(int64_t instant, int wake) {
  for (int turns = 0;;) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t left = instant - ((int64_t)time.tv_sec * 1000000000 + time.tv_nsec);
    if (left < 0) left = 0;
    struct timespec limit = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    struct pollfd wanted = {.fd = wake, .events = POLLIN};
    int ready = ppoll(&wanted, 1, &limit, NULL);
    // Otherwise a refused call would pass for the end of the time, and a request to wake up would not be seen.
    int is_interrupted = ready < 0 && left > 0 && hw_is_interrupted(&turns);
    if (ready < 0 && !is_interrupted) ready = poll(&wanted, 1, (int)(left / 1000000) + 1);
    if (!is_interrupted) return ready > 0;
  }
}


int hw_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int hw_anonymous_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

void hw_lead_to(int other, int descriptor) { dup3(other, descriptor, O_CLOEXEC); }

void hw_copy_pipe(int from, int to, size_t count) { tee(from, to, count, SPLICE_F_NONBLOCK); }

int hw_affinity(void *mask, size_t size) { return sched_getaffinity(0, size, mask); }

/// How long a child may take to end after it was told to: the cleaner of a run takes at most 10 s, a supervisor 5 s.
#define PATIENCE_MILLISECONDS 15000

/// How long the kernel may take to end a killed child.
#define KILL_MILLISECONDS 2000

/// How long to sleep between two looks at a child for which there is no pidfd.
#define PAUSE_MILLISECONDS 2

static int64_t milliseconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/// Waits for a child to exit; 0 if it takes too long.
static int ends_within(pid_t pid, int *status, int64_t milliseconds) {
  int64_t deadline = milliseconds_now() + milliseconds, left = milliseconds;
  struct pollfd end = {.fd = hw_pidfd_open(pid), .events = POLLIN};
  pid_t found;
  int turns = 0;
  while (((found = waitpid(pid, status, WNOHANG)) == 0 || (found < 0 && hw_is_interrupted(&turns))) && left > 0) {
    poll(&end, 1, end.fd < 0 ? PAUSE_MILLISECONDS : (int)left);
    left = deadline - milliseconds_now();
  }
  if (end.fd >= 0) close(end.fd);
  return found != 0;
}

int hw_reap(pid_t pid, int *status) {
  if (ends_within(pid, status, PATIENCE_MILLISECONDS)) return 1;
  kill(pid, SIGKILL);
  return ends_within(pid, status, KILL_MILLISECONDS);
}

// MARK: - Forking

/// Blocks all signals, so that no handler of the runner can run in the forked child.
static void block_signals(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

pid_t hw_fork_blocking_signals(void) {
  sigset_t before;
  block_signals(&before);
#if HW_THREAD_SANITIZER
  // ThreadSanitizer resets its own locks in the child only after a call of this name.
  pid_t pid = fork();
#else
  pid_t pid = _Fork();
#endif
  int code = errno;
  if (pid == 0) hw_name_process("hw-supervisor");
  else pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return pid;
}

/// Closes the descriptors from `first` to `last`; kernels before 5.9 have no close_range(2).
static void close_between(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  struct rlimit limit;
  unsigned end = 1u << 20;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < end) end = (unsigned)limit.rlim_cur;
  for (unsigned descriptor = first; descriptor <= last && descriptor < end; descriptor++) close((int)descriptor);
}

void hw_close_all_but(int *kept, int count) {
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

pid_t hw_fork_cleaner(int kept) {
  sigset_t before;
  block_signals(&before);
  // Not `_Fork`: the child goes on to use the heap.
  pid_t pid = fork();
  int code = errno;
  if (pid == 0) {
    hw_name_process("hw-cleanup");
    setsid();
    hw_close_all_but(&kept, 1);
    (void)!chdir("/");
    return 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return pid;
}

static void close_ends(int one, int other) {
  close(one);
  close(other);
}

// MARK: - Cgroups and counters

/// The exit code of a child, which is an `errno`; EIO if it was killed.
static int exit_code_of(pid_t child) {
  int status = 0;
  return hw_reap(child, &status) && WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

int hw_may_trace(void) {
  pid_t pid = hw_fork_blocking_signals();
  if (pid < 0) return errno;
  if (pid == 0) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    _exit(hw_can_trace());
  }
  return exit_code_of(pid);
}

/// Forks a process that joins the cgroup: 0, or an errno.
static int try_joining(const char *folder) {
  pid_t pid = hw_fork_blocking_signals();
  if (pid < 0) return errno;
  if (pid == 0) _exit(hw_join_folder(folder, 0) == 0 ? 0 : errno);
  return exit_code_of(pid);
}

/// The child of `hw_try_cgroup`. A process may remain in the cgroup for a moment after it is reaped.
static _Noreturn void try_and_remove(const char *folder, const char *needed) {
  // Not reached by signals to the runner's process group.
  setsid();
  if (mkdir(folder, 0755) != 0) _exit(errno);
  int code = access(needed, F_OK) == 0 ? try_joining(folder) : HW_FILE_MISSING;
  for (int turn = 0; turn < 400 && rmdir(folder) != 0 && errno == EBUSY; turn++) {
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
  _exit(code);
}

int hw_try_cgroup(const char *folder, const char *needed) {
  pid_t pid = hw_fork_blocking_signals();
  if (pid < 0) return errno;
  if (pid == 0) try_and_remove(folder, needed);
  return exit_code_of(pid);
}

/// The child of `hw_still_child`: reports that it is ready, and waits until the other end of `wait` is closed.
static _Noreturn void touch_and_wait(size_t size, int ready, int wait) {
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(1);
  // Touches every page: none is smaller than 4 KiB.
  for (size_t at = 0; at < size; at += 4096) *(volatile char *)(memory + at) = 1;
  char byte = 1;
  int turns = 0;
  if (write(ready, &byte, 1) == 1) {
    while (read(wait, &byte, 1) < 0 && hw_is_interrupted(&turns)) continue;
  }
  _exit(0);
}

pid_t hw_still_child(size_t size, int *release) {
  int ready[2], wait[2];
  if (hw_pipe(ready) != 0) return -1;
  if (hw_pipe(wait) != 0) {
    close_ends(ready[0], ready[1]);
    return -1;
  }
  pid_t pid = hw_fork_blocking_signals();
  if (pid == 0) {
    close_ends(ready[0], wait[1]);
    touch_and_wait(size, ready[1], wait[0]);
  }
  close_ends(ready[1], wait[0]);
  char byte;
  ssize_t count = -1;
  int turns = 0;
  while (pid > 0 && (count = read(ready[0], &byte, 1)) < 0 && hw_is_interrupted(&turns)) continue;
  close(ready[0]);
  *release = wait[1];
  if (count == 1) return pid;
  close(wait[1]);
  if (pid > 0) hw_reap(pid, NULL);
  return -1;
}
