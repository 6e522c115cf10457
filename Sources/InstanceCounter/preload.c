/// The library that is preloaded into targets whose Swift objects are counted: starts counting before the program.
///
/// It is compiled with Sources/CInstanceProfiler by the plugin Embed, and needs only libc.

#include "hw_instances.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) int hw_instances_preload_counts;

__attribute__((constructor)) static void start(void) {
  const char *folder = getenv("HIGHWATER_INSTANCES");
  char path[4096];
  if (folder == NULL || snprintf(path, sizeof path, "%s/%d", folder, (int)getpid()) >= (int)sizeof path) return;
  hw_instances_preload_counts = hw_instances_start(path, HW_HOOK_AUTO, 0) == HW_REFUSED_NOT;
}
