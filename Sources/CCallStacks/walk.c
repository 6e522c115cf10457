#define _GNU_SOURCE
#include "internal.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/// The largest distance between two frames that a frame pointer may span; what is not one points anywhere.
#define MAX_FRAME_SIZE (1u << 20)

enum step { STEP_CALLER, STEP_OUTERMOST, STEP_FAILED };

/// A walk, at one frame.
struct walk {
  struct hw_code *code;
  struct hw_stack *stack;
  struct hw_registers registers;
  /// Whether the frame has called another one: then its address is the one to return to.
  int is_return;
};

// MARK: - By the unwind table

/// Computes the CFA or a register of the calling frame; whether its value is known.
static int apply(const struct walk *walk, const struct hw_rule *rule, uint64_t cfa, uint64_t *value) {
  const struct hw_registers *registers = &walk->registers;
  switch (rule->kind) {
    case HW_RULE_AT_CFA: return hw_stack_word(walk->stack, cfa + (uint64_t)(int64_t)rule->value, value);
    case HW_RULE_CFA: *value = cfa + (uint64_t)(int64_t)rule->value; return 1;
    case HW_RULE_REGISTER:
      if (!hw_is_known(registers, (unsigned)rule->value)) return 0;
      *value = registers->values[rule->value] + (uint64_t)(int64_t)rule->offset;
      return 1;
    case HW_RULE_EXPRESSION:
      return hw_evaluate(hw_find_expression(rule->value), registers, cfa, walk->stack, value);
    default: return 0;
  }
}

/// Whether the stack grows from frame to frame; the first frame may have none of its own.
static int grows(const struct walk *walk, uint64_t cfa) {
  uint64_t stack_pointer = walk->registers.values[HW_STACK_POINTER];
  return cfa > stack_pointer || (cfa == stack_pointer && !walk->is_return);
}

static enum step step_by_row(struct walk *walk, const struct hw_row *row) {
  uint64_t cfa;
  if (!apply(walk, &row->cfa, 0, &cfa)) return STEP_FAILED;
  // A signal handler may have a stack of its own.
  if (!row->is_signal_frame && !grows(walk, cfa)) return STEP_FAILED;
  struct hw_registers caller = walk->registers;
  // Only where nothing has been called, a register can have the return address.
  enum step step = HW_RETURN == HW_PC || walk->is_return ? STEP_FAILED : STEP_CALLER;
  hw_set_register(&caller, HW_STACK_POINTER, cfa);
  for (int at = 0; at < row->count; at++) {
    const struct hw_rule *rule = &row->rules[at];
    uint64_t value;
    int is_known = apply(walk, rule, cfa, &value);
    if (is_known) hw_set_register(&caller, rule->target, value);
    else caller.known &= ~(UINT64_C(1) << rule->target);
    if (rule->target != HW_RETURN) continue;
    step = is_known ? STEP_CALLER : rule->kind == HW_RULE_UNDEFINED ? STEP_OUTERMOST : STEP_FAILED;
  }
  caller.values[HW_PC] = caller.values[HW_RETURN];
  walk->registers = caller;
  walk->is_return = !row->is_signal_frame;
  return step;
}

// MARK: - Without a table

#if defined(__x86_64__)

/// What is remembered of code that a call returns to: the bytes that it adds to the stack pointer before it returns, or that
/// it does something else.
static struct known_code {
  uint64_t process, address;
  int16_t size;
} known_code[1024];
#define OTHER_CODE (-1)

/// How many bytes the code at an address adds to the stack pointer before it returns, as Python's trampolines for perf do;
/// `OTHER_CODE` if it does more.
static int size_of_return(const struct walk *walk, uint64_t address) {
  struct known_code *known = &known_code[(address ^ address >> 10) % 1024];
  uint64_t process = hw_code_number(walk->code);
  if (known->process == process && known->address == address) return known->size;
  const struct hw_memory *memory = walk->stack->memory;
  uint8_t code[5];
  if (memory->read(memory, address, code, sizeof code) != sizeof code) return OTHER_CODE;
  // add $size, %rsp; ret
  int is_return = code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 && code[3] <= 0x7f && code[4] == 0xc3;
  *known = (struct known_code){process, address, is_return ? code[3] : OTHER_CODE};
  return known->size;
}

/// Follows code that only adds to the stack pointer before it returns.
static enum step step_by_code(struct walk *walk) {
  uint64_t *stack_pointer = &walk->registers.values[HW_STACK_POINTER];
  int size = walk->is_return ? size_of_return(walk, walk->registers.values[HW_PC]) : OTHER_CODE;
  if (size == OTHER_CODE) return STEP_FAILED;
  uint64_t return_at = *stack_pointer + (uint64_t)size;
  if (!hw_stack_word(walk->stack, return_at, &walk->registers.values[HW_PC])) return STEP_FAILED;
  *stack_pointer = return_at + 8;
  return STEP_CALLER;
}

