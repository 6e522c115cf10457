/// Prints call stacks, for tests and for comparisons by hand.
///
///     stacks-fixture PROGRAM [ARGUMENT…]     the stack of each thread that executes a breakpoint or raises SIGTRAP
///     stacks-fixture --process PID           the stacks of a running process
///     stacks-fixture --times PID             how long a walk of its first thread and a name take
///     stacks-fixture --mutations FILE COUNT  none, but walks through damaged copies of an ELF file

#define _GNU_SOURCE
#include "CCallStacks.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct hw_place places[HW_MAX_FRAMES];

static struct hw_python_frame functions[HW_MAX_FRAMES];

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

/// The last part of a path, or all of one that is relative.
static const char *source_name(const char *path) { return path[0] == '/' ? file_name(path) : path; }

/// Prints the functions that were inlined at a place, each with its line, and then the one of the program.
static void print_place(const struct hw_code *code, struct hw_place place) {
  const struct hw_source *sources;
  for (int at = hw_sources_at(place, &sources) - 1; at > 0; at--) {
    printf("%s %s:%d\n", sources[at].function, source_name(sources[at].file), sources[at].line);
  }
  printf("%s %s\n", hw_function_at(code, place), file_name(hw_module_path(place.module)));
}

static void print_stack(struct hw_code *code, pid_t thread) {
  int is_complete;
  int count = hw_walk(code, thread, places, HW_MAX_FRAMES, &is_complete);
  hw_code_read_perf_map(code);
  for (int at = 0; at < count; at++) print_place(code, places[at]);
  count = hw_python_frames(code, thread, functions, HW_MAX_FRAMES);
  for (int at = 0; at < count; at++) {
    printf("%s %s:%d\n", functions[at].function, functions[at].file, functions[at].line);
  }
  printf("%s\n\n", is_complete ? "complete" : "cut");
}

// MARK: - A program

/// The process of a thread, the newest program of which `code` belongs to.
static struct { pid_t process; struct hw_code *code; } processes[64];

static struct hw_code *code_of(pid_t thread, int is_new) {
  char path[64], line[256];
  pid_t process = thread;
  snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "Tgid: %d", &process);
  if (file != NULL) fclose(file);
  int at = 0;
  while (processes[at].process != 0 && processes[at].process != process && at < 63) at++;
  if (is_new || processes[at].code == NULL) {
    hw_code_close(processes[at].code);
    processes[at].code = hw_code_open(process);
  }
  processes[at].process = process;
  return processes[at].code;
}

static int run(char **words) {
  pid_t child = fork(), found;
  if (child == 0) {
    // A thread that starts a test may block signals.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(SIGSTOP);
    execvp(words[0], words);
    _exit(127);
  }
  int status = 0, ending = 1;
  waitpid(child, &status, WUNTRACED);
  ptrace(PTRACE_SEIZE, child, NULL,
         PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE);
  kill(child, SIGCONT);
  while ((found = waitpid(-1, &status, __WALL)) > 0) {
    if (!WIFSTOPPED(status)) {
      if (found == child) ending = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      continue;
    }
    int event = status >> 16, signal = event == 0 ? WSTOPSIG(status) : 0;
    if (event == PTRACE_EVENT_EXEC) code_of(found, 1);
    // Only at the marks that the program asks for: its loader unmaps and maps libraries.
    struct hw_code *code = code_of(found, 0);
    if (signal == SIGTRAP) {
      hw_code_changed(code);
      print_stack(code, found);
      signal = 0;
    }
    ptrace(PTRACE_CONT, found, NULL, signal);
  }
  return ending;
}

// MARK: - A process

static int stop(pid_t thread) {
  int status;
  if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0) return 0;
  return waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status);
}

static int print_process(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *folder = opendir(path);
  struct hw_code *code = hw_code_open(process);
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    pid_t thread = atoi(entry->d_name);
    if (thread == 0 || !stop(thread)) continue;
    printf("TID %d:\n", (int)thread);
    print_stack(code, thread);
  }
  return 0;
}

