/// A test program that uses a known amount of memory: it allocates, frees, shares and forks according to its arguments.
///
///   cc -O1 -static -o ballast ballast.c
///   ballast hold mib=256 ms=100
///
/// It writes one line of JSON when it holds the most memory, or at the end if turns are timed: appended to the file in
/// `BALLAST_REPORT`, or to standard output. Sizes are in bytes, times in nanoseconds. `base` is the initial memory of
/// the process, `touched` the memory that it and its children allocated after that, each page once.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const long mebibyte = 1 << 20;
static const long page = 4096;
static char **words;

static void need(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "ballast: error: %s: %s\n", what, strerror(errno));
  _exit(2);
}

// Command line

/// The text after `name=`; NULL if it is missing. Arguments after `--` belong to another program.
static const char *text_option(const char *name) {
  size_t length = strlen(name);
  for (char **word = words; *word && strcmp(*word, "--"); word++) {
    if (!strncmp(*word, name, length) && (*word)[length] == '=') return *word + length + 1;
  }
  return NULL;
}

static long option(const char *name, long otherwise) {
  const char *text = text_option(name);
  return text ? atol(text) : otherwise;
}

// Report

struct account {
  long base, resident, peak, touched, turns, wall, cpu;
};

static struct account account;

static long nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

/// The CPU time of this process and of its reaped children.
static long cpu_time(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  long children = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000
    + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
  return nanoseconds(CLOCK_PROCESS_CPUTIME_ID) + children;
}

/// Reads `VmRSS` and `VmHWM` of this process, also after its first thread has exited.
static void look(void) {
  static char text[4096];
  int file = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  const char *peak = strstr(text, "VmHWM:"), *resident = strstr(text, "VmRSS:");
  need(peak && resident, "/proc/thread-self/status");
  account.peak = atol(peak + 6) * 1024;
  account.resident = atol(resident + 6) * 1024;
}

static void write_report(const char *path) {
  static char line[512];
  int length = snprintf(
    line, sizeof line,
    "{\"command\":\"%s\",\"base\":%ld,\"peak\":%ld,\"touched\":%ld,\"turns\":%ld,\"wall\":%ld,\"cpu\":%ld}\n", words[0],
    account.base, account.peak, account.touched, account.turns, account.wall, account.cpu);
  int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : 1;
  need(file >= 0 && write(file, line, (size_t)length) == length, "the report");
  if (path) close(file);
}

/// Reads the base after a trial report, so that everything that a report needs is resident.
static void begin(void) {
  look();
  write_report("/dev/null");
  look();
  account.base = account.resident;
  account.cpu = -cpu_time();
  account.wall = -nanoseconds(CLOCK_MONOTONIC);
}

static void report(void) {
  account.wall += nanoseconds(CLOCK_MONOTONIC);
  account.cpu += cpu_time();
  write_report(getenv("BALLAST_REPORT"));
}

// Memory and children

static void rest(long milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

/// Reserves address space without huge pages, with which one touched page would count 2 MiB.
static char *claim(long size, int sharing, int file) {
  char *start = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, sharing, file, 0);
  need(start != MAP_FAILED, "mmap");
  madvise(start, (size_t)size, MADV_NOHUGEPAGE);
  return start;
}

static void touch(char *start, long size) {
  for (long at = 0; at < size; at += page) ((volatile char *)start)[at] = 1;
}

static char *take(long size) {
  if (size == 0) return NULL;
  char *start = claim(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  touch(start, size);
  return start;
}

static void give_back(char *start, long size) {
  if (start) munmap(start, (size_t)size);
}

/// Starts children that each act and then wait for the parent, so that all hold their memory at the same time.
static void gather(long count, void (*act)(char *, long), char *start, long size) {
  int done[2], release[2];
  need(pipe(done) == 0 && pipe(release) == 0, "pipe");
  for (long at = 0; at < count; at++) {
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child > 0) continue;
    close(release[1]);
    act(start, size);
    char byte = 0;
    need(write(done[1], &byte, 1) == 1, "write");
    (void)!read(release[0], &byte, 1);
    _exit(0);
  }
  char byte;
  for (long at = 0; at < count; at++) need(read(done[0], &byte, 1) == 1, "read");
  look();
  report();
  rest(option("ms", 300));
  close(release[1]);
  while (wait(NULL) > 0) {}
}

