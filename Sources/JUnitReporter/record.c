/// The log of the tests of this process, in the format of highwater_pytest.py.
///
/// Files are opened for each record, so that nothing is left to close. After a fault nothing is recorded any more, and the
/// file PID.recording stays.

#define _GNU_SOURCE
#include "junit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// A test that keeps this much may leave garbage, or memory that is free but still resident.
#define TRIMMED INT64_C(1048576)

/// The memory of this process at one instant, in bytes.
struct moment {
  int64_t resident, peak;
  int is_reset;
};

/// A test that has begun.
struct open_test {
  struct open_test *next;
  struct hw_test test;
  struct moment begin, end;
  /// When it began, and then how long it took.
  int64_t time;
  /// NULL before its end.
  const char *outcome;
  pthread_t thread;
  /// Whether another test ran in another thread at the same time.
  int is_overlapped;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char recording[4096], log_path[4096];
static struct open_test *tests;
/// What is measured from the end of a test belongs to the next one: `@BeforeAll`, and what its class and object hold.
static struct moment next;
static int has_next, is_lost;

/// Of the C library of GNU only.
extern int malloc_trim(size_t kept) __attribute__((weak));

void hw_record_to(const char *folder) {
  snprintf(recording, sizeof recording, "%s/%d.recording", folder, (int)getpid());
  snprintf(log_path, sizeof log_path, "%s/%d.jsonl", folder, (int)getpid());
}

// MARK: - Memory

static int64_t bytes_of(const char *status, const char *key) {
  const char *found = strstr(status, key);
  return found == NULL ? -1 : strtoll(found + strlen(key), NULL, 10) * 1024;
}

static struct moment memory(void) {
  char status[8192];
  struct moment moment = {.resident = -1, .peak = -1};
  int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? -1 : read(file, status, sizeof status - 1);
  if (file >= 0) close(file);
  if (size > 0) {
    status[size] = '\0';
    moment.resident = bytes_of(status, "VmRSS:");
    moment.peak = bytes_of(status, "VmHWM:");
  }
  if (moment.resident < 0 || moment.peak < 0) is_lost = 1;
  return moment;
}

/// Sets the high-water mark to what is resident now.
static int reset(void) {
  int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  int is_reset = file >= 0 && write(file, "5", 1) == 1;
  if (file >= 0) close(file);
  return is_reset;
}

int64_t hw_resident(void) { return memory().resident; }

/// Collects the garbage and returns free memory to the kernel, so that the next test does not get it for nothing.
///
/// It has no limit of time: tests after it would keep what garbage they leave, and equal runs would differ.
static void trim(void *jni) {
  hw_trim_heap(jni);
  if (malloc_trim != NULL) malloc_trim(0);
}

/// Begins what belongs to the next test.
static void prepare_next(void) {
  int is_reset = reset();
  next = memory();
  next.is_reset = is_reset;
  has_next = 1;
}

// MARK: - The log

int64_t hw_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void write_line(const char *line, size_t size) {
  int file = is_lost ? -1 : open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line, size) != (ssize_t)size) is_lost = 1;
  if (file >= 0) close(file);
}

/// Writes the fields that both events have, then the last ones with the end of the line.
static void write_event(
  const char *event, const char *name, const struct hw_test *place, struct moment moment, const char *rest
) {
  // A byte of a name takes up to six as a string of JSON.
  static char line[6 * (HW_NAME_SIZE + sizeof place->file) + 1024];
  size_t size = (size_t)snprintf(line, sizeof line, "{\"event\": \"%s\", \"test\": ", event);
  size += hw_write_json(line + size, sizeof line - size, name) - 1;
  if (place != NULL && place->file[0] != '\0') {
    size += (size_t)snprintf(line + size, sizeof line - size, ", \"file\": ");
    size += hw_write_json(line + size, sizeof line - size, place->file) - 1;
  }
  if (place != NULL && place->line > 0) {
    size += (size_t)snprintf(line + size, sizeof line - size, ", \"line\": %d", place->line);
  }
  size += (size_t)snprintf(
    line + size, sizeof line - size, ", \"resident\": %lld, \"peak\": %lld, %s}\n", (long long)moment.resident,
    (long long)moment.peak, rest);
  write_line(line, size);
}

static void write_begin(const struct hw_test *test, struct moment moment) {
  write_event("begin", test->name, test, moment, moment.is_reset ? "\"reset\": true" : "\"reset\": false");
}

