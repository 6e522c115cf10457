/// The functions of JNI and of the JVM Tool Interface that the reporter uses beside those of the sampler.

#ifndef HW_JUNIT_INTERFACE_H
#define HW_JUNIT_INTERFACE_H

#include "../HeapSampler/java_interface.h"

/// Java 8 has it.
#define HW_JVMTI_VERSION_1_2 0x30010200

enum { HW_CLASS_FILE = 54, HW_CLASS_PREPARED = 56 };

/// An argument of a method, as JNI passes it (`jvalue`).
union hw_value {
  hw_object object;
  int64_t number;
};

/// The function behind a native method (`JNINativeMethod`).
struct hw_native {
  const char *name, *types;
  void *function;
};

#define hw_allocate(environment, size, memory) HW_CALL(environment, 45, (void *, int64_t, unsigned char **), size, memory)

/// Calls a function of JNI that returns another type than a number.
#define HW_JNI(jni, place, result, types, ...) \
  (((result (*) types)(*(hw_functions *)(jni))[place])((jni), ##__VA_ARGS__))

#define hw_find_class(jni, name) HW_JNI(jni, 6, hw_object, (void *, const char *), name)
#define hw_reflected(jni, method) HW_JNI(jni, 7, hw_method, (void *, hw_object), method)
#define hw_clear_exception(jni) HW_JNI(jni, 17, void, (void *))
#define hw_push_frame(jni, capacity) HW_CALL(jni, 19, (void *, int32_t), capacity)
#define hw_pop_frame(jni) HW_JNI(jni, 20, hw_object, (void *, hw_object), NULL)
#define hw_keep(jni, object) HW_JNI(jni, 21, hw_object, (void *, hw_object), object)
#define hw_class_of(jni, object) HW_JNI(jni, 31, hw_object, (void *, hw_object), object)
#define hw_find_method(jni, class, name, types) \
  HW_JNI(jni, 33, hw_method, (void *, hw_object, const char *, const char *), class, name, types)
#define hw_call_object(jni, object, method, arguments) \
  HW_JNI(jni, 36, hw_object, (void *, hw_object, hw_method, const union hw_value *), object, method, arguments)
#define hw_call_boolean(jni, object, method) \
  HW_JNI(jni, 39, unsigned char, (void *, hw_object, hw_method, const union hw_value *), object, method, NULL)
#define hw_call_long(jni, object, method) \
  HW_JNI(jni, 54, int64_t, (void *, hw_object, hw_method, const union hw_value *), object, method, NULL)
#define hw_call_void(jni, object, method, arguments) \
  HW_JNI(jni, 63, void, (void *, hw_object, hw_method, const union hw_value *), object, method, arguments)
#define hw_find_static(jni, class, name, types) \
  HW_JNI(jni, 113, hw_method, (void *, hw_object, const char *, const char *), class, name, types)
#define hw_call_static(jni, class, method, arguments) \
  HW_JNI(jni, 116, hw_object, (void *, hw_object, hw_method, const union hw_value *), class, method, arguments)
#define hw_new_text(jni, text) HW_JNI(jni, 167, hw_object, (void *, const char *), text)
#define hw_text_length(jni, text) HW_CALL(jni, 164, (void *, hw_object), text)
#define hw_text(jni, text) HW_JNI(jni, 165, const uint16_t *, (void *, hw_object, unsigned char *), text, NULL)
#define hw_release_text(jni, text, units) \
  HW_JNI(jni, 166, void, (void *, hw_object, const uint16_t *), text, units)
#define hw_array_length(jni, array) HW_CALL(jni, 171, (void *, hw_object), array)
#define hw_element(jni, array, index) HW_JNI(jni, 173, hw_object, (void *, hw_object, int32_t), array, index)
#define hw_register(jni, class, natives, count) \
  HW_CALL(jni, 215, (void *, hw_object, const struct hw_native *, int32_t), class, natives, count)
#define hw_has_exception(jni) HW_JNI(jni, 228, unsigned char, (void *))

#endif