// The commands

/// mib= ms=: allocates memory and holds it until the end.
static void hold(void) {
  account.touched = option("mib", 1) * mebibyte;
  take(account.touched);
  look();
  report();
  rest(option("ms", 0));
}

/// mib= ms= after=: allocates memory, holds it for `ms`, frees it, and continues for `after` milliseconds.
static void freed(void) {
  account.touched = option("mib", 1) * mebibyte;
  char *start = take(account.touched);
  look();
  report();
  rest(option("ms", 0));
  give_back(start, account.touched);
  rest(option("after", 0));
}

/// mib= ms= count= level= lead= window= tail= seed=: a steady level of `level` MiB for `lead` milliseconds; then in each
/// of `count` windows of `window` milliseconds, at a random time, `mib` more for `ms`; then the level for `tail`.
/// `base` is the steady level; the default seed is the clock.
static void spikes(void) {
  long size = option("mib", 30) * mebibyte, held = option("ms", 1), window = option("window", 300);
  unsigned seed = (unsigned)option("seed", nanoseconds(CLOCK_MONOTONIC));
  take(option("level", 0) * mebibyte);
  look();
  account.base = account.resident;
  account.touched = size;
  rest(option("lead", 350));
  long highest = 0;
  for (; account.turns < option("count", 1); account.turns++) {
    long before = rand_r(&seed) % window;
    rest(before);
    char *start = take(size);
    rest(held);
    look();
    if (account.peak > highest) highest = account.peak;
    give_back(start, size);
    rest(window - before);
  }
  rest(option("tail", 50));
  account.peak = highest;
  report();
}

static void take_in_child(char *start, long size) {
  (void)start;
  take(size);
}

/// count= mib= ms=: children that each hold private memory, all at once.
static void children(void) {
  long size = option("mib", 0) * mebibyte;
  account.touched = option("count", 8) * size;
  gather(option("count", 8), take_in_child, NULL, size);
}

/// count= mib= ms= kind=memfd|sysv|shm: one segment that each child touches completely.
static void shared(void) {
  long size = option("mib", 100) * mebibyte;
  const char *kind = text_option("kind");
  char *start;
  if (kind && !strcmp(kind, "sysv")) {
    int segment = shmget(IPC_PRIVATE, (size_t)size, IPC_CREAT | 0600);
    need(segment >= 0, "shmget");
    start = shmat(segment, NULL, 0);
    need(start != (char *)-1 && shmctl(segment, IPC_RMID, NULL) == 0, "shmat");
  } else {
    char name[64];
    snprintf(name, sizeof name, "/ballast-%d", getpid());
    int posix = kind && !strcmp(kind, "shm");
    int file = posix ? shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600) : memfd_create(name, MFD_CLOEXEC);
    if (posix) shm_unlink(name);
    need(file >= 0 && ftruncate(file, size) == 0, "the segment");
    start = claim(size, MAP_SHARED, file);
  }
  account.touched = size;
  gather(option("count", 4), touch, start, size);
}

/// count= mib= share= ms=: forks of a parent of `mib`, each of which rewrites `share` percent of it.
static void forked(void) {
  long size = option("mib", 50) * mebibyte, rewritten = size * option("share", 0) / 100 / page * page;
  char *start = take(size);
  account.touched = size + option("count", 300) * rewritten;
  gather(option("count", 300), touch, start, rewritten);
}

static int take_borrowed(void *size) {
  take(*(long *)size);
  rest(option("ms", 300));
  return 0;
}

/// mib= ms=: a process of `mib` whose child shares its memory without being a thread (CLONE_VM), and takes as much again.
static void borrowed(void) {
  long size = option("mib", 20) * mebibyte, stack = 64 * page;
  account.touched = 2 * size;
  take(size);
  pid_t child = clone(take_borrowed, claim(stack, MAP_PRIVATE | MAP_ANONYMOUS, -1) + stack, CLONE_VM | SIGCHLD, &size);
  need(child > 0 && waitpid(child, NULL, 0) == child, "clone");
  look();
  report();
  rest(option("ms", 300));
}

