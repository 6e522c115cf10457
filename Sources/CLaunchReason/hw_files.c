#ifdef __linux__
#define _GNU_SOURCE
#include "hw_files.h"

#include "hw_text.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

// MARK: - Small files

size_t hw_file_word(const char *folder, const char *name, const char *key, size_t index, char *word, size_t size) {
  int code = errno;
  struct path path;
  struct lines lines;
  struct span line;
  struct text text = text_in(word, size);
  if (find_line(&lines, join(&path, folder, name), begins_with_word, key, &line)) append(&text, word_at(line, index));
  errno = code;
  return text.length;
}

int hw_file_number(const char *folder, const char *name, const char *key, size_t index, uint64_t *value) {
  char word[32];
  size_t length = hw_file_word(folder, name, key, index, word, sizeof word);
  return number((struct span){.bytes = word, .length = length}, value);
}

uint64_t hw_inode(const char *folder, const char *name) {
  struct path path;
  struct stat status;
  return *folder != '\0' && stat(join(&path, folder, name), &status) == 0 ? status.st_ino : 0;
}

static bool digest(const char *path, uint64_t *sum) {
  unsigned char bytes[1024];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  *sum = 0xcbf29ce484222325;
  for (ssize_t count; (count = read(file, bytes, sizeof bytes)) > 0;) {
    for (ssize_t at = 0; at < count; at++) *sum = (*sum ^ bytes[at]) * 0x100000001b3;
  }
  close(file);
  return true;
}

size_t hw_os_release(const char *path, char *release, size_t size) {
  struct lines lines;
  struct span line;
  uint64_t sum;
  struct text text = text_in(release, size);
  if (!digest(path, &sum)) return 0;
  if (find_line(&lines, path, begins, "PRETTY_NAME=", &line)) {
    take(&line, "=");
    if (line.length > 100) line.length = 100;
    while (line.length > 0) append(&text, take(&line, "\""));
  }
  append_text(&text, " ");
  for (int shift = 60; shift >= 0; shift -= 4) {
    append(&text, (struct span){.bytes = &"0123456789abcdef"[sum >> shift & 15], .length = 1});
  }
  return text.length;
}

int hw_pressure(const char *folder, double *share) {
  char word[64];
  size_t length = hw_file_word(folder, "/memory.pressure", "full", 1, word, sizeof word);
  if (length == 0) length = hw_file_word(folder, "/pressure/memory", "full", 1, word, sizeof word);
  struct span rest = {.bytes = word, .length = length};
  if (!begins(rest, "avg10=")) return 0;
  rest = without(rest, 6);
  uint64_t whole = 0, hundredths = 0;
  // The kernel always writes two decimal places (psi_show, kernel/sched/psi.c).
  if (!number(take(&rest, "."), &whole)) return 0;
  number(rest, &hundredths);
  *share = (double)whole + (double)hundredths / 100;
  return 1;
}

int hw_process_identity(const char *folder, int32_t *pid, uint64_t *start) {
  struct path path;
  struct lines lines;
  if (!open_lines(&lines, join(&path, folder, "/stat"))) return 0;
  struct span line = {.bytes = lines.bytes, .length = 0};
  while (fill(&lines)) line.length = lines.end;
  close_lines(&lines);
  uint64_t id;
  struct span head = line;
  // The name, which may contain any byte, ends at the last parenthesis; the state is the first word after it, the start
  // time the twentieth.
  const char *end = memrchr(line.bytes, ')', line.length);
  if (end == NULL || !number(take(&head, " "), &id)) return 0;
  struct span rest = without(line, (size_t)(end - line.bytes) + 1);
  struct span state = word_at(rest, 0);
  if (is(state, "Z") || is(state, "X") || !number(word_at(rest, 19), start)) return 0;
  *pid = (int32_t)id;
  return 1;
}

// MARK: - Names and folders

size_t hw_program_name(char *name, size_t size) {
  static const char deleted[] = " (deleted)";
  struct path path;
  struct text text = text_in(name, size);
  ssize_t count = readlink("/proc/self/exe", path.bytes, sizeof path.bytes);
  if (count <= 0) return 0;
  const char *slash = memrchr(path.bytes, '/', (size_t)count);
  struct span found = {.bytes = path.bytes, .length = (size_t)count};
  if (slash != NULL) found = without(found, (size_t)(slash - path.bytes) + 1);
  size_t tail = sizeof deleted - 1;
  if (found.length > tail && memcmp(found.bytes + found.length - tail, deleted, tail) == 0) found.length -= tail;
  append(&text, found);
  return text.length;
}

int hw_process_lives(const char *proc, int32_t pid, uint64_t start) {
  struct path folder;
  char digits[24];
  snprintf(digits, sizeof digits, "/%" PRId32, pid);
  int32_t found;
  uint64_t found_start;
  return hw_process_identity(join(&folder, proc, digits), &found, &found_start) && found == pid && found_start == start;
}