static void write_end(const char *name, const char *outcome, struct moment moment, int64_t time) {
  char rest[128];
  snprintf(rest, sizeof rest, "\"outcome\": \"%s\", \"seconds\": %.6f", outcome, (double)time / 1e9);
  write_event("end", name, NULL, moment, rest);
}

// MARK: - A run

void hw_begin_recording(void *jni) {
  pthread_mutex_lock(&lock);
  int file = open(recording, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  else is_lost = 1;
  if (!has_next && !is_lost) {
    trim(jni);
    prepare_next();
  }
  pthread_mutex_unlock(&lock);
}

void hw_end_recording(void) {
  pthread_mutex_lock(&lock);
  if (!is_lost && tests == NULL) unlink(recording);
  pthread_mutex_unlock(&lock);
}

void hw_stop_recording(void) {
  pthread_mutex_lock(&lock);
  is_lost = 1;
  pthread_mutex_unlock(&lock);
}

// MARK: - A test

static int is_written(const struct hw_test *test) { return !hw_has_chosen() || hw_choice(test->name) == HW_CHOSEN; }

static void mark_overlap(struct open_test *open) {
  for (struct open_test *other = tests; other != NULL; other = other->next) other->is_overlapped = open->is_overlapped = 1;
}

static void begin_test(const struct hw_test *test) {
  for (struct open_test *other = tests; other != NULL; other = other->next) {
    // A test within another one belongs to it.
    if (pthread_equal(other->thread, pthread_self())) return;
  }
  // A test that runs although it is not chosen: what is chosen does not run alone.
  if (!is_written(test) && !hw_is_beside_chosen(test->name)) is_lost = 1;
  struct open_test *open = calloc(1, sizeof *open);
  if (open == NULL) {
    is_lost = 1;
    return;
  }
  *open = (struct open_test){.test = *test, .time = hw_time(), .thread = pthread_self()};
  mark_overlap(open);
  if (!has_next || open->is_overlapped) prepare_next();
  open->begin = next;
  open->next = tests;
  tests = open;
  if (is_written(test)) write_begin(test, open->begin);
}

void hw_begin_test(const struct hw_test *test) {
  pthread_mutex_lock(&lock);
  if (!is_lost) begin_test(test);
  pthread_mutex_unlock(&lock);
}

int hw_is_in_test(void) {
  pthread_mutex_lock(&lock);
  int is_in_test = tests != NULL;
  pthread_mutex_unlock(&lock);
  return is_in_test;
}

/// The place of a test among those that have begun; that of the end of the list if it is not there.
static struct open_test **find_test(const char *name) {
  struct open_test **at = &tests;
  while (*at != NULL && strcmp((*at)->test.name, name) != 0) at = &(*at)->next;
  return at;
}

void hw_end_test(const char *name, const char *outcome) {
  pthread_mutex_lock(&lock);
  struct open_test *test = *find_test(name);
  if (test != NULL && test->outcome == NULL && !is_lost) {
    test->end = memory();
    test->time = hw_time() - test->time;
    test->outcome = outcome;
  }
  pthread_mutex_unlock(&lock);
}

static void record_test(void *jni, struct open_test *test) {
  if (test->end.resident - test->begin.resident > TRIMMED && !test->is_overlapped) {
    trim(jni);
    test->end.resident = memory().resident;
  }
  if (is_written(&test->test)) {
    // The reader knows by the second begin that the figures are not of this test alone.
    if (test->is_overlapped) write_begin(&test->test, test->begin);
    write_end(test->test.name, test->outcome, test->end, test->time);
  }
  prepare_next();
}

void hw_record_test(void *jni, const char *name) {
  pthread_mutex_lock(&lock);
  struct open_test **place = find_test(name), *test = *place;
  if (test != NULL) {
    *place = test->next;
    if (test->outcome != NULL && !is_lost) record_test(jni, test);
    free(test);
  }
  pthread_mutex_unlock(&lock);
}

void hw_skip_test(const struct hw_test *test) {
  pthread_mutex_lock(&lock);
  if (!is_lost && tests == NULL && is_written(test)) {
    struct moment moment = memory();
    moment.is_reset = 1;
    write_begin(test, moment);
    write_end(test->name, "skipped", moment, 0);
  }
  pthread_mutex_unlock(&lock);
}
