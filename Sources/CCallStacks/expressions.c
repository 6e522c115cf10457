#include "internal.h"

#include <dwarf.h>

/// The tables of real programs need up to 5 values and 20 steps.
#define MAX_VALUES 32
#define MAX_STEPS 256

struct evaluation {
  const struct hw_expression *expression;
  const struct hw_registers *registers;
  uint64_t cfa;
  struct hw_stack *stack;
  uint64_t values[MAX_VALUES];
  int count;
  /// The index of the next operation.
  int next;
};

static int push(struct evaluation *now, uint64_t value) {
  if (now->count == MAX_VALUES) return 0;
  now->values[now->count++] = value;
  return 1;
}

static int push_register(struct evaluation *now, uint64_t number, uint64_t offset) {
  if (number >= HW_REGISTERS || !hw_is_known(now->registers, (unsigned)number)) return 0;
  return push(now, now->registers->values[number] + offset);
}

/// Pushes a copy of a value below the top one.
static int pick(struct evaluation *now, uint64_t depth) {
  return depth < (uint64_t)now->count && push(now, now->values[now->count - 1 - (int)depth]);
}

/// Replaces an address by the word at it, or its first bytes.
static int dereference(struct evaluation *now, uint64_t size) {
  if (now->count == 0 || size == 0 || size > 8) return 0;
  uint64_t *top = &now->values[now->count - 1];
  if (!hw_stack_word(now->stack, *top, top)) return 0;
  if (size < 8) *top &= (UINT64_C(1) << size * 8) - 1;
  return 1;
}

/// Continues at the operation that is so many bytes from the one after this one.
static int jump(struct evaluation *now, const struct hw_operation *from, uint64_t distance) {
  // Three bytes: the code and the distance.
  uint64_t target = from->position + 3 + distance;
  for (int at = 0; at < now->expression->count; at++) {
    if (now->expression->operations[at].position != target) continue;
    now->next = at;
    return 1;
  }
  return 0;
}

static int shift_right_signed(uint64_t value, uint64_t count, uint64_t *result) {
  uint64_t sign = value >> 63 ? UINT64_MAX : 0;
  *result = count > 63 ? sign : count == 0 ? value : value >> count | sign << (64 - count);
  return 1;
}

static int divide(int64_t left, int64_t right, uint64_t *result) {
  if (right == 0 || (left == INT64_MIN && right == -1)) return 0;
  *result = (uint64_t)(left / right);
  return 1;
}

/// Computes an operation on the two top values; whether it has a result.
static int combine(uint8_t code, uint64_t left, uint64_t right, uint64_t *result) {
  int64_t signed_left = (int64_t)left, signed_right = (int64_t)right;
  switch (code) {
    case DW_OP_and: *result = left & right; return 1;
    case DW_OP_or: *result = left | right; return 1;
    case DW_OP_xor: *result = left ^ right; return 1;
    case DW_OP_plus: *result = left + right; return 1;
    case DW_OP_minus: *result = left - right; return 1;
    case DW_OP_mul: *result = left * right; return 1;
    case DW_OP_div: return divide(signed_left, signed_right, result);
    case DW_OP_mod: return right != 0 && (*result = left % right, 1);
    case DW_OP_shl: *result = right > 63 ? 0 : left << right; return 1;
    case DW_OP_shr: *result = right > 63 ? 0 : left >> right; return 1;
    case DW_OP_shra: return shift_right_signed(left, right, result);
    case DW_OP_eq: *result = left == right; return 1;
    case DW_OP_ne: *result = left != right; return 1;
    case DW_OP_ge: *result = signed_left >= signed_right; return 1;
    case DW_OP_gt: *result = signed_left > signed_right; return 1;
    case DW_OP_le: *result = signed_left <= signed_right; return 1;
    case DW_OP_lt: *result = signed_left < signed_right; return 1;
    default: return 0;
  }
}

static int apply_to_two(struct evaluation *now, uint8_t code) {
  if (now->count < 2) return 0;
  now->count--;
  uint64_t *left = &now->values[now->count - 1];
  return combine(code, *left, left[1], left);
}

static int swap(struct evaluation *now) {
  if (now->count < 2) return 0;
  uint64_t *values = &now->values[now->count - 2], value = values[0];
  values[0] = values[1];
  values[1] = value;
  return 1;
}

static int rotate(struct evaluation *now) {
  if (now->count < 3) return 0;
  uint64_t *values = &now->values[now->count - 3], top = values[2];
  values[2] = values[1];
  values[1] = values[0];
  values[0] = top;
  return 1;
}

static int step(struct evaluation *now, const struct hw_operation *operation) {
  uint8_t code = operation->code;
  uint64_t *top = now->count > 0 ? &now->values[now->count - 1] : NULL;
  if (code >= DW_OP_lit0 && code <= DW_OP_lit31) return push(now, code - DW_OP_lit0);
  if (code >= DW_OP_breg0 && code <= DW_OP_breg31) return push_register(now, code - DW_OP_breg0, operation->number);
  switch (code) {
    case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s: case DW_OP_const4u:
    case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu: case DW_OP_consts:
      return push(now, operation->number);
    case DW_OP_bregx: return push_register(now, operation->number, operation->number2);
    case DW_OP_call_frame_cfa: return push(now, now->cfa);
    case DW_OP_dup: return pick(now, 0);
    case DW_OP_over: return pick(now, 1);
    case DW_OP_pick: return pick(now, operation->number);
    case DW_OP_drop: return top != NULL && now->count--;
    case DW_OP_swap: return swap(now);
    case DW_OP_rot: return rotate(now);
    case DW_OP_deref: return dereference(now, 8);
    case DW_OP_deref_size: return dereference(now, operation->number);
    case DW_OP_abs: return top != NULL && (*top = (int64_t)*top < 0 ? -*top : *top, 1);
    case DW_OP_neg: return top != NULL && (*top = -*top, 1);
    case DW_OP_not: return top != NULL && (*top = ~*top, 1);
    case DW_OP_plus_uconst: return top != NULL && (*top += operation->number, 1);
    case DW_OP_skip: return jump(now, operation, operation->number);
    case DW_OP_bra: return top != NULL && (now->values[--now->count] == 0 || jump(now, operation, operation->number));
    case DW_OP_nop: return 1;
    default: return apply_to_two(now, code);
  }
}

int hw_evaluate(
  const struct hw_expression *expression, const struct hw_registers *registers, uint64_t cfa, struct hw_stack *stack,
  uint64_t *value
) {
  struct evaluation now = {.expression = expression, .registers = registers, .cfa = cfa, .stack = stack};
  for (int steps = 0; now.next < expression->count; steps++) {
    if (steps == MAX_STEPS || !step(&now, &expression->operations[now.next++])) return 0;
  }
  if (now.count == 0 || (expression->is_location && !dereference(&now, 8))) return 0;
  *value = now.values[now.count - 1];
  return 1;
}
