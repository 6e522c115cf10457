/// Tells the gate what a C program is doing: phases, marks, iterations and values.
///
/// A C or C++ program needs this header and `hw_mark.c`, nothing else:
///
///     #include "hw_mark.h"
///     hw_mark_phase("load");
///
/// Outside the gate, where `HIGHWATER_MARKS` is not set or names no FIFO, each call is one load. Inside, each is one
/// `write` of one line, from any thread; it never waits: where the FIFO has no room, the message is dropped and counted.
/// Names are `[A-Za-z0-9][A-Za-z0-9._-]{0,99}`: another byte becomes `_`, a first one that is no letter or digit `x`,
/// and the rest is cut. `errno` is left alone. Not for signal handlers.

#ifndef HW_MARK_H
#define HW_MARK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/// The FIFO's descriptor; -1 where there is none to write to, -2 while that is not known. Not to be written.
extern int hw_mark_state;

/// Whether no message would be sent; one relaxed load.
static inline int hw_mark_is_off(void) { return __atomic_load_n(&hw_mark_state, __ATOMIC_RELAXED) == -1; }

/// Whether messages go to a gate.
int hw_mark_is_connected(void);

/// How many messages were dropped, since the FIFO had no room.
unsigned long hw_mark_dropped(void);

/// Starts a phase; the one before ends.
void hw_mark_phase(const char *name);

/// Names this instant.
void hw_mark_named(const char *name);

/// Tells that a turn of the work that growth is counted by begins.
void hw_mark_iteration(void);

/// Sends a figure of the program's own; a number that is not finite is not sent.
///
/// A unit is 1 to 20 of `A-Z a-z 0-9 . _ - / %`; another byte becomes `_`, and an empty one, too.
void hw_mark_value(const char *name, double number, const char *unit);

/// A text that needs no NUL at its end, as other languages have them.
struct hw_mark_text {
  const char *bytes;
  size_t length;
};

/// The same as those without `text` in their names.
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
