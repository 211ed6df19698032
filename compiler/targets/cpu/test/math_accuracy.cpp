// Measures the elementary functions of expand-math, compiled for this machine, against libm in a higher precision.
//
//   math_accuracy [--all] [--stride N] [--only NAME] [--cpu NAME]
//
// f32: every N-th bit pattern (a prime), or all of them; f64: points of all magnitudes; f16 and bf16: all patterns;
// functions of two arguments: points of all magnitudes, points whose result is in range, and every pair of special
// values. A line per function and type: the largest error in ulp, where, how many special results are wrong (NaN,
// infinity, sign), and the time for one element. Fails when a bound is passed.
#include "compiler/targets/cpu/test/CompiledMath.h"
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using nacre::CompiledMath;
using nacre::MathElement;

namespace {

struct Function {
  const char *name;
  double (*inDouble)(double, double);
  long double (*inLongDouble)(long double, long double);
  unsigned operandCount;
  double low, high; // the arguments that are timed, and sampled more densely in f64
  double bound;     // in ulp, for f32 and f64
};

#define UNARY(NAME, CALL, LOW, HIGH, BOUND)                                                                            \
  {"math." #NAME,                                                                                                      \
   [](double x, double) -> double { return CALL; },                                                                    \
   [](long double x, long double) -> long double { return CALL; },                                                     \
   1,                                                                                                                  \
   LOW,                                                                                                                \
   HIGH,                                                                                                               \
   BOUND}
#define BINARY(NAME, CALL, LOW, HIGH, BOUND)                                                                           \
  {"math." #NAME,                                                                                                      \
   [](double x, double y) -> double { return CALL; },                                                                  \
   [](long double x, long double y) -> long double { return CALL; },                                                   \
   2,                                                                                                                  \
   LOW,                                                                                                                \
   HIGH,                                                                                                               \
   BOUND}

const Function functions[] = {
    UNARY(exp, std::exp(x), -20, 20, 1),         UNARY(exp2, std::exp2(x), -20, 20, 1),
    UNARY(expm1, std::expm1(x), -5, 5, 2),       UNARY(sinh, std::sinh(x), -10, 10, 2),
    UNARY(cosh, std::cosh(x), -10, 10, 2),       UNARY(tanh, std::tanh(x), -5, 5, 2),
    UNARY(log, std::log(x), 0.01, 100, 1),       UNARY(log2, std::log2(x), 0.01, 100, 1),
    UNARY(log10, std::log10(x), 0.01, 100, 2),   UNARY(log1p, std::log1p(x), -0.9, 10, 2),
    UNARY(sin, std::sin(x), -100, 100, 1),       UNARY(cos, std::cos(x), -100, 100, 1),
    UNARY(tan, std::tan(x), -100, 100, 2),       UNARY(asin, std::asin(x), -1, 1, 2),
    UNARY(acos, std::acos(x), -1, 1, 2),         UNARY(atan, std::atan(x), -10, 10, 2),
    UNARY(asinh, std::asinh(x), -10, 10, 2),     UNARY(acosh, std::acosh(x), 1, 10, 2),
    UNARY(atanh, std::atanh(x), -1, 1, 2),       UNARY(erf, std::erf(x), -4, 4, 2),
    UNARY(erfc, std::erfc(x), -4, 10, 2),        UNARY(cbrt, std::cbrt(x), -100, 100, 2),
    UNARY(rsqrt, 1 / std::sqrt(x), 0, 100, 2),   BINARY(powf, std::pow(x, y), 0.1, 10, 2),
    BINARY(atan2, std::atan2(x, y), -10, 10, 2),
};

// The bits, the precision and the reference of one element type.
template <MathElement> struct Format;
template <> struct Format<MathElement::Single> {
  using Bits = uint32_t;
  using Wide = double;
  static constexpr const char *name = "f32";
  static constexpr int precision = 24, smallestExponent = -126, largestExponent = 127;
  static Wide widen(Bits bits) { return std::bit_cast<float>(bits); }
  static Bits narrow(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
};
template <> struct Format<MathElement::Double> {
  using Bits = uint64_t;
  using Wide = long double;
  static constexpr const char *name = "f64";
  static constexpr int precision = 53, smallestExponent = -1022, largestExponent = 1023;
  static Wide widen(Bits bits) { return std::bit_cast<double>(bits); }
  static Bits narrow(double value) { return std::bit_cast<uint64_t>(value); }
};
template <> struct Format<MathElement::BFloat> {
  using Bits = uint16_t;
  using Wide = double;
  static constexpr const char *name = "bf16";
  static constexpr int precision = 8, smallestExponent = -126, largestExponent = 127;
  static Wide widen(Bits bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
};
template <> struct Format<MathElement::Half> {
  using Bits = uint16_t;
  using Wide = double;
  static constexpr const char *name = "f16";
  static constexpr int precision = 11, smallestExponent = -14, largestExponent = 15;
  static Wide widen(Bits bits) {
    // The bits as those of a float with a larger exponent: the right number, times 2^-112; infinities and NaNs apart.
    double sign = bits & 0x8000 ? -1 : 1;
    if ((bits & 0x7C00) == 0x7C00)
      return bits & 0x3FF ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    return sign * std::bit_cast<float>(uint32_t(bits & 0x7FFF) << 13) * 0x1p112;
  }
};

// What was found about one function in one type.
struct Finding {
  double worst = 0;
  uint64_t worstX = 0, worstY = 0;
  uint64_t specialMismatches = 0, mismatchX = 0, mismatchY = 0;
  uint64_t points = 0;

  void merge(const Finding &other) {
    if (other.worst > worst)
      worst = other.worst, worstX = other.worstX, worstY = other.worstY;
    if (!specialMismatches)
      mismatchX = other.mismatchX, mismatchY = other.mismatchY;
    specialMismatches += other.specialMismatches;
    points += other.points;
  }
};

int exponentOf(double value) {
  int field = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7FF);
  return field ? field - 1023 : std::ilogb(value);
}
int exponentOf(long double value) { return std::ilogb(value); }
double twoTo(int exponent, double) { return std::bit_cast<double>(uint64_t(exponent + 1023) << 52); }
long double twoTo(int exponent, long double) { return std::ldexp(1.0L, exponent); }

// The error of `got` in units of the last place of the exact result; negative for a special result that is wrong.
template <MathElement element>
double errorInUlp(typename Format<element>::Wide got, typename Format<element>::Wide exact) {
  using F = Format<element>;
  using Wide = typename F::Wide;
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) == std::isnan(got) ? 0 : -1;
  if (std::signbit(got) != std::signbit(exact))
    return -1;
  if (std::isinf(exact) || exact == 0)
    return got == exact ? 0 : -1;
  // An infinity stands for the power of two after the largest number; at or past it, only infinity is right.
  Wide overflow = twoTo(F::largestExponent, Wide()) * 2;
  Wide gotFinite = std::isinf(got) ? std::copysign(overflow, exact) : got;
  Wide exactFinite = std::abs(exact) > overflow ? std::copysign(overflow, exact) : exact;
  int exponent = std::max(std::min(exponentOf(exactFinite), F::largestExponent), F::smallestExponent);
  return static_cast<double>(std::abs(gotFinite - exactFinite) / twoTo(exponent - F::precision + 1, Wide()));
}

template <MathElement element>
typename Format<element>::Wide reference(const Function &function, typename Format<element>::Wide x,
                                         typename Format<element>::Wide y) {
  if constexpr (element == MathElement::Double)
    return function.inLongDouble(x, y);
  else
    return function.inDouble(x, y);
}

uint64_t hashed(uint64_t number) {
  number += 0x9E3779B97F4A7C15;
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9;
  number = (number ^ number >> 27) * 0x94D049BB133111EB;
  return number ^ number >> 31;
}
double uniform(uint64_t random, double low, double high) { return low + (high - low) * (random >> 11) * 0x1p-53; }

const double specialValues[] = {0,
                                0x1p-1074,
                                0x1p-1023,
                                0x1p-1022,
                                0x1p-149,
                                0x1.8p-148,
                                0x1p-127,
                                0x1p-126,
                                0x1p-30,
                                0.25,
                                0.5,
                                0x1.fffffep-1,
                                1,
                                0x1.000002p0,
                                1.5,
                                2,
                                3,
                                4,
                                5,
                                17,
                                0x1.fffffep22,
                                0x1.fffffep23,
                                0x1p24,
                                0x1p53,
                                0x1.6ac5b262ca1ffp+849, // of all doubles the nearest to a multiple of pi/2
                                0x1.fffffep127,
                                0x1.fffffffffffffp1023,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
constexpr uint64_t specialCount = std::size(specialValues) * 2; // each with both signs

double specialValue(uint64_t index) { return index & 1 ? -specialValues[index >> 1] : specialValues[index >> 1]; }

// The argument or arguments numbered `index`: the special values first, in all their pairs, then points of every
// magnitude.
template <MathElement element> struct Points {
  using F = Format<element>;
  using Bits = typename F::Bits;
  const Function &function;
  uint64_t stride; // f32 and narrower, of one argument: the step through all bit patterns

  uint64_t specials() const { return function.operandCount == 1 ? specialCount : specialCount * specialCount; }

  void at(uint64_t index, Bits &x, Bits &y) const {
    y = 0;
    if constexpr (sizeof(Bits) == 2) {
      x = static_cast<Bits>(index);
      return;
    } else {
      if (index < specials()) {
        x = F::narrow(specialValue(index % specialCount));
        y = F::narrow(specialValue(index / specialCount));
        return;
      }
      index -= specials();
      if (element == MathElement::Single && function.operandCount == 1) {
        x = static_cast<Bits>(index * stride);
        return;
      }
      sample(index, x, y);
    }
  }

private:
  void sample(uint64_t index, Bits &x, Bits &y) const {
    uint64_t random = hashed(2 * index), other = hashed(2 * index + 1);
    double span = function.high - function.low;
    switch (index % 4) {
    case 0: // any bits
      x = static_cast<Bits>(random), y = static_cast<Bits>(other);
      return;
    case 1: { // logarithmically near 1, either sign
      double sign = other & 1 ? -1 : 1;
      x = F::narrow(sign * std::exp2(uniform(random, -30, 30))), y = F::narrow(std::exp2(uniform(other, -30, 30)));
      return;
    }
    case 2: { // near a zero or a pole of the trigonometric functions; for powers, a result that is in range
      if (function.operandCount == 1) {
        uint64_t turns = random >> (32 + other % 32);
        x = F::narrow(static_cast<double>(turns * (3.14159265358979323846264L / 2)));
        return;
      }
      double base = std::exp2(uniform(random, -40, 40)), limit = F::largestExponent + F::precision;
      x = F::narrow(base), y = F::narrow(uniform(other, -limit, limit) / std::log2(base));
      return;
    }
    default:
      x = F::narrow(uniform(random, function.low, function.high));
      y = F::narrow(uniform(other, function.low - span, function.high + span));
    }
  }
};

template <MathElement element>
void measureRange(const CompiledMath &compiled, const Points<element> &points, uint64_t begin, uint64_t end,
                  Finding &finding) {
  using F = Format<element>;
  using Bits = typename F::Bits;
  constexpr uint64_t batch = 4096;
  std::vector<Bits> x(batch), y(batch), got(batch);
  for (uint64_t start = begin; start < end; start += batch) {
    uint64_t count = std::min(batch, end - start);
    for (uint64_t i = 0; i < batch; ++i)
      points.at(start + std::min(i, count - 1), x[i], y[i]);
    compiled(x.data(), y.data(), got.data(), batch);
    for (uint64_t i = 0; i < count; ++i) {
      auto exact = reference<element>(points.function, F::widen(x[i]), F::widen(y[i]));
      double error = errorInUlp<element>(F::widen(got[i]), exact);
      if (error < 0) {
        if (!finding.specialMismatches++)
          finding.mismatchX = x[i], finding.mismatchY = y[i];
      } else if (error > finding.worst) {
        finding.worst = error, finding.worstX = x[i], finding.worstY = y[i];
      }
    }
  }
  finding.points += end - begin;
}

template <MathElement element> double nanosecondsPerElement(const CompiledMath &compiled, const Function &function) {
  using F = Format<element>;
  constexpr int64_t count = 2048;
  std::vector<typename F::Bits> x(count), y(count), out(count);
  for (int64_t i = 0; i < count; ++i) {
    x[i] = F::narrow(uniform(hashed(i), function.low, function.high));
    y[i] = F::narrow(uniform(hashed(i + count), function.low, function.high));
  }
  double best = 1e9;
  for (int attempt = 0; attempt < 200; ++attempt) {
    auto start = std::chrono::steady_clock::now();
    compiled(x.data(), y.data(), out.data(), count);
    std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / count);
  }
  return best;
}

struct Options {
  bool all = false;
  uint64_t stride = 4099;
  std::string only, cpu;
};

// Measures, prints a line, and says whether the bounds hold.
template <MathElement element> bool measure(const Function &function, const Options &options) {
  using F = Format<element>;
  CompiledMath compiled(function.name, function.operandCount, element, options.cpu);
  uint64_t stride = options.all ? 1 : options.stride;
  Points<element> points{function, stride};
  uint64_t total = 0;
  if (sizeof(typename F::Bits) == 2)
    total = uint64_t(1) << 16;
  else if (element == MathElement::Single && function.operandCount == 1)
    total = points.specials() + ((uint64_t(1) << 32) + stride - 1) / stride;
  else
    total = points.specials() + (options.all ? uint64_t(1) << 26 : uint64_t(1) << 18);

  // Threads take blocks in turn; only the exhaustive run is worth more than one.
  unsigned threadCount = options.all ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  std::vector<Finding> findings(threadCount);
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < threadCount; ++thread)
    threads.emplace_back([&, thread] {
      constexpr uint64_t block = uint64_t(1) << 20;
      for (uint64_t begin = thread * block; begin < total; begin += threadCount * block)
        measureRange<element>(compiled, points, begin, std::min(begin + block, total), findings[thread]);
    });
  for (std::thread &thread : threads)
    thread.join();
  Finding finding;
  for (const Finding &part : findings)
    finding.merge(part);

