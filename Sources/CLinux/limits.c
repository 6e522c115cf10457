#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
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
