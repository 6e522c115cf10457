/// Declarations shared by the files of the reporter of JUnit.

#ifndef HW_JUNIT_H
#define HW_JUNIT_H

#include <stddef.h>
#include <stdint.h>

/// The longest name of a test in the log, with its end.
#define HW_NAME_SIZE 4001

/// A test, as the log names it.
struct hw_test {
  char name[HW_NAME_SIZE];
  /// Below a root of packages, as in `com/example/CacheTest.java`; empty if unknown.
  char file[1024];
  /// 0 if unknown.
  int line;
};

// MARK: - class_file.c

/// A method of a class that becomes a native one, and the name under which the one with code stays.
struct hw_renamed {
  const char *name, *types, *to;
};

/// Makes these methods of a class native, and keeps each under its other name; NULL if the class has not each of them once.
///
/// \param allocate Gives the memory of the result, or NULL.
unsigned char *hw_make_native(
  const unsigned char *class, int32_t size, const struct hw_renamed *methods, int count,
  unsigned char *(*allocate)(int32_t), int32_t *new_size);

// MARK: - names.c

/// Writes the name of a test by its unique ID, as in `com.example.CacheTest#fills(int)[2]`.
void hw_write_name(char *to, size_t size, const char *unique_id);

/// Writes UTF-16 as UTF-8, as much as fits.
void hw_write_utf8(char *to, size_t size, const uint16_t *units, int32_t count);

/// Writes a text as a string of JSON; how many bytes, which may be more than fit.
size_t hw_write_json(char *to, size_t size, const char *text);

/// Reads the names of a file with a list of JSON as the only ones to run; whether that was possible.
int hw_read_chosen(const char *path);

/// Whether only some tests are to run.
int hw_has_chosen(void);

/// Whether a test is to run, or a container may have tests that are.
enum hw_choice { HW_OTHER, HW_MAY_HAVE_CHOSEN, HW_CHOSEN };
enum hw_choice hw_choice(const char *name);

/// Whether a chosen test comes from the same method.
int hw_is_beside_chosen(const char *name);

// MARK: - record.c

/// Sets the folder of the log.
void hw_record_to(const char *folder);

/// Creates the file that stays if not all is recorded; before the first test of a run.
void hw_begin_recording(void *jni);

/// Removes that file unless something went wrong.
void hw_end_recording(void);

/// Leaves the rest unrecorded.
void hw_stop_recording(void);

void hw_begin_test(const struct hw_test *test);

/// Whether a test has begun, in any thread.
int hw_is_in_test(void);

/// Reads the memory at the end of a test.
///
/// \param outcome `passed`, `failed` or `skipped`; it must stay.
void hw_end_test(const char *name, const char *outcome);

/// Records a test that has ended, after the reports of others on it: collecting garbage does not count as its time.
void hw_record_test(void *jni, const char *name);

/// Records a test that was not started.
void hw_skip_test(const struct hw_test *test);

/// The resident memory of this process in bytes; -1 if it cannot be read.
int64_t hw_resident(void);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t hw_time(void);

// MARK: - heap.c

/// Collects the garbage, and returns what is then free in the heap to the kernel.
void hw_trim_heap(void *jni);

// MARK: - agent.c

/// Collects the garbage.
void hw_collect_heap(void);

#endif
