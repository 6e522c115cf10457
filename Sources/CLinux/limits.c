#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/// The most that is tried at once.
#define MOST 64

int hw_try_descriptors(int count) {
  int opened[MOST], made = 0;
  while (made < count && made < MOST && (opened[made] = open("/", O_PATH | O_CLOEXEC)) >= 0) made++;
  int is_enough = made == count;
  while (made > 0) close(opened[--made]);
  return is_enough;
}

static void *wait_for(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  return NULL;
}

int hw_try_threads(int count) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_attr_t small;
  pthread_t threads[MOST];
  int made = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  pthread_mutex_lock(&lock);
  while (made < count && made < MOST && pthread_create(&threads[made], &small, wait_for, &lock) == 0) made++;
  pthread_mutex_unlock(&lock);
  pthread_attr_destroy(&small);
  int is_enough = made == count;
  while (made > 0) pthread_join(threads[--made], NULL);
  return is_enough;
}

int hw_try_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  munmap(memory, size);
  return 1;
}

// MARK: - Without memory

static char message[512];
static int exit_code;

/// The stack of the handler: the limit may have kept the thread's own stack from growing.
static char handler_stack[65536] __attribute__((aligned(16)));

static void exit_with_message(int signal) {
  (void)signal;
  (void)!write(STDERR_FILENO, message, strlen(message));
  _exit(exit_code);
}

static int is_limited(int resource) {
  struct rlimit limit;
  return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void hw_end_without_memory(const char *text, int code) {
  if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) return;
#if defined(M_ARENA_MAX)
  // Otherwise glibc reserves 64 MiB for each thread.
  mallopt(M_ARENA_MAX, 1);
#endif
  strncpy(message, text, sizeof message - 1);
  exit_code = code;
  sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = sizeof handler_stack}, NULL);
  static const int numbers[] = {SIGABRT, SIGBUS, SIGILL, SIGSEGV, SIGTRAP};
  for (size_t at = 0; at < sizeof numbers / sizeof numbers[0]; at++) {
    sigaction(numbers[at], &(struct sigaction){.sa_handler = exit_with_message, .sa_flags = SA_ONSTACK}, NULL);
  }
}
