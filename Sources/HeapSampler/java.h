/// Declarations shared by the files of the sampler of Java's heap.

#ifndef HW_JAVA_H
#define HW_JAVA_H

#include <stddef.h>
#include <stdint.h>

#include "java_interface.h"

/// A frame with names, which need the virtual machine: found before the tables are locked.
struct hw_java_name {
  /// As in `com.example.Server.handle`, and `com/example/Server.java`; empty to leave the frame out.
  char function[512], file[512];
  int line;
};

/// Opens the log in a folder; whether that was possible.
int hw_log_open(const char *folder);

/// Says in the log that nothing can be sampled.
void hw_log_refuse(void);

/// The node of a stack, innermost frame first, if all its frames are known; else 0.
uint32_t hw_node_of(const struct hw_java_frame *frames, int count);

/// Adds a frame that is not known; the first name of a frame counts.
void hw_add_frame(struct hw_java_frame frame, const struct hw_java_name *name);

/// Whether a frame is known.
int hw_knows_frame(struct hw_java_frame frame);

/// The number of a new sample at a node, which is live until it is removed; 0 if there is no memory for it.
int64_t hw_add_sample(uint32_t node, int64_t bytes);

void hw_remove_sample(int64_t number);

/// How many samples were ever added.
int64_t hw_sample_count(void);

/// Writes what is live; how many bytes.
int64_t hw_log_write(int64_t interval);

/// Says the name of a known place by its key.
void hw_log_place(struct hw_java_frame frame, uint64_t key);

/// Lets the sampler of blocks, if there is one, ask for the functions that a thread runs; until the end.
void hw_native_start(void *machine);
void hw_native_end(void);

/// Names the places that it has been told after the first ones, which are named; how many are then.
uint32_t hw_native_name(void (*name)(void *jni, struct hw_java_frame frame), void *jni, uint32_t named);

/// CLOCK_MONOTONIC in nanoseconds.
int64_t hw_java_time(void);

#endif
