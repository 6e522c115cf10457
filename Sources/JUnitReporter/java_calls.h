/// Calls of Java's methods by name, of which none throws into the program.

#ifndef HW_JUNIT_JAVA_CALLS_H
#define HW_JUNIT_JAVA_CALLS_H

#include <stddef.h>

#include "interface.h"

/// Whether an exception was thrown by our own calls, which is then forgotten.
int hw_has_failed(void *jni);

/// A method of the class of an object; NULL if it has none.
hw_method hw_method_of(void *jni, hw_object object, const char *name, const char *types);

/// The result of a method without arguments; NULL also if there is no object, and after an exception.
hw_object hw_get(void *jni, hw_object object, const char *name, const char *types);

/// Whether a method without arguments says so; not after an exception.
int hw_is_true(void *jni, hw_object object, const char *name);

/// Calls a method without arguments and result.
void hw_call(void *jni, hw_object object, const char *name);

/// Reads a string of Java as UTF-8, as much as fits; empty if there is none.
void hw_read_text(void *jni, hw_object text, char *to, size_t size);

#endif
