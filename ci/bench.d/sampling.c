/// A sampler of minimum cost: reads files that it keeps open, at an interval, until it is killed.
///
///   sampling MILLISECONDS FILE...

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words) {
  static char text[4096];
  static int files[64];
  int held = 0;
  if (count < 3) return 2;
  for (int at = 2; at < count && held < 64; at++) files[held++] = open(words[at], O_RDONLY | O_CLOEXEC);
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (;;) {
    due.tv_nsec += atol(words[1]) * 1000000;
    due.tv_sec += due.tv_nsec / 1000000000;
    due.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    for (int at = 0; at < held; at++) (void)!pread(files[at], text, sizeof text, 0);
  }
}
