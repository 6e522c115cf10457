#define _GNU_SOURCE
#include "internal.h"
#include "tracer.h"

#include <CMemoryProfiler.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// Whether the traced processes continue to run when the supervisor exits.
static int survives;

/// With the stops at the system calls of the profiler's filter. Otherwise those that a filter of the target hands to a
/// tracer fail, as they do without one (seccomp(2)).
static long options(void) {
  long events = survives ? HW_TRACE_OPTIONS & ~PTRACE_O_EXITKILL : HW_TRACE_OPTIONS;
  return events | (hw_profile_is_on() ? PTRACE_O_TRACESECCOMP : 0);
}

/// After this many threads of a process have ended, those that it creates are not traced.
///
/// Tracing one costs four stops, some 40 µs: little for long-lived threads, however many there are, but a program that
/// creates and joins thousands would take several times as long. The sampler's search finds the forks of untraced
/// threads. While profiling there is no limit: the calls of the profiler's filter fail in an untraced thread (seccomp(2)).
#define MAX_THREADS 256

// MARK: - The table of traced threads

/// A traced thread; the entry of its first thread represents the process.
struct tracee {
  pid_t thread;
  /// The process that it belongs to; 0 until the stop of its creator has been handled.
  pid_t process;
  /// For a process: how many of its other traced threads are alive; for a moment less than none, since a thread may
  /// exit before the stop of its creator has been handled.
  int others;
  /// For a process: how many of its other traced threads have ended.
  int ended;
  /// For a process: whether some of its threads are not traced.
  int is_partial;
  /// For a process: whether all of its threads are about to exit.
  int ends;
  /// Whether the thread is about to exit, or has ended.
  int is_exiting;
  /// Whether the stop of its creator has been handled.
  int is_announced;
  /// Whether it has ended before that: the entry then stays until the stop of its creator.
  int has_ended;
  /// For a forked process: the memory in KiB that it had at its first stop.
  int inherited;
};

/// A power of two. The table is in .bss, so that only its used pages cost memory.
#define CAPACITY 65536

static struct tracee table[CAPACITY];
static int count;

/// The living traced threads, without the first one of each process.
static int threads;

/// With more threads `highest` is not asked for: the kernel visits each thread of the process at each stop.
///
/// With 2,000 of them the visits cost more CPU time than all other work of tracing (x86_64, Linux 6.18, 2026-11).
#define MAX_VISITED_THREADS 100

/// Whether `is_partial` has been set in any entry.
static int some_are_partial;

/// `hw_plan.ballast`
static size_t ballast;

static unsigned slot_of(pid_t thread) {
  return (unsigned)thread & (CAPACITY - 1);
}

static struct tracee *find(pid_t thread) {
  for (unsigned at = slot_of(thread); table[at].thread != 0; at = (at + 1) & (CAPACITY - 1)) {
    if (table[at].thread == thread) return &table[at];
  }
  return NULL;
}

/// Finds or inserts the thread's entry; NULL if the table is full: the thread is traced all the same.
static struct tracee *find_or_insert(pid_t thread) {
  struct tracee *found = find(thread);
  if (found != NULL || count >= CAPACITY / 2) return found;
  unsigned at = slot_of(thread);
  while (table[at].thread != 0) at = (at + 1) & (CAPACITY - 1);
  table[at] = (struct tracee){.thread = thread};
  count++;
  return &table[at];
}

/// Removes an entry, and moves up the ones that it had displaced (Knuth, TAOCP 3, 6.4, algorithm R).
static void remove_entry(struct tracee *entry) {
  unsigned hole = (unsigned)(entry - table);
  for (unsigned at = (hole + 1) & (CAPACITY - 1); table[at].thread != 0; at = (at + 1) & (CAPACITY - 1)) {
    unsigned home = slot_of(table[at].thread);
    if (((at - home) & (CAPACITY - 1)) < ((at - hole) & (CAPACITY - 1))) continue;
    table[hole] = table[at];
    hole = at;
  }
  table[hole].thread = 0;
  count--;
}

// MARK: - Reading memory

/// Reads a file of `/proc/<thread>`; empty if there is no such thread.
static void read_file(pid_t thread, const char *name, char *text, size_t size) {
  char path[32];
  text[0] = 0;
  snprintf(path, sizeof path, "/proc/%d/%s", (int)thread, name);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
}

/// The number after a key at the start of a line; -1 if the line has another key.
static int64_t number_at(const char *line, const char *key) {
  size_t length = strlen(key);
  if (strncmp(line, key, length) != 0) return -1;
  int64_t number = 0;
  for (line += length; *line == ' ' || *line == '\t'; line++) continue;
  for (; *line >= '0' && *line <= '9'; line++) number = number * 10 + (*line - '0');
  return number;
}

