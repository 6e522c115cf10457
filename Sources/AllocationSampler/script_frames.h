/// What the sampler of a runtime's heap offers to that of blocks, which is another library in the same process.

#ifndef HW_SCRIPT_FRAMES_H
#define HW_SCRIPT_FRAMES_H

#include <stdint.h>

/// Writes keys of the functions that this thread runs, innermost first; how many. It may be called within malloc(3).
typedef uint32_t hw_script_frames(uint64_t *keys, uint32_t most);

/// The function of the sampler of blocks that takes it; NULL ends it.
#define HW_FOLLOW_FRAMES "hw_follow_frames"

#endif