static void *nothing(void *argument) { return argument; }

/// count= alive=: `count` short threads, `alive` of them at a time.
static void threads(void) {
  long alive = option("alive", 1);
  pthread_t running[64];
  need(alive >= 1 && alive <= 64, "alive");
  for (; account.turns < option("count", 2000); account.turns += alive) {
    for (long at = 0; at < alive; at++) need(!pthread_create(&running[at], NULL, nothing, NULL), "pthread_create");
    for (long at = 0; at < alive; at++) pthread_join(running[at], NULL);
  }
  look();
  report();
}

/// count= exec=: short-lived children, one after the other, which run /bin/true if `exec` is 1.
static void forks(void) {
  char *program[] = {"/bin/true", NULL};
  long runs_program = option("exec", 0);
  for (; account.turns < option("count", 500); account.turns++) {
    pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) {
      if (runs_program) execv(program[0], program);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  look();
  report();
}

/// kib= turns=: in each turn allocates memory, touches every page, and frees it.
static void faults(void) {
  long size = option("kib", 16384) * 1024;
  for (; account.turns < option("turns", 100); account.turns++) give_back(take(size), size);
  look();
  account.touched = size;
  report();
}

static void *take_and_end(void *argument) {
  pthread_join(*(pthread_t *)argument, NULL);
  hold();
  _exit(0);
}

/// mib= ms=: the first thread exits at once; another thread allocates memory and holds it.
static void leader(void) {
  static pthread_t first;
  pthread_t second;
  first = pthread_self();
  need(!pthread_create(&second, NULL, take_and_end, &first), "pthread_create");
  pthread_exit(NULL);
}

static void *become_another(void *argument) {
  execv("/proc/self/exe", argument);
  return NULL;
}

/// before= pause= mib= ms=: holds `before` MiB for `pause` milliseconds, then a thread other than the first one
/// executes `ballast hold mib= ms=`.
static void thread_exec(void) {
  take(option("before", 0) * mebibyte);
  rest(option("pause", 0));
  words[0] = "hold";
  pthread_t second;
  need(!pthread_create(&second, NULL, become_another, words - 1), "pthread_create");
  pthread_join(second, NULL);
  need(0, "execv");
}

/// mib= -- PROGRAM…: a large launcher; `peak` is the `ru_maxrss` that wait4(2) reports for PROGRAM.
static void launch(void) {
  char **program = words;
  while (*program && strcmp(*program, "--")) program++;
  need(*program && program[1], "launch: no `--` and program");
  account.touched = option("mib", 400) * mebibyte;
  take(account.touched);
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) {
    execvp(program[1], program + 1);
    need(0, program[1]);
  }
  int status;
  struct rusage used;
  need(wait4(child, &status, 0, &used) == child, "wait4");
  account.peak = used.ru_maxrss * 1024;
  report();
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/// Exits with 0 if a process may trace its child, else with 1.
static void may_trace(void) {
  pid_t child = fork();
  need(child >= 0, "fork");
  if (child == 0) rest(60000);
  long refused = ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL);
  kill(child, SIGKILL);
  waitpid(child, NULL, __WALL);
  _exit(refused != 0);
}

static const struct {
  const char *name;
  void (*run)(void);
} commands[] = {
  {"hold", hold},
  {"freed", freed},
  {"spikes", spikes},
  {"children", children},
  {"shared", shared},
  {"forked", forked},
  {"borrowed", borrowed},
  {"threads", threads},
  {"forks", forks},
  {"faults", faults},
  {"leader", leader},
  {"thread-exec", thread_exec},
  {"launch", launch},
  {"may-trace", may_trace},
};

int main(int count, char **arguments) {
  for (size_t at = 0; count > 1 && at < sizeof commands / sizeof *commands; at++) {
    if (strcmp(arguments[1], commands[at].name)) continue;
    words = arguments + 1;
    begin();
    commands[at].run();
    // exit(3) would touch pages that are not part of the base.
    _exit(0);
  }
  fprintf(stderr, "usage: ballast COMMAND [NAME=VALUE ...], see ballast.c\n");
  return 2;
}
