#define _GNU_SOURCE
#include "cpus.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// Writes what a file would have, from what it has.
typedef void (*writer)(FILE *to, FILE *from, int count);

// MARK: - Lists and limits

static void write_list(FILE *to, FILE *from, int count) {
  (void)from;
  if (count == 1) fputs("0\n", to);
  else fprintf(to, "0-%d\n", count - 1);
}

static void write_no_quota(FILE *to, FILE *from, int count) {
  (void)from, (void)count;
  fputs("max 100000\n", to);
}

static void write_no_quota_v1(FILE *to, FILE *from, int count) {
  (void)from, (void)count;
  fputs("-1\n", to);
}

/// The default, from which runtimes conclude that there is no limit.
static void write_shares(FILE *to, FILE *from, int count) {
  (void)from, (void)count;
  fputs("1024\n", to);
}

static void write_weight(FILE *to, FILE *from, int count) {
  (void)from, (void)count;
  fputs("100\n", to);
}

// MARK: - Files with a part for each CPU

/// Whether a line is `<key> : <value>` of /proc/cpuinfo, where `key` has spaces as well.
static int has_key(const char *line, const char *key) {
  size_t length = strlen(key);
  return strncmp(line, key, length) == 0 && (line[length] == '\t' || line[length] == ' ' || line[length] == ':');
}

/// Writes a line of a CPU's part, with the numbers of another one: each is a core of its own in one package.
static void write_property(FILE *to, const char *line, int cpu, int count) {
  static const char *const numbers[] = {"processor", "core id", "apicid", "initial apicid"};
  static const char *const counts[] = {"siblings", "cpu cores"};
  const char *colon = strchr(line, ':');
  for (size_t at = 0; colon != NULL && at < sizeof numbers / sizeof *numbers; at++) {
    if (!has_key(line, numbers[at])) continue;
    fprintf(to, "%.*s: %d\n", (int)(colon - line), line, cpu);
    return;
  }
  for (size_t at = 0; colon != NULL && at < sizeof counts / sizeof *counts; at++) {
    if (!has_key(line, counts[at])) continue;
    fprintf(to, "%.*s: %d\n", (int)(colon - line), line, count);
    return;
  }
  fputs(line, to);
}

/// Writes the first CPU's part of /proc/cpuinfo, once for each CPU.
static void write_cpuinfo(FILE *to, FILE *from, int count) {
  char *lines[256], *line = NULL;
  int known = 0, parts = 0;
  size_t size = 0;
  while (getline(&line, &size, from) > 0) {
    if (has_key(line, "processor")) parts++;
    if (parts == 1 && known < 256) lines[known++] = strdup(line);
  }
  for (int cpu = 0; cpu < count; cpu++) {
    for (int at = 0; at < known; at++) write_property(to, lines[at], cpu, count);
  }
  for (int at = 0; at < known; at++) free(lines[at]);
  free(line);
}

/// Writes /proc/stat, whose lines `cpuN` begin with the CPU's number.
static void write_stat(FILE *to, FILE *from, int count) {
  char *line = NULL, *own = NULL;
  size_t size = 0;
  while (getline(&line, &size, from) > 0) {
    int is_of_cpu = strncmp(line, "cpu", 3) == 0 && isdigit((unsigned char)line[3]);
    if (!is_of_cpu) fputs(line, to);
    if (!is_of_cpu || own != NULL) continue;
    own = strdup(line + strcspn(line, " "));
    for (int cpu = 0; own != NULL && cpu < count; cpu++) fprintf(to, "cpu%d%s", cpu, own);
  }
  free(own);
  free(line);
}

/// Words of 32 CPUs in hexadecimal, the highest first, as the kernel writes masks.
static void write_mask(FILE *to, int count) {
  int words = (count + 31) / 32;
  for (int at = words - 1; at >= 0; at--) {
    int bits = at == words - 1 ? count - 32 * at : 32;
    unsigned mask = bits == 32 ? 0xffffffffU : (1U << bits) - 1;
    fprintf(to, at == words - 1 ? "%x" : ",%08x", mask);
  }
  fputc('\n', to);
}

