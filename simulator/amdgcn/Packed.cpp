// Packed instructions: two values in one register or pair, and dot products of them.
//
// op_sel chooses, for the low result, a half of each source; op_sel_hi for the high result. neg_lo and neg_hi change
// signs of floats in the same way.
#include "simulator/amdgcn/Lanes.h"

namespace nacre::simulator::amdgcn {
namespace {

// The words of a source as they stand: a constant fills the low half only, as an integer the whole word.
template <typename T>
void fetchWords(Wave &wave, const Instruction &instruction, unsigned index, Row<uint32_t> &words) {
  const Operand &operand = instruction.operands.at(index);
  if (operand.is(Operand::Real) || (operand.is(Operand::Integer) && isFloat<T>)) {
    uint32_t constant =
        operand.is(Operand::Real) ? uint32_t(constantBits<T>(operand)) : static_cast<uint32_t>(operand.integer);
    words.fill(constant);
    return;
  }
  uint32_t buffer[maxLanes];
  const uint32_t *row = wave.row(instruction, index, 0, buffer);
  std::copy_n(row, maxLanes, words.begin());
}

template <typename T> Computed<T> halfOf(const Instruction &instruction, unsigned source, bool high, uint32_t word) {
  uint8_t chosen = high ? instruction.opSelHigh : instruction.opSel;
  uint8_t negative = high ? instruction.negativeHigh : instruction.negativeLow;
  auto bits = static_cast<uint16_t>(word >> ((chosen >> source & 1) ? 16 : 0));
  if (isFloat<T> && (negative >> source & 1))
    bits ^= 0x8000;
  return fromBits<T>(bits);
}

template <typename T, typename F, size_t... k>
void applyPacked(Wave &wave, const Instruction &instruction, F f, std::index_sequence<k...>) {
  Row<uint32_t> words[sizeof...(k)], result;
  (fetchWords<T>(wave, instruction, k + 1, words[k]), ...);
  for (unsigned i = 0; i < maxLanes; ++i) {
    result[i] = 0;
    for (bool high : {false, true}) {
      auto exact = f(halfOf<T>(instruction, k, high, words[k][i])...);
      if constexpr (isFloat<T>) {
        if (instruction.clamp)
          exact = exact > 0 ? std::min<Computed<T>>(exact, 1) : 0;
      } else if (instruction.clamp) {
        int64_t sum = exact;
        exact = static_cast<decltype(exact)>(
            std::clamp<int64_t>(sum, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
      }
      auto value = static_cast<Computed<T>>(exact);
      result[i] |= uint32_t(toBits<T>(value)) << (high ? 16 : 0);
    }
  }
  storeExact<uint32_t>(wave, instruction, result);
}
template <typename T, unsigned sources, typename F> constexpr Handler packed(F) {
  return [](Wave &wave, const Instruction &instruction) {
    applyPacked<T>(wave, instruction, F(), std::make_index_sequence<sources>());
  };
}

// Packed floats of 32 bits: the halves are the registers of a pair.
template <typename F, size_t... k>
void applyWide(Wave &wave, const Instruction &instruction, F f, std::index_sequence<k...>) {
  Row<float> results[2];
  for (unsigned high = 0; high < 2; ++high) {
    Row<float> sources[sizeof...(k)];
    auto fetchHalf = [&](unsigned source) {
      uint8_t chosen = high ? instruction.opSelHigh : instruction.opSel;
      uint8_t negative = high ? instruction.negativeHigh : instruction.negativeLow;
      const Operand &operand = instruction.operands.at(source + 1);
      uint32_t buffer[maxLanes];
      bool constant = operand.is(Operand::Integer) || operand.is(Operand::Real);
      unsigned word = constant || operand.words == 1 ? 0 : chosen >> source & 1;
      const uint32_t *row = wave.row(instruction, source + 1, word, buffer);
      for (unsigned i = 0; i < maxLanes; ++i) {
        auto value = std::bit_cast<float>(row[i]);
        sources[source][i] = (negative >> source & 1) ? -value : value;
      }
    };
    (fetchHalf(k), ...);
    for (unsigned i = 0; i < maxLanes; ++i)
      results[high][i] = f(sources[k][i]...);
  }
  Row<uint64_t> joined;
  for (unsigned i = 0; i < maxLanes; ++i)
    joined[i] = std::bit_cast<uint32_t>(results[0][i]) | uint64_t(std::bit_cast<uint32_t>(results[1][i])) << 32;
  storeExact<uint64_t>(wave, instruction, joined);
}
template <unsigned sources, typename F> constexpr Handler wide(F) {
  return [](Wave &wave, const Instruction &instruction) {
    applyWide(wave, instruction, F(), std::make_index_sequence<sources>());
  };
}

// The low register comes from the first source, the high one from the second.
void movePair(Wave &wave, const Instruction &instruction) {
  Row<uint64_t> joined;
  uint32_t buffer[maxLanes];
  const uint32_t *row = wave.row(instruction, 1, instruction.opSel & 1, buffer);
  std::copy_n(row, maxLanes, joined.begin());
  row = wave.row(instruction, 2, instruction.opSel >> 1 & 1, buffer);
  for (unsigned i = 0; i < maxLanes; ++i)
    joined[i] |= uint64_t(row[i]) << 32;
  storeExact<uint64_t>(wave, instruction, joined);
}

// v_fma_mix: each source is a float, or a half that op_sel chooses where op_sel_hi says so.
template <Operand::Part part> void mixed(Wave &wave, const Instruction &instruction) {
  Row<float> sources[3];
  for (unsigned source = 0; source < 3; ++source) {
    const Operand &operand = instruction.operands.at(source + 1);
    bool isHalf = instruction.opSelHigh != 0xff && (instruction.opSelHigh >> source & 1);
    Row<uint32_t> words;
    if (isHalf)
      fetchWords<Half>(wave, instruction, source + 1, words);
    else
      fetchWords<float>(wave, instruction, source + 1, words);
    for (unsigned i = 0; i < maxLanes; ++i) {
      float value = isHalf
                        ? toFloat(Half{static_cast<uint16_t>(words[i] >> ((instruction.opSel >> source & 1) ? 16 : 0))})
                        : std::bit_cast<float>(words[i]);
      if (operand.absolute)
        value = std::fabs(value);
      sources[source][i] = operand.negative ? -value : value;
    }
  }
  Row<uint32_t> result;
  for (unsigned i = 0; i < maxLanes; ++i) {
    float value = std::fma(sources[0][i], sources[1][i], sources[2][i]);
    if (instruction.clamp)
      value = value > 0 ? std::min(value, 1.0f) : 0;
    if (part == Operand::Whole) {
      result[i] = std::bit_cast<uint32_t>(value);
      continue;
    }
    double odd = fusedToOdd(sources[0][i], sources[1][i], sources[2][i]);
    uint32_t bits = instruction.clamp ? toHalf(value).bits : toHalf(odd).bits;
    uint32_t old = wave.vector[instruction.operands[0].index][i];
    result[i] = part == Operand::Low ? (old & 0xffff0000) | bits : (old & 0xffff) | bits << 16;
  }
  storeExact<uint32_t>(wave, instruction, result);
}

template <typename T> void dotHalves(Wave &wave, const Instruction &instruction) {
  Row<uint32_t> a, b;
  Row<float> c;
  fetchWords<T>(wave, instruction, 1, a);
  fetchWords<T>(wave, instruction, 2, b);
  fetch<float>(wave, instruction, instruction.operands.size() > 3 ? 3 : 0, c);
  for (unsigned i = 0; i < maxLanes; ++i)
    for (bool high : {false, true})
      c[i] += halfOf<T>(instruction, 0, high, a[i]) * halfOf<T>(instruction, 1, high, b[i]);
  store<float>(wave, instruction, c);
}
template <typename A, typename B> void dotBytes(Wave &wave, const Instruction &instruction) {
  if (instruction.clamp)
    wave.refuse("clamping of its result is not simulated");
  Row<uint32_t> a, b, c;
  fetch<uint32_t>(wave, instruction, 1, a);
  fetch<uint32_t>(wave, instruction, 2, b);
  fetch<uint32_t>(wave, instruction, instruction.operands.size() > 3 ? 3 : 0, c);
  for (unsigned i = 0; i < maxLanes; ++i)
    for (unsigned byte = 0; byte < 4; ++byte)
      c[i] += static_cast<uint32_t>(int32_t(static_cast<A>(a[i] >> (8 * byte))) *
                                    int32_t(static_cast<B>(b[i] >> (8 * byte))));
  storeExact<uint32_t>(wave, instruction, c);
}

constexpr auto add = [](auto a, auto b) { return a + b; };
constexpr auto subtract = [](auto a, auto b) { return a - b; };
constexpr auto multiply = [](auto a, auto b) { return a * b; };
constexpr auto least = [](auto a, auto b) { return b < a || a != a ? b : a; };
constexpr auto greatest = [](auto a, auto b) { return b > a || a != a ? b : a; };
constexpr auto leastOrNaN = [](auto a, auto b) { return a != a || b != b ? a + b : b < a ? b : a; };
constexpr auto greatestOrNaN = [](auto a, auto b) { return a != a || b != b ? a + b : b > a ? b : a; };

constexpr HandlerRow rows[] = {
    {"v_pk_add_f16", packed<Half, 2>(add)},
    {"v_pk_mul_f16", packed<Half, 2>(multiply)},
    {"v_pk_fma_f16", packed<Half, 3>([](float a, float b, float c) { return toFloat(toHalf(fusedToOdd(a, b, c))); })},
    {"v_pk_min_f16", packed<Half, 2>(least)},
    {"v_pk_max_f16", packed<Half, 2>(greatest)},
    {"v_pk_min_num_f16", packed<Half, 2>(least)},
    {"v_pk_max_num_f16", packed<Half, 2>(greatest)},
    {"v_pk_minimum_f16", packed<Half, 2>(leastOrNaN)},
    {"v_pk_maximum_f16", packed<Half, 2>(greatestOrNaN)},
    {"v_pk_add_u16", packed<uint16_t, 2>(add)},
    {"v_pk_sub_u16", packed<uint16_t, 2>(subtract)},
    {"v_pk_mul_lo_u16", packed<uint16_t, 2>([](uint32_t a, uint32_t b) { return a * b; })},
    {"v_pk_mad_u16", packed<uint16_t, 3>([](uint32_t a, uint32_t b, uint32_t c) { return a * b + c; })},
    {"v_pk_min_u16", packed<uint16_t, 2>(least)},
    {"v_pk_max_u16", packed<uint16_t, 2>(greatest)},
    {"v_pk_lshlrev_b16", packed<uint16_t, 2>([](uint32_t a, uint32_t b) { return b << (a & 15); })},
    {"v_pk_lshrrev_b16", packed<uint16_t, 2>([](uint32_t a, uint32_t b) { return b >> (a & 15); })},
    {"v_pk_add_i16", packed<int16_t, 2>(add)},
    {"v_pk_sub_i16", packed<int16_t, 2>(subtract)},
    {"v_pk_mad_i16", packed<int16_t, 3>([](int32_t a, int32_t b, int32_t c) { return a * b + c; })},
    {"v_pk_min_i16", packed<int16_t, 2>(least)},
    {"v_pk_max_i16", packed<int16_t, 2>(greatest)},
    {"v_pk_ashrrev_i16", packed<int16_t, 2>([](int32_t a, int32_t b) { return b >> (a & 15); })},
    {"v_pk_add_f32", wide<2>(add)},
    {"v_pk_mul_f32", wide<2>(multiply)},
    {"v_pk_fma_f32", wide<3>([](float a, float b, float c) { return std::fma(a, b, c); })},
    {"v_pk_mov_b32", movePair},
    {"v_fma_mix_f32", mixed<Operand::Whole>},
    {"v_fma_mixlo_f16", mixed<Operand::Low>},
    {"v_fma_mixhi_f16", mixed<Operand::High>},
    {"v_mad_mix_f32", mixed<Operand::Whole>},
    {"v_mad_mixlo_f16", mixed<Operand::Low>},
    {"v_mad_mixhi_f16", mixed<Operand::High>},
    {"v_dot2_f32_f16", dotHalves<Half>},
    {"v_dot2_f32_bf16", dotHalves<Bfloat>},
    {"v_dot2c_f32_f16", dotHalves<Half>},
    {"v_dot2c_f32_bf16", dotHalves<Bfloat>},
    {"v_dot4_i32_i8", dotBytes<int8_t, int8_t>},
    {"v_dot4c_i32_i8", dotBytes<int8_t, int8_t>},
    {"v_dot4_u32_u8", dotBytes<uint8_t, uint8_t>},
};

} // namespace

void addPackedHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
