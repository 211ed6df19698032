// Scalar arithmetic: one value a wave, and SCC.
#include "simulator/amdgcn/Machine.h"
#include <bit>
#include <tuple>

namespace nacre::simulator::amdgcn {
namespace {

// What a scalar instruction leaves in SCC.
enum class Flag { Keep, NonZero };

template <typename T> T readAs(Wave &wave, const Operand &operand) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(wave.readPair(operand));
  else
    return static_cast<T>(wave.read(operand));
}
template <typename T> void writeAs(Wave &wave, const Operand &operand, T value) {
  if constexpr (sizeof(T) == 8)
    wave.writePair(operand, static_cast<uint64_t>(value));
  else
    wave.write(operand, static_cast<uint32_t>(value));
}

template <Flag flag, typename D, typename... S, typename F> constexpr Handler compute(F) {
  return [](Wave &wave, const Instruction &instruction) {
    unsigned next = 1;
    std::tuple<S...> sources{readAs<S>(wave, instruction.operands.at(next++))...}; // braces: left to right
    D result = static_cast<D>(std::apply(F(), sources));
    writeAs<D>(wave, instruction.operands.at(0), result);
    if constexpr (flag == Flag::NonZero)
      wave.condition = result != 0;
  };
}
// The second source of s_addk_i32 and its kind is the instruction's constant, the first one its destination.
template <typename F> constexpr Handler withConstant(F) {
  return [](Wave &wave, const Instruction &instruction) {
    const Operand &place = instruction.operands.at(0);
    auto constant = static_cast<int16_t>(instruction.operands.at(1).integer);
    wave.write(place, F()(wave, static_cast<int32_t>(wave.read(place)), constant));
  };
}
template <typename T, typename F> constexpr Handler test(F) {
  return [](Wave &wave, const Instruction &instruction) {
    T a = readAs<T>(wave, instruction.operands.at(0)), b = readAs<T>(wave, instruction.operands.at(1));
    wave.condition = F()(a, b);
  };
}
template <typename F> constexpr Handler testConstant(F) {
  return [](Wave &wave, const Instruction &instruction) {
    int64_t constant = instruction.operands.at(1).integer;
    auto value = wave.read(instruction.operands.at(0));
    wave.condition = F()(value, constant);
  };
}

template <typename T, typename F> constexpr Handler withOverflow(F) {
  return [](Wave &wave, const Instruction &instruction) {
    T a = readAs<T>(wave, instruction.operands.at(1)), b = readAs<T>(wave, instruction.operands.at(2)), result = 0;
    bool carry = wave.condition;
    wave.condition = F()(a, b, carry, result);
    writeAs<T>(wave, instruction.operands.at(0), result);
  };
}
// EXEC is combined with a mask; its old value is kept.
template <typename F> constexpr Handler saveExec(F) {
  return [](Wave &wave, const Instruction &instruction) {
    uint64_t old = wave.exec();
    uint64_t mask = wave.readMask(instruction.operands.at(1));
    wave.setExec(F()(mask, old));
    wave.writeMask(instruction.operands.at(0), old);
    wave.condition = wave.exec() != 0;
  };
}

template <typename T> T extractField(T value, uint32_t control) {
  unsigned width = control >> 16 & 0x7f, offset = control & (8 * sizeof(T) - 1);
  if (width == 0)
    return 0;
  using Unsigned = std::make_unsigned_t<T>;
  unsigned bits = 8 * sizeof(T);
  auto moved = static_cast<Unsigned>(value) >> offset;
  if constexpr (std::is_signed_v<T>)
    moved = static_cast<Unsigned>(value >> offset);
  if (width >= bits)
    return static_cast<T>(moved);
  auto shifted = static_cast<T>(static_cast<Unsigned>(moved << (bits - width)));
  return static_cast<T>(shifted >> (bits - width));
}

void selectWord(Wave &wave, const Instruction &instruction) {
  wave.write(instruction.operands.at(0), wave.read(instruction.operands.at(wave.condition ? 1 : 2)));
}
void selectPair(Wave &wave, const Instruction &instruction) {
  wave.writePair(instruction.operands.at(0), wave.readPair(instruction.operands.at(wave.condition ? 1 : 2)));
}
void moveIfWord(Wave &wave, const Instruction &instruction) {
  if (wave.condition)
    wave.write(instruction.operands.at(0), wave.read(instruction.operands.at(1)));
}
void moveIfPair(Wave &wave, const Instruction &instruction) {
  if (wave.condition)
    wave.writePair(instruction.operands.at(0), wave.readPair(instruction.operands.at(1)));
}
void moveConstant(Wave &wave, const Instruction &instruction) {
  wave.write(instruction.operands.at(0),
             static_cast<uint32_t>(static_cast<int16_t>(instruction.operands.at(1).integer)));
}
template <unsigned bits, bool wanted> void testBit(Wave &wave, const Instruction &instruction) {
  uint64_t value = bits == 64 ? wave.readPair(instruction.operands.at(0)) : wave.read(instruction.operands.at(0));
  wave.condition = (value >> (wave.read(instruction.operands.at(1)) & (bits - 1)) & 1) == wanted;
}
template <unsigned shift> void shiftAdd(Wave &wave, const Instruction &instruction) {
  uint64_t sum = (uint64_t(wave.read(instruction.operands.at(1))) << shift) + wave.read(instruction.operands.at(2));
  wave.write(instruction.operands.at(0), static_cast<uint32_t>(sum));
  wave.condition = sum >> 32 != 0;
}
template <typename T, bool value> void setBit(Wave &wave, const Instruction &instruction) {
  const Operand &place = instruction.operands.at(0);
  T bit = T(1) << (wave.read(instruction.operands.at(1)) & (8 * sizeof(T) - 1));
  T old = readAs<T>(wave, place);
  writeAs<T>(wave, place, value ? old | bit : old & ~bit);
}

constexpr auto firstBit = [](auto value) { return value ? std::countr_zero(value) : -1; };
constexpr auto leadingBit = [](auto value) { return value ? std::countl_zero(value) : -1; };
constexpr auto signBits = [](auto value) {
  using Unsigned = std::make_unsigned_t<decltype(value)>;
  auto folded = static_cast<Unsigned>(value < 0 ? ~value : value);
  return folded ? std::countl_zero(folded) : -1;
};
template <typename T> T reversed(T value) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i)
    result |= static_cast<T>((value >> i & 1) << (8 * sizeof(T) - 1 - i));
  return result;
}
constexpr auto addSigned = [](int32_t a, int32_t b, bool, int32_t &r) { return __builtin_add_overflow(a, b, &r); };
constexpr auto subtractSigned = [](int32_t a, int32_t b, bool, int32_t &r) { return __builtin_sub_overflow(a, b, &r); };
constexpr auto addUnsigned = [](uint32_t a, uint32_t b, bool, uint32_t &r) { return __builtin_add_overflow(a, b, &r); };
constexpr auto subtractUnsigned = [](uint32_t a, uint32_t b, bool, uint32_t &r) {
  return __builtin_sub_overflow(a, b, &r);
};
constexpr auto addCarry = [](uint32_t a, uint32_t b, bool carry, uint32_t &r) {
  uint64_t sum = uint64_t(a) + b + carry;
  r = static_cast<uint32_t>(sum);
  return sum >> 32 != 0;
};
constexpr auto subtractBorrow = [](uint32_t a, uint32_t b, bool borrow, uint32_t &r) {
  r = a - b - borrow;
  return uint64_t(b) + borrow > a;
};
template <typename T> T distance(T a, T b) { return a > b ? a - b : b - a; }

