// Handlers made of a function of one lane.
//
// `lanes<D, S...>(f)` is a handler whose operand 0 has the format D and whose operands 1, 2, ... have the formats S; f
// computes with float for the 16-bit floats and with the format itself otherwise. Sign modifiers, parts of registers,
// lane moves, flushing, scaling and clamping are applied here, for every instruction alike.
#pragma once

#include "simulator/amdgcn/Floats.h"
#include "simulator/amdgcn/Machine.h"
#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace nacre::simulator::amdgcn {

template <typename T> constexpr bool isSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;
template <typename T> constexpr bool isFloat = isSmallFloat<T> || std::is_floating_point_v<T>;
template <typename T> using Computed = std::conditional_t<isSmallFloat<T>, float, T>;
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
template <typename T> using Row = std::array<Computed<T>, maxLanes>;

template <typename T> Computed<T> fromBits(Bits<T> bits) {
  if constexpr (isSmallFloat<T>)
    return toFloat(T{bits});
  else
    return std::bit_cast<T>(bits);
}
template <typename T> Bits<T> toBits(Computed<T> value) {
  if constexpr (std::is_same_v<T, Half>)
    return toHalf(value).bits;
  else if constexpr (std::is_same_v<T, Bfloat>)
    return toBfloat(value).bits;
  else
    return std::bit_cast<Bits<T>>(value);
}

// A constant operand as the instruction's format.
template <typename T> Bits<T> constantBits(const Operand &operand) {
  if (operand.is(Operand::Real)) {
    if constexpr (std::is_same_v<T, Half> || (sizeof(T) == 2 && !isFloat<T>))
      return toHalf(static_cast<float>(operand.real)).bits;
    else if constexpr (std::is_same_v<T, Bfloat>)
      return toBfloat(static_cast<float>(operand.real)).bits;
    else if constexpr (sizeof(T) == 8)
      return std::bit_cast<uint64_t>(operand.real);
    else
      return std::bit_cast<uint32_t>(static_cast<float>(operand.real));
  }
  // A literal of 32 bits is the upper half of a double.
  if constexpr (std::is_same_v<T, double>)
    if (operand.hexadecimal && static_cast<uint64_t>(operand.integer) <= 0xffffffff)
      return static_cast<uint64_t>(operand.integer) << 32;
  return static_cast<Bits<T>>(operand.integer);
}

template <typename T> void fetch(Wave &wave, const Instruction &instruction, unsigned index, Row<T> &values) {
  const Operand &operand = instruction.operands.at(index);
  Bits<T> bits[maxLanes];
  if (operand.is(Operand::Integer) || operand.is(Operand::Real)) {
    std::fill_n(bits, maxLanes, constantBits<T>(operand));
  } else if constexpr (sizeof(T) == 8) {
    uint32_t lowBuffer[maxLanes], highBuffer[maxLanes];
    const uint32_t *low = wave.row(instruction, index, 0, lowBuffer);
    // The lower word of an integer result is that of the lower words: sums, products and shifts to the left carry
    // upwards, and compilers leave upper words undefined that they do not need.
    uint64_t before = wave.tainted;
    const uint32_t *high = wave.row(instruction, index, 1, highBuffer);
    if (std::is_integral_v<T>)
      wave.taintedHigh |= std::exchange(wave.tainted, before);
    for (unsigned i = 0; i < maxLanes; ++i)
      bits[i] = low[i] | uint64_t(high[i]) << 32;
  } else {
    uint32_t buffer[maxLanes];
    const uint32_t *row = wave.row(instruction, index, 0, buffer);
    for (unsigned i = 0; i < maxLanes; ++i)
      bits[i] = static_cast<Bits<T>>(row[i]);
  }
  constexpr Bits<T> sign = Bits<T>(1) << (8 * sizeof(T) - 1);
  if (operand.absolute)
    for (unsigned i = 0; i < maxLanes; ++i)
      bits[i] &= static_cast<Bits<T>>(~sign);
  if (operand.negative)
    for (unsigned i = 0; i < maxLanes; ++i)
      bits[i] ^= sign;
  for (unsigned i = 0; i < maxLanes; ++i)
    values[i] = fromBits<T>(bits[i]);
  if constexpr (std::is_same_v<T, float>)
    if (wave.flushes32())
      for (unsigned i = 0; i < maxLanes; ++i)
        values[i] = flushed(values[i]);
}

