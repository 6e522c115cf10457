/// What differs between processor architectures.

#ifndef HW_MACHINE_H
#define HW_MACHINE_H

#include <elf.h>
#include <stdint.h>
#include <sys/user.h>

/// The registers by their DWARF numbers.
struct hw_registers {
  uint64_t values[33];
  /// A bit for each register whose value is known.
  uint64_t known;
};

#if defined(__x86_64__)

#define HW_ELF_MACHINE EM_X86_64
enum { HW_REGISTERS = 17, HW_FRAME_POINTER = 6, HW_STACK_POINTER = 7, HW_RETURN = 16, HW_PC = 16 };
/// The registers that a function preserves by the ABI: rbx, rbp, r12 to r15.
#define HW_PRESERVED UINT64_C(0xf048)
typedef struct user_regs_struct hw_user_registers;

static inline struct hw_registers hw_registers_of(const hw_user_registers *from) {
  return (struct hw_registers){
    .values = {from->rax, from->rdx, from->rcx, from->rbx, from->rsi, from->rdi, from->rbp, from->rsp, from->r8,
               from->r9, from->r10, from->r11, from->r12, from->r13, from->r14, from->r15, from->rip},
    .known = (1u << HW_REGISTERS) - 1,
  };
}

/// The registers of a copy, in its order.
#define HW_COPIED_REGISTERS {3, 6, 12, 13, 14, 15, 7, 16}

static inline uint64_t hw_code_address(uint64_t word) { return word; }

#elif defined(__aarch64__)

#define HW_ELF_MACHINE EM_AARCH64
enum { HW_REGISTERS = 33, HW_FRAME_POINTER = 29, HW_STACK_POINTER = 31, HW_RETURN = 30, HW_PC = 32 };
/// The registers that a function preserves by the ABI: x19 to x29.
#define HW_PRESERVED UINT64_C(0x3ff80000)
typedef struct user_regs_struct hw_user_registers;

static inline struct hw_registers hw_registers_of(const hw_user_registers *from) {
  struct hw_registers to = {.known = (UINT64_C(1) << HW_REGISTERS) - 1};
  for (int at = 0; at < 31; at++) to.values[at] = from->regs[at];
  to.values[HW_STACK_POINTER] = from->sp;
  to.values[HW_PC] = from->pc;
  return to;
}

#define HW_COPIED_REGISTERS {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}

/// Without the bits of pointer authentication, which are above the 48 bits of an address.
static inline uint64_t hw_code_address(uint64_t word) { return word & 0xffffffffffff; }

#else
#error "The registers of this architecture are not known"
#endif

static inline int hw_is_known(const struct hw_registers *registers, unsigned number) {
  return number < HW_REGISTERS && (registers->known >> number & 1);
}

static inline void hw_set_register(struct hw_registers *registers, unsigned number, uint64_t value) {
  registers->values[number] = value;
  registers->known |= UINT64_C(1) << number;
}

#endif