int hw_session_leader_lives(const char *proc, int32_t pid, uint64_t since) {
  struct path folder;
  char digits[24], session[24];
  snprintf(digits, sizeof digits, "/%" PRId32, pid);
  join(&folder, proc, digits);
  int32_t found;
  uint64_t start;
  if (!hw_process_identity(folder.bytes, &found, &start) || start < since) return 0;
  // After the pid and the name, which a daemon's own name must not confuse: the session is the sixth word.
  size_t length = hw_file_word(folder.bytes, "/stat", NULL, 5, session, sizeof session);
  return is((struct span){.bytes = session, .length = length}, digits + 1);
}

/// Appends the first of the folders in a variable, which are separated by colons; a relative path is invalid
/// (XDG Base Directory Specification), and would differ with the working folder.
static bool append_variable(struct text *text, const char *name) {
  const char *folders = getenv(name);
  if (folders == NULL || *folders != '/') return false;
  struct span rest = {.bytes = folders, .length = strlen(folders)};
  append(text, take(&rest, ":"));
  return true;
}

static bool append_state_folder(struct text *text) {
  bool is_found = append_variable(text, "STATE_DIRECTORY") || append_variable(text, "XDG_STATE_HOME");
  if (!is_found) {
    if (!append_variable(text, "HOME")) return false;
    append_text(text, "/.local/state");
  }
  append_text(text, "/highwater");
  return true;
}

static bool is_plain(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte == '.' ||
         byte == '-' || byte == '_';
}

size_t hw_record_path(const char *folder, const char *instance, unsigned number, char *path, size_t size) {
  char name[NAME_MAX + 1];
  struct text text = text_in(path, size);
  if (folder != NULL) append_text(&text, folder);
  if (folder == NULL && !append_state_folder(&text)) return 0;
  if (instance == NULL) {
    hw_program_name(name, sizeof name);
    instance = name;
  }
  append_text(&text, *instance != '\0' ? "/" : "/_");
  size_t start = text.length;
  append(&text, (struct span){.bytes = instance, .length = strnlen(instance, 100)});
  for (size_t at = start; at < text.length; at++) {
    if (!is_plain(path[at])) path[at] = '_';
  }
  char suffix[24] = ".launch";
  if (number > 0) snprintf(suffix, sizeof suffix, "+%u.launch", number);
  append_text(&text, suffix);
  return text.length;
}

#define RECORD_FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

int hw_record_open(const char *path) { return open(path, RECORD_FLAGS); }

/// Closes a file after a failure, and keeps its error number.
static int give_up(int file) {
  int code = errno;
  close(file);
  errno = code;
  return -1;
}

/// Creates a locked file without a name; -1 where the file system cannot.
static int create_unnamed(const char *path) {
  char folder[PATH_MAX];
  struct text text = text_in(folder, sizeof folder);
  const char *slash = strrchr(path, '/');
  append(&text, (struct span){.bytes = path, .length = slash != NULL ? (size_t)(slash - path) : 0});
  int file = open(text.length > 0 ? folder : ".", RECORD_FLAGS | O_TMPFILE, 0600);
  return file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 ? give_up(file) : file;
}

/// Gives the file its name; this needs /proc (`AT_SYMLINK_FOLLOW` in linkat(2)).
static bool name_file(int file, const char *path) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
}

int hw_record_create(const char *path) {
  int file = create_unnamed(path);
  if (file >= 0) {
    if (name_file(file, path)) return file;
    give_up(file);
    if (errno == EEXIST) return -1;
  }
  file = open(path, RECORD_FLAGS | O_CREAT | O_EXCL, 0600);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK) errno = EEXIST;
  return give_up(file);
}

int hw_is_test_host(void) {
  char name[NAME_MAX + 1];
  size_t length = hw_program_name(name, sizeof name);
  bool is_bundle = length > 7 && strcmp(name + length - 7, ".xctest") == 0;
  return is_bundle || strcmp(name, "xctest") == 0 || strcmp(name, "swiftpm-testing-helper") == 0;
}

uint32_t hw_random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  // Early in the boot there is no entropy yet; this still distinguishes the runs of one boot.
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return (uint32_t)now.tv_nsec * 2654435761u ^ (uint32_t)getpid();
}

int hw_make_folders(const char *path, char *failed, size_t size) {
  struct text text = text_in(failed, size);
  const char *name = path;
  for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(name, '/')) {
    append(&text, (struct span){.bytes = name, .length = (size_t)(slash - name)});
    if (text.length > 0 && access(failed, F_OK) != 0 && mkdir(failed, 0700) != 0 && errno != EEXIST) return errno;
    append_text(&text, "/");
    name = slash + 1;
  }
  return 0;
}

#endif
