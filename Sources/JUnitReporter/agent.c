/// The agent that the Java virtual machines of a suite load (JAVA_TOOL_OPTIONS=-agentpath): reports the memory of the process
/// before and after each test of the JUnit Platform, and runs only the chosen tests.
///
/// All events of all engines pass one class of the launcher, since version 1.0. Its methods get another name, and native ones
/// take their place, which call them. So neither breakpoints nor capabilities are needed, which would change how the code of
/// the tests is compiled, or keep a debugger out. If that class looks different, nothing is changed and nothing recorded.

#define _GNU_SOURCE
#include "junit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "java_calls.h"

#define ADAPTER "org/junit/platform/launcher/core/ExecutionListenerAdapter"
/// A class that is loaded before the adapter: until then no class file is looked at.
#define LAUNCHER "Lorg/junit/platform/launcher/core/DefaultLauncher;"

#define DESCRIPTOR "Lorg/junit/platform/engine/TestDescriptor;"
#define RESULT "Lorg/junit/platform/engine/TestExecutionResult;"

/// The environment of the JVM Tool Interface.
static void *tools;

static const struct hw_renamed methods[] = {
  {"executionStarted", "(" DESCRIPTOR ")V", "highwater$executionStarted"},
  {"executionSkipped", "(" DESCRIPTOR "Ljava/lang/String;)V", "highwater$executionSkipped"},
  {"executionFinished", "(" DESCRIPTOR RESULT ")V", "highwater$executionFinished"},
};
enum { STARTED, SKIPPED, FINISHED, METHODS };

// MARK: - Tests

/// The unique ID of a descriptor of a test or of a container of tests.
static void read_id(void *jni, hw_object descriptor, char *to, size_t size) {
  hw_object id = hw_get(jni, descriptor, "getUniqueId", "()Lorg/junit/platform/engine/UniqueId;");
  hw_read_text(jni, hw_get(jni, id, "toString", "()Ljava/lang/String;"), to, size);
}

static void read_name(void *jni, hw_object descriptor, char *to) {
  char id[2 * HW_NAME_SIZE];
  read_id(jni, descriptor, id, sizeof id);
  hw_write_name(to, HW_NAME_SIZE, id);
}

/// Whether an ID is that of an engine, which contains all its tests.
static int is_engine(void *jni, hw_object descriptor) {
  char id[256];
  read_id(jni, descriptor, id, sizeof id);
  return strncmp(id, "[engine:", 8) == 0 && strchr(id, '/') == NULL;
}

/// Writes the path of a source file below the roots of packages, as in `com/example/CacheTest.java`.
static void read_file(hw_object class, char *to, size_t size) {
  char *signature = NULL, *source = NULL;
  if (hw_class_signature(tools, class, &signature) == 0 && hw_source_file(tools, class, &source) == 0) {
    const char *slash = strrchr(signature, '/');
    snprintf(to, size, "%.*s%s", slash == NULL ? 0 : (int)(slash - signature), signature + 1, source);
  }
  if (signature != NULL) hw_deallocate(tools, signature);
  if (source != NULL) hw_deallocate(tools, source);
}

/// The first line of a method with code; 0 if unknown.
static int first_line(hw_method method) {
  struct hw_java_line *lines = NULL;
  int32_t count = 0;
  int first = 0;
  if (hw_lines(tools, method, &count, &lines) != 0) return 0;
  for (int at = 0; at < count; at++) {
    if (first == 0 || lines[at].number < first) first = lines[at].number;
  }
  hw_deallocate(tools, lines);
  return first;
}

