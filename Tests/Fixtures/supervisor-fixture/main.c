/// A minimal runner: starts four programs from four threads at once, two of them traced if permitted, and waits to be
/// killed.
///
/// Written in C, with the C module only, so that it starts fast enough for kills at any point of a start.

#include "CLinux.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int can_trace;

static void *start(void *script, int is_traced) {
  char *words[] = {"sh", "-c", script, NULL}, *none[] = {NULL};
  struct hw_plan plan = {
    .program = "/bin/sh",
    .arguments = words,
    .environment = environ,
    .directory = "/",
    .input = -1,
    .output = 1,
    .lock = -1,
    .fixed_addresses = hw_can_fix_addresses(),
    .traced = is_traced,
    .cgroup = {.folders = none, .joined = none, .settings = none, .before_killing = none},
    .mappings = -1,
    .profile = -1,
  };
  struct hw_supervisor supervisor;
  hw_supervisor_start(&plan, &supervisor);
  return NULL;
}

static void *start_plain(void *script) { return start(script, 0); }

static void *start_traced(void *script) { return start(script, can_trace); }

int main(int count, char **words) {
  pthread_t threads[4];
  can_trace = hw_can_trace() == 0;
  for (int at = 0; at < 4; at++) {
    // A copy: supervisors overwrite the arguments of this process.
    char *script = strdup(count > 1 ? words[1] : "sleep 1000");
    pthread_create(&threads[at], NULL, at % 2 == 0 ? start_plain : start_traced, script);
  }
  for (int at = 0; at < 4; at++) pthread_join(threads[at], NULL);
  (void)!write(1, "started\n", 8);
  for (;;) pause();
}
