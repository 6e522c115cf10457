#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The numbers are the same on every architecture (pidfd_open since Linux 5.3); old headers lack them.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int hw_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int hw_pidfd_send_signal(int descriptor, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0);
}

int hw_shares_memory(pid_t one, pid_t other) {
  long order = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
  return order < 0 ? -1 : order == 0;
}

int hw_can_fix_addresses(void) {
  int now = personality(0xffffffff);
  if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0) return 0;
  personality((unsigned long)now);
  return 1;
}

int hw_executable(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

int hw_sleep_until(int64_t instant, int wake) {
  for (;;) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t left = instant - ((int64_t)time.tv_sec * 1000000000 + time.tv_nsec);
    if (left < 0) left = 0;
    struct timespec limit = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    struct pollfd wanted = {.fd = wake, .events = POLLIN};
    int ready = ppoll(&wanted, 1, &limit, NULL);
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

void hw_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int hw_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int hw_affinity(void *mask, size_t size) { return sched_getaffinity(0, size, mask); }

void hw_reap(pid_t pid) {
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
}