// A part of a word replaced, as SDWA and op_sel say.
uint32_t insertPart(const Instruction &instruction, Operand::Part part, uint32_t old, uint32_t value, bool preserves);

// Stores results as they are: scaled and clamped already.
template <typename T> void storeExact(Wave &wave, const Instruction &instruction, const Row<T> &values) {
  const Operand &operand = instruction.operands.at(0);
  if (!operand.is(Operand::Vector))
    wave.refuse("its result is not a vector register");
  uint32_t words[maxLanes];
  if constexpr (sizeof(T) == 8) {
    for (unsigned word = 0; word < 2; ++word) {
      for (unsigned i = 0; i < maxLanes; ++i)
        words[i] = static_cast<uint32_t>(toBits<T>(values[i]) >> (32 * word));
      if (word == 1)
        wave.tainted |= wave.taintedHigh;
      wave.setRow(operand.index + word, words);
    }
    return;
  } else {
    wave.tainted |= wave.taintedHigh;
    for (unsigned i = 0; i < maxLanes; ++i)
      words[i] = toBits<T>(values[i]);
  }
  bool preserves = sizeof(T) == 2 && !wave.launch->processor->zeroesHighHalf;
  Operand::Part part = operand.part != Operand::Whole ? operand.part : instruction.destinationPart;
  if (part == Operand::Whole && preserves)
    part = Operand::Low;
  if (part != Operand::Whole) {
    preserves |= instruction.destinationPart == Operand::Whole || instruction.preserveRest;
    for (unsigned i = 0; i < maxLanes; ++i)
      words[i] = insertPart(instruction, part, wave.vector[operand.index][i], words[i], preserves);
  }
  wave.setRow(operand.index, words);
}

template <typename T> void store(Wave &wave, const Instruction &instruction, Row<T> &values) {
  if constexpr (isFloat<T>) {
    if (instruction.outputScale != 1)
      for (auto &value : values)
        value *= static_cast<Computed<T>>(instruction.outputScale);
    if (instruction.clamp)
      for (auto &value : values)
        value = value > 0 ? std::min<Computed<T>>(value, 1) : 0; // a NaN becomes 0
    if constexpr (std::is_same_v<T, float>)
      if (wave.flushes32())
        for (auto &value : values)
          value = flushed(value);
    if constexpr (std::is_same_v<T, Half>)
      if (wave.saturatesHalves() &&
          std::any_of(values.begin(), values.end(), [](float value) { return std::fabs(value) >= 65520; }))
        wave.refuse("halves that overflow under FP16_OVFL are not simulated");
  } else if (instruction.clamp) {
    wave.refuse("clamping of its result is not simulated");
  }
  storeExact<T>(wave, instruction, values);
}

template <typename D, typename... S, typename F, size_t... k>
void applyLanes(Wave &wave, const Instruction &instruction, F f, std::index_sequence<k...>, bool accumulates) {
  std::tuple<Row<S>...> rows;
  constexpr size_t last = sizeof...(S);
  (fetch<S>(wave, instruction, accumulates && k + 1 == last ? 0 : static_cast<unsigned>(k + 1), std::get<k>(rows)),
   ...);
  Row<D> result;
  for (unsigned i = 0; i < maxLanes; ++i)
    result[i] = static_cast<Computed<D>>(f(std::get<k>(rows)[i]...));
  store<D>(wave, instruction, result);
}

template <typename D, typename... S, typename F> constexpr Handler lanes(F) {
  return [](Wave &wave, const Instruction &instruction) {
    applyLanes<D, S...>(wave, instruction, F(), std::index_sequence_for<S...>(), false);
  };
}
// The same, whose last source is the destination.
template <typename D, typename... S, typename F> constexpr Handler accumulatingLanes(F) {
  return [](Wave &wave, const Instruction &instruction) {
    applyLanes<D, S...>(wave, instruction, F(), std::index_sequence_for<S...>(), true);
  };
}

template <typename F> void forEachLane(uint64_t mask, F &&f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(std::countr_zero(mask)));
}

} // namespace nacre::simulator::amdgcn
