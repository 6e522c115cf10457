#include "internal.h"

/// The first mapped file with a section, such as that of a language's runtime; NULL if there is none.
static const struct hw_mapping *mapping_with(struct hw_code *code, pid_t thread, const char *section) {
  const struct hw_mapping *mapping;
  hw_code_use_thread(code, thread);
  for (size_t at = 0; (mapping = hw_code_mapping(code, at)) != NULL; at++) {
    struct hw_module *module = hw_module(mapping->module);
    if (module != NULL && module->is_elf && hw_elf_section(&module->elf, section, 0) != NULL) return mapping;
  }
  return NULL;
}

int hw_has_section(struct hw_code *code, pid_t thread, const char *section) {
  return mapping_with(code, thread, section) != NULL;
}

uint64_t hw_variable_address(struct hw_code *code, pid_t thread, const char *name) {
  const struct hw_mapping *mapping = mapping_with(code, thread, ".symtab");
  uint64_t value = mapping == NULL ? 0 : hw_elf_symbol(&hw_module(mapping->module)->elf, SHT_SYMTAB, name);
  return value == 0 ? 0 : value + mapping->bias;
}

struct hw_place hw_return_place(struct hw_code *code, pid_t thread, uint64_t address) {
  hw_code_use_thread(code, thread);
  const struct hw_mapping *mapping = hw_code_find(code, address - 1);
  if (mapping == NULL) return (struct hw_place){HW_NO_MODULE, 1, address};
  return (struct hw_place){mapping->module, 1, address - mapping->bias};
}
