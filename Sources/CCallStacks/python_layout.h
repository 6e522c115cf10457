/// Where CPython stores its state, as offsets in bytes; also for the preloaded library (AllocationSampler).

#ifndef HW_PYTHON_LAYOUT_H
#define HW_PYTHON_LAYOUT_H

#include <stdint.h>
#include <string.h>

/// In `frame_in_frames`: the thread has the frame itself.
#define HW_PYTHON_NONE UINT64_MAX

/// How much is read of a frame and of a code object.
enum { HW_PYTHON_FRAME_SIZE = 80, HW_PYTHON_CODE_SIZE = 160 };

/// The owner of the frames that the interpreter adds where C calls Python.
#define HW_PYTHON_OWNED_BY_C 3

/// Printed by `offsetof` from the headers of 3.11.7 and 3.12.1; such structures do not change between patch releases.
/// 3.13 has a table of them (`_Py_DebugOffsets`).
struct hw_python_layout {
  /// In `_PyRuntime`.
  uint64_t interpreters;
  /// In an interpreter.
  uint64_t next_interpreter, threads;
  /// In a thread; `frames` is the address of a structure that has the frame, or of the frame.
  uint64_t next_thread, native_thread, frames, frame_in_frames;
  /// In a frame.
  uint64_t code, previous, instruction, owner;
  /// In a code object.
  uint64_t first_line, file, function, lines, bytecode;
  /// Where the characters of a string begin: of ASCII, or of others.
  uint64_t ascii, other;
};

/// The words at the start of `_PyRuntime` that have the table of 3.13.
#define HW_PYTHON_OFFSETS 71

/// The layout of a version (`Py_Version`), with the first words of `_PyRuntime`; whether it is known.
static inline int hw_python_find_layout(uint64_t version, const uint64_t *words, struct hw_python_layout *layout) {
  static const struct hw_python_layout layout_3_11 = {
    40, 0, 16, 8, 160, 56, 8, 32, 48, 56, 69, 72, 112, 128, 136, 184, 48, 72,
  };
  static const struct hw_python_layout layout_3_12 = {
    40, 0, 72, 8, 144, 56, 0, 0, 8, 56, 70, 68, 112, 128, 136, 192, 40, 56,
  };
  switch ((version & UINT32_MAX) >> 16) {
    case 0x30b: *layout = layout_3_11; return 1;
    case 0x30c: *layout = layout_3_12; return 1;
    case 0x30d: break;
    default: return 0;
  }
  if (memcmp(words, "xdebugpy", 8) != 0) return 0;
  *layout = (struct hw_python_layout){
    words[5], words[8], words[9], words[21], words[25], words[23], HW_PYTHON_NONE, words[30], words[29], words[31],
    words[33], words[39], words[35], words[37], words[38], words[43], words[70], words[70] + 16,
  };
  for (int at = 29; at <= 33; at++) {
    if (at != 32 && words[at] > HW_PYTHON_FRAME_SIZE - 8) return 0;
  }
  for (int at = 35; at <= 39; at++) {
    if (words[at] > HW_PYTHON_CODE_SIZE - 8) return 0;
  }
  // Without the global lock, objects are larger.
  return words[2] == 0;
}

#endif
