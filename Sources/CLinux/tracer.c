#define _GNU_SOURCE
#include "internal.h"
#include "tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// What every traced thread stops for. EXITKILL: the kernel kills them all when the supervisor ends.
#define OPTIONS                                                                                                   \
  (PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |       \
   PTRACE_O_TRACECLONE)

/// After this many threads a process's next ones are not followed any more.
///
/// Following one costs four stops, some 40 µs: nothing for the threads that a program keeps, but a program that makes
/// and ends them by the thousand would run several times as long. What an unfollowed thread forks is found by search.
#define MOST_THREADS 256

// MARK: - The threads that are traced

/// A traced thread; the entry of a process's first thread is that of the process.
struct tracee {
  pid_t thread;
  /// The process that it belongs to; 0 until the stop of its creator has been handled.
  pid_t process;
  /// Of a process: how many of its other threads live.
  int others;
  /// Of a process: how many threads it has made.
  int made;
  /// Of a process: whether its first thread has ended before the others.
  int headless;
};

/// A power of two. In the zeroed part of the image, so that it costs only what is used.
#define CAPACITY 65536

static struct tracee table[CAPACITY];
static int count;

static unsigned place_of(pid_t thread) {
  return (unsigned)thread & (CAPACITY - 1);
}

static struct tracee *find(pid_t thread) {
  for (unsigned at = place_of(thread); table[at].thread != 0; at = (at + 1) & (CAPACITY - 1)) {
    if (table[at].thread == thread) return &table[at];
  }
  return NULL;
}

/// Finds the thread's entry or makes one; NULL where the table is full: the thread is followed all the same.
static struct tracee *enter(pid_t thread) {
  struct tracee *found = find(thread);
  if (found != NULL || count >= CAPACITY / 2) return found;
  unsigned at = place_of(thread);
  while (table[at].thread != 0) at = (at + 1) & (CAPACITY - 1);
  table[at] = (struct tracee){.thread = thread};
  count++;
  return &table[at];
}

/// Removes an entry, and moves up those behind it that it had displaced (Knuth, TAOCP 3, 6.4, algorithm R).
static void leave_table(struct tracee *entry) {
  unsigned hole = (unsigned)(entry - table);
  for (unsigned at = (hole + 1) & (CAPACITY - 1); table[at].thread != 0; at = (at + 1) & (CAPACITY - 1)) {
    unsigned home = place_of(table[at].thread);
    if (((at - home) & (CAPACITY - 1)) < ((at - hole) & (CAPACITY - 1))) continue;
    table[hole] = table[at];
    hole = at;
  }
  table[hole].thread = 0;
  count--;
}

static int is_thread_of(pid_t thread, pid_t process) {
  return syscall(SYS_tgkill, process, thread, 0) == 0;
}

// MARK: - Reading memory

/// Reads `/proc/<thread>/status`, a text of some 1.5 KB; an empty one where there is no such thread.
static void read_status(pid_t thread, char *text, size_t size) {
  char path[32];
  text[0] = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, text, size - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
}

/// The number behind a key at the start of a line; -1 where the line has another key.
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

/// The process that a thread belongs to, by its status; the thread itself where that is unknown.
static pid_t process_by_status(pid_t thread) {
  char text[512];
  read_status(thread, text, sizeof text);
  for (const char *line = text; *line != 0; line = next_line(line)) {
    int64_t process = number_at(line, "Tgid:");
    if (process > 0) return (pid_t)process;
  }
  return thread;
}

/// The process that a thread belongs to.
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

/// Reads the name and the memory of a thread's process; without memory all values stay zero.
static void read_memory(pid_t thread, struct hw_record *record) {
  char text[4096];
  read_status(thread, text, sizeof text);
  if (strncmp(text, "Name:\t", 6) == 0) {
    size_t name = strcspn(text + 6, "\n");
    memcpy(record->command, text + 6, name < sizeof record->command ? name : sizeof record->command - 1);
  }
  for (const char *line = text; *line != 0; line = next_line(line)) {
    if (*line == 'V' || *line == 'R') read_line(line, record);
  }
}

// MARK: - Handling stops

/// Continues a stopped thread. Every call here may fail with ESRCH: a traced thread can be killed at any time.
static void continue_thread(pid_t thread, int signal) {
  ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)signal);
}

static pid_t message(pid_t thread) {
  unsigned long number = 0;
  ptrace(PTRACE_GETEVENTMSG, thread, NULL, &number);
  return (pid_t)number;
}