#else

/// Such code keeps a frame pointer.
static enum step step_by_code(struct walk *walk) {
  (void)walk;
  return STEP_FAILED;
}

#endif

static enum step step_by_frame_pointer(struct walk *walk) {
  struct hw_registers caller = {0};
  const struct hw_registers *registers = &walk->registers;
  if (!hw_is_known(registers, HW_FRAME_POINTER)) return STEP_FAILED;
  uint64_t frame = registers->values[HW_FRAME_POINTER], former, pc;
  // The outermost frame has the frame pointer 0, by the ABI.
  if (frame == 0 && walk->is_return) return STEP_OUTERMOST;
  if (frame % 8 != 0 || frame - registers->values[HW_STACK_POINTER] > MAX_FRAME_SIZE) return STEP_FAILED;
  if (!hw_stack_word(walk->stack, frame, &former) || !hw_stack_word(walk->stack, frame + 8, &pc)) return STEP_FAILED;
  hw_set_register(&caller, HW_FRAME_POINTER, former);
  hw_set_register(&caller, HW_STACK_POINTER, frame + 16);
  hw_set_register(&caller, HW_PC, pc);
  *walk = (struct walk){.code = walk->code, .stack = walk->stack, .registers = caller, .is_return = 1};
  return STEP_CALLER;
}

// MARK: - Walking

/// Continues at the calling frame of a place.
static enum step step(struct walk *walk, struct hw_place *place) {
  const struct hw_row *row = hw_find_row(place->module, place->address - place->is_return);
  // Nothing has called the handler: it returns to the first instruction of the signal frame.
  if (row != NULL && row->is_signal_frame) place->is_return = 0;
  enum step step = row != NULL ? step_by_row(walk, row) : step_by_code(walk);
  if (row == NULL && step == STEP_FAILED) step = step_by_frame_pointer(walk);
  uint64_t *pc = &walk->registers.values[HW_PC];
  *pc = hw_code_address(*pc);
  return step == STEP_CALLER && *pc == 0 ? STEP_OUTERMOST : step;
}

int hw_walk_from(
  struct hw_code *code, struct hw_registers registers, struct hw_stack *stack, struct hw_place *places, int capacity,
  int *is_complete
) {
  struct walk walk = {.code = code, .stack = stack, .registers = registers};
  enum step next = STEP_CALLER;
  int count = 0;
  while (count < capacity && count < HW_MAX_FRAMES && next == STEP_CALLER) {
    uint64_t pc = walk.registers.values[HW_PC];
    const struct hw_mapping *mapping = hw_code_find(code, pc - (uint64_t)walk.is_return);
    if (mapping == NULL) break;
    places[count] = (struct hw_place){mapping->module, (uint32_t)walk.is_return, pc - mapping->bias};
    next = step(&walk, &places[count++]);
  }
  *is_complete = next == STEP_OUTERMOST;
  return count;
}

int hw_walk(struct hw_code *code, pid_t thread, struct hw_place *places, int capacity, int *is_complete) {
  // Too large for the stack of a thread.
  static struct hw_stack stack;
  hw_user_registers user;
  struct iovec buffer = {&user, sizeof user};
  *is_complete = 0;
  if (ptrace(PTRACE_GETREGSET, thread, (void *)(uintptr_t)NT_PRSTATUS, &buffer) != 0) return 0;
  // A 32-bit program has fewer registers.
  if (buffer.iov_len != sizeof user) return 0;
  struct hw_registers registers = hw_registers_of(&user);
  struct hw_memory memory = hw_memory_of(thread);
  hw_code_use_thread(code, thread);
  hw_stack_open(&stack, &memory, registers.values[HW_STACK_POINTER]);
  return hw_walk_from(code, registers, &stack, places, capacity, is_complete);
}

int hw_walk_copy(
  struct hw_code *code, pid_t thread, const struct hw_stack_copy *copy, struct hw_place *places, int capacity,
  int *is_complete
) {
  static struct hw_stack stack;
  static const uint8_t numbers[] = HW_COPIED_REGISTERS;
  struct hw_registers registers = {0};
  for (size_t at = 0; at < sizeof numbers; at++) hw_set_register(&registers, numbers[at], copy->registers[at]);
  struct hw_memory memory = hw_memory_of(thread);
  hw_code_use_thread(code, thread);
  hw_stack_open_copy(&stack, &memory, registers.values[HW_STACK_POINTER], copy->bytes, copy->size);
  return hw_walk_from(code, registers, &stack, places, capacity, is_complete);
}
