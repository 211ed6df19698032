// Arithmetic on floats: modifiers, and the doors to the decoders of each width.
#pragma once

#include "simulator/Execute.h"

namespace nacre::simulator {

enum FloatFlag : uint32_t {
  RoundingMask = 7,
  FlushFlag = 8,
  SaturateFlag = 16,
  ReluFlag = 32,
  NanFlag = 64,
  XorSignFlag = 128,
  OutOfBoundsFlag = 256
};

struct FloatModifiers {
  Rounding rounding = Rounding::Nearest;
  bool hasRounding = false, flush = false, saturate = false;
  uint32_t flags() const {
    return uint32_t(rounding) | (flush ? uint32_t(FlushFlag) : 0u) | (saturate ? uint32_t(SaturateFlag) : 0u);
  }
};
inline FloatModifiers takeFloatModifiers(Decoder &decoder) {
  FloatModifiers made;
  std::string_view mode = decoder.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  made.hasRounding = !mode.empty();
  made.rounding = mode == "rz"    ? Rounding::Zero
                  : mode == "rm"  ? Rounding::Down
                  : mode == "rp"  ? Rounding::Up
                  : mode == "rna" ? Rounding::NearestAway
                                  : Rounding::Nearest;
  made.flush = decoder.take("ftz");
  made.saturate = decoder.take("sat");
  return made;
}

enum class FloatOperation : uint8_t {
  Add,
  Subtract,
  Multiply,
  Fma,
  Divide,
  Reciprocal,
  SquareRoot,
  Minimum,
  Maximum,
  Negate,
  Absolute
};

// Fill op's operands from the instruction and emit. Floats.cpp: f32 and f64. Halves.cpp: f16, bf16 and pairs.
void decodeFloat(Decoder &decoder, FloatOperation operation, ScalarType type);
void decodeHalf(Decoder &decoder, FloatOperation operation, ScalarType type);
inline bool isHalfType(ScalarType type) {
  return type == ScalarType::F16 || type == ScalarType::F16x2 || type == ScalarType::BF16 || type == ScalarType::BF16x2;
}
inline bool isWideFloat(ScalarType type) {
  return type == ScalarType::F32 || type == ScalarType::F64 || type == ScalarType::F32x2;
}

float saturated(float value);

} // namespace nacre::simulator
