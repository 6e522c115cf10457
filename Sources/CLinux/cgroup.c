#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/// How often a cgroup that was just left is removed again, every 5 ms, while the kernel calls it busy.
#define MAX_REMOVALS 40

HW_NO_SANITIZER static int write_at(int folder, const char *path, const char *text) {
  int file = openat(folder, path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int code = errno;
  close(file);
  errno = code;
  return written < 0 ? -1 : 0;
}

HW_NO_SANITIZER int hw_write_text(const char *path, const char *text) { return write_at(AT_FDCWD, path, text); }

int hw_make_cgroup(const struct hw_cgroup *cgroup) {
  for (char *const *folder = cgroup->folders; *folder != NULL; folder++) {
    if (mkdir(*folder, 0755) != 0) return -1;
  }
  for (char *const *setting = cgroup->settings; *setting != NULL; setting += 2) {
    if (hw_write_text(setting[0], setting[1]) != 0) return -1;
  }
  return 0;
}

/// Only v1 has this file. A process of one thread that moves itself by it does not take the lock on all forks, which
/// costs some 12 ms (`cgroup_procs_write_start` since Linux 5.5).
#define MEMBERS_V1 "tasks"
#define MEMBERS_V2 "cgroup.procs"

/// Writing `0` moves the writer itself.
HW_NO_SANITIZER int hw_join_folder(const char *path, int is_in_v2) {
  int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return -1;
  int status = write_at(folder, MEMBERS_V1, "0");
  if (status != 0 && errno == ENOENT) status = is_in_v2 ? 0 : write_at(folder, MEMBERS_V2, "0");
  int code = errno;
  close(folder);
  errno = code;
  return status;
}

HW_NO_SANITIZER int hw_join_cgroup(const struct hw_cgroup *cgroup, int is_in_v2) {
  for (char *const *path = cgroup->joined; *path != NULL; path++) {
    if (hw_join_folder(*path, is_in_v2) != 0) return -1;
  }
  return 0;
}

int hw_open_v2_cgroup(const struct hw_cgroup *cgroup) {
  for (char *const *path = cgroup->joined; *path != NULL; path++) {
    int folder = open(*path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    if (faccessat(folder, MEMBERS_V1, F_OK, 0) != 0) return folder;
    close(folder);
  }
  return -1;
}

/// Removes an empty cgroup below a folder, or at an absolute path.
static void remove_at(int folder, const char *path) {
  for (int turn = 0; turn < MAX_REMOVALS && unlinkat(folder, path, AT_REMOVEDIR) != 0 && errno == EBUSY; turn++) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
}

void hw_remove_cgroup(const struct hw_cgroup *cgroup) {
  for (char *const *folder = cgroup->folders; *folder != NULL; folder++) remove_at(AT_FDCWD, *folder);
}

// MARK: - A leaf for the processes of a v2 cgroup

/// Each round moves up to some 500 processes; those that were forked meanwhile are moved by the next.
#define MAX_MOVES 64

/// Reads the first process IDs of a `cgroup.procs`, one on each line; their length, 0 if there are none.
static ssize_t read_members(int folder, const char *file, char *text, size_t capacity) {
  int opened = openat(folder, file, O_RDONLY | O_CLOEXEC);
  if (opened < 0) return -1;
  ssize_t length = read(opened, text, capacity - 1);
  close(opened);
  while (length > 0 && text[length - 1] != '\n') length--;
  if (length >= 0) text[length] = '\0';
  return length;
}

/// Moves all processes; a process that cannot be moved, such as one of an outer pid namespace (shown as 0), stays.
static void move_members(int folder, const char *from, const char *to) {
  char text[4096];
  for (int round = 0; round < MAX_MOVES && read_members(folder, from, text, sizeof text) > 0; round++) {
    char *rest = text;
    for (char *pid; (pid = strtok_r(rest, "\n", &rest)) != NULL;) {
      if (strcmp(pid, "0") != 0) write_at(folder, to, pid);
    }
  }
}

/// The lock tells other runners in the leaf, each with a keeper of its own, that it is in use.
static int occupy_leaf(int folder) {
  if (flock(folder, LOCK_SH) != 0) return errno;
  if (mkdirat(folder, HW_LEAF, 0755) != 0 && errno != EEXIST) return errno;
  move_members(folder, "cgroup.procs", HW_LEAF "/cgroup.procs");
  return write_at(folder, "cgroup.subtree_control", "+memory") == 0 ? 0 : errno;
}

/// The kernel lets no process into a cgroup that has controllers enabled for others, so that goes first.
static void give_up_leaf(int folder) {
  if (flock(folder, LOCK_EX | LOCK_NB) != 0) return;
  write_at(folder, "cgroup.subtree_control", "-memory");
  move_members(folder, HW_LEAF "/cgroup.procs", "cgroup.procs");
  remove_at(folder, HW_LEAF);
}

/// The child of `hw_occupy_leaf`, until the other end of its socket is closed.
static _Noreturn void keep_leaf(const char *path, int ends[2]) {
  // Not reached by signals to the runner's process group; all signals are blocked anyway.
  setsid();
  hw_close_all_but(&ends[1], 1);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int code = folder < 0 ? errno : occupy_leaf(folder), turns = 0;
  if (send(ends[1], &code, sizeof code, MSG_NOSIGNAL) == sizeof code) {
    while (code == 0 && read(ends[1], &code, sizeof code) < 0 && hw_is_interrupted(&turns)) continue;
  }
  if (folder >= 0) give_up_leaf(folder);
  _exit(0);
}

void hw_give_up_leaf(struct hw_leaf leaf) {
  close(leaf.socket);
  hw_reap(leaf.keeper, NULL);
}

int hw_occupy_leaf(const char *folder, struct hw_leaf *leaf) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  pid_t pid = hw_fork_blocking_signals();
  int code = pid < 0 ? errno : EIO, turns = 0;
  if (pid == 0) keep_leaf(folder, ends);
  close(ends[1]);
  while (pid > 0 && read(ends[0], &code, sizeof code) < 0 && hw_is_interrupted(&turns)) continue;
  *leaf = (struct hw_leaf){.keeper = pid, .socket = ends[0]};
  if (pid < 0) close(ends[0]);
  else if (code != 0) hw_give_up_leaf(*leaf);
  return code;
}

int hw_is_marked_as_delegated(const char *folder) {
  char value = 0;
  // Only root can read the first.
  if (getxattr(folder, "trusted.delegate", &value, 1) == 1 && value == '1') return 1;
  return getxattr(folder, "user.delegate", &value, 1) == 1 && value == '1';
}