  // Computed in f32 and rounded once more: half an ulp and a little.
  double bound = sizeof(typename F::Bits) == 2 ? 0.51 : function.bound;
  bool good = finding.worst <= bound && !finding.specialMismatches;
  std::printf("%-11s %-4s %6.3f ulp at %g", function.name, F::name, finding.worst,
              static_cast<double>(F::widen(static_cast<typename F::Bits>(finding.worstX))));
  if (function.operandCount == 2)
    std::printf(", %g", static_cast<double>(F::widen(static_cast<typename F::Bits>(finding.worstY))));
  std::printf("; %llu special mismatches", static_cast<unsigned long long>(finding.specialMismatches));
  if (finding.specialMismatches) {
    std::printf(" (first at %g", static_cast<double>(F::widen(static_cast<typename F::Bits>(finding.mismatchX))));
    if (function.operandCount == 2)
      std::printf(", %g", static_cast<double>(F::widen(static_cast<typename F::Bits>(finding.mismatchY))));
    std::printf(")");
  }
  std::printf("; %llu points", static_cast<unsigned long long>(finding.points));
  if constexpr (sizeof(typename F::Bits) > 2)
    std::printf("; %.2f ns", nanosecondsPerElement<element>(compiled, function));
  std::printf("%s\n", good ? "" : "  FAILED");
  std::fflush(stdout);
  return good;
}

} // namespace