static const char *next_line(const char *line) {
  line = strchr(line, '\n');
  return line == NULL ? "" : line + 1;
}

/// The process of a thread, from its status file; the thread itself if unknown.
static pid_t process_by_status(pid_t thread) {
  char text[512];
  read_file(thread, "status", text, sizeof text);
  for (const char *line = text; *line != 0; line = next_line(line)) {
    int64_t process = number_at(line, "Tgid:");
    if (process > 0) return (pid_t)process;
  }
  return thread;
}

/// The process of a thread.
static pid_t process_of(pid_t thread) {
  struct tracee *entry = find(thread);
  if (entry == NULL) return process_by_status(thread);
  if (entry->process == 0) entry->process = process_by_status(thread);
  return entry->process;
}

static void read_line(const char *line, struct hw_record *record) {
  static const char *const keys[HW_MEMORY_VALUES] = {"VmHWM:", "VmRSS:", "RssAnon:", "RssFile:", "RssShmem:"};
  for (int at = 0; at < HW_MEMORY_VALUES; at++) {
    int64_t kibibytes = number_at(line, keys[at]);
    if (kibibytes >= 0) record->memory[at] = kibibytes * 1024;
  }
}

/// Reads the name and memory of a thread's process; the values stay zero if it has no memory.
static void read_memory(pid_t thread, struct hw_record *record) {
  char text[4096];
  // Some 1.5 KB.
  read_file(thread, "status", text, sizeof text);
  if (strncmp(text, "Name:\t", 6) == 0) {
    size_t name = strcspn(text + 6, "\n");
    memcpy(record->command, text + 6, name < sizeof record->command ? name : sizeof record->command - 1);
  }
  for (const char *line = text; *line != 0; line = next_line(line)) {
    if (*line == 'V' || *line == 'R') read_line(line, record);
  }
}

/// Reads the name of a process, which is that of its first thread; others may have names of their own.
static void read_name(pid_t process, struct hw_record *record) {
  char text[sizeof record->command + 1];
  read_file(process, "comm", text, sizeof text);
  size_t length = strcspn(text, "\n");
  if (length == 0 || length >= sizeof record->command) return;
  memcpy(record->command, text, length);
  record->command[length] = 0;
}

/// The anonymous memory of a thread's process in bytes; `statm` takes half the time of `status`.
static int64_t anonymous_memory(pid_t thread) {
  char text[256];
  read_file(thread, "statm", text, sizeof text);
  long resident = 0, not_anonymous = 0;
  if (sscanf(text, "%*d %ld %ld", &resident, &not_anonymous) != 2) return 0;
  return (int64_t)(resident - not_anonymous) * sysconf(_SC_PAGESIZE);
}

// MARK: - Handling stops

/// Continues a stopped thread. Every call here may fail with ESRCH: a traced thread can be killed at any time.
static void continue_thread(pid_t thread, int signal) {
  ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)signal);
}

static pid_t event_message(pid_t thread) {
  unsigned long number = 0;
  ptrace(PTRACE_GETEVENTMSG, thread, NULL, &number);
  return (pid_t)number;
}

/// Finds or inserts the entry of a thread whose creator is stopped; NULL if the table is full, or the thread has ended.
///
/// Its first stop may precede that of its creator, and so may its end.
static struct tracee *announce(pid_t child, pid_t process) {
  struct tracee *entry = find_or_insert(child);
  if (entry == NULL) return NULL;
  entry->process = process;
  entry->is_announced = 1;
  if (!entry->has_ended) return entry;
  remove_entry(entry);
  return NULL;
}

/// Handles the creation of a thread; the process need not be known.
static void note_thread(pid_t creator, pid_t thread, pid_t parent, hw_record_handler handler, void *context) {
  int is_known = announce(thread, parent) != NULL || count < CAPACITY / 2;
  struct tracee *process = find(parent);
  if (process == NULL) return;
  process->others++;
  threads++;
  if ((process->ended < MAX_THREADS && is_known) || hw_profile_is_on()) return;
  ptrace(PTRACE_SETOPTIONS, creator, NULL, (void *)(options() & ~PTRACE_O_TRACECLONE));
  if (process->is_partial) return;
  process->is_partial = some_are_partial = 1;
  handler(context, (struct hw_record){.event = HW_EVENT_MANY_THREADS, .pid = parent, .value = MAX_THREADS});
}

