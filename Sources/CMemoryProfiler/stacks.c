#include "profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// The functions of scripts that were seen, by their numbers.
static struct hw_python_frame *scripts;
static uint32_t script_count, script_capacity;
/// The numbers from 1, in a hash table of twice the capacity.
static uint32_t *script_slots;

static uint32_t slot_of(const struct hw_python_frame *frame) {
  uint64_t mixed = ((uintptr_t)frame->function ^ ((uintptr_t)frame->file << 7) ^ ((uint64_t)frame->line << 33)) *
    UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mixed >> 32) & (script_capacity * 2 - 1);
}

static int is_equal(const struct hw_python_frame *one, const struct hw_python_frame *other) {
  return one->function == other->function && one->file == other->file && one->line == other->line;
}

/// The slot of a frame, or the empty one where it belongs.
static uint32_t *slot_for(const struct hw_python_frame *frame) {
  uint32_t at = slot_of(frame);
  while (script_slots[at] != 0 && !is_equal(&scripts[script_slots[at] - 1], frame)) {
    at = (at + 1) & (script_capacity * 2 - 1);
  }
  return &script_slots[at];
}

static int grow(void) {
  uint32_t wanted = script_capacity == 0 ? 1024 : script_capacity * 2;
  struct hw_python_frame *larger = realloc(scripts, wanted * sizeof *scripts);
  if (larger == NULL) return 0;
  scripts = larger;
  uint32_t *slots = calloc(wanted * 2, sizeof *slots);
  if (slots == NULL) return 0;
  free(script_slots);
  script_slots = slots;
  script_capacity = wanted;
  for (uint32_t at = 0; at < script_count; at++) *slot_for(&scripts[at]) = at + 1;
  return 1;
}

/// The place that stands for a function of a script; its address is the function's number.
static struct hw_place script_place(const struct hw_python_frame *frame) {
  struct hw_place none = {.module = HW_NO_MODULE};
  if (script_count >= script_capacity && !grow()) return none;
  uint32_t *slot = slot_for(frame);
  if (*slot == 0) {
    scripts[script_count++] = *frame;
    *slot = script_count;
  }
  return (struct hw_place){.module = HW_SCRIPT, .address = *slot - 1};
}

struct hw_python_frame hw_script_at(struct hw_place place) {
  return scripts[place.address];
}

/// Whether a place is in the function of CPython that runs functions of scripts; remembers the answers.
static int runs_scripts(const struct hw_code *code, struct hw_place place) {
  static struct answer {
    struct hw_place place;
    int is_known, is_true;
  } answers[1024];
  struct answer *answer = &answers[(place.address ^ (place.address >> 10) ^ place.module) & 1023];
  if (answer->is_known && answer->place.address == place.address && answer->place.module == place.module) {
    return answer->is_true;
  }
  *answer = (struct answer){place, 1, strcmp(hw_function_at(code, place), "_PyEval_EvalFrameDefault") == 0};
  return answer->is_true;
}

/// Whether a place is in generated code, where a native stack of Java ends.
static int is_generated(const struct hw_code *code, struct hw_place place) {
  (void)code;
  return place.module == HW_NO_MODULE;
}

typedef int is_script(const struct hw_code *, struct hw_place);

/// Replaces the outer part of a stack, from the innermost place on that runs the script, by the functions of the script.
static int add_scripts(
  const struct hw_code *code, is_script *runs, const struct hw_python_frame *frames, int script_frames,
  struct hw_place *places, int count
) {
  if (script_frames <= 0) return count;
  int inner = 0;
  while (inner < count && !runs(code, places[inner])) inner++;
  for (int at = 0; at < script_frames && inner < HW_MAX_FRAMES; at++) places[inner++] = script_place(&frames[at]);
  return inner;
}

uint32_t hw_stack_of(struct hw_code *code, pid_t thread) {
  struct hw_place places[HW_MAX_FRAMES];
  struct hw_python_frame frames[HW_MAX_FRAMES];
  int is_complete = 0;
  int count = hw_walk(code, thread, places, HW_MAX_FRAMES, &is_complete);
  int scripts = hw_python_frames(code, thread, frames, HW_MAX_FRAMES);
  return hw_tree_insert(places, add_scripts(code, runs_scripts, frames, scripts, places, count));
}

/// What stands for functions of Java until the log of its heap names them (MemoryProfileReader.swift).
static int java_names(pid_t process, const struct hw_python_copy *copies, int count, struct hw_python_frame *frames) {
  char text[64];
  for (int at = 0; at < count; at++) {
    snprintf(text, sizeof text, "%s%d %llx", HW_JAVA_NAME, (int)process, (unsigned long long)copies[at].code);
    frames[at] = (struct hw_python_frame){hw_intern(text), "", 0};
  }
  return count;
}

uint32_t hw_stack_of_copy(
  struct hw_code *code, pid_t process, const struct hw_stack_copy *copy, const struct hw_python_copy *copies, int count
) {
  struct hw_place places[HW_MAX_FRAMES];
  struct hw_python_frame frames[HW_MAX_FRAMES];
  int is_complete = 0, is_java = count > 0 && copies[0].function == 0;
  pid_t thread = hw_living_thread(process);
  int places_count = hw_walk_copy(code, thread, copy, places, HW_MAX_FRAMES, &is_complete);
  int scripts = is_java ? java_names(process, copies, count, frames) : hw_python_names(code, thread, copies, count, frames);
  return hw_tree_insert(
    places, add_scripts(code, is_java ? is_generated : runs_scripts, frames, scripts, places, places_count));
}