int main(int argumentCount, char **arguments) try {
  Options options;
  for (int i = 1; i < argumentCount; ++i) {
    std::string argument = arguments[i];
    if (argument == "--all")
      options.all = true;
    else if (argument == "--stride" && i + 1 < argumentCount && std::atoll(arguments[i + 1]) > 0)
      options.stride = static_cast<uint64_t>(std::atoll(arguments[++i]));
    else if (argument == "--only" && i + 1 < argumentCount)
      options.only = arguments[++i];
    else if (argument == "--cpu" && i + 1 < argumentCount)
      options.cpu = arguments[++i];
    else {
      std::fprintf(stderr, "usage: math_accuracy [--all] [--stride N] [--only NAME] [--cpu NAME]\n");
      return 2;
    }
  }
  bool good = true, any = false;
  for (const Function &function : functions) {
    if (!options.only.empty() && "math." + options.only != function.name)
      continue;
    any = true;
    good &= measure<MathElement::Single>(function, options);
    good &= measure<MathElement::Double>(function, options);
    if (function.operandCount == 1) {
      good &= measure<MathElement::Half>(function, options);
      good &= measure<MathElement::BFloat>(function, options);
    }
  }
  if (!any) {
    std::fprintf(stderr, "math_accuracy: no function named %s\n", options.only.c_str());
    return 2;
  }
  return good ? 0 : 1;
} catch (const std::exception &error) {
  std::fprintf(stderr, "math_accuracy: %s\n", error.what());
  return 1;
}
