/// Calls of Java's methods by name, of which none throws into the program.

#define _GNU_SOURCE
#include "java_calls.h"

#include "junit.h"

/// Whether an exception was thrown by our own calls, which is then forgotten.
int hw_has_failed(void *jni) {
  if (!hw_has_exception(jni)) return 0;
  hw_clear_exception(jni);
  return 1;
}

/// A method of the class of an object; NULL if it has none.
hw_method hw_method_of(void *jni, hw_object object, const char *name, const char *types) {
  hw_object class = hw_class_of(jni, object);
  hw_method method = hw_find_method(jni, class, name, types);
  hw_forget(jni, class);
  return hw_has_failed(jni) ? NULL : method;
}

/// The result of a method without arguments; NULL also if there is no object, and after an exception.
hw_object hw_get(void *jni, hw_object object, const char *name, const char *types) {
  hw_method method = object == NULL ? NULL : hw_method_of(jni, object, name, types);
  hw_object result = method == NULL ? NULL : hw_call_object(jni, object, method, NULL);
  return hw_has_failed(jni) ? NULL : result;
}

int hw_is_true(void *jni, hw_object object, const char *name) {
  hw_method method = hw_method_of(jni, object, name, "()Z");
  int result = method != NULL && hw_call_boolean(jni, object, method);
  return !hw_has_failed(jni) && result;
}

void hw_call(void *jni, hw_object object, const char *name) {
  hw_method method = hw_method_of(jni, object, name, "()V");
  if (method != NULL) hw_call_void(jni, object, method, NULL);
  hw_has_failed(jni);
}

void hw_read_text(void *jni, hw_object text, char *to, size_t size) {
  const uint16_t *units = text == NULL ? NULL : hw_text(jni, text);
  to[0] = '\0';
  if (units == NULL) return;
  hw_write_utf8(to, size, units, hw_text_length(jni, text));
  hw_release_text(jni, text, units);
}
