#define _GNU_SOURCE
#include "hw_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OFF = -1, UNKNOWN = -2 };

/// The longest line, including its newline: POSIX guarantees that a write of 512 bytes to a pipe is atomic (PIPE_BUF).
enum { LONGEST_LINE = 512, LONGEST_NAME = 100, LONGEST_UNIT = 20 };

int hw_mark_state = UNKNOWN;

/// The messages that were dropped because the FIFO was full, and how many of them were reported.
static unsigned long dropped, reported;

/// Whether the reader once took too long: there may be none.
static int reader_is_late;

/// Identify the FIFO: another file may have its descriptor after the program has closed all files, as daemons do.
static dev_t fifo_device;
static ino_t fifo_number;

// MARK: - The FIFO

/// Opened for reading as well, so that it opens without a reader and never raises SIGPIPE (fifo(7)).
static int open_fifo(const char *path) {
  struct stat file;
  if (stat(path, &file) != 0 || !S_ISFIFO(file.st_mode)) return OFF;
  int descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    // The program has closed a standard stream; its output must not be written to the FIFO.
    int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    descriptor = higher;
  }
  if (descriptor < 0 || fstat(descriptor, &file) != 0) return OFF;
  __atomic_store_n(&fifo_device, file.st_dev, __ATOMIC_RELAXED);
  __atomic_store_n(&fifo_number, file.st_ino, __ATOMIC_RELAXED);
  return descriptor;
}

