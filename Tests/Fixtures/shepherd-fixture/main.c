/// A runner in small: starts four programs from four threads at once, and waits to be killed.
///
/// In C over the C room alone, so that it starts fast enough to be killed at each moment of a start.

#include "CLinux.h"

#include <pthread.h>
#include <unistd.h>

extern char **environ;

static void *start(void *script) {
  char *words[] = {"sh", "-c", script, NULL};
  struct hw_plan plan = {
    .program = "/bin/sh",
    .arguments = words,
    .environment = environ,
    .directory = "/",
    .input = -1,
    .output = 1,
    .fixed_addresses = hw_can_fix_addresses(),
  };
  struct hw_shepherd shepherd;
  hw_shepherd_start(&plan, &shepherd);
  return NULL;
}

int main(int count, char **words) {
  pthread_t threads[4];
  for (int at = 0; at < 4; at++) pthread_create(&threads[at], NULL, start, count > 1 ? words[1] : "sleep 1000");
  for (int at = 0; at < 4; at++) pthread_join(threads[at], NULL);
  (void)!write(1, "started\n", 8);
  for (;;) pause();
}
