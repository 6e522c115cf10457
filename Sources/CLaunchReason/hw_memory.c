#ifdef __linux__
#define _GNU_SOURCE
#include "hw_files.h"

#include "hw_text.h"

#include <errno.h>

// MARK: - Memory cgroups

/// The cgroup of a process: that of the memory controller of version 1, else that of version 2.
static bool find_membership(const char *own, struct text *path, bool *is_legacy) {
  struct path file;
  struct lines lines;
  struct span line;
  if (!open_lines(&lines, join(&file, own, "/cgroup"))) return false;
  bool is_found = false;
  *is_legacy = false;
  // As in `4:memory:/a` or `0::/a`.
  while (!*is_legacy && next_line(&lines, &line)) {
    struct span hierarchy = take(&line, ":"), controllers = take(&line, ":");
    *is_legacy = has_member(controllers, "memory");
    if (!*is_legacy && !(is(hierarchy, "0") && controllers.length == 0)) continue;
    *path = text_in(path->bytes, path->capacity);
    append(path, line);
    is_found = true;
  }
  close_lines(&lines);
  return is_found;
}

/// The folder of a cgroup: in a container the hierarchy is mounted from the container's own root.
static void locate(struct text *folder, struct span root, struct span point, struct span path) {
  bool is_below = !is(root, "/") && path.length >= root.length && memcmp(path.bytes, root.bytes, root.length) == 0 &&
                  (path.length == root.length || path.bytes[root.length] == '/');
  *folder = text_in(folder->bytes, folder->capacity);
  append(folder, point);
  if (is_below) path = without(path, root.length);
  if (!is(path, "/")) append(folder, path);
}

size_t hw_memory_cgroup(const char *own, char *folder, size_t size) {
  struct text found = text_in(folder, size);
  struct path file, membership;
  struct text path = text_in(membership.bytes, sizeof membership.bytes);
  struct lines lines;
  struct span line;
  bool is_legacy;
  if (!find_membership(own, &path, &is_legacy) || !open_lines(&lines, join(&file, own, "/mountinfo"))) return 0;
  while (next_line(&lines, &line)) {
    // The fourth and fifth words are the root and the mount point; after a single `-` follow the type, the source and
    // the options. The last mount hides earlier ones.
    struct span root = word_at(line, 3), point = word_at(line, 4), rest = line;
    struct span dash = word(&rest);
    while (dash.length > 0 && !is(dash, "-")) dash = word(&rest);
    struct span type = word(&rest);
    word(&rest);
    bool matches = is_legacy ? is(type, "cgroup") && has_member(word(&rest), "memory") : is(type, "cgroup2");
    if (matches) locate(&found, root, point, (struct span){.bytes = path.bytes, .length = path.length});
  }
  close_lines(&lines);
  return found.length;
}

/// The limit of one cgroup; there is none if it is `max`, or just under 2^63 in version 1.
static bool own_limit(const char *folder, uint64_t *limit) {
  return (hw_file_number(folder, "/memory.max", NULL, 0, limit) ||
          hw_file_number(folder, "/memory.limit_in_bytes", NULL, 0, limit)) &&
         *limit < 1ull << 62;
}

int hw_memory_limit(const char *folder, uint64_t *limit) {
  struct path path;
  join(&path, folder, "");
  bool is_found = false;
  while (*path.bytes != '\0') {
    uint64_t found;
    if (own_limit(path.bytes, &found) && (!is_found || found < *limit)) {
      *limit = found;
      is_found = true;
    }
    char *slash = strrchr(path.bytes, '/');
    *(slash != NULL ? slash : path.bytes) = '\0';
  }
  return is_found;
}

int hw_oom_kills(const char *folder, uint64_t *kills) {
  return *folder != '\0' && (hw_file_number(folder, "/memory.events", "oom_kill", 1, kills) ||
                             hw_file_number(folder, "/memory.oom_control", "oom_kill", 1, kills));
}

// MARK: - The kernel's log

/// The sequence number and the time of a record of the kernel, which is left at its text.
static bool take_head(struct span *record, uint64_t *sequence, uint64_t *time) {
  struct span head = take(record, ";");
  uint64_t priority;
  // Records of programs have a facility other than that of the kernel, which is 0.
  return number(take(&head, ","), &priority) && number(take(&head, ","), sequence) && number(take(&head, ","), time) &&
         priority <= 7;
}

static int kill_in(struct span text, int32_t pid) {
  const char *verb = " Killed process ";
  struct span cause = take(&text, ":");
  uint64_t killed;
  int kind = is(cause, "Memory cgroup out of memory")                                            ? 1
             : is(cause, "Out of memory") || is(cause, "Out of memory (oom_kill_allocating_task)") ? 2
                                                                                                   : 0;
  if (kind == 0 || !begins(text, verb)) return 0;
  text = without(text, strlen(verb));
  bool is_named = number(take(&text, " "), &killed) && begins(text, "(") && pid > 0 && killed == (uint64_t)pid;
  return is_named ? kind : 0;
}

int hw_log_record_kill(const char *record, size_t length, int32_t pid, uint64_t since) {
  struct span text = {.bytes = record, .length = length};
  uint64_t sequence, time;
  return take_head(&text, &sequence, &time) && sequence > since ? kill_in(text, pid) : 0;
}

struct hw_log hw_log_search(const char *path, int32_t pid, uint64_t since, uint64_t alive) {
  // A record is not longer (PRINTK_MESSAGE_MAX, kernel/printk/internal.h), and a log of 256 KiB to 1 MiB has fewer
  // records.
  enum { RECORD = 8192, MOST_RECORDS = 20000 };
  char record[RECORD];
  struct hw_log log = {0};
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return log;
  for (int at = 0; at < MOST_RECORDS; at++) {
    ssize_t count = read(file, record, sizeof record);
    // EPIPE: records were overwritten before they could be read.
    if (count < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (count <= 0) break;
    struct span text = {.bytes = record, .length = (size_t)count};
    uint64_t sequence = 0, time = 0;
    bool is_kernel = take_head(&text, &sequence, &time);
    if (!log.is_readable) log.is_complete = sequence <= since + 1 || time <= alive;
    log.is_readable = true;
    log.newest = sequence;
    if (is_kernel && sequence > since && log.kind == 0) log.kind = kill_in(text, pid);
  }
  close(file);
  return log;
}

#endif
