/* Ranges of integers, and what the operations of the language make of them (IntegerRange.h), in C: programs with
   kernels compiled ahead of time check their launches by it, the compiler and its runtime do their own work with it. */
#ifndef NACRE_RANGES_H
#define NACRE_RANGES_H

#include <stdint.h>

typedef struct {
  int64_t low, high; /* both included */
} nacre_range;

/* What a range follows from. */
typedef enum {
  nacre_range_known,         /* a number, or numbers that count up */
  nacre_range_argument,      /* of the kernel */
  nacre_range_program_id,    /* along an axis of the grid */
  nacre_range_program_count, /* the same */
  nacre_range_index,         /* of a loop: its lower and upper bound */
  nacre_range_same,
  nacre_range_zero_extend,
  nacre_range_truncate,
  nacre_range_add,
  nacre_range_subtract,
  nacre_range_multiply,
  nacre_range_shift_left,
  nacre_range_minimum,
  nacre_range_maximum,
  nacre_range_either,
  nacre_range_and,
  nacre_range_quotient, /* toward zero, by zero -1; the remainder by zero is the left side */
  nacre_range_remainder,
  nacre_range_shift_right,
  nacre_range_unsigned_quotient,
  nacre_range_unsigned_remainder,
  nacre_range_unsigned_shift_right
} nacre_range_rule;

static inline nacre_range nacre_range_from(int64_t low, int64_t high) {
  nacre_range range;
  range.low = low;
  range.high = high;
  return range;
}
static inline int64_t nacre_range_smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t nacre_range_larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of an argument of so many bits, the lowest of its slot. */
static inline nacre_range nacre_range_of_argument(uint64_t slot, unsigned bits) {
  uint64_t sign = UINT64_C(1) << (bits - 1), low = slot << (64 - bits) >> (64 - bits);
  int64_t value = (int64_t)((low ^ sign) - sign);
  return nacre_range_from(value, value);
}

/* All numbers of so many bits, read as signed. */
static inline nacre_range nacre_range_of_bits(unsigned bits) {
  if (bits >= 64)
    return nacre_range_from(INT64_MIN, INT64_MAX);
  return nacre_range_from(-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1);
}

static inline int nacre_range_product(nacre_range left, nacre_range right, nacre_range *result) {
  int64_t corners[4];
  if (__builtin_mul_overflow(left.low, right.low, &corners[0]) ||
      __builtin_mul_overflow(left.low, right.high, &corners[1]) ||
      __builtin_mul_overflow(left.high, right.low, &corners[2]) ||
      __builtin_mul_overflow(left.high, right.high, &corners[3]))
    return 0;
  *result = nacre_range_from(corners[0], corners[0]);
  for (int i = 1; i < 4; ++i)
    *result =
        nacre_range_from(nacre_range_smaller(result->low, corners[i]), nacre_range_larger(result->high, corners[i]));
  return 1;
}

/* On whole numbers. 0 where not even 64 bits hold the result, or the rule is none that can wrap. */
static inline int nacre_range_whole(nacre_range_rule rule, nacre_range left, nacre_range right, nacre_range *result) {
  switch (rule) {
  case nacre_range_truncate:
    *result = left;
    return 1;
  case nacre_range_add:
    return !__builtin_add_overflow(left.low, right.low, &result->low) &&
           !__builtin_add_overflow(left.high, right.high, &result->high);
  case nacre_range_subtract:
    return !__builtin_sub_overflow(left.low, right.high, &result->low) &&
           !__builtin_sub_overflow(left.high, right.low, &result->high);
  case nacre_range_multiply:
    return nacre_range_product(left, right, result);
  case nacre_range_shift_left:
    return right.low >= 0 && right.high <= 62 &&
           nacre_range_product(left, nacre_range_from(INT64_C(1) << right.low, INT64_C(1) << right.high), result);
  default:
    return 0;
  }
}

static inline nacre_range nacre_range_quotients(nacre_range left, nacre_range right, nacre_range any) {
  if (right.low <= 0) /* by zero it is -1 */
    return left.low < 0 ? any : nacre_range_from(nacre_range_smaller(-left.high, -1), left.high);
  return nacre_range_from(left.low / (left.low < 0 ? right.low : right.high),
                          left.high / (left.high < 0 ? right.high : right.low));
}

static inline nacre_range nacre_range_remainders(nacre_range left, nacre_range right, nacre_range any) {
  if (right.low <= 0) /* by zero it is the left side */
    return left.low < 0 ? any : nacre_range_from(0, left.high);
  if (left.low >= 0 && left.high < right.low)
    return left;
  return nacre_range_from(left.low >= 0 ? 0 : nacre_range_larger(left.low, -(right.high - 1)),
                          left.high <= 0 ? 0 : nacre_range_smaller(left.high, right.high - 1));
}

/* Of a result of `bits` bits; `source_bits` are the operand's where the two differ. `right` is `left` where there is
   one operand. Not of the first four rules, whose ranges their user knows. */
static inline nacre_range nacre_range_by(nacre_range_rule rule, unsigned bits, unsigned source_bits, nacre_range left,
                                         nacre_range right) {
  nacre_range any = nacre_range_of_bits(bits), whole;
  switch (rule) {
  case nacre_range_known:
  case nacre_range_argument:
  case nacre_range_program_id:
  case nacre_range_program_count:
    return any;
  case nacre_range_index: /* a loop counts up, whatever its step: it runs over nothing otherwise */
    return left.low < right.high ? nacre_range_from(left.low, right.high - 1) : any;
  case nacre_range_same: /* an i1 widened is 0 or -1, as its range says */
    return left;
  case nacre_range_zero_extend: /* at most 32 bits widen */
    return left.low >= 0 ? left : nacre_range_from(0, (INT64_C(1) << source_bits) - 1);
  case nacre_range_truncate:
  case nacre_range_add:
  case nacre_range_subtract:
  case nacre_range_multiply:
  case nacre_range_shift_left:
    return nacre_range_whole(rule, left, right, &whole) && whole.low >= any.low && whole.high <= any.high ? whole : any;
  case nacre_range_minimum:
    return nacre_range_from(nacre_range_smaller(left.low, right.low), nacre_range_smaller(left.high, right.high));
  case nacre_range_maximum:
    return nacre_range_from(nacre_range_larger(left.low, right.low), nacre_range_larger(left.high, right.high));
  case nacre_range_either:
    return nacre_range_from(nacre_range_smaller(left.low, right.low), nacre_range_larger(left.high, right.high));
  case nacre_range_and: /* not negative where either side is not */
    if (left.low < 0 && right.low < 0)
      return any;
    return nacre_range_from(
        0, nacre_range_smaller(left.low < 0 ? any.high : left.high, right.low < 0 ? any.high : right.high));
  case nacre_range_quotient:
    return nacre_range_quotients(left, right, any);
  case nacre_range_remainder:
    return nacre_range_remainders(left, right, any);
  case nacre_range_shift_right: /* toward zero or minus one */
    return nacre_range_from(nacre_range_smaller(left.low, 0), nacre_range_larger(left.high, -1));
  case nacre_range_unsigned_quotient: /* by zero it is -1 */
    return left.low < 0 ? any : nacre_range_from(right.low <= 0 && right.high >= 0 ? -1 : 0, left.high);
  case nacre_range_unsigned_remainder:
  case nacre_range_unsigned_shift_right:
    return left.low < 0 ? any : nacre_range_from(0, left.high);
  }
  return any;
}

#endif
