#define _GNU_SOURCE
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

struct hw_code {
  int owners;
  pid_t process;
  /// A thread of it that is alive; the first one may have ended, and then has neither mappings nor memory.
  pid_t thread;
  /// Whether the mappings must be read again.
  int is_stale;
  /// Sorted by address.
  struct hw_mapping *mappings;
  size_t count;
  /// The text of `/proc/PID/maps`, which the paths are in.
  char *text;
  /// After a search in vain, the mappings are read again only after so many further ones.
  unsigned patience, waited;
  struct hw_symbols *perf_map;
  struct hw_python *python;
  uint64_t number;
  /// Whether the process is in another pid namespace; -1 before it is known.
  int is_in_namespace;
};

void hw_code_use_thread(struct hw_code *code, pid_t thread) { code->thread = thread; }

const struct hw_symbols *hw_code_perf_map(const struct hw_code *code) { return code->perf_map; }

int hw_code_has_perf_map(const struct hw_code *code) { return code->perf_map != NULL; }

uint64_t hw_code_number(const struct hw_code *code) { return code->number; }

struct hw_code *hw_code_open(pid_t process) {
  static uint64_t count;
  struct hw_code *code = calloc(1, sizeof *code);
  if (code == NULL) return NULL;
  *code = (struct hw_code){
    .owners = 1, .process = process, .thread = process, .is_stale = 1, .is_in_namespace = -1, .number = ++count};
  return code;
}

static void forget_mappings(struct hw_code *code) {
  free(code->mappings);
  free(code->text);
  free(code->python);
  code->mappings = NULL;
  code->text = NULL;
  code->python = NULL;
  code->count = 0;
}

struct hw_code *hw_code_share(struct hw_code *code) {
  code->owners++;
  return code;
}

void hw_code_close(struct hw_code *code) {
  if (code == NULL || --code->owners > 0) return;
  forget_mappings(code);
  hw_symbols_free(code->perf_map);
  free(code);
}

void hw_code_changed(struct hw_code *code) { code->is_stale = 1; }

// MARK: - Reading /proc

static int open_process_file(pid_t thread, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)thread, name);
  return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
}

/// Reads a file to its end, and closes it.
static char *read_whole(int file, size_t limit, size_t *length) {
  struct stat status;
  if (file < 0) return NULL;
  size_t capacity = 0, filled = 0;
  char *text = NULL;
  ssize_t got = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  while (got > 0 && filled < limit) {
    if (capacity - filled < 4096) {
      char *larger = realloc(text, capacity = capacity * 2 + 16384);
      if (larger == NULL) break;
      text = larger;
    }
    got = read(file, text + filled, capacity - filled - 1);
    if (got > 0) filled += (size_t)got;
  }
  close(file);
  if (text != NULL) text[filled] = 0;
  *length = filled;
  return text;
}

char *hw_read_process_file(pid_t thread, const char *name, size_t limit, size_t *length) {
  return read_whole(open_process_file(thread, name), limit, length);
}

/// Replaces the one escape of these paths, and removes what the kernel adds to those of deleted files.
static void unescape(char *path) {
  static const char suffix[] = " (deleted)";
  size_t length = strlen(path), added = sizeof suffix - 1;
  if (length > added && strcmp(path + length - added, suffix) == 0) path[length - added] = 0;
  for (char *at; (at = strstr(path, "\\012")) != NULL; path = at + 1) {
    *at = '\n';
    memmove(at + 1, at + 4, strlen(at + 4) + 1);
  }
}

/// Reads a line of `/proc/PID/maps`; whether the mapping is executable.
static int read_mapping(char *line, struct hw_mapping *mapping) {
  char permissions[5] = "";
  unsigned major = 0, minor = 0;
  int path = 0;
  *mapping = (struct hw_mapping){0};
  int found = sscanf(
    line, "%lx-%lx %4s %lx %x:%x %lu %n", &mapping->start, &mapping->end, permissions, &mapping->offset, &major, &minor,
    &mapping->inode, &path);
  if (found < 7 || permissions[2] != 'x' || mapping->start >= mapping->end) return 0;
  mapping->device = makedev(major, minor);
  mapping->path = line + path;
  unescape(mapping->path);
  return 1;
}

/// Whether a line may be of an executable mapping; sscanf takes too long for the thousands of others.
static int is_executable(const char *line) {
  const char *space = strchr(line, ' ');
  return space != NULL && strnlen(space, 4) == 4 && space[3] == 'x';
}

static int append(struct hw_code *code, size_t *capacity, const struct hw_mapping *mapping) {
  if (code->count == *capacity) {
    size_t larger = *capacity * 2 + 32;
    struct hw_mapping *mappings = realloc(code->mappings, larger * sizeof *mappings);
    if (mappings == NULL) return 0;
    code->mappings = mappings;
    *capacity = larger;
  }
  code->mappings[code->count++] = *mapping;
  return 1;
}

static void read_mappings(struct hw_code *code) {
  size_t length, capacity = 0;
  forget_mappings(code);
  code->is_stale = 0;
  code->text = hw_read_process_file(code->thread, "maps", 64 << 20, &length);
  if (code->text == NULL) return;
  char *rest = code->text;
  for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
    struct hw_mapping mapping;
    if (is_executable(line) && read_mapping(line, &mapping) && !append(code, &capacity, &mapping)) return;
  }
}

