/// The functions of libelf and libdw that this module uses.

#ifndef HW_LIBRARIES_H
#define HW_LIBRARIES_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "internal.h"

#define HW_LIBELF(FUNCTION) FUNCTION(elf_version) FUNCTION(elf_begin) FUNCTION(elf_memory)
#define HW_LIBDW(FUNCTION) \
  FUNCTION(dwarf_begin_elf) FUNCTION(dwarf_getcfi) FUNCTION(dwarf_getcfi_elf) FUNCTION(dwarf_cfi_addrframe) \
  FUNCTION(dwarf_frame_info) FUNCTION(dwarf_frame_cfa) FUNCTION(dwarf_frame_register) FUNCTION(dwarf_nextcu) \
  FUNCTION(dwarf_offdie) FUNCTION(dwarf_getfuncs) FUNCTION(dwarf_ranges) FUNCTION(dwarf_haspc) FUNCTION(dwarf_child) \
  FUNCTION(dwarf_siblingof) FUNCTION(dwarf_tag) FUNCTION(dwarf_diename) FUNCTION(dwarf_attr) \
  FUNCTION(dwarf_attr_integrate) FUNCTION(dwarf_formref_die) FUNCTION(dwarf_getscopes_die) FUNCTION(dwarf_srclang) \
  FUNCTION(dwarf_formstring) FUNCTION(dwarf_formudata) FUNCTION(dwarf_getsrcfiles) FUNCTION(dwarf_filesrc) \
  FUNCTION(dwarf_getsrc_die) FUNCTION(dwarf_linesrc) FUNCTION(dwarf_lineno)

/// NULL until they are loaded.
struct hw_libraries {
#define FUNCTION(name) __typeof__(name) *name;
  HW_LIBELF(FUNCTION) HW_LIBDW(FUNCTION)
#undef FUNCTION
};

extern struct hw_libraries hw_dw;

/// Whether they are loaded.
int hw_has_libraries(void);

/// Opens the DWARF of a file with such a section, if all its sections have at most so many bytes; NULL if there is none.
///
/// ELF_C_READ copies what it reads: a file that is mapped into memory, and then truncated, would kill this process.
Dwarf *hw_open_dwarf(struct hw_elf *elf, const char *section, uint64_t most);

/// The CPU time of this thread in nanoseconds.
int64_t hw_cpu_time(void);

#endif
