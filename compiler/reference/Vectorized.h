// Loops compiled twice: for the baseline processor and for one with AVX2, FMA and F16C; chosen at run time.
#pragma once

namespace nacre {

#if defined(__x86_64__)
#define NACRE_WIDE_TARGET __attribute__((target("avx2,fma,f16c,bmi,bmi2")))

inline bool hasWideVectors() {
  static const bool answer =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  return answer;
}

namespace detail {
template <typename Loop> NACRE_WIDE_TARGET inline void runWide(Loop loop) { loop(); }
} // namespace detail

// `loop` must be a lambda marked NACRE_LOOP: it is inlined into both versions and vectorized for each.
#define NACRE_LOOP __attribute__((always_inline))
template <typename Loop> inline void vectorized(Loop loop) {
  if (hasWideVectors())
    detail::runWide(loop);
  else
    loop();
}
#else
#define NACRE_WIDE_TARGET
#define NACRE_LOOP
inline bool hasWideVectors() { return false; }
template <typename Loop> inline void vectorized(Loop loop) { loop(); }
#endif

} // namespace nacre
