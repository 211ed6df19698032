// Conversions between formats.
#include "simulator/amdgcn/Lanes.h"

namespace nacre::simulator::amdgcn {

float fromFloat8(uint8_t bits, Float8 format) {
  bool three = format == Float8::E4M3 || format == Float8::E4M3Fnuz;
  bool fnuz = format == Float8::E4M3Fnuz || format == Float8::E5M2Fnuz;
  int fractionBits = three ? 3 : 2, bias = (three ? 7 : 15) + fnuz;
  int exponent = (bits & 0x7f) >> fractionBits, fraction = bits & ((1 << fractionBits) - 1);
  float sign = (bits & 0x80) ? -1.0f : 1.0f, nan = std::numeric_limits<float>::quiet_NaN();
  if (fnuz && bits == 0x80)
    return nan;
  if (format == Float8::E4M3 && (bits & 0x7f) == 0x7f)
    return nan;
  if (format == Float8::E5M2 && exponent == 31)
    return fraction ? nan : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(static_cast<float>(fraction), 1 - bias - fractionBits);
  return sign * std::ldexp(static_cast<float>((1 << fractionBits) + fraction), exponent - bias - fractionBits);
}

uint8_t toFloat8(float value, Float8 format, bool saturates) {
  bool three = format == Float8::E4M3 || format == Float8::E4M3Fnuz;
  bool fnuz = format == Float8::E4M3Fnuz || format == Float8::E5M2Fnuz;
  int fractionBits = three ? 3 : 2, bias = (three ? 7 : 15) + fnuz;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  uint8_t largest = format == Float8::E4M3 ? 0x7e : format == Float8::E5M2 ? 0x7b : 0x7f;
  uint8_t nan = fnuz ? 0x80 : 0x7f;
  if (std::isnan(value))
    return fnuz ? nan : static_cast<uint8_t>(sign | nan);
  double rounded = std::fabs(roundTo(value, fractionBits, 1 - bias));
  if (rounded > fromFloat8(largest, format) || std::isinf(value)) {
    if (saturates)
      return sign | largest;
    return format == Float8::E5M2 ? static_cast<uint8_t>(sign | 0x7c) : fnuz ? nan : static_cast<uint8_t>(sign | nan);
  }
  if (rounded == 0)
    return fnuz ? 0 : sign;
  int exponent = std::ilogb(rounded);
  if (exponent < 1 - bias)
    return static_cast<uint8_t>(sign | static_cast<int>(std::ldexp(rounded, bias - 1 + fractionBits)));
  auto fraction = static_cast<int>(std::ldexp(rounded, fractionBits - exponent)) & ((1 << fractionBits) - 1);
  return static_cast<uint8_t>(sign | (exponent + bias) << fractionBits | fraction);
}

namespace {

template <typename T> T saturated(double value) {
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}
Half towardZero(float value) {
  Half near = toHalf(value);
  if (std::isfinite(value) && std::fabs(toFloat(near)) > std::fabs(value))
    --near.bits;
  return near;
}
uint32_t pair(uint16_t low, uint16_t high) { return low | uint32_t(high) << 16; }

bool isOpenFormat(const Wave &wave) {
  return wave.launch->processor->generation >= 12 || wave.launch->processor->name == "gfx950";
}
Float8 formatOf(const Wave &wave, bool three) {
  if (isOpenFormat(wave))
    return three ? Float8::E4M3 : Float8::E5M2;
  return three ? Float8::E4M3Fnuz : Float8::E5M2Fnuz;
}
// Two floats to the bytes of one half of the destination.
template <bool three> void packFloat8(Wave &wave, const Instruction &instruction) {
  Row<float> a, b;
  Row<uint32_t> result;
  fetch<float>(wave, instruction, 1, a);
  fetch<float>(wave, instruction, 2, b);
  bool saturates = wave.saturatesHalves();
  unsigned place = instruction.operands[0].index, shift = (instruction.opSel & 4) ? 16 : 0;
  for (unsigned i = 0; i < maxLanes; ++i) {
    uint32_t bytes = toFloat8(a[i], formatOf(wave, three), saturates) |
                     uint32_t(toFloat8(b[i], formatOf(wave, three), saturates)) << 8;
    result[i] = (wave.vector[place][i] & ~(0xffffu << shift)) | bytes << shift;
  }
  storeExact<uint32_t>(wave, instruction, result);
}
template <bool three> void unpackFloat8(Wave &wave, const Instruction &instruction) {
  Row<uint32_t> bits;
  Row<float> result;
  fetch<uint32_t>(wave, instruction, 1, bits);
  for (unsigned i = 0; i < maxLanes; ++i)
    result[i] = fromFloat8(static_cast<uint8_t>(bits[i]), formatOf(wave, three));
  store<float>(wave, instruction, result);
}
template <bool three> void unpackFloat8Pair(Wave &wave, const Instruction &instruction) {
  Row<uint32_t> bits;
  Row<uint64_t> result;
  fetch<uint32_t>(wave, instruction, 1, bits);
  unsigned shift = (instruction.opSel & 1) ? 16 : 0;
  for (unsigned i = 0; i < maxLanes; ++i) {
    uint32_t half = bits[i] >> shift;
    auto low = std::bit_cast<uint32_t>(fromFloat8(static_cast<uint8_t>(half), formatOf(wave, three)));
    auto high = std::bit_cast<uint32_t>(fromFloat8(static_cast<uint8_t>(half >> 8), formatOf(wave, three)));
    result[i] = low | uint64_t(high) << 32;
  }
  storeExact<uint64_t>(wave, instruction, result);
}

#define CONVERT(to, from, To, From, expression)                                                                        \
  {"v_cvt_" to "_" from, lanes<To, From>([](Computed<From> a) { return expression; })}
#define BYTE(n)                                                                                                        \
  {"v_cvt_f32_ubyte" #n, lanes<float, uint32_t>([](uint32_t a) { return static_cast<float>(a >> (8 * n) & 0xff); })}

constexpr HandlerRow rows[] = {
    CONVERT("f32", "i32", float, int32_t, static_cast<float>(a)),
    CONVERT("f32", "u32", float, uint32_t, static_cast<float>(a)),
    CONVERT("i32", "f32", int32_t, float, saturated<int32_t>(a)),
    CONVERT("u32", "f32", uint32_t, float, saturated<uint32_t>(a)),
    CONVERT("i32", "f64", int32_t, double, saturated<int32_t>(a)),
    CONVERT("u32", "f64", uint32_t, double, saturated<uint32_t>(a)),
    CONVERT("f64", "i32", double, int32_t, static_cast<double>(a)),
    CONVERT("f64", "u32", double, uint32_t, static_cast<double>(a)),
    CONVERT("f64", "f32", double, float, static_cast<double>(a)),
    CONVERT("f32", "f64", float, double, static_cast<float>(a)),
    CONVERT("f16", "f32", Half, float, a),
    CONVERT("f32", "f16", float, Half, a),
    CONVERT("f32", "bf16", float, Bfloat, a),
    CONVERT("f16", "u16", Half, uint16_t, static_cast<float>(a)),
    CONVERT("f16", "i16", Half, int16_t, static_cast<float>(a)),
    CONVERT("u16", "f16", uint16_t, Half, saturated<uint16_t>(a)),
    CONVERT("i16", "f16", int16_t, Half, saturated<int16_t>(a)),
    CONVERT("u32", "u16", uint32_t, uint16_t, a),
    CONVERT("i32", "i16", int32_t, int16_t, a),
    CONVERT("rpi_i32", "f32", int32_t, float, saturated<int32_t>(std::floor(double(a) + 0.5))),
    CONVERT("flr_i32", "f32", int32_t, float, saturated<int32_t>(std::floor(double(a)))),
    CONVERT("nearest_i32", "f32", int32_t, float, saturated<int32_t>(std::floor(double(a) + 0.5))),
    CONVERT("floor_i32", "f32", int32_t, float, saturated<int32_t>(std::floor(double(a)))),
    BYTE(0),
    BYTE(1),
    BYTE(2),
    BYTE(3),
    {"v_cvt_pkrtz_f16_f32",
     lanes<uint32_t, float, float>([](float a, float b) { return pair(towardZero(a).bits, towardZero(b).bits); })},
    {"v_cvt_pk_rtz_f16_f32",
     lanes<uint32_t, float, float>([](float a, float b) { return pair(towardZero(a).bits, towardZero(b).bits); })},
    {"v_cvt_pk_f16_f32",
     lanes<uint32_t, float, float>([](float a, float b) { return pair(toHalf(a).bits, toHalf(b).bits); })},
    {"v_cvt_pk_bf16_f32",
     lanes<uint32_t, float, float>([](float a, float b) { return pair(toBfloat(a).bits, toBfloat(b).bits); })},
    {"v_cvt_pk_u16_u32", lanes<uint32_t, uint32_t, uint32_t>([](uint32_t a, uint32_t b) {
       return pair(static_cast<uint16_t>(std::min(a, 65535u)), static_cast<uint16_t>(std::min(b, 65535u)));
     })},
    {"v_cvt_pk_i16_i32", lanes<uint32_t, int32_t, int32_t>([](int32_t a, int32_t b) {
       return pair(static_cast<uint16_t>(std::clamp(a, -32768, 32767)),
                   static_cast<uint16_t>(std::clamp(b, -32768, 32767)));
     })},
    {"v_cvt_pk_fp8_f32", packFloat8<true>},
    {"v_cvt_pk_bf8_f32", packFloat8<false>},
    {"v_cvt_f32_fp8", unpackFloat8<true>},
    {"v_cvt_f32_bf8", unpackFloat8<false>},
    {"v_cvt_pk_f32_fp8", unpackFloat8Pair<true>},
    {"v_cvt_pk_f32_bf8", unpackFloat8Pair<false>},
    {"v_sat_pk_u8_i16", lanes<uint16_t, uint32_t>([](uint32_t a) {
       auto byte = [](int16_t value) { return static_cast<uint16_t>(std::clamp<int>(value, 0, 255)); };
       return static_cast<uint16_t>(byte(static_cast<int16_t>(a)) | byte(static_cast<int16_t>(a >> 16)) << 8);
     })},
};

#undef CONVERT
#undef BYTE

} // namespace

void addConvertHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
