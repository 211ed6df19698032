// Vector arithmetic on integers and bits.
#include "simulator/amdgcn/Lanes.h"
#include <bit>
#include <utility>

namespace nacre::simulator::amdgcn {
namespace {

using U32 = uint32_t;
using I32 = int32_t;
using U64 = uint64_t;
using I64 = int64_t;
using U16 = uint16_t;
using I16 = int16_t;

// Sums that may be clamped to the range of their format.
template <typename T, bool subtracts, bool reversed> void sum(Wave &wave, const Instruction &instruction) {
  Row<T> a, b;
  Row<Bits<T>> result;
  fetch<T>(wave, instruction, reversed ? 2 : 1, a);
  fetch<T>(wave, instruction, reversed ? 1 : 2, b);
  for (unsigned i = 0; i < maxLanes; ++i) {
    int64_t exact = subtracts ? int64_t(a[i]) - int64_t(b[i]) : int64_t(a[i]) + int64_t(b[i]);
    if (instruction.clamp)
      exact = std::clamp<int64_t>(exact, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    result[i] = static_cast<Bits<T>>(exact);
  }
  storeExact<Bits<T>>(wave, instruction, result);
}

// Sums with a carry for each lane: result, carry out, two sources and, with `carries`, the carry in.
template <bool subtracts, bool reversed, bool carries> void carrySum(Wave &wave, const Instruction &instruction) {
  Row<U32> a, b, result;
  fetch<U32>(wave, instruction, reversed ? 3 : 2, a);
  fetch<U32>(wave, instruction, reversed ? 2 : 3, b);
  uint64_t carryIn = carries ? wave.readMask(instruction.operands.at(4)) : 0, carryOut = 0;
  for (unsigned i = 0; i < maxLanes; ++i) {
    uint64_t carry = carryIn >> i & 1;
    uint64_t exact = subtracts ? uint64_t(a[i]) - b[i] - carry : uint64_t(a[i]) + b[i] + carry;
    result[i] = static_cast<U32>(exact);
    carryOut |= (exact >> 32 & 1) << i;
  }
  store<U32>(wave, instruction, result);
  wave.writeMask(instruction.operands.at(1), carryOut & wave.active);
}

// v_mad_u64_u32: result, carry out, two factors of 32 bits and a summand of 64.
template <typename T, typename Wide> void wideMultiplyAdd(Wave &wave, const Instruction &instruction) {
  Row<T> a, b;
  Row<Wide> c, result;
  fetch<T>(wave, instruction, 2, a);
  fetch<T>(wave, instruction, 3, b);
  fetch<Wide>(wave, instruction, 4, c);
  uint64_t carry = 0;
  for (unsigned i = 0; i < maxLanes; ++i) {
    auto product = static_cast<uint64_t>(Wide(a[i]) * Wide(b[i])), total = product + static_cast<uint64_t>(c[i]);
    carry |= uint64_t(total < product) << i;
    result[i] = static_cast<Wide>(total);
  }
  store<Wide>(wave, instruction, result);
  wave.writeMask(instruction.operands.at(1), carry & wave.active);
}

// Only the chosen source must be defined.
template <typename T> void select(Wave &wave, const Instruction &instruction) {
  Operand implied{.kind = Operand::Scalar, .index = VccLow, .words = 2}; // a dual instruction does not write it out
  uint64_t chosen = wave.readMask(instruction.operands.size() > 3 ? instruction.operands[3] : implied);
  uint64_t taint = wave.tainted;
  Row<T> a, b;
  wave.tainted = 0;
  fetch<T>(wave, instruction, 1, a);
  uint64_t first = std::exchange(wave.tainted, 0);
  fetch<T>(wave, instruction, 2, b);
  wave.tainted = taint | (first & ~chosen) | (wave.tainted & chosen);
  for (unsigned i = 0; i < maxLanes; ++i)
    a[i] = (chosen >> i & 1) ? b[i] : a[i];
  store<T>(wave, instruction, a);
}

// A function of three bits by its truth table.
template <typename T> void threeInputs(Wave &wave, const Instruction &instruction) {
  Row<T> a, b, c, result{};
  fetch<T>(wave, instruction, 1, a);
  fetch<T>(wave, instruction, 2, b);
  fetch<T>(wave, instruction, 3, c);
  for (unsigned bit = 0; bit < 8; ++bit)
    if (instruction.truthTable >> bit & 1)
      for (unsigned i = 0; i < maxLanes; ++i)
        result[i] |=
            static_cast<T>(((bit & 4) ? a[i] : ~a[i]) & ((bit & 2) ? b[i] : ~b[i]) & ((bit & 1) ? c[i] : ~c[i]));
  store<T>(wave, instruction, result);
}

template <bool high> void countBelow(Wave &wave, const Instruction &instruction) {
  Row<U32> mask, base;
  fetch<U32>(wave, instruction, 1, mask);
  fetch<U32>(wave, instruction, 2, base);
  for (unsigned i = 0; i < maxLanes; ++i) {
    unsigned below = high ? (i < 32 ? 0 : i - 32) : std::min(i, 32u);
    base[i] += static_cast<U32>(std::popcount(mask[i] & (below == 32 ? ~0u : (1u << below) - 1)));
  }
  store<U32>(wave, instruction, base);
}

U32 permuted(U32 high, U32 low, U32 selector) {
  uint64_t source = uint64_t(high) << 32 | low;
  U32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned choice = selector >> (8 * i) & 0xff;
    U32 byte = choice >= 13   ? 0xff
               : choice == 12 ? 0
               : choice >= 8  ? ((source >> (16 * (choice - 8) + 15) & 1) ? 0xff : 0)
                              : source >> (8 * choice) & 0xff;
    result |= byte << (8 * i);
  }
  return result;
}
U32 bitField(U32 value, U32 offset, U32 width) { return (value >> (offset & 31)) & ((1u << (width & 31)) - 1); }
I32 signedBitField(I32 value, U32 offset, U32 width) {
  width &= 31;
  if (width == 0)
    return 0;
  I32 moved = value >> (offset & 31);
  return static_cast<I32>(static_cast<U32>(moved) << (32 - width)) >> (32 - width);
}
template <typename T> T median(T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }
U32 reversedBits(U32 value) {
  U32 result = 0;
  for (unsigned i = 0; i < 32; ++i)
    result |= (value >> i & 1) << (31 - i);
  return result;
}
constexpr auto low24 = [](U32 value) { return value & 0xffffff; };
constexpr auto signed24 = [](U32 value) { return I64(static_cast<I32>(value << 8) >> 8); };

#define BINARY(name, type, expression) {name, lanes<type, type, type>([](type a, type b) { return expression; })}
#define TERNARY(name, type, expression)                                                                                \
  {name, lanes<type, type, type, type>([](type a, type b, type c) { return expression; })}
#define THREE_OF(name, type)                                                                                           \
  TERNARY("v_min3_" name, type, std::min(std::min(a, b), c)),                                                          \
      TERNARY("v_max3_" name, type, std::max(std::max(a, b), c)), TERNARY("v_med3_" name, type, median(a, b, c))
#define TWO_OF(name, type) BINARY("v_min_" name, type, std::min(a, b)), BINARY("v_max_" name, type, std::max(a, b))

constexpr HandlerRow rows[] = {
    {"v_mov_b32", lanes<U32, U32>([](U32 a) { return a; })},
    {"v_mov_b64", lanes<U64, U64>([](U64 a) { return a; })},
    {"v_mov_b16", lanes<U16, U16>([](U16 a) { return a; })},
    {"v_accvgpr_read_b32", lanes<U32, U32>([](U32 a) { return a; })},
    {"v_accvgpr_write_b32", lanes<U32, U32>([](U32 a) { return a; })},
    {"v_accvgpr_mov_b32", lanes<U32, U32>([](U32 a) { return a; })},
    {"v_not_b32", lanes<U32, U32>([](U32 a) { return ~a; })},
    {"v_bfrev_b32", lanes<U32, U32>([](U32 a) { return reversedBits(a); })},
    {"v_ffbl_b32", lanes<I32, U32>([](U32 a) { return a ? std::countr_zero(a) : -1; })},
    {"v_ctz_i32_b32", lanes<I32, U32>([](U32 a) { return a ? std::countr_zero(a) : -1; })},
    {"v_ffbh_u32", lanes<I32, U32>([](U32 a) { return a ? std::countl_zero(a) : -1; })},
    {"v_clz_i32_u32", lanes<I32, U32>([](U32 a) { return a ? std::countl_zero(a) : -1; })},
    {"v_ffbh_i32", lanes<I32, I32>([](I32 a) {
       U32 folded = static_cast<U32>(a < 0 ? ~a : a);
       return folded ? std::countl_zero(folded) : -1;
     })},
    {"v_cls_i32", lanes<I32, I32>([](I32 a) {
       U32 folded = static_cast<U32>(a < 0 ? ~a : a);
       return folded ? std::countl_zero(folded) : -1;
     })},
    {"v_bcnt_u32_b32", lanes<U32, U32, U32>([](U32 a, U32 b) { return std::popcount(a) + b; })},
    {"v_mbcnt_lo_u32_b32", countBelow<false>},
    {"v_mbcnt_hi_u32_b32", countBelow<true>},
    {"v_cndmask_b32", select<U32>},
    {"v_cndmask_b16", select<U16>},
    {"v_not_b16", lanes<U16, U16>([](U16 a) { return static_cast<U16>(~a); })},
    {"v_add_u32", sum<U32, false, false>},
    {"v_add_nc_u32", sum<U32, false, false>},
    {"v_sub_u32", sum<U32, true, false>},
    {"v_sub_nc_u32", sum<U32, true, false>},
    {"v_subrev_u32", sum<U32, true, true>},
    {"v_subrev_nc_u32", sum<U32, true, true>},
    {"v_add_i32", sum<I32, false, false>},
    {"v_add_nc_i32", sum<I32, false, false>},
    {"v_sub_i32", sum<I32, true, false>},
    {"v_sub_nc_i32", sum<I32, true, false>},
    {"v_add_u16", sum<U16, false, false>},
    {"v_add_nc_u16", sum<U16, false, false>},
    {"v_sub_u16", sum<U16, true, false>},
    {"v_sub_nc_u16", sum<U16, true, false>},
    {"v_subrev_u16", sum<U16, true, true>},
    {"v_add_i16", sum<I16, false, false>},
    {"v_add_nc_i16", sum<I16, false, false>},
    {"v_sub_i16", sum<I16, true, false>},
    {"v_sub_nc_i16", sum<I16, true, false>},
    {"v_add_co_u32", carrySum<false, false, false>},
    {"v_addc_co_u32", carrySum<false, false, true>},
    {"v_add_co_ci_u32", carrySum<false, false, true>},
    {"v_sub_co_u32", carrySum<true, false, false>},
    {"v_subb_co_u32", carrySum<true, false, true>},
    {"v_sub_co_ci_u32", carrySum<true, false, true>},
    {"v_subrev_co_u32", carrySum<true, true, false>},
    {"v_subbrev_co_u32", carrySum<true, true, true>},
    {"v_subrev_co_ci_u32", carrySum<true, true, true>},
    {"v_mad_u64_u32", wideMultiplyAdd<U32, U64>},
    {"v_mad_i64_i32", wideMultiplyAdd<I32, I64>},
    {"v_mad_co_u64_u32", wideMultiplyAdd<U32, U64>},
    {"v_mad_co_i64_i32", wideMultiplyAdd<I32, I64>},
    {"v_lshl_add_u64", lanes<U64, U64, U32, U64>([](U64 a, U32 b, U64 c) { return (a << (b & 7)) + c; })},
    BINARY("v_mul_lo_u32", U32, a *b),
    BINARY("v_mul_lo_u16", U16, static_cast<U16>(U32(a) * b)),
    BINARY("v_mul_hi_u32", U32, static_cast<U32>(U64(a) * b >> 32)),
    BINARY("v_mul_hi_i32", I32, static_cast<I32>(I64(a) * b >> 32)),
    BINARY("v_mul_u32_u24", U32, low24(a) * low24(b)),
    BINARY("v_mul_hi_u32_u24", U32, static_cast<U32>(U64(low24(a)) * low24(b) >> 32)),
    BINARY("v_mul_i32_i24", U32, static_cast<U32>(signed24(a) * signed24(b))),
    BINARY("v_mul_hi_i32_i24", U32, static_cast<U32>(signed24(a) * signed24(b) >> 32)),
    TERNARY("v_mad_u32_u24", U32, low24(a) * low24(b) + c),
    TERNARY("v_mad_i32_i24", U32, static_cast<U32>(signed24(a) * signed24(b)) + c),
    TERNARY("v_mad_u16", U16, static_cast<U16>(U32(a) * b + c)),
    TERNARY("v_mad_i16", U16, static_cast<U16>(U32(a) * b + c)),
    // These clear the upper half of their result, which those above leave as it is.
    {"v_mad_legacy_u16", lanes<U32, U16, U16, U16>([](U32 a, U32 b, U32 c) { return (a * b + c) & 0xffff; })},
    {"v_mad_legacy_i16", lanes<U32, U16, U16, U16>([](U32 a, U32 b, U32 c) { return (a * b + c) & 0xffff; })},
    {"v_mad_u32_u16", lanes<U32, U16, U16, U32>([](U32 a, U32 b, U32 c) { return a * b + c; })},
    {"v_mad_i32_i16", lanes<U32, I16, I16, U32>([](I32 a, I32 b, U32 c) { return static_cast<U32>(a * b) + c; })},
    BINARY("v_and_b32", U32, a &b),
    BINARY("v_or_b32", U32, a | b),
    BINARY("v_xor_b32", U32, a ^ b),
    BINARY("v_xnor_b32", U32, ~(a ^ b)),
    BINARY("v_and_b16", U16, static_cast<U16>(a &b)),
    BINARY("v_or_b16", U16, static_cast<U16>(a | b)),
    BINARY("v_xor_b16", U16, static_cast<U16>(a ^ b)),
    BINARY("v_lshlrev_b32", U32, b << (a & 31)),
    BINARY("v_lshrrev_b32", U32, b >> (a & 31)),
    {"v_ashrrev_i32", lanes<I32, U32, I32>([](U32 a, I32 b) { return b >> (a & 31); })},
    BINARY("v_lshlrev_b16", U16, static_cast<U16>(b << (a & 15))),
    BINARY("v_lshrrev_b16", U16, static_cast<U16>(b >> (a & 15))),
    {"v_ashrrev_i16", lanes<I16, U16, I16>([](U16 a, I16 b) { return static_cast<I16>(b >> (a & 15)); })},
    {"v_lshlrev_b64", lanes<U64, U32, U64>([](U32 a, U64 b) { return b << (a & 63); })},
    {"v_lshrrev_b64", lanes<U64, U32, U64>([](U32 a, U64 b) { return b >> (a & 63); })},
    {"v_ashrrev_i64", lanes<I64, U32, I64>([](U32 a, I64 b) { return b >> (a & 63); })},
    TWO_OF("u32", U32),
    TWO_OF("i32", I32),
    TWO_OF("u16", U16),
    TWO_OF("i16", I16),
    THREE_OF("u32", U32),
    THREE_OF("i32", I32),
    THREE_OF("u16", U16),
    THREE_OF("i16", I16),
    TERNARY("v_add3_u32", U32, a + b + c),
    TERNARY("v_xad_u32", U32, (a ^ b) + c),
    TERNARY("v_lshl_add_u32", U32, (a << (b & 31)) + c),
    TERNARY("v_add_lshl_u32", U32, (a + b) << (c & 31)),
    TERNARY("v_lshl_or_b32", U32, (a << (b & 31)) | c),
    TERNARY("v_and_or_b32", U32, (a & b) | c),
    TERNARY("v_or3_b32", U32, a | b | c),
    TERNARY("v_xor3_b32", U32, a ^ b ^ c),
    TERNARY("v_bfi_b32", U32, (a & b) | (~a & c)),
    TERNARY("v_perm_b32", U32, permuted(a, b, c)),
    TERNARY("v_bfe_u32", U32, bitField(a, b, c)),
    {"v_bfe_i32", lanes<I32, I32, U32, U32>([](I32 a, U32 b, U32 c) { return signedBitField(a, b, c); })},
    {"v_bfm_b32", lanes<U32, U32, U32>([](U32 a, U32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })},
    TERNARY("v_alignbit_b32", U32, static_cast<U32>((U64(a) << 32 | b) >> (c & 31))),
    TERNARY("v_alignbyte_b32", U32, static_cast<U32>((U64(a) << 32 | b) >> (8 * (c & 3)))),
    {"v_bitop3_b32", threeInputs<U32>},
    {"v_bitop3_b16", threeInputs<U16>},
    {"v_pack_b32_f16", lanes<U32, U16, U16>([](U16 a, U16 b) { return a | U32(b) << 16; })},
    TERNARY("v_minmax_u32", U32, std::max(std::min(a, b), c)),
    TERNARY("v_maxmin_u32", U32, std::min(std::max(a, b), c)),
    TERNARY("v_minmax_i32", I32, std::max(std::min(a, b), c)),
    TERNARY("v_maxmin_i32", I32, std::min(std::max(a, b), c)),
};

#undef BINARY
#undef TERNARY
#undef THREE_OF
#undef TWO_OF

} // namespace

void addIntegerHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
