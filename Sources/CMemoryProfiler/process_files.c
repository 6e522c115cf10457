#define _GNU_SOURCE
#include "profiler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int hw_open_process_file(pid_t process, const char *name) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
  return open(path, O_RDONLY | O_CLOEXEC);
}

void hw_read_text(pid_t process, const char *name, char *text, size_t size) {
  int file = hw_open_process_file(process, name);
  ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = '\0';
}

void hw_read_command(pid_t process, char command[16]) {
  hw_read_text(process, "comm", command, 16);
  command[strcspn(command, "\n")] = '\0';
}

void hw_read_program(pid_t process, char *name, size_t size) {
  char link[48], path[4096];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  const char *slash = strrchr(path, '/');
  snprintf(name, size, "%s", slash == NULL ? path : slash + 1);
}

/// A number of `status`, in bytes; 0 if it has none.
static int64_t number_of(const char *status, const char *key) {
  const char *line = strstr(status, key);
  return line == NULL ? 0 : strtoll(line + strlen(key), NULL, 10) * 1024;
}

void hw_read_sizes(pid_t thread, struct hw_snapshot *snapshot) {
  char text[4096];
  hw_read_text(thread, "status", text, sizeof text);
  snapshot->peak = number_of(text, "\nVmHWM:");
  snapshot->files = number_of(text, "\nRssFile:");
  snapshot->shared = number_of(text, "\nRssShmem:");
}

int64_t hw_resident_size(pid_t thread) {
  char text[128];
  long resident = 0;
  hw_read_text(thread, "statm", text, sizeof text);
  return sscanf(text, "%*d %ld", &resident) == 1 ? (int64_t)resident * sysconf(_SC_PAGESIZE) : 0;
}
