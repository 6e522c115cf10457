/// The parts of the JVM Tool Interface and of JNI that the sampler uses, by their places in the tables of functions that the
/// specification fixes (Java 11, JVMTI 11.0): so that building needs no JDK.

#ifndef HW_JAVA_INTERFACE_H
#define HW_JAVA_INTERFACE_H

#include <stdint.h>

typedef void *hw_object;
typedef void *hw_method;

/// A table of functions, which its environment points to.
typedef void *const *hw_functions;

struct hw_java_frame {
  hw_method method;
  int64_t location;
};

struct hw_java_line {
  int64_t start;
  int32_t number;
};

#define HW_JVMTI_VERSION_11 0x300b0000

enum { HW_DISABLE, HW_ENABLE };

/// Events, by their numbers.
enum {
  HW_FIRST_EVENT = 50, HW_VM_INIT = 50, HW_VM_DEATH = 51, HW_CLASS_LOAD = 55, HW_CLASS_PREPARE = 56,
  HW_OBJECT_FREE = 83, HW_SAMPLED_ALLOCATION = 86, HW_EVENTS = 37
};

/// Capabilities, by their bits.
enum { HW_TAG_OBJECTS = 0, HW_SOURCE_FILES = 11, HW_LINE_NUMBERS = 12, HW_OBJECT_FREE_EVENTS = 32, HW_SAMPLED_EVENTS = 43 };

/// Calls a function of the tool interface by its place; its result is 0 or an error.
#define HW_CALL(environment, place, types, ...) \
  (((int (*) types)(*(hw_functions *)(environment))[place])((environment), ##__VA_ARGS__))

#define hw_set_event(environment, mode, event) \
  HW_CALL(environment, 1, (void *, int, int, hw_object, ...), mode, event, NULL)
#define hw_deallocate(environment, memory) HW_CALL(environment, 46, (void *, void *), memory)
#define hw_class_signature(environment, class, signature) \
  HW_CALL(environment, 47, (void *, hw_object, char **, char **), class, signature, NULL)
#define hw_source_file(environment, class, name) HW_CALL(environment, 49, (void *, hw_object, char **), class, name)
#define hw_methods(environment, class, count, methods) \
  HW_CALL(environment, 51, (void *, hw_object, int32_t *, hw_method **), class, count, methods)
#define hw_method_name(environment, method, name) \
  HW_CALL(environment, 63, (void *, hw_method, char **, char **, char **), method, name, NULL, NULL)
#define hw_declaring_class(environment, method, class) \
  HW_CALL(environment, 64, (void *, hw_method, hw_object *), method, class)
#define hw_lines(environment, method, count, lines) \
  HW_CALL(environment, 69, (void *, hw_method, int32_t *, struct hw_java_line **), method, count, lines)
#define hw_loaded_classes(environment, count, classes) \
  HW_CALL(environment, 77, (void *, int32_t *, hw_object **), count, classes)
#define hw_stack(environment, frames, capacity, count) \
  HW_CALL(environment, 103, (void *, hw_object, int32_t, int32_t, struct hw_java_frame *, int32_t *), NULL, 0, capacity, \
          frames, count)
#define hw_set_tag(environment, object, tag) HW_CALL(environment, 106, (void *, hw_object, int64_t), object, tag)
#define hw_collect(environment) HW_CALL(environment, 107, (void *))
#define hw_set_callbacks(environment, callbacks) \
  HW_CALL(environment, 121, (void *, void *const *, int32_t), callbacks, (int32_t)(HW_EVENTS * sizeof(void *)))
#define hw_add_capabilities(environment, bits) HW_CALL(environment, 141, (void *, const uint64_t *), bits)
#define hw_set_interval(environment, bytes) HW_CALL(environment, 155, (void *, int32_t), bytes)

/// Of the virtual machine.
#define hw_attach_daemon(machine, jni) HW_CALL(machine, 7, (void *, void **, void *), jni, NULL)
#define hw_environment(machine, to, version) HW_CALL(machine, 6, (void *, void **, int32_t), to, version)

/// Of JNI.
#define hw_forget(jni, object) HW_CALL(jni, 23, (void *, hw_object), object)

#endif
