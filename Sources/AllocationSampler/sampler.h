/// Declarations shared by the files of the preloaded library.

#ifndef HW_SAMPLER_H
#define HW_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "../CMemoryProfiler/ring.h"
#include "script_frames.h"

#define EXPORTED __attribute__((visibility("default")))
/// Without the calls that a dynamic TLS model makes, which may allocate.
#define PER_THREAD __thread __attribute__((tls_model("initial-exec")))

// MARK: - Sampling

/// Whether samples are taken.
extern int hw_is_sampling;

/// The blocks that this thread has got from `malloc` and its relatives.
extern PER_THREAD uint64_t hw_blocks_seen;

/// Samples a new block, of which the allocator gave so many bytes.
void hw_sample(void *block, size_t given);

/// Before the block is released, so that no other thread can get the same address earlier.
void hw_release(const void *block);

/// Before realloc(3) of a block, so that no other thread can get the same address earlier: takes its entry out of those of
/// the sampled blocks; 0 if it has none.
uintptr_t hw_take(const void *block);

/// An entry that this thread has taken for an outer allocator, whose realloc may call that of an inner one.
extern PER_THREAD struct hw_taken {
  const void *block;
  uintptr_t entry;
} hw_taken;

/// After it: the block at another address, or of another size than the former one, which is 0 if nobody knows it.
void hw_moved(uintptr_t entry, size_t former, const void *block, void *moved, size_t given);

/// After it: nothing was given, since the block still lives, or was released.
void hw_not_moved(uintptr_t entry, const void *block, int is_live);

// MARK: - Reporting to the supervisor

/// Maps the ring; whether there is one.
int hw_open_ring(const char *path);

/// The mean number of bytes between samples; the supervisor changes it.
double hw_interval(void);

/// Starts without a ring: each report stops the program.
void hw_set_interval(double interval);

/// Tells the supervisor that this program has the library, also if no block of it is ever sampled.
void hw_announce(void);

/// Reports a new block of a sample that was drawn with an interval.
void hw_report_block(const void *block, size_t size, double interval);

/// Reports a sampled block at another address or of another size.
void hw_report_move(const void *from, const void *block, size_t size);

/// Reports a released one, whose stack stands for so many releases, or for none.
void hw_report_release(const void *released, uint32_t releases);

// MARK: - Python

/// Samples the objects of Python, if the program has it.
void hw_hook_python(void);

/// The innermost frame of Python of this thread; 0 if it has none.
uint64_t hw_python_frame(void);

/// Copies what names the function of a frame, unless that is the interpreter's own: then `code` is 0. The next outer frame;
/// 0 if there is none.
uint64_t hw_read_python_frame(uint64_t frame, struct hw_ring_frame *to);

// MARK: - Java

/// Takes over the functions of Java that a thread runs, from the library that knows them; NULL ends it.
EXPORTED void hw_follow_frames(hw_script_frames *frames);

/// Keys of the functions of Java that this thread runs, innermost first, at most `HW_RING_FRAMES`; how many.
uint32_t hw_java_frames(uint64_t *keys);

// MARK: - The allocator

EXPORTED void *malloc(size_t size);
EXPORTED void *memalign(size_t alignment, size_t size);
EXPORTED void free(void *block);

/// Samples a block of the next allocator.
void *hw_sample_block(void *block, size_t size);

#endif
