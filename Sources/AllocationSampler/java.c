/// The functions of Java that a thread runs, which the sampler of Java's heap tells (HeapSampler/java_native.c).

#include "sampler.h"

#include <stdatomic.h>

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