/// The CPU time of this process in µs.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int print_times(pid_t process) {
  enum { WALKS = 10000 };
  struct hw_code *code = hw_code_open(process);
  int is_complete, count = 0;
  if (!stop(process)) return 1;
  double start = now();
  count = hw_walk(code, process, places, HW_MAX_FRAMES, &is_complete);
  double cold = now();
  for (int at = 0; at < WALKS; at++) hw_walk(code, process, places, HW_MAX_FRAMES, &is_complete);
  double hot = now();
  for (int at = 0; at < count; at++) hw_function_at(code, places[at]);
  double named = now();
  for (int round = 0; round < WALKS; round++) {
    for (int at = 0; at < count; at++) hw_function_at(code, places[at]);
  }
  double end = now();
  printf("%d frames, %s: first walk %.1f us, others %.2f us each; names: first %.1f us, others %.3f us each\n", count,
         is_complete ? "complete" : "cut", cold - start, (hot - cold) / WALKS, named - hot,
         (end - named) / WALKS / count);
  return 0;
}

// MARK: - Damaged files

#if defined(__x86_64__)

static uint64_t state = 88172645463325252u;

/// Marsaglia's xorshift, so that each run has the same numbers.
static uint64_t next_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/// Damages a part of a file: the start, with the headers, or any other; in some rounds cuts off the end.
static size_t damage(uint8_t *bytes, size_t size, int round) {
  size_t length = size < 4096 ? size : 4096, changes = 1 + next_number() % 64;
  uint8_t *part = round % 3 == 0 ? bytes : bytes + next_number() % (size - length + 1);
  for (size_t at = 0; at < changes; at++) {
    uint64_t number = next_number();
    part[next_number() % length] = number % 4 == 0 ? 0xff : (uint8_t)(number >> 8);
  }
  return round % 5 == 4 ? 64 + next_number() % (size - 64) : size;
}

enum { STACK_WORDS = 1024 };

/// Maps the file as code, with random words on its stack that point into it, and stops.
static void map_and_stop(int file, size_t size) {
  uint64_t *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  uint64_t *stack = mmap(NULL, STACK_WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int at = 0; at < STACK_WORDS; at++) {
    uint64_t number = next_number();
    stack[at] = number % 8 == 0 ? number : number % 8 < 3 ? (uint64_t)&stack[number / 8 % STACK_WORDS]
                                                          : (uint64_t)code + number / 8 % size;
  }
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  register uint64_t first __asm__("r12") = (uint64_t)code, second __asm__("r13") = (uint64_t)stack;
  __asm__ volatile("int3" : : "r"(first), "r"(second));
  _exit(0);
}

static void walk_at_random(pid_t child, size_t size) {
  struct hw_code *code = hw_code_open(child);
  struct user_regs_struct registers, changed;
  ptrace(PTRACE_GETREGS, child, NULL, &registers);
  for (int walk = 0; walk < 50; walk++) {
    int is_complete;
    changed = registers;
    changed.rip = registers.r12 + next_number() % size;
    changed.rsp = registers.r13 + next_number() % (STACK_WORDS / 2) * 8;
    changed.rbp = changed.rsp + next_number() % 64 * 8;
    ptrace(PTRACE_SETREGS, child, NULL, &changed);
    int count = hw_walk(code, child, places, HW_MAX_FRAMES, &is_complete);
    for (int at = 0; at < count; at++) {
      const struct hw_source *sources;
      hw_function_at(code, places[at]);
      hw_sources_at(places[at], &sources);
    }
  }
  hw_code_close(code);
}

static int walk_damaged(const char *path, int rounds) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t size = (size_t)lseek(file, 0, SEEK_END);
  uint8_t *original = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0), *bytes = malloc(size);
  for (int round = 0; round < rounds; round++) {
    char draft[] = "/tmp/highwater-damaged-XXXXXX";
    int status, copy = mkstemp(draft);
    unlink(draft);
    memcpy(bytes, original, size);
    size_t length = damage(bytes, size, round);
    if (write(copy, bytes, length) != (ssize_t)length) return 1;
    pid_t child = fork();
    if (child == 0) map_and_stop(copy, length);
    waitpid(child, &status, 0);
    walk_at_random(child, length);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(copy);
  }
  printf("%d\n", rounds);
  return 0;
}

#else

static int walk_damaged(const char *path, int rounds) {
  fprintf(stderr, "%s, %d: only on x86_64\n", path, rounds);
  return 1;
}

#endif

int main(int count, char **words) {
  const char *failure = hw_stacks_load();
  if (failure != NULL) fprintf(stderr, "%s\n", failure);
  if (count == 3 && strcmp(words[1], "--process") == 0) return print_process(atoi(words[2]));
  if (count == 3 && strcmp(words[1], "--times") == 0) return print_times(atoi(words[2]));
  if (count == 4 && strcmp(words[1], "--mutations") == 0) return walk_damaged(words[2], atoi(words[3]));
  return count > 1 ? run(words + 1) : 2;
}
