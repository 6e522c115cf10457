/// Call stacks of stopped threads, and the names of their functions.
///
/// The DWARF unwind tables are read by libdw of elfutils, which is loaded at run time: without it, stacks are followed
/// by frame pointers alone. What these functions read is not trusted: files may be damaged, and stack words random.
///
/// One thread of a process may use these functions at a time. What they store lives until the process exits.

#ifndef HW_CCALLSTACKS_H
#define HW_CCALLSTACKS_H

#include <stdint.h>
#include <sys/types.h>

/// Loads libdw and libelf; NULL, or the reason why they cannot be loaded.
///
/// Call it once before any fork: the other functions work in forked processes, too. Forbids libdw to download files.
const char *_Nullable hw_stacks_load(void);

/// The module of code that no file holds, such as that of a JIT compiler.
#define HW_NO_MODULE 0

/// The most frames of a stack.
#define HW_MAX_FRAMES 512

/// A place in code.
struct hw_place {
  /// The number of an ELF file, for all processes; or `HW_NO_MODULE`.
  uint32_t module;
  /// Whether `address` is the one that a call returns to: then the call is just before it.
  uint32_t is_return;
  /// By the program headers of the file; without a module, the address in the process.
  uint64_t address;
};

/// The executable mappings of a process.
struct hw_code;

/// NULL if there is no memory for it. The mappings are read at the first use.
struct hw_code *_Nullable hw_code_open(pid_t process);

/// Another owner of the mappings, who closes them, too.
struct hw_code *_Nonnull hw_code_share(struct hw_code *_Nonnull code);

void hw_code_close(struct hw_code *_Nullable code);

/// Says that the mappings have changed: they are read again when they are next needed.
void hw_code_changed(struct hw_code *_Nonnull code);

/// Whether an executable mapping overlaps the addresses from `from` to before `to`.
int hw_code_overlaps(struct hw_code *_Nonnull code, uint64_t from, uint64_t to);

/// Reads which functions a JIT compiler has written to `/tmp/perf-PID.map`: the names of places without a module.
///
/// Call it again when there may be more of them, at the latest before the process is gone.
void hw_code_read_perf_map(struct hw_code *_Nonnull code);

/// Whether it has read any.
int hw_code_has_perf_map(const struct hw_code *_Nonnull code);

/// Whether a mapped file has a section, such as that of a language's runtime; `thread` is a living one.
int hw_has_section(struct hw_code *_Nonnull code, pid_t thread, const char *_Nonnull section);

/// The address of a variable of the first mapped file with a symbol table, which is mostly the program; 0 if it has none.
uint64_t hw_variable_address(struct hw_code *_Nonnull code, pid_t thread, const char *_Nonnull name);

/// The place of an address that a call returns to.
struct hw_place hw_return_place(struct hw_code *_Nonnull code, pid_t thread, uint64_t address);

/// Walks the stack of a thread in a ptrace stop; the number of places, the innermost first.
///
/// `is_complete` is whether the outermost frame was reached.
int hw_walk(
  struct hw_code *_Nonnull code, pid_t thread, struct hw_place *_Nonnull places, int capacity,
  int *_Nonnull is_complete);

/// What a walk needs of a thread that continued: the registers that a function preserves, the stack pointer and the program
/// counter, and the stack from its stack pointer.
struct hw_stack_copy {
#if defined(__x86_64__)
  uint64_t registers[8];
#else
  uint64_t registers[14];
#endif
  const void *_Nonnull bytes;
  uint32_t size;
};

/// Walks a copy of a stack, by the code that the process has now; see `hw_walk`. `thread` is a living one of the process.
int hw_walk_copy(
  struct hw_code *_Nonnull code, pid_t thread, const struct hw_stack_copy *_Nonnull copy, struct hw_place *_Nonnull places,
  int capacity, int *_Nonnull is_complete);

/// A function of Python.
struct hw_python_frame {
  /// Its qualified name, and its file; both live until exit, and equal texts are the same pointer.
  const char *_Nonnull function;
  const char *_Nonnull file;
  int line;
};

/// The Python functions that a thread in a ptrace stop runs, the innermost first.
///
/// The number of them; 0 if there is none, or if the interpreter is not CPython 3.11 to 3.13 with the global lock.
int hw_python_frames(
  struct hw_code *_Nonnull code, pid_t thread, struct hw_python_frame *_Nonnull frames, int capacity);

/// What names a function that Python ran, copied by the preloaded library: addresses in its process.
struct hw_python_copy {
  uint64_t code, instruction, file, function;
  int64_t first_line;
};

/// Names those of the functions that still exist; the number of them.
int hw_python_names(
  struct hw_code *_Nonnull code, pid_t thread, const struct hw_python_copy *_Nonnull copies, int count,
  struct hw_python_frame *_Nonnull frames);

/// The one copy of a name in this thread, which lives until exit.
const char *_Nonnull hw_intern(const char *_Nonnull name);

/// The path of a module in the process that first used it.
const char *_Nonnull hw_module_path(uint32_t module);

/// The demangled name of the function at a place; empty if unknown. Equal names are the same pointer.
///
/// `code` is for places without a module.
const char *_Nonnull hw_function_at(const struct hw_code *_Nullable code, struct hw_place place);

/// The most functions at one place.
#define HW_MAX_INLINED 16

/// A function by the debug information of its file.
struct hw_source {
  /// Demangled; empty if unknown. Of a place's outermost function `hw_function_at` has the name.
  const char *_Nonnull function;
  /// The file and the line that the place is at, or that calls the next inner function; empty and 0 if unknown.
  const char *_Nonnull file;
  int line;
};

/// The functions at a place, the outermost first: the one of the program, and those that the compiler has inlined there.
///
/// The number of them; 0 without debug information in the file, or in a separate one. They are valid until the next call.
int hw_sources_at(struct hw_place place, const struct hw_source *_Nullable *_Nonnull sources);

/// The name of a symbol without what the compiler has added to it, demangled if it is of C++, Rust or Swift.
///
/// Lives until exit. Equal names are the same pointer within a thread.
const char *_Nonnull hw_demangle(const char *_Nonnull symbol);

#endif
