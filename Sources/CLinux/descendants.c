#define _GNU_SOURCE
#include "CLinux.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The layout of getdents64(2) entries, which libc headers do not declare.
struct hw_directory_entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
};

int hw_visit_numbers(const char *path, hw_visit visit, void *context) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  _Alignas(struct hw_directory_entry) char buffer[4096];
  long size;
  while ((size = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < size;) {
      const struct hw_directory_entry *entry = (const struct hw_directory_entry *)(buffer + at);
      at += entry->size;
      long number = 0;
      const char *digit = entry->name;
      while (*digit >= '0' && *digit <= '9') number = number * 10 + (*digit++ - '0');
      if (*digit != '\0' || digit == entry->name) continue;
      if (!visit(number, context)) goto done;
    }
  }
done:
  close(folder);
  return 0;
}

pid_t hw_parent(pid_t pid) {
  char path[48], text[512];
  *hw_put_text(hw_put_number(hw_put_text(path, "/proc/"), pid), "/stat") = '\0';
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t size = read(file, text, sizeof text);
  close(file);
  // The name is in parentheses and may contain any byte, including `)`: the last one ends it.
  ssize_t at = size - 1;
  while (at >= 0 && text[at] != ')') at--;
  if (at < 0 || at + 4 >= size) return -1;
  at += 4;  // ") S "
  pid_t parent = 0;
  while (at < size && text[at] >= '0' && text[at] <= '9') parent = parent * 10 + (text[at++] - '0');
  return parent;
}

/// How many `children` files a walk opens in any case; one of hundreds of threads costs as much as a scan of /proc.
#define LEAST_FILES 100

/// The state of a walk.
struct walk {
  struct hw_process *found;
  int count;
  int capacity;
  /// The process whose threads are visited.
  pid_t parent;
  /// Whether any `children` file could be opened.
  int readable;
  /// How many such files may still be opened.
  long files_left;
};

static void add(struct walk *walk, pid_t pid) {
  if (walk->count < walk->capacity) walk->found[walk->count++] = (struct hw_process){pid, walk->parent};
}

/// Adds the children that a thread has forked or adopted.
static int add_children_of_thread(long thread, void *context) {
  struct walk *walk = context;
  if (--walk->files_left < 0) return 0;
  char path[80], text[1024];
  char *end = hw_put_text(hw_put_number(hw_put_text(path, "/proc/"), walk->parent), "/task/");
  *hw_put_text(hw_put_number(end, thread), "/children") = '\0';
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 1;
  walk->readable = 1;
  pid_t pid = 0;
  ssize_t size;
  while ((size = read(file, text, sizeof text)) > 0) {
    for (ssize_t at = 0; at < size; at++) {
      if (text[at] >= '0' && text[at] <= '9') {
        pid = pid * 10 + (text[at] - '0');
      } else if (pid > 0) {
        add(walk, pid);
        pid = 0;
      }
    }
  }
  close(file);
  return walk->count < walk->capacity;
}

static void add_children(struct walk *walk, pid_t parent) {
  char path[48];
  *hw_put_text(hw_put_number(hw_put_text(path, "/proc/"), parent), "/task") = '\0';
  walk->parent = parent;
  hw_visit_numbers(path, add_children_of_thread, walk);
}

/// The number of all processes, by which the kernel raises the link count of `/proc` (fs/proc/root.c).
static long count_processes(void) {
  struct stat status;
  return stat("/proc", &status) == 0 ? (long)status.st_nlink : 0;
}

int hw_descendants(pid_t root, struct hw_process *found, int capacity) {
  struct walk walk = {.found = found, .capacity = capacity, .files_left = LEAST_FILES + count_processes()};
  add_children(&walk, root);
  if (!walk.readable && hw_parent(root) >= 0) return hw_descendants_by_scan(root, found, capacity);
  for (int at = 0; at < walk.count && walk.files_left >= 0; at++) add_children(&walk, found[at].pid);
  return walk.files_left >= 0 ? walk.count : hw_descendants_by_scan(root, found, capacity);
}

static int add_any_process(long number, void *context) {
  struct walk *walk = context;
  pid_t parent = hw_parent((pid_t)number);
  if (parent > 0) {
    walk->parent = parent;
    add(walk, (pid_t)number);
  }
  return walk->count < walk->capacity;
}

int hw_descendants_by_scan(pid_t root, struct hw_process *found, int capacity) {
  struct walk walk = {.found = found, .capacity = capacity};
  hw_visit_numbers("/proc", add_any_process, &walk);
  // Move descendants to the front of the list until a pass finds no more.
  int kept = 0;
  for (int before = -1; before != kept;) {
    before = kept;
    for (int at = kept; at < walk.count; at++) {
      int is_descendant = found[at].parent == root;
      for (int other = 0; other < kept && !is_descendant; other++) is_descendant = found[at].parent == found[other].pid;
      if (!is_descendant) continue;
      struct hw_process swapped = found[kept];
      found[kept++] = found[at];
      found[at] = swapped;
    }
  }
  return kept;
}
