#define _GNU_SOURCE
#include "internal.h"

#include <string.h>
#include <sys/prctl.h>

/// The argument list of this process, which the dynamic linker passes to constructors (glibc, `call_init`).
static int count;
static char **words;

__attribute__((constructor)) static void keep_arguments(int argument_count, char **arguments) {
  count = argument_count;
  words = arguments;
}

int hw_argument_count(void) { return count; }

const char *hw_argument(int at) { return at < count ? words[at] : NULL; }

/// The end of the words that the kernel shows as `/proc/<pid>/cmdline`: they follow one another in memory.
static char *end_of_words(void) {
  char *end = words[0];
  for (int at = 0; at < count && words[at] == end; at++) end += strlen(end) + 1;
  return end;
}

void hw_name_process(const char *name) {
  prctl(PR_SET_NAME, name);
  if (count == 0) return;
  size_t size = (size_t)(end_of_words() - words[0]), length = strlen(name);
  memset(words[0], 0, size);
  memcpy(words[0], name, length < size ? length : size - 1);
}

/* A section of its own, which ci/build fills after linking: a value in a source would cause a whole build per commit. */
static const volatile char build_commit[64] __attribute__((section(".highwater.commit"), used)) = "";

const char *hw_build_commit(void) { return (const char *)build_commit; }
