/// The operators of C++, which allocators also replace.

#define _GNU_SOURCE
#include "sampler.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/// Arguments that an operator does not have are ignored by the calling conventions of both machines.
typedef void *(*operator_new)(size_t, uintptr_t, uintptr_t);
typedef void (*operator_delete)(void *, uintptr_t, uintptr_t);

/// The next operator of a name, also of a runtime that was loaded later, with a module; NULL if there is none.
static void *find_operator(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  static const char *const runtimes[] = {"libstdc++.so.6", "libc++.so.1"};
  for (size_t at = 0; found == NULL && at < sizeof runtimes / sizeof *runtimes; at++) {
    void *runtime = dlopen(runtimes[at], RTLD_LAZY | RTLD_NOLOAD);
    if (runtime != NULL) found = dlsym(runtime, name);
  }
  return found;
}

/// For a module that contains its runtime, whose operators nobody else finds: memory that `free` takes back.
static void *create_alone(const char *name, size_t size, uintptr_t second) {
  if (size == 0) size = 1;
  void *block = strstr(name, "align_val_t") == NULL ? malloc(size) : memalign(second, size);
  if (block == NULL && strstr(name, "nothrow") == NULL) abort();
  return block;
}

/// An operator that calls `malloc` has its block sampled there.
static void *create(operator_new next, const char *name, size_t size, uintptr_t second, uintptr_t third) {
  if (next == NULL) return create_alone(name, size, second);
  uint64_t seen = hw_blocks_seen;
  void *block = next(size, second, third);
  return hw_blocks_seen == seen ? hw_sample_block(block, size) : block;
}

static void destroy(operator_delete next, void *block, uintptr_t second, uintptr_t third) {
  hw_release(block);
  if (next != NULL) next(block, second, third);
  else free(block);
}

#define NEW(name) \
  EXPORTED void *name(size_t size, uintptr_t second, uintptr_t third) { \
    static _Atomic operator_new next; \
    if (next == NULL) next = (operator_new)find_operator(#name); \
    return create(next, #name, size, second, third); \
  }
#define DELETE(name) \
  EXPORTED void name(void *block, uintptr_t second, uintptr_t third) { \
    static _Atomic operator_delete next; \
    if (next == NULL) next = (operator_delete)find_operator(#name); \
    destroy(next, block, second, third); \
  }

NEW(_Znwm)
NEW(_Znam)
NEW(_ZnwmRKSt9nothrow_t)
NEW(_ZnamRKSt9nothrow_t)
NEW(_ZnwmSt11align_val_t)
NEW(_ZnamSt11align_val_t)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