/// Opens the FIFO at first use; if two threads do so at once, one of them closes its descriptor.
static int connect_fifo(void) {
  const char *path = getenv("HIGHWATER_MARKS");
  int descriptor = path != NULL && *path != '\0' ? open_fifo(path) : OFF;
  int state = UNKNOWN;
  if (__atomic_compare_exchange_n(&hw_mark_state, &state, descriptor, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return descriptor;
  }
  if (descriptor >= 0) close(descriptor);
  return state;
}

static bool is_fifo(int descriptor) {
  struct stat file;
  return fstat(descriptor, &file) == 0 && file.st_dev == __atomic_load_n(&fifo_device, __ATOMIC_RELAXED) &&
         file.st_ino == __atomic_load_n(&fifo_number, __ATOMIC_RELAXED);
}

/// The descriptor to write to, or OFF.
static int fifo(void) {
  int descriptor = __atomic_load_n(&hw_mark_state, __ATOMIC_ACQUIRE);
  if (descriptor == UNKNOWN) return connect_fifo();
  if (descriptor == OFF || is_fifo(descriptor)) return descriptor;
  __atomic_compare_exchange_n(&hw_mark_state, &descriptor, UNKNOWN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  return connect_fifo();
}

/// How often a write is repeated that a signal interrupts.
#define MOST_INTERRUPTIONS 10000

static bool write_line(int descriptor, const char *line, size_t length) {
  ssize_t written;
  int turns = 0;
  do {
    written = write(descriptor, line, length);
  } while (written < 0 && errno == EINTR && ++turns < MOST_INTERRUPTIONS);
  return written == (ssize_t)length;
}

// MARK: - Lines

struct line {
  size_t length;
  char text[LONGEST_LINE];
};

static bool is_alphanumeric(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static struct hw_mark_text text(const char *bytes) {
  return (struct hw_mark_text){.bytes = bytes, .length = strlen(bytes)};
}

static void append(struct line *line, const char *word) {
  size_t length = strlen(word);
  memcpy(line->text + line->length, word, length);
  line->length += length;
}

/// Appends a space and the word; bytes other than letters, digits and `others` become `_`.
static void append_word(struct line *line, struct hw_mark_text word, size_t most, const char *others) {
  line->text[line->length++] = ' ';
  for (size_t at = 0; at < most && at < word.length; at++) {
    char byte = word.bytes[at];
    bool is_allowed = is_alphanumeric(byte) || (byte != '\0' && strchr(others, byte) != NULL);
    line->text[line->length++] = is_allowed ? byte : '_';
  }
}

static void append_name(struct line *line, struct hw_mark_text name) {
  size_t first = line->length + 1;
  append_word(line, name, LONGEST_NAME, "._-");
  if (name.length == 0) line->length++;
  if (name.length == 0 || !is_alphanumeric(name.bytes[0])) line->text[first] = 'x';
}

static void append_unit(struct line *line, struct hw_mark_text unit) {
  append_word(line, unit.length == 0 ? text("_") : unit, LONGEST_UNIT, "._-/%");
}

/// Appends the number with the fewest digits, from 15 to 17, that parse as the same number (IEEE 754 binary64).
static void append_number(struct line *line, double number) {
  char digits[40];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (strtod(digits, NULL) == number) break;
  }
  line->text[line->length++] = ' ';
  for (const char *digit = digits; *digit != '\0'; digit++) {
    // Other bytes are the locale's decimal point, which may have several bytes (setlocale(3)).
    bool is_plain = strchr("0123456789+-e", *digit) != NULL;
    if (is_plain || line->text[line->length - 1] != '.') line->text[line->length++] = is_plain ? *digit : '.';
  }
}

static void append_value(struct line *line, struct hw_mark_text name, double number, struct hw_mark_text unit) {
  append(line, "value");
  append_name(line, name);
  append_number(line, number);
  append_unit(line, unit);
}

/// Sends the number of dropped messages if it has changed.
static void report_dropped(int descriptor) {
  unsigned long count = __atomic_load_n(&dropped, __ATOMIC_RELAXED);
  unsigned long known = __atomic_load_n(&reported, __ATOMIC_RELAXED);
  if (count == known) return;
  // Only one of several threads sends it.
  if (!__atomic_compare_exchange_n(&reported, &known, count, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  struct line line;
  line.length = 0;
  append_value(&line, text("marks.dropped"), (double)count, text("messages"));
  line.text[line.length++] = '\n';
  if (write_line(descriptor, line.text, line.length)) return;
  __atomic_compare_exchange_n(&reported, &count, known, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/// Waits until the FIFO is empty, which is after its reader has read this program's memory; tells it after a second that
/// the program does not wait any longer.
///
/// Messages of other threads may lengthen it.
static void await_reader(int descriptor) {
  const struct timespec pause = {.tv_nsec = 50000};
  struct timespec now, start;
  int unread = 0;
  clock_gettime(CLOCK_MONOTONIC, &start);
  while (ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0) {
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long waited = (now.tv_sec - start.tv_sec) * 1000000000LL + now.tv_nsec - start.tv_nsec;
    if (waited <= 1000000000LL) continue;
    __atomic_store_n(&reader_is_late, 1, __ATOMIC_RELAXED);
    write_line(descriptor, "late\n", 5);
    return;
  }
}

static void send_line(struct line *line, bool waits) {
  int code = errno;
  int descriptor = fifo();
  if (descriptor >= 0) {
    line->text[line->length++] = '\n';
    if (write_line(descriptor, line->text, line->length)) {
      report_dropped(descriptor);
      if (waits) await_reader(descriptor);
    } else {
      __atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
    }
  }
  errno = code;
}

// MARK: - Messages

int hw_mark_is_connected(void) {
  int code = errno;
  int state = fifo();
  errno = code;
  return state >= 0;
}

unsigned long hw_mark_dropped(void) { return __atomic_load_n(&dropped, __ATOMIC_RELAXED); }

static void send_named(const char *verb, struct hw_mark_text name, bool waits) {
  struct line line;
  line.length = 0;
  append(&line, verb);
  append_name(&line, name);
  if (waits) append(&line, " wait");
  send_line(&line, waits);
}

/// Waits, so that what the program does next does not count for the phase before; says so unless it no longer does.
static void send_phase(struct hw_mark_text name) {
  send_named("phase", name, !__atomic_load_n(&reader_is_late, __ATOMIC_RELAXED));
}

static void send_mark(struct hw_mark_text name) { send_named("mark", name, false); }

void hw_mark_phase_text(struct hw_mark_text name) {
  if (!hw_mark_is_off()) send_phase(name);
}

void hw_mark_named_text(struct hw_mark_text name) {
  if (!hw_mark_is_off()) send_mark(name);
}

void hw_mark_iteration(void) {
  if (hw_mark_is_off()) return;
  struct line line;
  line.length = 0;
  append(&line, "iteration");
  send_line(&line, false);
}

void hw_mark_value_text(struct hw_mark_text name, double number, struct hw_mark_text unit) {
  if (hw_mark_is_off() || !isfinite(number)) return;
  struct line line;
  line.length = 0;
  append_value(&line, name, number, unit);
  send_line(&line, false);
}

void hw_mark_phase(const char *name) {
  if (!hw_mark_is_off()) send_phase(text(name));
}

void hw_mark_named(const char *name) {
  if (!hw_mark_is_off()) send_mark(text(name));
}

void hw_mark_value(const char *name, double number, const char *unit) {
  if (!hw_mark_is_off()) hw_mark_value_text(text(name), number, text(unit));
}