/// Handles the creation of a thread or a process.
///
/// Which of the two it is follows from the flags of the creator's call (clone(2)), whatever the event: the thread itself
/// may have ended already, as one that only returns does on a busy machine.
static void note_child(pid_t creator, int event, hw_record_handler handler, void *context) {
  pid_t child = event_message(creator), parent = process_of(creator);
  if (child == 0) return;
  int is_thread = hw_creates_thread(creator);
  if (is_thread < 0) is_thread = process_by_status(child) == parent;
  if (is_thread) return note_thread(creator, child, parent, handler, context);
  announce(child, child);
  // clone(2) can share memory without waiting for an exec, as threads do (CLONE_VM).
  int shares = event == PTRACE_EVENT_VFORK || hw_shares_memory(creator, child) == 1;
  struct hw_record record = {.event = HW_EVENT_FORKED, .pid = child, .value = parent, .stage = shares};
  if (!shares) record.memory[HW_ANONYMOUS] = anonymous_memory(creator);
  if (hw_profile_is_on()) hw_profile_fork(parent, child, shares);
  handler(context, record);
}

/// A forked process, or a new program, starts without the limit on threads of the process that it was.
static void trace_threads_again(pid_t thread) {
  if (some_are_partial) ptrace(PTRACE_SETOPTIONS, thread, NULL, (void *)options());
}

/// Handles the first stop of a new thread, which may precede that of its creator; or the end of a group stop.
static void note_stop(pid_t thread, int64_t highest) {
  struct tracee *entry = find_or_insert(thread);
  if (entry == NULL) return;
  // The number of a thread whose creator was killed before its stop.
  if (entry->has_ended) *entry = (struct tracee){.thread = thread};
  if (entry->inherited != 0) return;
  // Rounded up, so that it is stored once: the counters of a small copy may still show nothing.
  entry->inherited = highest < 0 ? 0 : (int)(highest / 1024) + 1;
  trace_threads_again(thread);
}

/// Adds the ballast to a program at its exec, and reports a failure; returns whether the process is still at that stop.
static int add_ballast(pid_t process, hw_record_handler handler, void *context) {
  int code = ballast > 0 ? hw_add_ballast(process, ballast) : 0;
  if (code == 0) return 1;
  struct hw_record record = {.event = HW_EVENT_NO_BALLAST, .pid = process, .value = code};
  read_memory(process, &record);
  handler(context, record);
  return code != EINTR;
}

/// Handles an exec; returns whether to continue the process.
///
/// Only the calling thread survives an exec, and takes over the pid of the process.
static int note_exec(pid_t process, int64_t highest, hw_record_handler handler, void *context) {
  pid_t former = event_message(process);
  struct tracee *entry = former != process ? find(former) : NULL;
  if (entry != NULL) remove_entry(entry);
  entry = find_or_insert(process);
  struct hw_record record = {.event = HW_EVENT_EXECUTED, .pid = process, .highest = highest};
  if (entry != NULL) {
    record.value = entry->inherited;
    *entry = (struct tracee){.thread = process, .process = process, .is_announced = 1};
  }
  trace_threads_again(process);
  if (hw_profile_is_on()) hw_profile_exec(process);
  int is_stopped = add_ballast(process, handler, context);
  read_memory(process, &record);
  handler(context, record);
  return is_stopped;
}

/// Counts the end of a thread once; returns how many other traced threads of its process are alive besides the first.
static int count_exit(pid_t thread, struct tracee *process) {
  struct tracee *entry = find(thread);
  if (entry == NULL || process == NULL) return 0;
  if (!entry->is_exiting && entry != process) {
    process->others--;
    process->ended++;
    threads--;
  }
  entry->is_exiting = 1;
  return process->others;
}

/// Whether a thread that is about to exit ends its whole process, by exit_group(2) or by a signal.
static int is_group_exit(pid_t thread) {
  // The event's message is a wait status (ptrace(2)): that of a signal has its number in these bits.
  return (event_message(thread) & 0x7f) != 0 || hw_system_call_of(thread) == SYS_exit_group;
}

/// Handles a thread that is about to exit, by itself or by a signal, even SIGKILL; its memory still exists.
///
/// The last thread of a process frees its memory, and need not be the first one. So read it at the exit of the first
/// and, if others are still alive, at the exit of the last of those. A thread that ends all of them may be the last
/// one whose exit is seen: those that wait at theirs for the tracer are killed there.
static void note_exit(pid_t thread, int64_t highest, hw_record_handler handler, void *context) {
  pid_t pid = process_of(thread);
  struct tracee *process = find(pid);
  int others = count_exit(thread, process), ends = process != NULL && is_group_exit(thread);
  if (ends) process->ends = 1;
  if (process != NULL && pid != thread && !ends && (!process->is_exiting || others > 0)) return;
  struct hw_record record = {.event = HW_EVENT_EXITING, .pid = pid, .highest = highest};
  record.stage = process != NULL && ((others > 0 && !process->ends) || process->is_partial);
  if (hw_profile_is_on() && record.stage != 0) hw_profile_first_exit(pid);
  else if (hw_profile_is_on()) hw_profile_exit(pid);
  read_memory(thread, &record);
  if (pid != thread) read_name(pid, &record);
  handler(context, record);
}