/// Handles that a thread has made another thread, or a process.
static void note_child(pid_t creator, int event, hw_record_handler handler, void *context) {
  pid_t child = message(creator), parent = process_of(creator);
  if (child == 0) return;
  struct tracee *entry = enter(child);
  if (event == PTRACE_EVENT_CLONE && is_thread_of(child, parent)) {
    if (entry != NULL) entry->process = parent;
    struct tracee *process = find(parent);
    if (process == NULL) return;
    process->others++;
    if (++process->made < MOST_THREADS) return;
    ptrace(PTRACE_SETOPTIONS, creator, NULL, (void *)(intptr_t)(OPTIONS & ~PTRACE_O_TRACECLONE));
    if (process->made > MOST_THREADS) return;
    handler(context, (struct hw_record){.event = HW_EVENT_MANY_THREADS, .pid = parent, .value = MOST_THREADS});
    return;
  }
  if (entry != NULL) entry->process = child;
  int borrows = event == PTRACE_EVENT_VFORK;
  handler(context, (struct hw_record){.event = HW_EVENT_FORKED, .pid = child, .value = parent, .stage = borrows});
}

/// Handles that a process has a new program. Of its threads one is left, with the process's own number.
static void note_exec(pid_t process, hw_record_handler handler, void *context) {
  pid_t former = message(process);
  struct tracee *entry = former != process ? find(former) : NULL;
  if (entry != NULL) leave_table(entry);
  entry = enter(process);
  if (entry != NULL) *entry = (struct tracee){.thread = process, .process = process};
  struct hw_record record = {.event = HW_EVENT_EXECUTED, .pid = process};
  read_memory(process, &record);
  handler(context, record);
}

/// Handles that a thread is about to end, while its memory is still there: by exit, or by any signal, SIGKILL too.
///
/// The memory of a process is freed with its last thread, which need not be the first one. So it is read at the end of
/// the first, and, where others live on, at the end of each of those.
static void note_exit(pid_t thread, hw_record_handler handler, void *context) {
  pid_t pid = process_of(thread);
  struct tracee *process = find(pid);
  if (process != NULL && pid == thread) process->headless = process->others > 0;
  if (process != NULL && pid != thread && !process->headless) return;
  struct hw_record record = {.event = HW_EVENT_EXITING, .pid = pid};
  read_memory(thread, &record);
  handler(context, record);
}

/// A stop of a whole process by job control, in which it has to stay until somebody continues it.
static int is_group_stop(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

int hw_trace_begin(pid_t pid) {
  if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(intptr_t)OPTIONS) != 0) return errno;
  struct tracee *entry = enter(pid);
  if (entry != NULL) entry->process = pid;
  return 0;
}

void hw_trace_stop(pid_t thread, int status, hw_record_handler handler, void *context) {
  int event = status >> 16;
  switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE: note_child(thread, event, handler, context); break;
    case PTRACE_EVENT_EXEC: note_exec(thread, handler, context); break;
    case PTRACE_EVENT_EXIT: note_exit(thread, handler, context); break;
    case PTRACE_EVENT_STOP:
      if (is_group_stop(WSTOPSIG(status))) {
        ptrace(PTRACE_LISTEN, thread, NULL, NULL);
        return;
      }
      // The first stop of a new thread, which may come before that of its creator; or the end of a group stop.
      enter(thread);
      break;
    default: break;
  }
  // A stop without an event is that of a signal on its way to the thread.
  continue_thread(thread, event == 0 ? WSTOPSIG(status) : 0);
}

int hw_trace_end(pid_t thread) {
  struct tracee *entry = find(thread);
  if (entry == NULL) return 0;
  pid_t process = entry->process;
  leave_table(entry);
  if (process == thread || process == 0) return 0;
  struct tracee *of = find(process);
  if (of != NULL && of->others > 0) of->others--;
  return 1;
}

int hw_trace_is_exec(int status) {
  return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC;
}

// MARK: - Whether it is permitted

/// Waits for the next status of a traced child; -1 where there is none.
static int next_status(pid_t child) {
  int status = 0;
  pid_t found;
  do found = waitpid(child, &status, __WALL);
  while (found < 0 && errno == EINTR);
  return found == child ? status : -1;
}

int hw_can_trace(void) {
  pid_t self = getpid();
  pid_t child = hw_fork_blocking_signals();
  if (child < 0) return errno;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // A parent that was killed before that call sends no signal.
    while (getppid() == self) pause();
    _exit(0);
  }
  int code = ptrace(PTRACE_SEIZE, child, NULL, (void *)(intptr_t)OPTIONS) == 0 ? 0 : errno;
  kill(child, SIGKILL);
  // An emulated kernel may accept the call and then not report the end.
  int status = next_status(child);
  if (code == 0 && !(status >= 0 && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXIT)) code = ENOSYS;
  while (status >= 0 && WIFSTOPPED(status)) {
    continue_thread(child, 0);
    status = next_status(child);
  }
  return code;
}
