/// The agent that the Java virtual machines of a profiled target load (JAVA_TOOL_OPTIONS=-agentpath): samples the objects
/// that Java allocates, and writes again and again which call stacks hold those that are live, to a file beside the run
/// (HeapLog.swift).
///
/// A thread of its own collects the garbage before it writes, so that only what the program still holds counts. No lock is
/// held while the virtual machine is called, which may wait for a collection: that calls `on_free`, which takes the lock.

#define _GNU_SOURCE
#include "java.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/// More frames are cut off at the outer end.
#define MAX_FRAMES 128

/// More samples in a second take more than a tenth of it: their mean distance doubles.
#define MAX_SAMPLES_PER_SECOND 10000

static void *machine;
static void *tools;
static int64_t interval;
static const char *folder;
static volatile int is_dead;

// MARK: - Names

/// Writes the name of a class as in `com.example.Server` of `Lcom/example/Server;`, then `.` and the method's.
static void write_function(char *to, size_t size, const char *signature, const char *method) {
  int length = (int)strlen(signature) - 2;
  // The number of a lambda differs from build to build.
  const char *end = strncmp(method, "lambda$", 7) == 0 ? strrchr(method, '$') : method + strlen(method);
  int written = snprintf(to, size, "%.*s.%.*s", length > 0 ? length : 0, signature + 1, (int)(end - method), method);
  for (int at = 0; at < written && at < (int)size - 1 && at < length; at++) {
    if (to[at] == '/') to[at] = '.';
  }
}

/// Writes the path of a source file below the roots of packages, as in `com/example/Server.java`.
static void write_file(char *to, size_t size, const char *signature, const char *source) {
  const char *slash = strrchr(signature, '/');
  int length = slash == NULL ? 0 : (int)(slash - signature);
  snprintf(to, size, "%.*s%s", length, signature + 1, source);
}

static int line_at(hw_method method, int64_t location) {
  struct hw_java_line *lines = NULL;
  int32_t count = 0;
  int found = 0;
  if (hw_lines(tools, method, &count, &lines) != 0) return 0;
  for (int at = 0; at < count; at++) {
    if (lines[at].start <= location && (found == 0 || lines[at].start >= lines[found - 1].start)) found = at + 1;
  }
  int line = found == 0 ? 0 : lines[found - 1].number;
  hw_deallocate(tools, lines);
  return line;
}

/// Whether a class has a source file of its own: those that the virtual machine makes, as for lambdas, have none, or have a
/// number in their name.
static int is_written(const char *signature, const char *source) {
  return strchr(signature, '.') == NULL && strchr(source, '.') != NULL;
}

/// Names a frame; one of code that nobody has written is left out.
static struct hw_java_name name_of(void *jni, struct hw_java_frame frame) {
  struct hw_java_name name = {.line = line_at(frame.method, frame.location)};
  char *method = NULL, *signature = NULL, *source = NULL;
  hw_object class = NULL;
  if (hw_declaring_class(tools, frame.method, &class) != 0) return name;
  if (hw_method_name(tools, frame.method, &method) == 0 && hw_class_signature(tools, class, &signature) == 0 &&
    hw_source_file(tools, class, &source) == 0 && is_written(signature, source)) {
    write_function(name.function, sizeof name.function, signature, method);
    write_file(name.file, sizeof name.file, signature, source);
  }
  char *texts[] = {method, signature, source};
  for (int at = 0; at < 3; at++) {
    if (texts[at] != NULL) hw_deallocate(tools, texts[at]);
  }
  hw_forget(jni, class);
  return name;
}

static void know(void *jni, struct hw_java_frame frame) {
  if (hw_knows_frame(frame)) return;
  struct hw_java_name name = name_of(jni, frame);
  hw_add_frame(frame, &name);
}

/// Lets the methods of a class have numbers, which a walk within malloc(3) cannot make.
static void number_methods(hw_object class) {
  hw_method *methods = NULL;
  int32_t count = 0;
  if (hw_methods(tools, class, &count, &methods) == 0) hw_deallocate(tools, methods);
}

// MARK: - Events

