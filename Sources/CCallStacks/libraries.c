#define _GNU_SOURCE
#include "libraries.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hw_libraries hw_dw;

static int is_loaded;

/// The most bytes of compressed sections that are decompressed: a file of 3 MB can unpack to 3 GiB.
#define MAX_DECOMPRESSED (UINT64_C(256) << 20)

int hw_has_libraries(void) { return is_loaded; }

/// Stores the address of a function; whether the library has it.
static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

const char *hw_stacks_load(void) {
  if (is_loaded) return NULL;
  unsetenv("DEBUGINFOD_URLS");
  void *libelf = dlopen("libelf.so.1", RTLD_NOW | RTLD_LOCAL);
  void *libdw = libelf == NULL ? NULL : dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (libdw == NULL) return dlerror();
#define FUNCTION(name) if (!find(libelf, #name, &hw_dw.name)) return dlerror();
  HW_LIBELF(FUNCTION)
#undef FUNCTION
#define FUNCTION(name) if (!find(libdw, #name, &hw_dw.name)) return dlerror();
  HW_LIBDW(FUNCTION)
#undef FUNCTION
  if (hw_dw.elf_version(EV_CURRENT) == EV_NONE) return "libelf is too old";
  is_loaded = 1;
  return NULL;
}

Dwarf *hw_open_dwarf(struct hw_elf *elf, const char *section, uint64_t most) {
  if (!is_loaded || hw_elf_section(elf, section, 0) == NULL) return NULL;
  struct hw_section_sizes sizes = hw_elf_section_sizes(elf);
  if (sizes.all > most || sizes.decompressed > MAX_DECOMPRESSED) return NULL;
  Elf *handle = elf->image == NULL ? hw_dw.elf_begin(elf->file, ELF_C_READ, NULL) : NULL;
  return handle == NULL ? NULL : hw_dw.dwarf_begin_elf(handle, DWARF_C_READ, NULL);
}

int64_t hw_cpu_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}
