// A program of known memory, alone or as a tree, for situations.py.
//   load KIND BASE PEAK LEVEL LEAK ITERATIONS
// BASE, PEAK and LEVEL are KiB: what it holds throughout, the height of a peak of 1 ms at its start above that, and
// what it holds from its load on. In each iteration it keeps LEAK bytes more and tells the gate.
//   KIND: one        one process
//         forked     a parent and four forked workers that do the work in turn
//         executed   the same with workers that execute the program again
//         shared     like forked, after the parent has filled 24 MiB that they share
//         turns      eight children one after the other, each with the whole work of a process
//         pairs      the same, two at a time
//         daemon     a process that the started one leaves behind
//         ended      a process whose first thread ends before the work
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long base, peak, level, leak, iterations;
static int marks = -1;
static char *volatile last;
static char **words;

static void rest(long microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

static char *hold(long kibibytes) {
  if (kibibytes <= 0) return NULL;
  char *block = mmap(NULL, kibibytes << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(block, 1, kibibytes << 10);
  return block;
}

static void release(char *block, long kibibytes) {
  if (block) munmap(block, kibibytes << 10);
}

static void rise(void) {
  char *block = hold(peak);
  rest(1000);
  release(block, peak);
}

static void keep(long bytes) {
  char *block = malloc(bytes > 0 ? bytes : 1);
  if (block) memset(block, 1, bytes);
  last = block;
}

static void iterate(void) {
  keep(leak);
  if (marks >= 0 && write(marks, "iteration\n", 10) < 0) marks = -1;
  rest(2000);
}

static void work(void) {
  hold(base);
  rise();
  rest(60000);
  hold(level);
  for (long at = 0; at < iterations; at++) iterate();
  rest(60000);
}

static void *work_apart(void *unused) {
  rest(5000);
  work();
  exit(0);
}

// A worker does its part for each byte that it reads.
static void serve(int requests, int answers) {
  hold(base);
  rise();
  hold(level);
  char byte;
  if (write(answers, "r", 1) != 1) _exit(1);
  while (read(requests, &byte, 1) == 1) {
    keep(leak);
    if (write(answers, "a", 1) != 1) break;
  }
  _exit(0);
}

static void lead(int executes, long shared) {
  int requests[4][2], answers[4][2];
  hold(shared);
  for (int at = 0; at < 4; at++) {
    if (pipe2(requests[at], O_CLOEXEC) || pipe2(answers[at], O_CLOEXEC)) exit(1);
    if (fork() != 0) continue;
    dup2(requests[at][0], 60);
    dup2(answers[at][1], 61);
    dup2(60, 3);
    dup2(61, 4);
    for (int other = 5; other < 64; other++) close(other);
    if (!executes) serve(3, 4);
    words[1] = "worker";
    execv("/proc/self/exe", words);
    _exit(127);
  }
  char byte;
  for (int at = 0; at < 4; at++) {
    close(requests[at][0]);
    close(answers[at][1]);
    if (read(answers[at][0], &byte, 1) != 1) exit(1);
  }
  rest(60000);
  for (long at = 0; at < iterations; at++) {
    if (write(requests[at % 4][1], "r", 1) != 1 || read(answers[at % 4][0], &byte, 1) != 1) exit(1);
    if (marks >= 0 && write(marks, "iteration\n", 10) < 0) marks = -1;
    rest(2000);
  }
  rest(60000);
  for (int at = 0; at < 4; at++) close(requests[at][1]);
  while (wait(NULL) > 0) {}
}

static void repeat(int together) {
  long all = iterations;
  iterations = all / 8;
  for (int at = 0; at < 8; at += together) {
    for (int other = 0; other < together; other++) {
      if (fork() != 0) continue;
      words[1] = "one";
      char count[32];
      snprintf(count, sizeof count, "%ld", iterations);
      words[6] = count;
      execv("/proc/self/exe", words);
      _exit(127);
    }
    while (wait(NULL) > 0) {}
  }
}

int main(int count, char **arguments) {
  if (count != 7) return 2;
  words = arguments;
  base = atol(words[2]);
  peak = atol(words[3]);
  level = atol(words[4]);
  leak = atol(words[5]);
  iterations = atol(words[6]);
  char *kind = words[1], *path = getenv("HIGHWATER_MARKS");
  if (path) marks = open(path, O_WRONLY | O_CLOEXEC);
  if (!strcmp(kind, "one")) work();
  else if (!strcmp(kind, "worker")) serve(3, 4);
  else if (!strcmp(kind, "forked")) lead(0, 0);
  else if (!strcmp(kind, "executed")) lead(1, 0);
  else if (!strcmp(kind, "shared")) lead(0, 24 << 10);
  else if (!strcmp(kind, "turns")) repeat(1);
  else if (!strcmp(kind, "pairs")) repeat(2);
  else if (!strcmp(kind, "daemon")) {
    if (fork() == 0) { setsid(); work(); _exit(0); }
    rest(20000);
  } else if (!strcmp(kind, "ended")) {
    pthread_t thread;
    pthread_create(&thread, NULL, work_apart, NULL);
    pthread_exit(NULL);
  } else return 2;
  return 0;
}