/// The chance of an object to be sampled, `1 - exp(-size / interval)`, without libm.
static double chance(double size) {
  double left = 1 - size / (double)interval / (1 << 20);
  if (left <= 0) return 1;
  for (int at = 0; at < 20; at++) left *= left;
  return 1 - left;
}

static void on_sample(
  void *environment, void *jni, hw_object thread, hw_object object, hw_object class, int64_t size
) {
  struct hw_java_frame frames[MAX_FRAMES];
  int32_t count = 0;
  (void)environment, (void)thread, (void)class;
  if (is_dead || hw_stack(tools, frames, MAX_FRAMES, &count) != 0 || count == 0) return;
  for (int at = 0; at < count; at++) know(jni, frames[at]);
  int64_t number = hw_add_sample(hw_node_of(frames, count), (int64_t)((double)size / chance((double)size)));
  if (number != 0 && hw_set_tag(tools, object, number) != 0) hw_remove_sample(number);
}

static void on_free(void *environment, int64_t tag) {
  (void)environment;
  hw_remove_sample(tag);
}

/// The virtual machine walks stacks within malloc(3) only if somebody wants to know of loaded classes.
static void on_load(void *environment, void *jni, hw_object thread, hw_object class) {
  (void)environment, (void)jni, (void)thread, (void)class;
}

static void on_prepare(void *environment, void *jni, hw_object thread, hw_object class) {
  (void)environment, (void)jni, (void)thread;
  number_methods(class);
}

// MARK: - The thread that writes

/// RSS in pages.
static long resident(void) {
  char text[64] = "";
  long pages = 0;
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  if (read(file, text, sizeof text - 1) > 0) sscanf(text, "%*s %ld", &pages);
  close(file);
  return pages;
}

/// The CPU time of the process in nanoseconds.
static int64_t cpu_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// When a profile is due: a new high is worth a third of the CPU time, anything else a sixth of it, and less while nothing
/// changes.
struct pace {
  long high;
  int64_t live, end, cpu, cost, pause;
  /// See `hw_native_name`.
  uint32_t named;
};

#define SHORTEST_PAUSE INT64_C(100000000)
#define LONGEST_PAUSE INT64_C(4000000000)

static int is_due(const struct pace *pace, long size) {
  int64_t used = cpu_time() - pace->cpu;
  if (size > pace->high + pace->high / 20) return used > 2 * pace->cost;
  return hw_java_time() - pace->end > pace->pause && used > 5 * pace->cost;
}

static void pause_for(long milliseconds) {
  struct timespec time = {.tv_nsec = milliseconds * 1000000};
  nanosleep(&time, NULL);
}

/// Writes what is live after a collection; later versions report what it freed from another thread, a little later.
static int64_t write_live(void *jni, uint32_t *named) {
  hw_collect(tools);
  pause_for(5);
  *named = hw_native_name(know, jni, *named);
  return hw_log_write(interval);
}

static void take(struct pace *pace, void *jni, long size) {
  int64_t begin = cpu_time(), live = write_live(jni, &pace->named), change = live - pace->live;
  int is_same = (change < 0 ? -change : change) <= pace->live / 100;
  pace->pause = !is_same ? SHORTEST_PAUSE : pace->pause * 2 < LONGEST_PAUSE ? pace->pause * 2 : LONGEST_PAUSE;
  pace->live = live;
  pace->end = hw_java_time();
  pace->cpu = cpu_time();
  pace->cost = pace->cpu - begin;
  if (size > pace->high) pace->high = size;
}

/// Doubles the distance between samples if there were too many since the last time.
static void limit_samples(void) {
  static int64_t last_count, last_time;
  int64_t count = hw_sample_count(), time = hw_java_time();
  if (time - last_time < SHORTEST_PAUSE) return;
  double seconds = (double)(time - last_time) / 1e9;
  int is_much = last_time != 0 && (double)(count - last_count) > MAX_SAMPLES_PER_SECOND * seconds;
  last_count = count;
  last_time = time;
  if (is_much && interval < (INT64_C(1) << 28)) hw_set_interval(tools, (int32_t)(interval *= 2));
}

