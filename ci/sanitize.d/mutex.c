// Makes the locks of Swift's `Mutex` known to ThreadSanitizer. `ci/sanitize thread` preloads it; nothing else uses it.
//
// The fast path of `Mutex` is inlined into the caller, so ThreadSanitizer sees it. Under contention the lock is acquired
// and released by two functions of libswiftSynchronization, which is not instrumented; without this file, everything
// that the lock protects would be reported as a race. The functions below interpose the two and annotate the acquire and
// the release. They hide no race outside the lock. (Swift 6.3, stdlib/public/Synchronization/Mutex/LinuxImpl.swift.)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// ThreadSanitizer's own functions; null in programs that are built without it and inherit this library.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// `_MutexHandle._lockSlow(_:)` and `_MutexHandle._unlockSlow()`.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock(SELF void *mutex) __asm__(UNLOCK);

typedef SWIFT void locking(uint32_t thread, SELF void *mutex);
typedef SWIFT void unlocking(SELF void *mutex);

static locking *lock_itself;
static unlocking *unlock_itself;

__attribute__((constructor)) static void find(void) {
  lock_itself = (locking *)dlsym(RTLD_NEXT, LOCK);
  unlock_itself = (unlocking *)dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lock(uint32_t thread, SELF void *mutex) {
  lock_itself(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock(SELF void *mutex) {
  if (__tsan_release) __tsan_release(mutex);
  unlock_itself(mutex);
}
