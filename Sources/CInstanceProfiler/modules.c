/// Finds the functions of the Swift runtime, and the tables through which modules call functions.

#define _GNU_SOURCE
#include "internal.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: - The Swift runtime

// Of the process, if it is a library or linked into this module; NULL otherwise.
extern void *swift_allocObject(const void *, size_t, size_t) __attribute__((weak, visibility("default")));
extern void *swift_bufferAllocate(const void *, size_t, size_t) __attribute__((weak, visibility("default")));
extern void *(*_swift_allocObject)(const void *, size_t, size_t) __attribute__((weak, visibility("default")));
extern void swift_deallocUninitializedObject(void *, size_t, size_t) __attribute__((weak, visibility("default")));
extern struct hw_type_name swift_getTypeName(const void *, bool) __attribute__((weak, visibility("default")));

/// The program's file, mapped.
struct program {
  const char *bytes;
  size_t size;
  const ElfW(Ehdr) *header;
  const ElfW(Shdr) *sections;
};

static bool open_program(struct program *program) {
  int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0) return false;
  bool is_open = fstat(file, &status) == 0 && status.st_size > (off_t)sizeof(ElfW(Ehdr));
  program->size = (size_t)status.st_size;
  program->bytes = is_open ? mmap(NULL, program->size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (program->bytes == MAP_FAILED) return false;
  program->header = (const ElfW(Ehdr) *)program->bytes;
  program->sections = (const ElfW(Shdr) *)(program->bytes + program->header->e_shoff);
  size_t table = (size_t)program->header->e_shnum * sizeof(ElfW(Shdr));
  if (program->header->e_shoff <= program->size && table <= program->size - program->header->e_shoff) return true;
  munmap((void *)program->bytes, program->size);
  return false;
}

static bool is_inside(const struct program *program, const ElfW(Shdr) *section) {
  return section->sh_offset <= program->size && section->sh_size <= program->size - section->sh_offset;
}

/// The section's first byte; NULL if it does not exist, or is not one of texts that end with NUL.
static const char *texts(const struct program *program, unsigned index) {
  if (index >= program->header->e_shnum) return NULL;
  const ElfW(Shdr) *section = &program->sections[index];
  if (!is_inside(program, section) || section->sh_size == 0) return NULL;
  const char *bytes = program->bytes + section->sh_offset;
  return bytes[section->sh_size - 1] == '\0' ? bytes : NULL;
}

static int first_module(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  *(uintptr_t *)base = info->dlpi_addr;
  return 1;
}

/// Looks for the runtime's functions in one table of symbols.
static void find_in(const struct program *program, const ElfW(Shdr) *section, uintptr_t base, struct hw_runtime *found) {
  const struct {
    const char *name;
    void *address;
  } wanted[] = {
      {"swift_allocObject", &found->allocate},
      {"swift_bufferAllocate", &found->allocate_buffer},
      {"_swift_allocObject", &found->implementation},
      {"swift_deallocUninitializedObject", &found->discard},
      {"swift_getTypeName", &found->type_name},
  };
  const char *names = texts(program, section->sh_link);
  if (names == NULL || !is_inside(program, section)) return;
  size_t names_size = program->sections[section->sh_link].sh_size;
  const ElfW(Sym) *symbols = (const ElfW(Sym) *)(program->bytes + section->sh_offset);
  for (size_t at = 0; at < section->sh_size / sizeof *symbols; at++) {
    if (symbols[at].st_shndx == SHN_UNDEF || symbols[at].st_name >= names_size) continue;
    for (size_t index = 0; index < sizeof wanted / sizeof *wanted; index++) {
      if (strcmp(names + symbols[at].st_name, wanted[index].name) != 0) continue;
      *(uintptr_t *)wanted[index].address = base + symbols[at].st_value;
    }
  }
}

/// Looks for the runtime's functions in the program's file: the linker does not export those of a static runtime.
static void find_in_program(struct hw_runtime *runtime) {
  struct program program;
  uintptr_t base = 0;
  if (!open_program(&program)) return;
  dl_iterate_phdr(first_module, &base);
  for (unsigned at = 0; at < program.header->e_shnum; at++) {
    if (program.sections[at].sh_type == SHT_SYMTAB) find_in(&program, &program.sections[at], base, runtime);
  }
  munmap((void *)program.bytes, program.size);
}

bool hw_find_runtime(struct hw_runtime *runtime) {
  *runtime = (struct hw_runtime){
      .allocate = swift_allocObject,
      .allocate_buffer = swift_bufferAllocate,
      .implementation = &_swift_allocObject,
      .discard = swift_deallocUninitializedObject,
      .type_name = swift_getTypeName,
  };
  if (runtime->allocate == NULL && hw_program_is_swift()) find_in_program(runtime);
  return runtime->allocate != NULL && runtime->implementation != NULL && runtime->discard != NULL &&
         runtime->type_name != NULL;
}