/// Reads where a test stands, if it is a method.
static void read_place(void *jni, hw_object descriptor, struct hw_test *test) {
  hw_object source = hw_get(jni, descriptor, "getSource", "()Ljava/util/Optional;"), class = NULL;
  if (source == NULL || !hw_is_true(jni, source, "isPresent")) return;
  source = hw_get(jni, source, "get", "()Ljava/lang/Object;");
  hw_object reflected = hw_get(jni, source, "getJavaMethod", "()Ljava/lang/reflect/Method;");
  hw_method method = reflected == NULL ? NULL : hw_reflected(jni, reflected);
  if (method == NULL || hw_declaring_class(tools, method, &class) != 0) return;
  read_file(class, test->file, sizeof test->file);
  test->line = first_line(method);
}

static struct hw_test read_test(void *jni, hw_object descriptor) {
  struct hw_test test = {0};
  read_name(jni, descriptor, test.name);
  read_place(jni, descriptor, &test);
  return test;
}

/// Calls something with each descriptor below another one.
static void visit(void *jni, hw_object descriptor, void (*visitor)(void *jni, hw_object descriptor)) {
  hw_object all = hw_get(jni, descriptor, "getDescendants", "()Ljava/util/Set;");
  hw_object array = hw_get(jni, all, "toArray", "()[Ljava/lang/Object;");
  int count = array == NULL ? 0 : hw_array_length(jni, array);
  for (int at = 0; at < count; at++) {
    if (hw_push_frame(jni, 32) != 0) break;
    visitor(jni, hw_element(jni, array, at));
    hw_pop_frame(jni);
  }
  hw_has_failed(jni);
}

// MARK: - The chosen tests

/// As a `PostDiscoveryFilter` does it.
static void remove_other(void *jni, hw_object descriptor) {
  char name[HW_NAME_SIZE];
  hw_object children = hw_get(jni, descriptor, "getChildren", "()Ljava/util/Set;");
  if (children == NULL || !hw_is_true(jni, children, "isEmpty")) return;
  read_name(jni, descriptor, name);
  if (hw_choice(name) == HW_OTHER) hw_call(jni, descriptor, "removeFromHierarchy");
}

static void prune(void *jni, hw_object descriptor) { hw_call(jni, descriptor, "prune"); }

static void keep_chosen(void *jni, hw_object engine) {
  if (!hw_has_chosen()) return;
  visit(jni, engine, remove_other);
  visit(jni, engine, prune);
}

// MARK: - Events

static void forward(void *jni, hw_object adapter, int event, const union hw_value *arguments) {
  hw_method method = hw_method_of(jni, adapter, methods[event].to, methods[event].types);
  if (method != NULL) hw_call_void(jni, adapter, method, arguments);
}

static void on_started(void *jni, hw_object adapter, hw_object descriptor) {
  int is_test = hw_is_true(jni, descriptor, "isTest");
  // A test may run an engine of its own.
  if (!is_test && is_engine(jni, descriptor) && !hw_is_in_test()) {
    keep_chosen(jni, descriptor);
    hw_begin_recording(jni);
  }
  forward(jni, adapter, STARTED, &(union hw_value){.object = descriptor});
  if (hw_has_exception(jni) || !is_test) return;
  struct hw_test test = read_test(jni, descriptor);
  hw_begin_test(&test);
}

/// The status of a result in the words of the log.
static const char *outcome_of(void *jni, hw_object result) {
  char status[32];
  hw_object value = hw_get(jni, result, "getStatus", "()Lorg/junit/platform/engine/TestExecutionResult$Status;");
  hw_read_text(jni, hw_get(jni, value, "name", "()Ljava/lang/String;"), status, sizeof status);
  return strcmp(status, "SUCCESSFUL") == 0 ? "passed" : strcmp(status, "ABORTED") == 0 ? "skipped" : "failed";
}

static void on_finished(void *jni, hw_object adapter, hw_object descriptor, hw_object result) {
  char name[HW_NAME_SIZE];
  int is_test = hw_is_true(jni, descriptor, "isTest");
  if (is_test) {
    read_name(jni, descriptor, name);
    hw_end_test(name, outcome_of(jni, result));
  }
  forward(jni, adapter, FINISHED, (union hw_value[]){{.object = descriptor}, {.object = result}});
  if (hw_has_exception(jni)) {
    if (is_test) hw_stop_recording();
  } else if (is_test) {
    hw_record_test(jni, name);
  } else if (is_engine(jni, descriptor)) {
    hw_end_recording();
  }
}

