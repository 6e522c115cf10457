#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

HW_NO_SANITIZER int hw_write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int code = errno;
  close(file);
  errno = code;
  return written < 0 ? -1 : 0;
}

int hw_make_cgroup(const struct hw_cgroup *cgroup) {
  for (char *const *folder = cgroup->folders; *folder != NULL; folder++) {
    if (mkdir(*folder, 0755) != 0) return -1;
  }
  for (char *const *setting = cgroup->settings; *setting != NULL; setting += 2) {
    if (hw_write_text(setting[0], setting[1]) != 0) return -1;
  }
  return 0;
}

HW_NO_SANITIZER int hw_join_cgroup(const struct hw_cgroup *cgroup) {
  for (char *const *member = cgroup->members; *member != NULL; member++) {
    if (hw_write_text(*member, "0") != 0) return -1;
  }
  return 0;
}

void hw_remove_cgroup(const struct hw_cgroup *cgroup) {
  for (char *const *folder = cgroup->folders; *folder != NULL; folder++) {
    for (int turn = 0; turn < 40 && rmdir(*folder) != 0 && errno == EBUSY; turn++) {
      nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
  }
}
