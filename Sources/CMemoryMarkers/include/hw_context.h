/// Which serial queue, run loop or event loop the calling code runs on.
///
/// In C, because only C can refer to a function of a library that may not be linked.

#ifndef HW_CONTEXT_H
#define HW_CONTEXT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// `dispatch/queue.h`: NULL selects the current queue.
extern const char *_Nullable dispatch_queue_get_label(void *_Nullable queue) __attribute__((weak));

static inline uint64_t hw_thread(void) { return (uint64_t)(uintptr_t)pthread_self(); }

/// A number that differs between serial dispatch queues, and outside of them between threads.
///
/// The label of a queue is a copy of its own. The global queues, whose labels begin with `com.apple.root.`, run on threads
/// that come and go.
static inline uint64_t hw_context(void) {
  static const char global[] = "com.apple.root.";
  const char *label = &dispatch_queue_get_label != NULL ? dispatch_queue_get_label(NULL) : NULL;
  if (label == NULL || strncmp(label, global, sizeof global - 1) == 0) return hw_thread();
  return (uint64_t)(uintptr_t)label;
}

#endif