#define BITWISE(name, expression)                                                                                      \
  {"s_" name "_b32",                                                                                                   \
   compute<Flag::NonZero, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) { return expression; })},           \
  {                                                                                                                    \
    "s_" name "_b64",                                                                                                  \
        compute<Flag::NonZero, uint64_t, uint64_t, uint64_t>([](uint64_t a, uint64_t b) { return expression; })        \
  }
#define SAVE_EXEC(name, expression)                                                                                    \
  {"s_" name "_saveexec_b64", saveExec([](uint64_t mask, uint64_t exec) { return expression; })}, {                    \
    "s_" name "_saveexec_b32", saveExec([](uint64_t mask, uint64_t exec) { return expression; })                       \
  }
#define TEST(name, symbol)                                                                                             \
  {"s_cmp_" name "_i32", test<int32_t>([](int32_t a, int32_t b) { return a symbol b; })},                              \
      {"s_cmp_" name "_u32", test<uint32_t>([](uint32_t a, uint32_t b) { return a symbol b; })},                       \
      {"s_cmpk_" name "_i32",                                                                                          \
       testConstant([](uint32_t a, int64_t b) { return static_cast<int32_t>(a) symbol static_cast<int16_t>(b); })},    \
  {                                                                                                                    \
    "s_cmpk_" name "_u32", testConstant([](uint32_t a, int64_t b) { return a symbol static_cast<uint16_t>(b); })       \
  }

