#define _GNU_SOURCE
#include "hw_files.h"

#include "hw_text.h"

#include <errno.h>
#include <sys/stat.h>

// MARK: - Small files

size_t hw_file_word(const char *path, const char *key, size_t index, char *word, size_t room) {
  int code = errno;
  struct lines lines;
  struct span line;
  struct text text = text_in(word, room);
  if (find_line(&lines, path, begins_with_word, key, &line)) append(&text, word_at(line, index));
  errno = code;
  return text.length;
}

int hw_file_number(const char *path, const char *key, size_t index, uint64_t *value) {
  char word[32];
  size_t length = hw_file_word(path, key, index, word, sizeof word);
  return number((struct span){.bytes = word, .length = length}, value);
}

size_t hw_file_value(const char *path, const char *key, char *value, size_t room) {
  struct lines lines;
  struct span line;
  struct text text = text_in(value, room);
  if (!find_line(&lines, path, begins, key, &line)) return 0;
  line = without(line, strlen(key));
  while (line.length > 0) append(&text, take(&line, "\""));
  return text.length;
}

int hw_file_digest(const char *path, uint64_t *digest) {
  unsigned char bytes[1024];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return 0;
  uint64_t sum = 0xcbf29ce484222325;
  for (ssize_t count; (count = read(file, bytes, sizeof bytes)) > 0;) {
    for (ssize_t at = 0; at < count; at++) sum = (sum ^ bytes[at]) * 0x100000001b3;
  }
  close(file);
  *digest = sum;
  return 1;
}

int hw_pressure(const char *path, double *share) {
  char word[64];
  size_t length = hw_file_word(path, "full", 1, word, sizeof word);
  struct span rest = {.bytes = word, .length = length};
  if (!begins(rest, "avg10=")) return 0;
  rest = without(rest, 6);
  uint64_t whole = 0, hundredths = 0;
  // The kernel writes two digits behind the point, always (psi_show, kernel/sched/psi.c).
  if (!number(take(&rest, "."), &whole)) return 0;
  number(rest, &hundredths);
  *share = (double)whole + (double)hundredths / 100;
  return 1;
}

int hw_process_identity(const char *path, int32_t *pid, uint64_t *start) {
  struct lines lines;
  if (!open_lines(&lines, path)) return 0;
  struct span line = {.bytes = lines.bytes, .length = 0};
  while (fill(&lines)) line.length = lines.end;
  close_lines(&lines);
  uint64_t id;
  struct span head = line;
  // The name, which may hold anything, ends at the last parenthesis; the state is the first word behind it, the start
  // the twentieth.
  const char *end = memrchr(line.bytes, ')', line.length);
  if (end == NULL || !number(take(&head, " "), &id)) return 0;
  struct span rest = without(line, (size_t)(end - line.bytes) + 1);
  struct span state = word_at(rest, 0);
  if (is(state, "Z") || is(state, "X") || !number(word_at(rest, 19), start)) return 0;
  *pid = (int32_t)id;
  return 1;
}

// MARK: - Names and folders

size_t hw_program_name(char *name, size_t room) {
  static const char deleted[] = " (deleted)";
  struct path path;
  struct text text = text_in(name, room);
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

int hw_make_folders(const char *path, char *failed, size_t room) {
  struct text text = text_in(failed, room);
  const char *name = path;
  for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(name, '/')) {
    append(&text, (struct span){.bytes = name, .length = (size_t)(slash - name)});
    if (text.length > 0 && access(failed, F_OK) != 0 && mkdir(failed, 0700) != 0 && errno != EEXIST) return errno;
    append_text(&text, "/");
    name = slash + 1;
  }
  return 0;
}
