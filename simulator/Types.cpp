// Names of PTX's types.
#include "simulator/Types.h"
#include <utility>

namespace nacre::simulator {

static constexpr std::pair<std::string_view, ScalarType> names[] = {
    {"pred", ScalarType::Predicate}, {"b1", ScalarType::B1},         {"b8", ScalarType::B8},
    {"b16", ScalarType::B16},        {"b32", ScalarType::B32},       {"b64", ScalarType::B64},
    {"b128", ScalarType::B128},      {"u4", ScalarType::U4},         {"u8", ScalarType::U8},
    {"u16", ScalarType::U16},        {"u32", ScalarType::U32},       {"u64", ScalarType::U64},
    {"u16x2", ScalarType::U16x2},    {"s4", ScalarType::S4},         {"s8", ScalarType::S8},
    {"s16", ScalarType::S16},        {"s32", ScalarType::S32},       {"s64", ScalarType::S64},
    {"s16x2", ScalarType::S16x2},    {"f16", ScalarType::F16},       {"f16x2", ScalarType::F16x2},
    {"bf16", ScalarType::BF16},      {"bf16x2", ScalarType::BF16x2}, {"tf32", ScalarType::TF32},
    {"f32", ScalarType::F32},        {"f64", ScalarType::F64},       {"f32x2", ScalarType::F32x2},
    {"e4m3", ScalarType::E4M3},      {"e5m2", ScalarType::E5M2},     {"e4m3x2", ScalarType::E4M3x2},
    {"e5m2x2", ScalarType::E5M2x2}};

std::optional<ScalarType> scalarType(std::string_view name) {
  for (auto &[text, type] : names)
    if (text == name)
      return type;
  return std::nullopt;
}

const char *nameOf(ScalarType type) {
  for (auto &[text, candidate] : names)
    if (candidate == type)
      return text.data();
  return "none";
}

} // namespace nacre::simulator