constexpr HandlerRow rows[] = {
    {"s_mov_b32", compute<Flag::Keep, uint32_t, uint32_t>([](uint32_t a) { return a; })},
    {"s_mov_b64", compute<Flag::Keep, uint64_t, uint64_t>([](uint64_t a) { return a; })},
    {"s_movk_i32", moveConstant},
    {"s_cmov_b32", moveIfWord},
    {"s_cmov_b64", moveIfPair},
    {"s_cselect_b32", selectWord},
    {"s_cselect_b64", selectPair},
    {"s_add_u32", withOverflow<uint32_t>(addUnsigned)},
    {"s_add_co_u32", withOverflow<uint32_t>(addUnsigned)},
    {"s_sub_u32", withOverflow<uint32_t>(subtractUnsigned)},
    {"s_sub_co_u32", withOverflow<uint32_t>(subtractUnsigned)},
    {"s_add_i32", withOverflow<int32_t>(addSigned)},
    {"s_add_co_i32", withOverflow<int32_t>(addSigned)},
    {"s_sub_i32", withOverflow<int32_t>(subtractSigned)},
    {"s_sub_co_i32", withOverflow<int32_t>(subtractSigned)},
    {"s_addc_u32", withOverflow<uint32_t>(addCarry)},
    {"s_add_co_ci_u32", withOverflow<uint32_t>(addCarry)},
    {"s_subb_u32", withOverflow<uint32_t>(subtractBorrow)},
    {"s_sub_co_ci_u32", withOverflow<uint32_t>(subtractBorrow)},
    {"s_add_nc_u64", compute<Flag::Keep, uint64_t, uint64_t, uint64_t>([](uint64_t a, uint64_t b) { return a + b; })},
    {"s_sub_nc_u64", compute<Flag::Keep, uint64_t, uint64_t, uint64_t>([](uint64_t a, uint64_t b) { return a - b; })},
    {"s_mul_u64", compute<Flag::Keep, uint64_t, uint64_t, uint64_t>([](uint64_t a, uint64_t b) { return a * b; })},
    {"s_mul_i32", compute<Flag::Keep, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) { return a * b; })},
    {"s_mul_hi_u32",
     compute<Flag::Keep, uint32_t, uint32_t, uint32_t>([](uint64_t a, uint64_t b) { return a * b >> 32; })},
    {"s_mul_hi_i32", compute<Flag::Keep, int32_t, int32_t, int32_t>([](int64_t a, int64_t b) { return a * b >> 32; })},
    {"s_abs_i32", compute<Flag::NonZero, uint32_t, int32_t>(
                      [](int32_t a) { return a < 0 ? 0u - static_cast<uint32_t>(a) : static_cast<uint32_t>(a); })},
    {"s_absdiff_i32",
     compute<Flag::NonZero, uint32_t, int32_t, int32_t>([](int64_t a, int64_t b) { return distance(a, b); })},
    {"s_not_b32", compute<Flag::NonZero, uint32_t, uint32_t>([](uint32_t a) { return ~a; })},
    {"s_not_b64", compute<Flag::NonZero, uint64_t, uint64_t>([](uint64_t a) { return ~a; })},
    {"s_brev_b32", compute<Flag::Keep, uint32_t, uint32_t>([](uint32_t a) { return reversed(a); })},
    {"s_brev_b64", compute<Flag::Keep, uint64_t, uint64_t>([](uint64_t a) { return reversed(a); })},
    BITWISE("and", a &b),
    BITWISE("or", a | b),
    BITWISE("xor", a ^ b),
    BITWISE("nand", ~(a &b)),
    BITWISE("nor", ~(a | b)),
    BITWISE("xnor", ~(a ^ b)),
    BITWISE("andn2", a & ~b),
    BITWISE("and_not1", a & ~b),
    BITWISE("orn2", a | ~b),
    BITWISE("or_not1", a | ~b),
    SAVE_EXEC("and", mask &exec),
    SAVE_EXEC("or", mask | exec),
    SAVE_EXEC("xor", mask ^ exec),
    SAVE_EXEC("andn2", mask & ~exec),
    SAVE_EXEC("and_not1", mask & ~exec),
    SAVE_EXEC("orn2", mask | ~exec),
    SAVE_EXEC("or_not1", mask | ~exec),
    SAVE_EXEC("andn1", ~mask &exec),
    SAVE_EXEC("and_not0", ~mask &exec),
    SAVE_EXEC("orn1", ~mask | exec),
    SAVE_EXEC("or_not0", ~mask | exec),
    {"s_lshl_b32",
     compute<Flag::NonZero, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) { return a << (b & 31); })},
    {"s_lshr_b32",
     compute<Flag::NonZero, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) { return a >> (b & 31); })},
    {"s_ashr_i32",
     compute<Flag::NonZero, int32_t, int32_t, uint32_t>([](int32_t a, uint32_t b) { return a >> (b & 31); })},
    {"s_lshl_b64",
     compute<Flag::NonZero, uint64_t, uint64_t, uint32_t>([](uint64_t a, uint32_t b) { return a << (b & 63); })},
    {"s_lshr_b64",
     compute<Flag::NonZero, uint64_t, uint64_t, uint32_t>([](uint64_t a, uint32_t b) { return a >> (b & 63); })},
    {"s_ashr_i64",
     compute<Flag::NonZero, int64_t, int64_t, uint32_t>([](int64_t a, uint32_t b) { return a >> (b & 63); })},
    {"s_bfe_u32", compute<Flag::NonZero, uint32_t, uint32_t, uint32_t>(
                      [](uint32_t a, uint32_t control) { return extractField(a, control); })},
    {"s_bfe_i32", compute<Flag::NonZero, int32_t, int32_t, uint32_t>(
                      [](int32_t a, uint32_t control) { return extractField(a, control); })},
    {"s_bfe_u64", compute<Flag::NonZero, uint64_t, uint64_t, uint32_t>(
                      [](uint64_t a, uint32_t control) { return extractField(a, control); })},
    {"s_bfe_i64", compute<Flag::NonZero, int64_t, int64_t, uint32_t>(
                      [](int64_t a, uint32_t control) { return extractField(a, control); })},
    {"s_bfm_b32", compute<Flag::Keep, uint32_t, uint32_t, uint32_t>(
                      [](uint32_t a, uint32_t b) { return ((1u << (a & 31)) - 1) << (b & 31); })},
    {"s_bfm_b64", compute<Flag::Keep, uint64_t, uint32_t, uint32_t>(
                      [](uint32_t a, uint32_t b) { return ((1ull << (a & 63)) - 1) << (b & 63); })},
    {"s_min_i32",
     withOverflow<int32_t>([](int32_t a, int32_t b, bool, int32_t &r) { return r = std::min(a, b), a < b; })},
    {"s_max_i32",
     withOverflow<int32_t>([](int32_t a, int32_t b, bool, int32_t &r) { return r = std::max(a, b), a >= b; })},
    {"s_min_u32",
     withOverflow<uint32_t>([](uint32_t a, uint32_t b, bool, uint32_t &r) { return r = std::min(a, b), a < b; })},
    {"s_max_u32",
     withOverflow<uint32_t>([](uint32_t a, uint32_t b, bool, uint32_t &r) { return r = std::max(a, b), a >= b; })},
    {"s_lshl1_add_u32", shiftAdd<1>},
    {"s_lshl2_add_u32", shiftAdd<2>},
    {"s_lshl3_add_u32", shiftAdd<3>},
    {"s_lshl4_add_u32", shiftAdd<4>},
    {"s_addk_i32", withConstant([](Wave &wave, int32_t a, int16_t b) {
       int32_t sum = 0;
       wave.condition = __builtin_add_overflow(a, b, &sum);
       return static_cast<uint32_t>(sum);
     })},
    {"s_addk_co_i32", withConstant([](Wave &wave, int32_t a, int16_t b) {
       int32_t sum = 0;
       wave.condition = __builtin_add_overflow(a, b, &sum);
       return static_cast<uint32_t>(sum);
     })},
    {"s_mulk_i32", withConstant([](Wave &, int32_t a, int16_t b) {
       return static_cast<uint32_t>(a) * static_cast<uint32_t>(int32_t(b));
     })},
    {"s_bcnt1_i32_b32", compute<Flag::NonZero, uint32_t, uint32_t>([](uint32_t a) { return std::popcount(a); })},
    {"s_bcnt1_i32_b64", compute<Flag::NonZero, uint32_t, uint64_t>([](uint64_t a) { return std::popcount(a); })},
    {"s_bcnt0_i32_b32", compute<Flag::NonZero, uint32_t, uint32_t>([](uint32_t a) { return std::popcount(~a); })},
    {"s_bcnt0_i32_b64", compute<Flag::NonZero, uint32_t, uint64_t>([](uint64_t a) { return std::popcount(~a); })},
    {"s_ff1_i32_b32", compute<Flag::Keep, int32_t, uint32_t>(firstBit)},
    {"s_ff1_i32_b64", compute<Flag::Keep, int32_t, uint64_t>(firstBit)},
    {"s_ctz_i32_b32", compute<Flag::Keep, int32_t, uint32_t>(firstBit)},
    {"s_ctz_i32_b64", compute<Flag::Keep, int32_t, uint64_t>(firstBit)},
    {"s_flbit_i32_b32", compute<Flag::Keep, int32_t, uint32_t>(leadingBit)},
    {"s_flbit_i32_b64", compute<Flag::Keep, int32_t, uint64_t>(leadingBit)},
    {"s_clz_i32_u32", compute<Flag::Keep, int32_t, uint32_t>(leadingBit)},
    {"s_clz_i32_u64", compute<Flag::Keep, int32_t, uint64_t>(leadingBit)},
    {"s_flbit_i32", compute<Flag::Keep, int32_t, int32_t>(signBits)},
    {"s_flbit_i32_i64", compute<Flag::Keep, int32_t, int64_t>(signBits)},
    {"s_cls_i32", compute<Flag::Keep, int32_t, int32_t>(signBits)},
    {"s_cls_i32_i64", compute<Flag::Keep, int32_t, int64_t>(signBits)},
    {"s_sext_i32_i8", compute<Flag::Keep, int32_t, int32_t>([](int32_t a) { return static_cast<int8_t>(a); })},
    {"s_sext_i32_i16", compute<Flag::Keep, int32_t, int32_t>([](int32_t a) { return static_cast<int16_t>(a); })},
    {"s_pack_ll_b32_b16",
     compute<Flag::Keep, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) { return (a & 0xffff) | b << 16; })},
    {"s_pack_lh_b32_b16", compute<Flag::Keep, uint32_t, uint32_t, uint32_t>(
                              [](uint32_t a, uint32_t b) { return (a & 0xffff) | (b & 0xffff0000); })},
    {"s_pack_hh_b32_b16", compute<Flag::Keep, uint32_t, uint32_t, uint32_t>(
                              [](uint32_t a, uint32_t b) { return a >> 16 | (b & 0xffff0000); })},
    {"s_pack_hl_b32_b16",
     compute<Flag::Keep, uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) { return a >> 16 | b << 16; })},
    {"s_bitset0_b32", setBit<uint32_t, false>},
    {"s_bitset1_b32", setBit<uint32_t, true>},
    {"s_bitset0_b64", setBit<uint64_t, false>},
    {"s_bitset1_b64", setBit<uint64_t, true>},
    {"s_bitcmp0_b32", testBit<32, false>},
    {"s_bitcmp1_b32", testBit<32, true>},
    {"s_bitcmp0_b64", testBit<64, false>},
    {"s_bitcmp1_b64", testBit<64, true>},
    TEST("eq", ==),
    TEST("lg", !=),
    TEST("gt", >),
    TEST("ge", >=),
    TEST("lt", <),
    TEST("le", <=),
    {"s_cmp_eq_u64", test<uint64_t>([](uint64_t a, uint64_t b) { return a == b; })},
    {"s_cmp_lg_u64", test<uint64_t>([](uint64_t a, uint64_t b) { return a != b; })},
};

#undef BITWISE
#undef SAVE_EXEC
#undef TEST

} // namespace

void addScalarHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