/// Whether a stop is a group stop by job control, which lasts until SIGCONT.
static int is_group_stop(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

pid_t hw_trace_wait(pid_t pid, int *status, int options, int64_t *highest) {
  int is_cheap = threads <= MAX_VISITED_THREADS;
  struct rusage usage;
  pid_t found = wait4(pid, status, options | __WALL, is_cheap ? &usage : NULL);
  // Linux counts in KiB.
  *highest = is_cheap && found > 0 ? (int64_t)usage.ru_maxrss * 1024 : -1;
  return found;
}

int hw_trace_begin(pid_t pid, size_t size) {
  ballast = size;
  if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options()) != 0) return errno;
  struct tracee *entry = find_or_insert(pid);
  if (entry != NULL) {
    entry->process = pid;
    entry->is_announced = 1;
  }
  return 0;
}

int hw_is_traced_here(pid_t thread) {
  char text[1024];
  read_file(thread, "status", text, sizeof text);
  for (const char *line = text; *line != 0; line = next_line(line)) {
    int64_t tracer = number_at(line, "TracerPid:");
    if (tracer >= 0) return tracer == getpid();
  }
  return 0;
}

void hw_trace_lets_live(void) { survives = 1; }

int hw_trace_adopt(pid_t thread, pid_t pid) {
  if (find(thread) != NULL) return EALREADY;
  if (ptrace(PTRACE_SEIZE, thread, NULL, (void *)options()) != 0) return errno;
  struct tracee *entry = find_or_insert(thread), *process = find(pid);
  if (entry == NULL) return 0;
  entry->process = pid;
  entry->is_announced = 1;
  if (thread == pid || process == NULL) return 0;
  process->others++;
  threads++;
  return 0;
}

/// Handles a signal, or a stop at the end of a system call; returns the signal to pass on.
static int note_signal(pid_t thread, int signal) {
  if (!hw_profile_is_on()) return signal;
  pid_t process = process_of(thread);
  if (signal == (SIGTRAP | 0x80)) {
    hw_profile_call_end(thread, process);
    return 0;
  }
  if (signal == SIGTRAP && hw_profile_trap(thread, process)) return 0;
  hw_profile_signal(thread, signal);
  return signal;
}

/// Continues a thread that is about to make a system call of the profiler's filter.
static void continue_call(pid_t thread) {
  int to_end = hw_profile_is_on() && hw_profile_call(thread, process_of(thread));
  ptrace(to_end ? PTRACE_SYSCALL : PTRACE_CONT, thread, NULL, NULL);
}

static void handle_stop(pid_t thread, int status, int64_t highest, hw_record_handler handler, void *context) {
  int event = status >> 16;
  switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE: note_child(thread, event, handler, context); break;
    case PTRACE_EVENT_EXEC:
      if (!note_exec(thread, highest, handler, context)) return;
      break;
    case PTRACE_EVENT_EXIT: note_exit(thread, highest, handler, context); break;
    case PTRACE_EVENT_STOP:
      if (is_group_stop(WSTOPSIG(status))) {
        ptrace(PTRACE_LISTEN, thread, NULL, NULL);
        return;
      }
      note_stop(thread, highest);
      break;
    case PTRACE_EVENT_SECCOMP: continue_call(thread); return;
    default: break;
  }
  // A stop without an event is that of a signal.
  continue_thread(thread, event == 0 ? note_signal(thread, WSTOPSIG(status)) : 0);
}

void hw_trace_stop(pid_t thread, int status, int64_t highest, hw_record_handler handler, void *context) {
  if (hw_profile_is_on()) hw_profile_pause(thread);
  handle_stop(thread, status, highest, handler, context);
  if (hw_profile_is_on()) hw_profile_resume();
}

int hw_trace_end(pid_t thread) {
  struct tracee *entry = find(thread);
  if (entry == NULL) return 0;
  pid_t process = entry->process;
  int is_thread = process != thread && process != 0;
  if (is_thread) count_exit(thread, find(process));
  else if (hw_profile_is_on()) hw_profile_end(thread);
  if (entry->is_announced) remove_entry(entry);
  else entry->has_ended = 1;
  return is_thread;
}

int hw_trace_is_exec(int status) {
  return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC;
}