bool hw_program_is_swift(void) {
  struct program program;
  if (!open_program(&program)) return false;
  const char *names = texts(&program, program.header->e_shstrndx);
  bool is_swift = false;
  for (unsigned at = 0; names != NULL && at < program.header->e_shnum; at++) {
    size_t name = program.sections[at].sh_name;
    is_swift |= name < program.sections[program.header->e_shstrndx].sh_size &&
                strcmp(names + name, "swift5_type_metadata") == 0;
  }
  munmap((void *)program.bytes, program.size);
  return is_swift;
}

// MARK: - Tables of addresses

struct replacing {
  const char *name;
  const void *replacement;
  uintptr_t inside;
  bool in_others;
  int count;
};

/// The tables of one module (elf(5)); addresses are relative in some C libraries.
struct tables {
  const ElfW(Sym) *symbols;
  const char *names;
  const ElfW(Rela) *relocations[2];
  size_t sizes[2];
};

static void *address(const struct dl_phdr_info *module, ElfW(Addr) value) {
  return (void *)(value < module->dlpi_addr ? module->dlpi_addr + value : value);
}

static struct tables tables_of(const struct dl_phdr_info *module, const ElfW(Dyn) *entry) {
  struct tables tables = {0};
  for (; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = address(module, entry->d_un.d_ptr); break;
      case DT_STRTAB: tables.names = address(module, entry->d_un.d_ptr); break;
      case DT_JMPREL: tables.relocations[0] = address(module, entry->d_un.d_ptr); break;
      case DT_PLTRELSZ: tables.sizes[0] = entry->d_un.d_val; break;
      case DT_RELA: tables.relocations[1] = address(module, entry->d_un.d_ptr); break;
      case DT_RELASZ: tables.sizes[1] = entry->d_un.d_val; break;
    }
  }
  return tables;
}

#if defined(__x86_64__)
static bool is_slot(uint32_t type) { return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT; }
#elif defined(__aarch64__)
static bool is_slot(uint32_t type) { return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT; }
#else
static bool is_slot(uint32_t type) { return false; }
#endif

/// The memory that the dynamic linker has made read-only (`PT_GNU_RELRO`).
static bool is_read_only(const struct dl_phdr_info *module, uintptr_t place) {
  for (int at = 0; at < module->dlpi_phnum; at++) {
    const ElfW(Phdr) *part = &module->dlpi_phdr[at];
    uintptr_t from = module->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_RELRO && place >= from && place < from + part->p_memsz) return true;
  }
  return false;
}

static bool replace_slot(const struct dl_phdr_info *module, uintptr_t place, const void *replacement) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *from = (void *)(place & ~(page - 1));
  bool was_read_only = is_read_only(module, place);
  if (was_read_only && mprotect(from, page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n((const void **)place, replacement, __ATOMIC_RELEASE);
  // The page may have other data behind the read-only memory.
  if (was_read_only && is_read_only(module, (uintptr_t)from + page - 1)) mprotect(from, page, PROT_READ);
  return true;
}

static void replace_in(const struct dl_phdr_info *module, struct tables tables, struct replacing *work) {
  for (int table = 0; table < 2; table++) {
    if (tables.relocations[table] == NULL || tables.symbols == NULL || tables.names == NULL) continue;
    for (size_t at = 0; at < tables.sizes[table] / sizeof(ElfW(Rela)); at++) {
      const ElfW(Rela) *slot = &tables.relocations[table][at];
      const ElfW(Sym) *symbol = &tables.symbols[ELF64_R_SYM(slot->r_info)];
      if (!is_slot(ELF64_R_TYPE(slot->r_info)) || strcmp(tables.names + symbol->st_name, work->name) != 0) continue;
      bool is_done = replace_slot(module, module->dlpi_addr + slot->r_offset, work->replacement);
      work->count = is_done && work->count >= 0 ? work->count + 1 : -1;
    }
  }
}

static bool contains(const struct dl_phdr_info *module, uintptr_t place) {
  for (int at = 0; at < module->dlpi_phnum; at++) {
    const ElfW(Phdr) *part = &module->dlpi_phdr[at];
    uintptr_t from = module->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && place >= from && place < from + part->p_memsz) return true;
  }
  return false;
}

static int visit_module(struct dl_phdr_info *module, size_t size, void *context) {
  (void)size;
  struct replacing *work = context;
  // Neither the kernel's module nor this one, if it is a library of its own.
  if (contains(module, work->inside) == work->in_others) return 0;
  if (work->in_others && contains(module, (uintptr_t)visit_module) && module->dlpi_name[0] != '\0') return 0;
  for (int at = 0; at < module->dlpi_phnum; at++) {
    if (module->dlpi_phdr[at].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *entries = (const ElfW(Dyn) *)(module->dlpi_addr + module->dlpi_phdr[at].p_vaddr);
    replace_in(module, tables_of(module, entries), work);
  }
  return 0;
}

int hw_replace_in_tables(const char *name, const void *replacement, const void *inside, bool in_others) {
  struct replacing work = {name, replacement, (uintptr_t)inside, in_others, 0};
  dl_iterate_phdr(visit_module, &work);
  return work.count;
}