static void skip(void *jni, hw_object descriptor) {
  if (!hw_is_true(jni, descriptor, "isTest")) return;
  struct hw_test test = read_test(jni, descriptor);
  hw_skip_test(&test);
}

static void on_skipped(void *jni, hw_object adapter, hw_object descriptor, hw_object reason) {
  skip(jni, descriptor);
  visit(jni, descriptor, skip);
  forward(jni, adapter, SKIPPED, (union hw_value[]){{.object = descriptor}, {.object = reason}});
}

// MARK: - Classes

static unsigned char *allocate(int32_t size) {
  unsigned char *memory = NULL;
  return hw_allocate(tools, size, &memory) == 0 ? memory : NULL;
}

static void on_class_file(
  void *environment, void *jni, hw_object redefined, hw_object loader, const char *name, hw_object domain, int32_t size,
  const unsigned char *bytes, int32_t *new_size, unsigned char **new_bytes
) {
  (void)environment, (void)jni, (void)loader, (void)domain;
  if (redefined != NULL || name == NULL || strcmp(name, ADAPTER) != 0) return;
  unsigned char *changed = hw_make_native(bytes, size, methods, METHODS, allocate, new_size);
  if (changed != NULL) *new_bytes = changed;
}

static void on_class_prepared(void *environment, void *jni, hw_object thread, hw_object class) {
  char *signature = NULL;
  (void)environment, (void)thread;
  if (hw_class_signature(tools, class, &signature) != 0) return;
  if (strcmp(signature, LAUNCHER) == 0) hw_set_event(tools, HW_ENABLE, HW_CLASS_FILE);
  if (strcmp(signature, "L" ADAPTER ";") == 0) {
    static void *const functions[] = {(void *)on_started, (void *)on_skipped, (void *)on_finished};
    struct hw_native natives[METHODS];
    hw_set_event(tools, HW_DISABLE, HW_CLASS_FILE);
    for (int at = 0; at < METHODS; at++) {
      natives[at] = (struct hw_native){methods[at].name, methods[at].types, functions[at]};
    }
    // It fails if the class was not changed.
    if (hw_register(jni, class, natives, METHODS) != 0) hw_has_failed(jni);
  }
  hw_deallocate(tools, signature);
}

void hw_collect_heap(void) { hw_collect(tools); }

// MARK: - Loading

static int start(void *machine) {
  static void *callbacks[HW_EVENTS];
  uint64_t capabilities[2] = {UINT64_C(1) << HW_SOURCE_FILES | UINT64_C(1) << HW_LINE_NUMBERS, 0};
  if (hw_environment(machine, &tools, HW_JVMTI_VERSION_1_2) != 0) return 0;
  callbacks[HW_CLASS_FILE - HW_FIRST_EVENT] = (void *)on_class_file;
  callbacks[HW_CLASS_PREPARED - HW_FIRST_EVENT] = (void *)on_class_prepared;
  hw_add_capabilities(tools, capabilities);
  return hw_set_callbacks(tools, callbacks) == 0 && hw_set_event(tools, HW_ENABLE, HW_CLASS_PREPARED) == 0;
}

/// The virtual machine calls it at its start; it would not start after an error.
__attribute__((visibility("default"))) int32_t Agent_OnLoad(void *machine, char *options, void *reserved) {
  const char *folder = getenv("HIGHWATER_TESTS"), *only = getenv("HIGHWATER_ONLY");
  (void)options, (void)reserved;
  if (folder == NULL) return 0;
  hw_record_to(folder);
  if (only != NULL && !hw_read_chosen(only)) hw_stop_recording();
  start(machine);
  return 0;
}