/// Whether the runner asks for a profile; the answer is a file.
static int is_wanted(void) {
  static int was_wanted;
  char path[4096];
  snprintf(path, sizeof path, "%s/now", folder);
  if (was_wanted || access(path, F_OK) != 0) return 0;
  return was_wanted = 1;
}

static void answer(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.0.done", folder, (int)getpid());
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
}

static void *follow(void *unused) {
  void *jni = NULL;
  struct pace pace = {.pause = SHORTEST_PAUSE};
  if (hw_attach_daemon(machine, &jni) != 0) return unused;
  while (!is_dead) {
    long size = resident();
    int wanted = is_wanted();
    limit_samples();
    if (wanted || is_due(&pace, size)) take(&pace, jni, size);
    if (wanted) answer();
    pause_for(5);
  }
  return unused;
}

static void on_init(void *environment, void *jni, hw_object thread) {
  pthread_t follower;
  hw_object *classes = NULL;
  int32_t count = 0;
  (void)environment, (void)jni, (void)thread;
  if (hw_loaded_classes(tools, &count, &classes) == 0) {
    for (int at = 0; at < count; at++) number_methods(classes[at]);
    hw_deallocate(tools, classes);
  }
  hw_native_start(machine);
  if (pthread_create(&follower, NULL, follow, NULL) == 0) pthread_detach(follower);
}

static void on_death(void *environment, void *jni) {
  uint32_t named = 0;
  (void)environment;
  hw_native_end();
  write_live(jni, &named);
  is_dead = 1;
}

// MARK: - Loading

/// Reads `INTERVAL:FOLDER` from the environment.
static int read_settings(void) {
  const char *text = getenv("HIGHWATER_HEAPS");
  char *end = NULL;
  interval = text == NULL ? 0 : strtoll(text, &end, 10);
  if (interval <= 0 || interval > INT32_MAX || *end != ':') return 0;
  folder = end + 1;
  return hw_log_open(folder);
}

static int start(void) {
  static void *callbacks[HW_EVENTS];
  uint64_t capabilities[2] = {
    UINT64_C(1) << HW_TAG_OBJECTS | UINT64_C(1) << HW_SOURCE_FILES | UINT64_C(1) << HW_LINE_NUMBERS |
    UINT64_C(1) << HW_OBJECT_FREE_EVENTS | UINT64_C(1) << HW_SAMPLED_EVENTS, 0};
  static const int events[] = {
    HW_VM_INIT, HW_VM_DEATH, HW_CLASS_LOAD, HW_CLASS_PREPARE, HW_OBJECT_FREE, HW_SAMPLED_ALLOCATION};
  if (hw_environment(machine, &tools, HW_JVMTI_VERSION_11) != 0) return 0;
  if (hw_add_capabilities(tools, capabilities) != 0) return 0;
  callbacks[HW_VM_INIT - HW_FIRST_EVENT] = (void *)on_init;
  callbacks[HW_VM_DEATH - HW_FIRST_EVENT] = (void *)on_death;
  callbacks[HW_CLASS_LOAD - HW_FIRST_EVENT] = (void *)on_load;
  callbacks[HW_CLASS_PREPARE - HW_FIRST_EVENT] = (void *)on_prepare;
  callbacks[HW_OBJECT_FREE - HW_FIRST_EVENT] = (void *)on_free;
  callbacks[HW_SAMPLED_ALLOCATION - HW_FIRST_EVENT] = (void *)on_sample;
  if (hw_set_callbacks(tools, callbacks) != 0 || hw_set_interval(tools, (int32_t)interval) != 0) return 0;
  for (size_t at = 0; at < sizeof events / sizeof *events; at++) {
    if (hw_set_event(tools, HW_ENABLE, events[at]) != 0) return 0;
  }
  return 1;
}

/// The virtual machine calls it at its start; it would not start after an error.
__attribute__((visibility("default"))) int32_t Agent_OnLoad(void *virtual_machine, char *options, void *reserved) {
  (void)options, (void)reserved;
  machine = virtual_machine;
  if (read_settings() && !start()) hw_log_refuse();
  return 0;
}
