/// Signal handlers, exit handlers and fork handlers for LaunchReason, which cannot be written in Swift.
///
/// All state is global to the process, because handlers are.

#ifndef HW_LAUNCH_H
#define HW_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin
// Hidden symbols are only linked if they are called.
#pragma GCC visibility push(hidden)

/// Where marks are stored: aligned words of a mapped page, see `LaunchRecords/LaunchPage`.
struct hw_launch_words {
  uint64_t *crash;
  uint64_t *exit;
  uint64_t *request;
  uint64_t *fork;
  /// The tag of the run; see LaunchPage.
  uint32_t tag;
  /// The page and its file, which a forked child unmaps and closes.
  void *page;
  size_t size;
  int file;
};

/// Registers a handler that notices forks; once in a process.
///
/// @return 0, or an error number.
int hw_launch_begin(void);

/// Stores a mark when the process exits; a forked child stores its pid as a mark, and releases the page.
///
/// The words must stay mapped until the process ends.
///
/// @return 0, or an error number where a handler could not be registered.
int hw_launch_watch(struct hw_launch_words words);

/// Whether this process was forked from the one that called `hw_launch_begin`.
int hw_launch_has_forked(void);

/// Removes the marks that the process has outlived: that of a fork, and that of a request before a time, in nanoseconds
/// since boot.
void hw_launch_is_alive(uint64_t stopping_since);

/// Installs handlers that mark crashes and termination requests, and then do what would have happened without them.
///
/// Crashes: SEGV, BUS, ILL, TRAP, FPE, SYS, ABRT; other signals that terminate a process, such as PIPE and ALRM, only if
/// they would terminate it. Requests: TERM; INT, HUP and QUIT only if they would terminate the process, because programs
/// use them for other purposes. Ignored signals stay ignored. The calling thread gets an alternate stack.
void hw_launch_install_handlers(void);

/// Gives the calling thread an alternate stack if it has none, so that a stack overflow can be marked.
void hw_launch_provide_stack(void);

/// The ELF build id of the program, in hexadecimal digits.
///
/// @return Their number; 0 if there is no build id, or it does not fit into `digits` with a NUL.
size_t hw_build_id(char *digits, size_t size);

#pragma GCC visibility pop
#pragma clang assume_nonnull end

#endif