// MARK: - Finding

/// The first mapping that ends after an address; `count` if none.
static size_t first_after(const struct hw_code *code, uint64_t address) {
  size_t low = 0, high = code->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (code->mappings[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

static struct hw_mapping *mapping_at(const struct hw_code *code, uint64_t address) {
  size_t at = first_after(code, address);
  return at < code->count && code->mappings[at].start <= address ? &code->mappings[at] : NULL;
}

/// Reads the mappings again, since one that should be there is not; not each time, since stack words may be random.
static struct hw_mapping *search_again(struct hw_code *code, uint64_t address) {
  if (code->waited++ < code->patience) return NULL;
  read_mappings(code);
  struct hw_mapping *found = mapping_at(code, address);
  code->waited = 0;
  code->patience = found != NULL ? 0 : code->patience >= 4096 ? 4096 : code->patience * 2 + 1;
  return found;
}

const struct hw_mapping *hw_code_find(struct hw_code *code, uint64_t address) {
  if (code->is_stale) read_mappings(code);
  struct hw_mapping *found = mapping_at(code, address);
  if (found == NULL) found = search_again(code, address);
  if (found != NULL && !found->is_resolved) hw_resolve_mapping(found, code->thread);
  return found;
}

const struct hw_mapping *hw_code_mapping(struct hw_code *code, size_t at) {
  if (code->is_stale) read_mappings(code);
  if (at >= code->count) return NULL;
  struct hw_mapping *mapping = &code->mappings[at];
  if (!mapping->is_resolved) hw_resolve_mapping(mapping, code->thread);
  return mapping;
}

struct hw_python **hw_code_python(struct hw_code *code) {
  if (code->is_stale) read_mappings(code);
  return &code->python;
}

int hw_code_overlaps(struct hw_code *code, uint64_t from, uint64_t to) {
  if (code->is_stale) read_mappings(code);
  size_t at = first_after(code, from);
  return at < code->count && code->mappings[at].start < to;
}

// MARK: - Perf maps and threads

/// The numbers of a line of a thread's `/proc/<pid>/status`, such as `"\nUid:"`; returns how many, none if it is unknown.
static size_t status_numbers(pid_t thread, const char *name, long *numbers, size_t limit) {
  size_t length, count = 0;
  char *text = hw_read_process_file(thread, "status", 1 << 16, &length);
  char *at = text == NULL ? NULL : strstr(text, name);
  if (at != NULL) at += strlen(name);
  while (at != NULL && *at != '\n' && count < limit) {
    char *end;
    long number = strtol(at, &end, 10);
    if (end == at) break;
    numbers[count++] = number;
    at = end;
  }
  free(text);
  return count;
}

/// The number of a thread, or a process, in its own pid namespace.
static int own_number(pid_t thread) {
  // One for each of at most 32 nested namespaces (pid_namespaces(7)) and the first one.
  long numbers[33];
  size_t count = status_numbers(thread, "\nNSpid:", numbers, 33);
  return count == 0 ? (int)thread : (int)numbers[count - 1];
}

pid_t hw_code_thread_number(struct hw_code *code, pid_t thread) {
  if (code->is_in_namespace < 0) code->is_in_namespace = own_number(code->process) != code->process;
  return code->is_in_namespace ? own_number(thread) : thread;
}

/// The effective user of a process; -1 if it is unknown.
static long effective_user(pid_t process) {
  long users[2];
  return status_numbers(process, "\nUid:", users, 2) == 2 ? users[1] : -1;
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/// When a process started, in seconds of the realtime clock, rounded down to a tick; 0 if it is unknown.
static double start_time(pid_t process) {
  size_t length;
  char *text = hw_read_process_file(process, "stat", 4096, &length);
  // Field 22 of proc(5); the second one is the name, which may contain anything.
  const char *at = text == NULL ? NULL : strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  double ticks = at == NULL ? -1 : atof(at + 1);
  free(text);
  return ticks < 0 ? 0 : seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME) + ticks / (double)sysconf(_SC_CLK_TCK);
}

/// Whether a process may have written a file: one of an earlier process with its number would give wrong names.
static int may_be_written_by(pid_t process, int file) {
  // File systems round times down to a tick of up to 10 ms, and the two clocks above are read one after the other.
  static const double tolerance = 0.03;
  struct stat status;
  if (fstat(file, &status) != 0) return 0;
  double written = (double)status.st_mtim.tv_sec + (double)status.st_mtim.tv_nsec / 1e9;
  int is_own = status.st_uid == 0 || (long)status.st_uid == effective_user(process);
  return is_own && written >= start_time(process) - tolerance;
}

void hw_code_read_perf_map(struct hw_code *code) {
  char name[64];
  size_t length;
  // The compiler names it by its own number of the process.
  snprintf(name, sizeof name, "root/tmp/perf-%d.map", own_number(code->process));
  int file = open_process_file(code->thread, name);
  if (file >= 0 && !may_be_written_by(code->process, file)) {
    close(file);
    return;
  }
  char *text = read_whole(file, 64 << 20, &length);
  struct hw_symbols *symbols = text == NULL ? NULL : hw_symbols_of_perf_map(text, length);
  if (symbols == NULL) return;
  hw_symbols_free(code->perf_map);
  code->perf_map = symbols;
}
