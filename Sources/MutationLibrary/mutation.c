/// The library that `selfcheck` preloads into targets: makes them hold memory in the way of one kind of regression.
///
/// `HIGHWATER_MUTATION` is `<kind>:<bytes>:<nanoseconds>:<peak>:<folder>`: how much at most, how long an unchanged run takes
/// and how many bytes are resident at its peak, and a folder with the file `pages`, to be mapped, in which `injected` is
/// created once memory is held. With no bytes it is as loaded, with the same thread, and holds nothing. The memory comes
/// from mmap(2), so that the program's own allocator works as without the library. It needs only libc.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static char kind[16], folder[PATH_MAX - 32];
static unsigned long amount, usual_peak;
static long duration;

static void note_injection(void) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/injected", folder);
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

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
  note_injection();
  return memory;
}

static void hold_file(void) {
  char path[PATH_MAX];
  if (amount == 0) return;
  snprintf(path, sizeof path, "%s/pages", folder);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  void *memory = mmap(NULL, amount, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (memory != MAP_FAILED) note_injection();
  close(file);
}

/// How many steps a leak and a slow return have.
#define STEPS 64

static unsigned long step_size(void) { return (amount / STEPS + 4095) & ~4095UL; }

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

/// On a busy machine a wait may take as long as many steps, which are made up for.
static void leak_within(long time) {
  const long begin = now(), pause = time / STEPS + 1;
  for (long step = 0; step < STEPS;) {
    wait_for(pause);
    for (long due = (now() - begin) / pause; step < due && step < STEPS; step++) hold(step_size(), MAP_PRIVATE);
  }
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

/// Below its peak the program has room for a spike, and no peak rises. So it comes as soon as the program is near its peak,
/// or in the last quarter of the run.
static void spike(void) {
  const long millisecond = 1000000;
  for (long time = 0; time < duration / 4 * 3 && resident() + amount / 4 < usual_peak; time += millisecond) {
    wait_for(millisecond);
  }
  char *memory = hold(amount, MAP_PRIVATE);
  wait_for(millisecond);
  if (memory != NULL) munmap(memory, amount);
}

/// The level after a burst at the begin falls so slowly that twice the amount is left at the end.
static void return_slowly(void) {
  char *memory = hold(4 * amount, MAP_PRIVATE);
  for (int step = 0; memory != NULL && step < STEPS; step++) {
    wait_for(duration / STEPS);
    munmap(memory + (unsigned long)step * 2 * step_size(), 2 * step_size());
  }
}

static void double_table(void) {
  wait_for(duration / 4);
  hold(amount, MAP_PRIVATE);
}

static int is(const char *name) { return strcmp(kind, name) == 0; }

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

/// Starts the thread for what takes time, whatever the kind; with all signals blocked, so that the program's handlers run in its own threads.
static void inject_meanwhile(void) {
  sigset_t all, before;
  pthread_t thread;
  pthread_attr_t attributes;
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  if (create == NULL) return;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN > 65536 ? PTHREAD_STACK_MIN : 65536);
  create(&thread, &attributes, inject, NULL);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/// An arena for each thread that the program creates.
EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (create == NULL) create = dlsym(RTLD_NEXT, "pthread_create");
  if (is("arena")) hold(amount, MAP_PRIVATE);
  return create(thread, attributes, body, argument);
}

/// Threads do not survive a fork; only a worker injects in the child.
static void start_child(void) {
  is_worker = 1;
  if (is("worker")) inject_meanwhile();
}

/// Whether another program of the target has started this one.
static int has_parent(void) {
  char own[16];
  const char *first = getenv("HIGHWATER_MUTATION_FIRST");
  snprintf(own, sizeof own, "%d", (int)getpid());
  if (first == NULL) setenv("HIGHWATER_MUTATION_FIRST", own, 1);
  return first != NULL && strcmp(first, own) != 0;
}

__attribute__((constructor)) static void start(void) {
  const char *text = getenv("HIGHWATER_MUTATION");
  const char *const format = "%15[^:]:%lu:%ld:%lu:%4063[^\n]";
  if (text == NULL || sscanf(text, format, kind, &amount, &duration, &usual_peak, folder) != 5) return;
  pthread_atfork(NULL, NULL, start_child);
  is_worker = has_parent();
  if (is("file")) hold_file();
  if (is("shared")) hold(amount, MAP_SHARED);
  inject_meanwhile();
}
