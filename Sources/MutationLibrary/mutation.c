/// The library that `selfcheck` preloads into targets: makes them hold memory in the way of one kind of regression.
///
/// `HIGHWATER_MUTATION` is `<kind>:<bytes>:<nanoseconds>:<peak>:<folder>`: how much at most, how long an unchanged run takes
/// and how many bytes are resident at its peak, and a folder with the file `pages`, to be mapped, in which `loaded` and, once
/// memory is held, `injected` are created. With no bytes it is as loaded, with the same thread, and holds nothing. The memory comes
/// from mmap(2), so that the program's own allocator works as without the library. It needs only libc.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static char kind[16], folder[PATH_MAX - 32];
static unsigned long amount, usual_peak;
static long duration;

static void note(const char *what) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", folder, what);
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

static int is(const char *name) { return strcmp(kind, name) == 0; }

static void wait_for(long nanoseconds) {
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  nanosleep(&time, NULL);
}

/// Maps memory and touches it, with ordinary pages.
static char *hold(unsigned long size, int sharing) {
  if (size == 0) return NULL;
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  madvise(memory, size, MADV_NOHUGEPAGE);
  memset(memory, 1, size);
  // Of workers that end earlier, as the helpers of a script do, only the whole leak counts; of spikes those near the peak.
  if (!is("worker") && !is("spike")) note("injected");
  return memory;
}

static void hold_file(void) {
  char path[PATH_MAX];
  if (amount == 0) return;
  snprintf(path, sizeof path, "%s/pages", folder);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *memory = mmap(NULL, amount, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (memory != MAP_FAILED) note("injected");
  close(file);
}

/// How many steps a leak and a slow return have: 64, or one for each page.
static long steps(void) { return amount < 64 * 4096 ? (long)(amount / 4096) + 1 : 64; }

static unsigned long step_size(void) { return (amount / (unsigned long)steps() + 4095) & ~4095UL; }

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

/// On a busy machine a wait may take as long as many steps, which are made up for.
static void leak_within(long time) {
  const long begin = now(), count = steps(), pause = time / count + 1;
  for (long step = 0; step < count;) {
    wait_for(pause);
    for (long due = (now() - begin) / pause; step < due && step < count; step++) hold(step_size(), MAP_PRIVATE);
  }
  if (amount > 0) note("injected");
}

/// How much of this process is resident, in bytes (proc_pid_statm, the second number).
///
/// The file is opened each time: a program may close descriptors that it does not know, and use their numbers.
static unsigned long resident(void) {
  char text[64] = "";
  unsigned long pages = 0;
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  if (read(file, text, sizeof text - 1) > 0) sscanf(text, "%*u %lu", &pages);
  close(file);
  return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/// When the first program of the target was started.
static long first_start;

#define MILLISECOND 1000000

static _Atomic int has_spiked;

static void spike_once(void) {
  if (has_spiked++) return;
  int is_near_peak = resident() + amount / 4 >= usual_peak;
  char *memory = hold(amount, MAP_PRIVATE);
  if (memory != NULL && is_near_peak) note("injected");
  wait_for(MILLISECOND);
  if (memory != NULL) munmap(memory, amount);
}

/// Below its peak the program has room for a spike, and no peak rises. So it comes as soon as the program is near its peak,
/// in the last tenth of the run, or at the exit.
static void spike(void) {
  while (now() - first_start < duration / 10 * 9 && resident() + amount / 4 < usual_peak) wait_for(MILLISECOND);
  spike_once();
}

/// The level after a burst at the begin falls so slowly that twice the amount is left at the end.
static void return_slowly(void) {
  char *memory = hold(4 * amount, MAP_PRIVATE);
  for (long step = 0; memory != NULL && step < steps(); step++) {
    wait_for(duration / steps());
    munmap(memory + (unsigned long)step * 2 * step_size(), 2 * step_size());
  }
}

static void double_table(void) {
  wait_for(duration / 4);
  hold(amount, MAP_PRIVATE);
}

/// Whether this process was started by another one of the target.
static int is_worker;

static void *inject(void *unused) {
  if (is("leak")) leak_within(duration);
  // A worker may live for a part of the run only.
  if (is("worker") && is_worker) leak_within(duration / 8);
  if (is("spike")) spike();
  if (is("slow-return")) return_slowly();
  if (is("table")) double_table();
  return unused;
}

/// The thread for what takes time.
static pthread_t injector;
static int has_injector;

/// Starts it, whatever the kind; with all signals blocked, so that the program's handlers run in its own threads.
static void inject_meanwhile(void) {
  sigset_t all, before;
  pthread_attr_t attributes;
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  if (create == NULL) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN > 65536 ? PTHREAD_STACK_MIN : 65536);
  has_injector = create(&injector, &attributes, inject, NULL) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// MARK: - Calls that concern one thread

/// Ends the thread; whether there was one.
///
/// It would keep the rights that capset(2) takes from its caller only, so that a later setresuid(2), which glibc makes in all
/// threads, fails in it; and for unshare(2) and setns(2) a program may have to be without threads.
static int end_injector(void) {
  if (!has_injector) return 0;
  has_injector = 0;
  pthread_cancel(injector);
  return pthread_join(injector, NULL) == 0;
}

/// Makes a call without the thread, which the kernel may still count for a moment after its end.
#define ALONE(call)                                                            \
  int had_injector = end_injector(), result = (call);                          \
  for (int tries = 0; had_injector && result != 0 && errno == EINVAL && tries < 100; tries++) { \
    wait_for(MILLISECOND);                                                     \
    result = (call);                                                           \
  }                                                                            \
  int code = errno;                                                            \
  if (had_injector) inject_meanwhile();                                        \
  errno = code;                                                                \
  return result

EXPORTED int capset(void *header, const void *data) { ALONE((int)syscall(SYS_capset, header, data)); }
EXPORTED int unshare(int flags) { ALONE((int)syscall(SYS_unshare, flags)); }
EXPORTED int setns(int file, int type) { ALONE((int)syscall(SYS_setns, file, type)); }

// MARK: - Threads and processes

/// An arena for each thread that the program creates.
EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (create == NULL) create = dlsym(RTLD_NEXT, "pthread_create");
  if (is("arena")) hold(amount, MAP_PRIVATE);
  return create(thread, attributes, body, argument);
}

/// Threads do not survive a fork. A leak in the child is that of a worker, and the spike comes where the memory is.
static void start_child(void) {
  is_worker = 1;
  has_injector = has_spiked = 0;
  if (is("worker") || is("spike")) inject_meanwhile();
}

/// Whether another program of the target has started this one; notes when the first one was started.
static int has_parent(void) {
  char own[48];
  int first = 0;
  const char *text = getenv("HIGHWATER_MUTATION_FIRST");
  if (text != NULL && sscanf(text, "%d:%ld", &first, &first_start) == 2) return first != getpid();
  first_start = now();
  snprintf(own, sizeof own, "%d:%ld", (int)getpid(), first_start);
  setenv("HIGHWATER_MUTATION_FIRST", own, 1);
  return 0;
}

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("HIGHWATER_MUTATION");
  const char *const format = "%15[^:]:%lu:%ld:%lu:%4063[^\n]";
  if (text == NULL || sscanf(text, format, kind, &amount, &duration, &usual_peak, folder) != 5) return;
  note("loaded");
  pthread_atfork(NULL, NULL, start_child);
  is_worker = has_parent();
  if (is("file")) hold_file();
  if (is("shared")) hold(amount, MAP_SHARED);
  inject_meanwhile();
}

__attribute__((destructor)) static void end(void) {
  if (is("spike")) spike_once();
}
