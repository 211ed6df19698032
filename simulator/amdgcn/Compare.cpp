// Comparisons of lanes: they make a mask, v_cmpx also EXEC.
#include "simulator/amdgcn/Lanes.h"

namespace nacre::simulator::amdgcn {
namespace {

template <typename T, typename F, bool narrows> void compare(Wave &wave, const Instruction &instruction) {
  bool implied = instruction.operands.size() == 2; // v_cmpx since gfx10: only EXEC is written
  Row<T> a, b;
  fetch<T>(wave, instruction, implied ? 0 : 1, a);
  fetch<T>(wave, instruction, implied ? 1 : 2, b);
  uint64_t mask = 0;
  for (unsigned i = 0; i < maxLanes; ++i)
    mask |= uint64_t(F()(a[i], b[i])) << i;
  mask &= wave.active;
  if (!implied)
    wave.writeMask(instruction.operands[0], mask);
  if (narrows)
    wave.setExec(mask);
}

struct Ordered { // of an unordered pair nothing holds but `neq`, `nge`, ...
  static constexpr auto lt = [](auto a, auto b) { return a < b; };
  static constexpr auto eq = [](auto a, auto b) { return a == b; };
  static constexpr auto le = [](auto a, auto b) { return a <= b; };
  static constexpr auto gt = [](auto a, auto b) { return a > b; };
  static constexpr auto lg = [](auto a, auto b) { return a < b || a > b; };
  static constexpr auto ge = [](auto a, auto b) { return a >= b; };
  static constexpr auto ne = [](auto a, auto b) { return a != b; };
  static constexpr auto o = [](auto a, auto b) { return a == a && b == b; };
  static constexpr auto u = [](auto a, auto b) { return a != a || b != b; };
  static constexpr auto nge = [](auto a, auto b) { return !(a >= b); };
  static constexpr auto nlg = [](auto a, auto b) { return !(a < b || a > b); };
  static constexpr auto ngt = [](auto a, auto b) { return !(a > b); };
  static constexpr auto nle = [](auto a, auto b) { return !(a <= b); };
  static constexpr auto neq = [](auto a, auto b) { return !(a == b); };
  static constexpr auto nlt = [](auto a, auto b) { return !(a < b); };
};
#define BOTH(operation, suffix, type)                                                                                  \
  {"v_cmp_" #operation "_" suffix, compare<type, std::remove_const_t<decltype(Ordered::operation)>, false>}, {         \
    "v_cmpx_" #operation "_" suffix, compare<type, std::remove_const_t<decltype(Ordered::operation)>, true>            \
  }
#define SIX(suffix, type)                                                                                              \
  BOTH(lt, suffix, type), BOTH(eq, suffix, type), BOTH(le, suffix, type), BOTH(gt, suffix, type),                      \
      BOTH(ge, suffix, type), BOTH(ne, suffix, type)
#define FLOATS(suffix, type)                                                                                           \
  BOTH(lt, suffix, type), BOTH(eq, suffix, type), BOTH(le, suffix, type), BOTH(gt, suffix, type),                      \
      BOTH(lg, suffix, type), BOTH(ge, suffix, type), BOTH(o, suffix, type), BOTH(u, suffix, type),                    \
      BOTH(nge, suffix, type), BOTH(nlg, suffix, type), BOTH(ngt, suffix, type), BOTH(nle, suffix, type),              \
      BOTH(neq, suffix, type), BOTH(nlt, suffix, type)

// v_cmp_class: which of ten classes, one bit each, a number is of.
template <typename T, bool narrows> void compareClass(Wave &wave, const Instruction &instruction) {
  bool implied = instruction.operands.size() == 2;
  Row<T> value;
  Row<uint32_t> classes;
  fetch<T>(wave, instruction, implied ? 0 : 1, value);
  fetch<uint32_t>(wave, instruction, implied ? 1 : 2, classes);
  uint64_t mask = 0;
  for (unsigned i = 0; i < maxLanes; ++i) {
    Computed<T> a = value[i];
    bool negative = std::signbit(a);
    double least = std::is_same_v<T, Half> ? 0x1p-14 : sizeof(T) == 8 ? 0x1p-1022 : 0x1p-126;
    unsigned kind = std::isnan(a)                  ? 1 // signaling NaNs were made quiet on their way here
                    : std::isinf(a)                ? (negative ? 2 : 9)
                    : a == 0                       ? (negative ? 5 : 6)
                    : std::fabs(double(a)) < least ? (negative ? 4 : 7)
                                                   : (negative ? 3 : 8);
    bool holds = kind == 1 ? (classes[i] & 3) != 0 : (classes[i] >> kind & 1);
    mask |= uint64_t(holds) << i;
  }
  mask &= wave.active;
  if (!implied)
    wave.writeMask(instruction.operands[0], mask);
  if (narrows)
    wave.setExec(mask);
}

constexpr HandlerRow rows[] = {
    SIX("i32", int32_t),
    SIX("u32", uint32_t),
    SIX("i16", int16_t),
    SIX("u16", uint16_t),
    SIX("i64", int64_t),
    SIX("u64", uint64_t),
    FLOATS("f32", float),
    FLOATS("f16", Half),
    FLOATS("f64", double),
    {"v_cmp_class_f32", compareClass<float, false>},
    {"v_cmpx_class_f32", compareClass<float, true>},
    {"v_cmp_class_f16", compareClass<Half, false>},
    {"v_cmpx_class_f16", compareClass<Half, true>},
    {"v_cmp_class_f64", compareClass<double, false>},
    {"v_cmpx_class_f64", compareClass<double, true>},
};

#undef BOTH
#undef SIX
#undef FLOATS

} // namespace

void addCompareHandlers(HandlerTable &table) { addRows(table, rows); }

} // namespace nacre::simulator::amdgcn
