#ifndef HW_INTERNAL_H
#define HW_INTERNAL_H

#include <sys/types.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HW_THREAD_SANITIZER 1
#endif
#endif

/// For what runs in a child that shares its maker's memory: whatever a sanitizer would note down about the child's
/// functions and stack would go into the books of its maker.
#define HW_UNWATCHED __attribute__((disable_sanitizer_instrumentation))

/// Forks; all signals are blocked meanwhile and stay so in the child, so that no handler of the runner can run in it.
pid_t hw_fork_quietly(void);

/// Appends a text without its end; returns where the next one goes.
static inline char *hw_put_text(char *to, const char *text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

/// Appends a number that is not negative; returns where the next text goes.
static inline char *hw_put_number(char *to, long number) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

#endif
