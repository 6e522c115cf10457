/// Which functions of Java a thread runs when it allocates outside of Java's heap, as for a direct buffer or an Inflater: for
/// the sampler of blocks (AllocationSampler), whose records have them, and their names for the log.
///
/// Native stacks end at generated code, which has no frames that could be unwound.

#define _GNU_SOURCE
#include "java.h"

#include "../AllocationSampler/script_frames.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define JNI_VERSION_1_6 0x00010006

/// More frames are cut off at the outer end.
#define MAX_FRAMES 128

/// `ASGCT_CallFrame` and `ASGCT_CallTrace` of HotSpot (src/hotspot/share/prims/forte.cpp).
struct call_frame {
  /// Of a native method -3.
  int32_t location;
  hw_method method;
};

struct call_trace {
  void *jni;
  /// Without a stack 0 or less.
  int32_t count;
  struct call_frame *frames;
};

/// `AsyncGetCallTrace`, made for signal handlers: it takes no lock, and may be called while the virtual machine allocates.
static void (*walk)(struct call_trace *, int32_t, void *);
static void *machine;

// MARK: - Keys

/// A place in the code is one word: methods are addresses below 2^48, and the code of one has less than 2^16 bytes.
static uint64_t key_of(struct call_frame frame) {
  return (uint64_t)(uintptr_t)frame.method | (uint64_t)(uint16_t)frame.location << 48;
}

static struct hw_java_frame frame_of(uint64_t key) {
  return (struct hw_java_frame){(hw_method)(uintptr_t)(key & ((UINT64_C(1) << 48) - 1)), (int16_t)(key >> 48)};
}

/// Places whose names are wanted, in their order; further ones have none.
#define MAX_PLACES 16384
static _Atomic uint64_t wanted[MAX_PLACES];
static _Atomic uint32_t wanted_count;

/// The same in a hash table, so that each is wanted once.
#define SLOTS (MAX_PLACES * 4)
static _Atomic uint64_t slots[SLOTS];

static void want(uint64_t key) {
  uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
  for (int tries = 0; tries < 64; tries++, at++) {
    uint64_t found = 0;
    if (atomic_compare_exchange_strong(&slots[at % SLOTS], &found, key)) {
      uint32_t number = atomic_fetch_add(&wanted_count, 1);
      if (number < MAX_PLACES) atomic_store(&wanted[number], key);
      return;
    }
    if (found == key) return;
  }
}

// MARK: - Frames

/// The keys of the functions that this thread runs, innermost first; how many. Called while it allocates.
static uint32_t native_frames(uint64_t *keys, uint32_t most) {
  struct call_frame frames[MAX_FRAMES];
  struct call_trace trace = {.frames = frames};
  if (hw_environment(machine, &trace.jni, JNI_VERSION_1_6) != 0) return 0;
  walk(&trace, (int32_t)(most < MAX_FRAMES ? most : MAX_FRAMES), NULL);
  uint32_t count = 0;
  for (int32_t at = 0; at < trace.count; at++) {
    if (frames[at].method == NULL) continue;
    keys[count] = key_of(frames[at]);
    want(keys[count++]);
  }
  return count;
}

static void follow_frames(hw_script_frames *frames) {
  void (*follow)(hw_script_frames *) = (void (*)(hw_script_frames *))dlsym(RTLD_DEFAULT, HW_FOLLOW_FRAMES);
  if (follow != NULL) follow(frames);
}

void hw_native_start(void *virtual_machine) {
  machine = virtual_machine;
  walk = (void (*)(struct call_trace *, int32_t, void *))dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
  if (walk != NULL) follow_frames(native_frames);
}

void hw_native_end(void) { follow_frames(NULL); }

uint32_t hw_native_name(void (*name)(void *jni, struct hw_java_frame frame), void *jni, uint32_t named) {
  for (; named < MAX_PLACES; named++) {
    uint64_t key = atomic_load(&wanted[named]);
    if (key == 0) break;
    name(jni, frame_of(key));
    hw_log_place(frame_of(key), key);
  }
  return named;
}
