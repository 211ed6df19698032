// PTX's scalar types and state spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nacre::simulator {

enum class ScalarType : uint8_t {
  None,
  Predicate,
  B1,
  B8,
  B16,
  B32,
  B64,
  B128,
  U4,
  U8,
  U16,
  U32,
  U64,
  U16x2,
  S4,
  S8,
  S16,
  S32,
  S64,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  F32x2,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Parameter, Constant, Register };

std::optional<ScalarType> scalarType(std::string_view name);
const char *nameOf(ScalarType type);

constexpr unsigned bitsOf(ScalarType type) {
  switch (type) {
  case ScalarType::None:
    return 0;
  case ScalarType::Predicate:
  case ScalarType::B1:
    return 1;
  case ScalarType::U4:
  case ScalarType::S4:
    return 4;
  case ScalarType::B8:
  case ScalarType::U8:
  case ScalarType::S8:
  case ScalarType::E4M3:
  case ScalarType::E5M2:
    return 8;
  case ScalarType::B16:
  case ScalarType::U16:
  case ScalarType::S16:
  case ScalarType::F16:
  case ScalarType::BF16:
  case ScalarType::E4M3x2:
  case ScalarType::E5M2x2:
    return 16;
  case ScalarType::B64:
  case ScalarType::U64:
  case ScalarType::S64:
  case ScalarType::F64:
  case ScalarType::F32x2:
    return 64;
  case ScalarType::B128:
    return 128;
  default:
    return 32;
  }
}
constexpr unsigned bytesOf(ScalarType type) { return (bitsOf(type) + 7) / 8; }
constexpr bool isSigned(ScalarType type) {
  return type == ScalarType::S4 || type == ScalarType::S8 || type == ScalarType::S16 || type == ScalarType::S32 ||
         type == ScalarType::S64;
}
constexpr bool isFloat(ScalarType type) {
  return type == ScalarType::F16 || type == ScalarType::BF16 || type == ScalarType::F32 || type == ScalarType::F64 ||
         type == ScalarType::TF32 || type == ScalarType::E4M3 || type == ScalarType::E5M2;
}
constexpr bool isInteger(ScalarType type) {
  return isSigned(type) || type == ScalarType::U4 || type == ScalarType::U8 || type == ScalarType::U16 ||
         type == ScalarType::U32 || type == ScalarType::U64;
}

} // namespace nacre::simulator
