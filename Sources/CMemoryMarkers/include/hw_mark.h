/// Reports to Highwater what a C program is doing: phases, marks, iterations and values.
///
/// A C or C++ program needs this header and `hw_mark.c`, nothing else:
///
///     #include "hw_mark.h"
///     hw_mark_phase("load");
///
/// Without Highwater, if `HIGHWATER_MARKS` is not set or is not the path of a FIFO, each call is one load. Under
/// Highwater each call is one `write` of one line, from any thread: messages are dropped and counted while the FIFO is
/// full. Only a phase waits: until Highwater has read the memory of the one before, but at most a second, after which no
/// call waits any more. Names are `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`: other bytes become `_`, a first byte that is not a
/// letter or digit `x`, and longer names are cut. `errno` is preserved. Not safe in signal handlers.

#ifndef HW_MARK_H
#define HW_MARK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/// The descriptor of the FIFO; -1 if there is none, -2 if that is not known yet. Do not assign.
extern int hw_mark_state;

/// Whether no message would be sent; one relaxed load.
static inline int hw_mark_is_off(void) { return __atomic_load_n(&hw_mark_state, __ATOMIC_RELAXED) == -1; }

/// Whether messages are sent to Highwater.
int hw_mark_is_connected(void);

/// How many messages were dropped because the FIFO was full.
unsigned long hw_mark_dropped(void);

/// Starts a phase; the previous one ends.
void hw_mark_phase(const char *name);

/// Marks this instant with a name.
void hw_mark_named(const char *name);

/// Starts an iteration, by which growth is counted.
void hw_mark_iteration(void);

/// Reports a value of the program's own; a number that is not finite is not sent.
///
/// A unit is 1 to 20 of `A-Z a-z 0-9 . _ - / %`; other bytes become `_`, and so does an empty unit.
void hw_mark_value(const char *name, double number, const char *unit);

/// A string without a NUL at its end, for other languages.
struct hw_mark_text {
  const char *bytes;
  size_t length;
};

/// The same as the functions without `text` in their names.
void hw_mark_phase_text(struct hw_mark_text name);
void hw_mark_named_text(struct hw_mark_text name);
void hw_mark_value_text(struct hw_mark_text name, double number, struct hw_mark_text unit);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

#ifdef __cplusplus
}
#endif

#endif
