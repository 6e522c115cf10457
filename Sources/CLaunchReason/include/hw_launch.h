/// What LaunchReason needs and Swift cannot do: signal handlers, exit handlers, letting go in a forked child.
///
/// All state is of the process, since handlers are.

#ifndef HW_LAUNCH_H
#define HW_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin
// What is not exported is not linked where nothing calls it.
#pragma GCC visibility push(hidden)

/// Where marks are stored: aligned words of a mapped page, as `LaunchRecords/LaunchPage` has them.
struct hw_launch_words {
  uint64_t *crash;
  uint64_t *exit;
  uint64_t *request;
  /// Of the run; see LaunchPage.
  uint32_t tag;
  /// The page and its file, of which a forked child lets go.
  void *page;
  size_t size;
  int file;
};

/// Stores a mark when the process exits, and has forked children let go of the page.
///
/// The words must stay mapped to the end of the process.
///
/// @return 0, or an error number where a handler could not be registered.
int hw_launch_watch(struct hw_launch_words words);

/// Whether this process has come by `fork` from the one that called `hw_launch_watch`.
int hw_launch_has_forked(void);

/// Installs handlers that mark crashes and requests to end, then do what would have been done without them.
///
/// Crashes: SEGV, BUS, ILL, TRAP, FPE, SYS, ABRT. Requests: TERM; INT, HUP and QUIT only where they would end the
/// process, since programs use them for other things, too. A signal that is ignored stays so. The calling thread gets
/// an alternate stack if it has none, so that an overflow of its stack can be marked.
void hw_launch_install_handlers(void);

/// The ELF build id of the program, in hexadecimal digits.
///
/// @return Their number; 0 where it has none, or one that has no room in `digits` with a NUL behind it.
size_t hw_build_id(char *digits, size_t room);

#pragma GCC visibility pop
#pragma clang assume_nonnull end

#endif