/// Writes the status of a process (proc_pid_status(5)).
static void write_status(FILE *to, FILE *from, int count) {
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, from) > 0) {
    if (strncmp(line, "Cpus_allowed:", 13) == 0) {
      fputs("Cpus_allowed:\t", to);
      write_mask(to, count);
    } else if (strncmp(line, "Cpus_allowed_list:", 18) == 0) {
      fputs("Cpus_allowed_list:\t", to);
      write_list(to, from, count);
    } else {
      fputs(line, to);
    }
  }
  free(line);
}

// MARK: - Which file

struct row {
  const char *path;
  writer write;
};

static const struct row files[] = {
  {"/sys/devices/system/cpu/online", write_list},
  {"/sys/devices/system/cpu/possible", write_list},
  {"/sys/devices/system/cpu/present", write_list},
  {"/sys/devices/system/node/node0/cpulist", write_list},
  {"/proc/cpuinfo", write_cpuinfo},
  {"/proc/stat", write_stat},
};

/// Files of any cgroup, as the target finds them below `/sys/fs/cgroup`.
static const struct row cgroup_files[] = {
  {"cpu.max", write_no_quota},
  {"cpu.weight", write_weight},
  {"cpuset.cpus.effective", write_list},
  {"cpu.cfs_quota_us", write_no_quota_v1},
  {"cpu.shares", write_shares},
  {"cpuset.cpus", write_list},
  {"cpuset.effective_cpus", write_list},
};

static writer find_row(const struct row *rows, size_t count, const char *path) {
  for (size_t at = 0; at < count; at++) {
    if (strcmp(rows[at].path, path) == 0) return rows[at].write;
  }
  return NULL;
}

/// The process of a thread, whose files are those of `/proc/self`.
static long process_of(pid_t thread) {
  char path[32], line[256];
  long process = thread;
  snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
  FILE *file = fopen(path, "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL && sscanf(line, "Tgid: %ld", &process) != 1) continue;
  if (file != NULL) fclose(file);
  return process;
}

/// Whether the path is the status of a process; `real` then has it as others reach it.
static int is_status(const char *path, pid_t thread, char real[64]) {
  long process = 0;
  int length = 0;
  if (strcmp(path, "/proc/thread-self/status") == 0) process = thread;
  else if (strcmp(path, "/proc/self/status") == 0) process = process_of(thread);
  else if (sscanf(path, "/proc/%ld/status%n", &process, &length) != 1 || path[length] != 0 || length == 0) return 0;
  snprintf(real, 64, "/proc/%ld/status", process);
  return process > 0;
}

/// What writes the file; NULL if it does not depend on the number of CPUs.
static writer find_writer(const char *path, pid_t thread, char real[64]) {
  if (strncmp(path, "/proc/", 6) == 0 && is_status(path, thread, real)) {
    return hw_cpus_are_restricted(thread) ? NULL : write_status;
  }
  if (strncmp(path, "/sys/fs/cgroup/", 15) == 0) {
    return find_row(cgroup_files, sizeof cgroup_files / sizeof *cgroup_files, strrchr(path, '/') + 1);
  }
  return find_row(files, sizeof files / sizeof *files, path);
}

/// Fills a file in memory, and opens it anew: each opening has its own position, and may not write.
static int filled_file(writer write, FILE *from, int count) {
  int memory = memfd_create("cpus", MFD_CLOEXEC);
  FILE *to = memory < 0 ? NULL : fdopen(memory, "w");
  if (to == NULL) return -1;
  write(to, from, count);
  fflush(to);
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  fclose(to);
  return file;
}

int hw_cpus_open(const char *path, pid_t thread, int count) {
  if (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0) return -1;
  char real[64] = {0};
  writer write = find_writer(path, thread, real);
  // A file that the target could not open is not made up.
  FILE *from = write == NULL ? NULL : fopen(real[0] != 0 ? real : path, "re");
  if (from == NULL) return -1;
  int file = filled_file(write, from, count);
  fclose(from);
  return file;
}
