/// Returns the free memory of Java's heap, so that the next test does not get it for nothing.
///
/// By default the heap keeps more than twice as much as it needs. The options for that may be set while Java runs, and are
/// so only for these collections.

#define _GNU_SOURCE
#include "junit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "java_calls.h"

/// SerialGC returns 0, 10, 40 and 100 % of what is free in collections after one another (`ShrinkHeapInSteps`).
#define SERIAL_COLLECTIONS 4

/// G1 returns memory on a thread of its own: it begins after 100 ms, and goes on each 10 ms with at most 128 MiB
/// (G1UncommitRegionTask of OpenJDK, since version 16).
#define G1_DELAY INT64_C(130000000)
#define G1_PAUSE INT64_C(45000000)
/// Only a program that returns memory of its own for as long would reach it.
#define G1_LONGEST INT64_C(20000000000)

/// The bean that sets options of the running virtual machine; NULL if it has none.
static hw_object bean;
static int is_serial, is_g1;

static struct option {
  const char *name;
  int value_for_trim;
  char value[16];
} options[] = {{"MinHeapFreeRatio", 0, ""}, {"MaxHeapFreeRatio", 1, ""}};

// MARK: - Options

static void read_option(void *jni, const char *name, char *to, size_t size) {
  hw_method method =
    hw_method_of(jni, bean, "getVMOption", "(Ljava/lang/String;)Lcom/sun/management/VMOption;");
  hw_object text = method == NULL ? NULL : hw_new_text(jni, name);
  to[0] = '\0';
  if (text == NULL) return;
  hw_object option = hw_call_object(jni, bean, method, &(union hw_value){.object = text});
  if (!hw_has_failed(jni)) hw_read_text(jni, hw_get(jni, option, "getValue", "()Ljava/lang/String;"), to, size);
}

static void set_option(void *jni, const char *name, const char *value) {
  hw_method method = hw_method_of(jni, bean, "setVMOption", "(Ljava/lang/String;Ljava/lang/String;)V");
  union hw_value arguments[] = {{.object = hw_new_text(jni, name)}, {.object = hw_new_text(jni, value)}};
  if (method != NULL && !hw_has_failed(jni)) hw_call_void(jni, bean, method, arguments);
  hw_has_failed(jni);
}

static int is_set(void *jni, const char *name) {
  char value[16];
  read_option(jni, name, value, sizeof value);
  return strcmp(value, "true") == 0;
}

/// Finds the bean, for which Java loads some classes.
static void find_bean(void *jni) {
  hw_object factory = hw_find_class(jni, "java/lang/management/ManagementFactory");
  hw_object type = hw_has_failed(jni) ? NULL : hw_find_class(jni, "com/sun/management/HotSpotDiagnosticMXBean");
  if (hw_has_failed(jni) || type == NULL) return;
  hw_method method = hw_find_static(
    jni, factory, "getPlatformMXBean", "(Ljava/lang/Class;)Ljava/lang/management/PlatformManagedObject;");
  if (hw_has_failed(jni)) return;
  hw_object found = hw_call_static(jni, factory, method, &(union hw_value){.object = type});
  if (hw_has_failed(jni) || found == NULL || (bean = hw_keep(jni, found)) == NULL) return;
  for (int at = 0; at < 2; at++) read_option(jni, options[at].name, options[at].value, sizeof options[at].value);
  is_serial = is_set(jni, "UseSerialGC");
  is_g1 = is_set(jni, "UseG1GC");
}

/// Sets the options in an order in which the least is never more than the most.
static void set_options(void *jni, int is_for_trim) {
  for (int step = 0; step < 2 && bean != NULL; step++) {
    const struct option *option = &options[is_for_trim ? step : 1 - step];
    char value[16];
    snprintf(value, sizeof value, "%d", option->value_for_trim);
    set_option(jni, option->name, is_for_trim ? value : option->value);
  }
}

// MARK: - Collections

/// What the heap takes of the address space, in bytes; -1 if that is unknown.
static int64_t heap_size(void *jni) {
  hw_object class = hw_find_class(jni, "java/lang/Runtime");
  hw_method get = hw_has_failed(jni) ? NULL : hw_find_static(jni, class, "getRuntime", "()Ljava/lang/Runtime;");
  hw_object runtime = get == NULL ? NULL : hw_call_static(jni, class, get, NULL);
  hw_method total = runtime == NULL ? NULL : hw_method_of(jni, runtime, "totalMemory", "()J");
  int64_t size = total == NULL ? -1 : hw_call_long(jni, runtime, total);
  return hw_has_failed(jni) ? -1 : size;
}

/// Waits until G1 has returned what is free.
static void wait_for_g1(void) {
  int64_t begin = hw_time(), now = begin, last_change = begin, pause = G1_DELAY, resident = hw_resident();
  while (now - last_change < pause && now - begin < G1_LONGEST) {
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    now = hw_time();
    int64_t size = hw_resident();
    if (size < resident - (INT64_C(1) << 18)) {
      pause = G1_PAUSE;
      last_change = now;
    }
    resident = size;
  }
}

void hw_trim_heap(void *jni) {
  static int has_looked;
  if (hw_push_frame(jni, 64) != 0) {
    hw_has_failed(jni);
    return;
  }
  if (!has_looked) find_bean(jni);
  has_looked = 1;
  int64_t size = heap_size(jni);
  set_options(jni, 1);
  for (int left = is_serial ? SERIAL_COLLECTIONS : 1; left > 0; left--) hw_collect_heap();
  set_options(jni, 0);
  int is_smaller = heap_size(jni) < size;
  hw_pop_frame(jni);
  if (is_g1 && is_smaller) wait_for_g1();
}
