/// Samples the objects of Python, which its own allocator takes from arenas: by hooks around that allocator, as tracemalloc
/// has them (PEP 445).

#define _GNU_SOURCE
#include "sampler.h"

#include "../CCallStacks/python_layout.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/// `PyMemAllocatorEx` (Python 3.5).
struct allocator {
  void *context;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *);
};

/// `PyMemAllocatorDomain`; the first one, 0, is malloc(3).
enum { MEMORY_DOMAIN = 1, OBJECT_DOMAIN = 2, DOMAINS };

static struct allocator next[DOMAINS];

/// The allocator's unit.
static size_t given_size(size_t size) { return size == 0 ? 16 : (size + 15) & ~(size_t)15; }

/// A block that malloc(3) has given is sampled there.
static void *sample(void *block, size_t size, uint64_t seen) {
  if (block != NULL && hw_blocks_seen == seen && hw_is_sampling) hw_sample(block, given_size(size));
  return block;
}

static void *sampled_malloc(void *context, size_t size) {
  const struct allocator *allocator = context;
  uint64_t seen = hw_blocks_seen;
  return sample(allocator->malloc(allocator->context, size), size, seen);
}

static void *sampled_calloc(void *context, size_t count, size_t size) {
  const struct allocator *allocator = context;
  uint64_t seen = hw_blocks_seen;
  return sample(allocator->calloc(allocator->context, count, size), count * size, seen);
}

static void *sampled_realloc(void *context, void *block, size_t size) {
  const struct allocator *allocator = context;
  uint64_t seen = hw_blocks_seen;
  uintptr_t entry = hw_is_sampling && block != NULL ? hw_take(block) : 0;
  if (entry != 0) hw_taken = (struct hw_taken){block, entry};
  void *moved = allocator->realloc(allocator->context, block, size);
  if (entry != 0 && hw_taken.block == NULL) return moved;
  hw_taken.block = NULL;
  // Where it was, it has the room that it had.
  if (moved == NULL || moved == block) hw_not_moved(entry, block, 1);
  else if (hw_blocks_seen != seen) hw_not_moved(entry, block, 0);
  else if (hw_is_sampling) hw_moved(entry, 0, block, moved, given_size(size));
  return moved;
}

static void sampled_free(void *context, void *block) {
  const struct allocator *allocator = context;
  hw_release(block);
  allocator->free(allocator->context, block);
}

// MARK: - Frames

static void *(*own_thread)(void);
static const void *code_type;
static struct hw_python_layout layout;
/// Whether the frames of a thread were read once, carefully.
static int is_checked, is_usable;

static uint64_t word_at(uint64_t address, uint64_t offset) {
  uint64_t word;
  memcpy(&word, (const void *)(uintptr_t)(address + offset), sizeof word);
  return word;
}

/// Whether memory of this process exists.
static int is_readable(uint64_t address, size_t size) {
  uint8_t bytes[256];
  struct iovec local = {bytes, size}, remote = {(void *)(uintptr_t)address, size};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static uint64_t innermost(uint64_t thread) {
  uint64_t frame = word_at(thread, layout.frames);
  return frame == 0 || layout.frame_in_frames == HW_PYTHON_NONE ? frame : word_at(frame, layout.frame_in_frames);
}

/// Whether the frames of a thread are where this version has them: builds for debugging have larger objects.
static int check(uint64_t thread) {
  if (!is_readable(thread + layout.frames, sizeof(uint64_t))) return 0;
  uint64_t frame = word_at(thread, layout.frames);
  if (frame != 0 && layout.frame_in_frames != HW_PYTHON_NONE) {
    if (!is_readable(frame + layout.frame_in_frames, sizeof(uint64_t))) return 0;
    frame = word_at(frame, layout.frame_in_frames);
  }
  if (frame == 0) return 1;
  if (!is_readable(frame, HW_PYTHON_FRAME_SIZE)) return 0;
  uint64_t code = word_at(frame, layout.code);
  is_checked = is_readable(code, HW_PYTHON_CODE_SIZE) && word_at(code, 8) == (uintptr_t)code_type;
  return is_checked;
}

uint64_t hw_python_frame(void) {
  if (!is_usable) return 0;
  uint64_t thread = (uintptr_t)own_thread();
  if (thread == 0) return 0;
  if (!is_checked) is_usable = check(thread);
  return is_checked ? innermost(thread) : 0;
}

uint64_t hw_read_python_frame(uint64_t frame, struct hw_ring_frame *to) {
  uint64_t code = word_at(frame, layout.code);
  *to = (struct hw_ring_frame){0};
  if (((const uint8_t *)(uintptr_t)frame)[layout.owner] != HW_PYTHON_OWNED_BY_C && code != 0 &&
      word_at(code, 8) == (uintptr_t)code_type) {
    int32_t first_line;
    memcpy(&first_line, (const void *)(uintptr_t)(code + layout.first_line), sizeof first_line);
    *to = (struct hw_ring_frame){
      code, word_at(frame, layout.instruction), word_at(code, layout.file), word_at(code, layout.function), first_line};
  }
  return word_at(frame, layout.previous);
}

/// Finds how the interpreter stores its frames.
static void find_frames(void) {
  const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version");
  const void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
  own_thread = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
  code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
  if (version == NULL || runtime == NULL || own_thread == NULL || code_type == NULL) return;
  uint64_t words[HW_PYTHON_OFFSETS];
  memcpy(words, runtime, sizeof words);
  is_usable = hw_python_find_layout(*version, words, &layout);
}

// MARK: - The start

void hw_hook_python(void) {
  void (*get)(int, struct allocator *) = (void (*)(int, struct allocator *))dlsym(RTLD_DEFAULT, "PyMem_GetAllocator");
  void (*set)(int, struct allocator *) = (void (*)(int, struct allocator *))dlsym(RTLD_DEFAULT, "PyMem_SetAllocator");
  if (get == NULL || set == NULL) return;
  find_frames();
  // The build without a global lock, which alone exports this function, needs its own allocator.
  if (dlsym(RTLD_DEFAULT, "_Py_MergeZeroLocalRefcount") != NULL) return;
  for (int domain = MEMORY_DOMAIN; domain <= OBJECT_DOMAIN; domain++) {
    get(domain, &next[domain]);
    struct allocator hooks = {&next[domain], sampled_malloc, sampled_calloc, sampled_realloc, sampled_free};
    set(domain, &hooks);
  }
}
