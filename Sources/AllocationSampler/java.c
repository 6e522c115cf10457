/// The functions of Java that a thread runs, which the sampler of Java's heap tells (HeapSampler/java_native.c), and the stacks
/// of Java's threads as blocks of who started them.

#define _GNU_SOURCE
#include "sampler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(hw_script_frames *) source;

EXPORTED void hw_follow_frames(hw_script_frames *frames) { source = frames; }

uint32_t hw_java_frames(uint64_t *keys) {
  // The virtual machine may allocate while it walks the stack.
  static PER_THREAD int is_asking;
  hw_script_frames *frames = source;
  if (frames == NULL || is_asking) return 0;
  is_asking = 1;
  uint32_t count = frames(keys, HW_RING_FRAMES);
  is_asking = 0;
  return count;
}

// MARK: - Threads

typedef void *(*thread_body)(void *);
typedef int (*thread_creator)(pthread_t *, const pthread_attr_t *, thread_body, void *);

struct start {
  thread_body body;
  void *argument;
};

/// What stands for the stack of a thread until that runs and tells it: no address of a program.
static const void *placeholder(const struct start *start) {
  return (const void *)((uintptr_t)start | (UINT64_C(1) << 62));
}

static void end_thread(void *stack) {
  if (stack != NULL) hw_report_release(stack, 0);
}

/// Runs a thread; its stack is a block that its creator got.
static void *run_thread(void *data) {
  struct start start = *(struct start *)data, *former = data;
  pthread_attr_t attributes;
  void *stack = NULL, *result;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
  }
  if (stack != NULL) hw_report_move(placeholder(former), stack, size);
  else hw_report_release(placeholder(former), 0);
  free(former);
  pthread_cleanup_push(end_thread, stack);
  result = start.body(start.argument);
  pthread_cleanup_pop(1);
  return result;
}

/// In libpthread before glibc 2.34, which may be loaded later.
static thread_creator next_creator(void) {
  static _Atomic thread_creator next;
  if (next == NULL) next = (thread_creator)dlsym(RTLD_NEXT, "pthread_create");
  if (next == NULL) next = (thread_creator)dlsym(dlopen("libpthread.so.0", RTLD_LAZY), "pthread_create");
  return next;
}

/// Pages of a stack count for the code that touches them first, which in Java was generated, and has no names.
EXPORTED int pthread_create(
  pthread_t *thread, const pthread_attr_t *attributes, thread_body body, void *argument
) {
  thread_creator create = next_creator();
  struct start *start = hw_is_sampling && source != NULL ? malloc(sizeof *start) : NULL;
  if (start == NULL) return create(thread, attributes, body, argument);
  *start = (struct start){body, argument};
  const void *block = placeholder(start);
  hw_report_block(block, 1, 0);
  int code = create(thread, attributes, run_thread, start);
  if (code == 0) return 0;
  hw_report_release(block, 0);
  free(start);
  return code;
}
