/// Replaces the entry of a function by a jump.

#define _GNU_SOURCE
#include "internal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)

/// `swift_allocObject` of Swift 6.3, optimised: it loads `_swift_allocObject`, and compares it with the default.
static const unsigned char known[] = {
    0x55,                    // push %rbp
    0x48, 0x89, 0xe5,        // mov %rsp, %rbp
    0x53,                    // push %rbx
    0x50,                    // push %rax
    0x48, 0x89, 0xfb,        // mov %rdi, %rbx
    0x48, 0x8b, 0x05,        // mov _swift_allocObject(%rip), %rax
};
enum { OPERAND = sizeof known, LOAD_END = OPERAND + 4, DEFAULT = LOAD_END + 3, DEFAULT_END = DEFAULT + 4 };
/// lea __swift_allocObject_(%rip), %rcx
static const unsigned char load_default[] = {0x48, 0x8d, 0x0d};

/// mov $target, %rax; jmp *%rax: the function has not used %rax yet.
enum { JUMP = 12 };

static const unsigned char *operand(const unsigned char *code, int at, int end) {
  int32_t distance;
  memcpy(&distance, code + at, sizeof distance);
  return code + end + distance;
}

bool hw_entry_is_known(const void *function, const struct hw_runtime *runtime) {
  const unsigned char *code = function;
  if (memcmp(code, known, sizeof known) != 0) return false;
  if (memcmp(code + LOAD_END, load_default, sizeof load_default) != 0) return false;
  // Another tool may have set its own allocator.
  return operand(code, OPERAND, LOAD_END) == (const unsigned char *)runtime->implementation &&
         operand(code, DEFAULT, DEFAULT_END) == (const unsigned char *)*runtime->implementation;
}

static bool write_code(unsigned char *code, const unsigned char *bytes) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)code & ~(page - 1);
  size_t size = (uintptr_t)code + JUMP - from;
  if (mprotect((void *)from, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  memcpy(code, bytes, JUMP);
  mprotect((void *)from, size, PROT_READ | PROT_EXEC);
  return true;
}

bool hw_entry_replace(struct hw_entry *entry, const void *function, const void *target) {
  unsigned char jump[JUMP] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  memcpy(jump + 2, &target, sizeof target);
  entry->code = (unsigned char *)function;
  memcpy(entry->saved, function, JUMP);
  if (write_code(entry->code, jump)) return true;
  entry->code = NULL;
  return false;
}

void hw_entry_restore(struct hw_entry *entry) {
  if (entry->code != NULL) write_code(entry->code, entry->saved);
  entry->code = NULL;
}

#else

// No machine code of other processors is known: the tables are used there.

bool hw_entry_is_known(const void *function, const struct hw_runtime *runtime) {
  (void)function, (void)runtime;
  return false;
}

bool hw_entry_replace(struct hw_entry *entry, const void *function, const void *target) {
  (void)entry, (void)function, (void)target;
  return false;
}

void hw_entry_restore(struct hw_entry *entry) { (void)entry; }

#endif
