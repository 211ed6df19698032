// Division, reciprocals, roots, and the approximations of the special function unit.
//
// The approximations are computed in double and rounded to nearest: at most one place beside the exact value, where the
// hardware's own result may be further off (2 ulp for ex2, rcp, rsqrt, sqrt; 2^-22 absolute near 1 for lg2; 2^-20.9 for
// sin and cos in [-pi, pi]; 2^-11 relative for tanh).
#include "simulator/FloatOps.h"

namespace nacre::simulator {
namespace {

float single(double value) { return canonical(static_cast<float>(value)); }

// 2^x in double: a polynomial over [-1/2, 1/2], to 1e-16.
double exponential2(double x) {
  if (!(x > -1080.0))
    return x != x ? x : 0.0;
  if (x > 1024.0)
    return HUGE_VAL;
  double whole = std::nearbyint(x), f = (x - whole) * 0.69314718055994530942;
  double sum = 1.0 / 479001600.0;
  sum = sum * f + 1.0 / 39916800.0;
  sum = sum * f + 1.0 / 3628800.0;
  sum = sum * f + 1.0 / 362880.0;
  sum = sum * f + 1.0 / 40320.0;
  sum = sum * f + 1.0 / 5040.0;
  sum = sum * f + 1.0 / 720.0;
  sum = sum * f + 1.0 / 120.0;
  sum = sum * f + 1.0 / 24.0;
  sum = sum * f + 1.0 / 6.0;
  sum = sum * f + 0.5;
  sum = sum * f + 1.0;
  sum = sum * f + 1.0;
  int e = static_cast<int>(whole);
  if (e < -1021)
    return sum * std::bit_cast<double>(uint64_t(e + 60 + 1023) << 52) * 0x1p-60;
  if (e > 1023)
    return sum * std::bit_cast<double>(uint64_t(2046) << 52) * 2;
  return sum * std::bit_cast<double>(uint64_t(e + 1023) << 52);
}

// The functions of the special unit flush subnormal inputs and results whenever .ftz is written; without it they keep
// them.
struct Exponential {
  double operator()(double x) const { return exponential2(x); }
};
struct Logarithm {
  double operator()(double x) const { return std::log2(x); }
};
struct Sine {
  double operator()(double x) const { return std::isinf(x) ? NAN : std::sin(x); }
};
struct Cosine {
  double operator()(double x) const { return std::isinf(x) ? NAN : std::cos(x); }
};
struct HyperbolicTangent {
  double operator()(double x) const { return std::tanh(x); }
};
struct Reciprocal {
  double operator()(double x) const { return 1.0 / x; }
};
struct ReciprocalRoot {
  double operator()(double x) const { return 1.0 / std::sqrt(x); }
};
struct Root {
  double operator()(double x) const { return std::sqrt(x); }
};

template <typename F, bool Flush> struct Approximate {
  float operator()(float x) const {
    float result = single(F()(double(Flush ? flushed(x) : x)));
    return Flush ? flushed(result) : result;
  }
};
template <typename F> Handler approximateHandler(bool flush) {
  return flush ? (Handler)unaryHandler<float, float, Approximate<F, true>>
               : (Handler)unaryHandler<float, float, Approximate<F, false>>;
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper word alone and give an upper word.
template <typename F> struct ApproximateDouble {
  double operator()(double x) const {
    uint64_t bits = std::bit_cast<uint64_t>(x) & 0xFFFFFFFF00000000;
    if ((bits & 0x7FF0000000000000) == 0)
      bits &= 0x8000000000000000;
    double result = F()(std::bit_cast<double>(bits));
    bits = std::bit_cast<uint64_t>(result);
    if (result != result)
      return std::bit_cast<double>(uint64_t(0x7FFFFFFF00000000));
    if ((bits & 0x7FF0000000000000) == 0)
      bits &= 0x8000000000000000;
    return std::bit_cast<double>(bits & 0xFFFFFFFF00000000);
  }
};

template <typename F, bool brain, bool pair> Status halfFunction(Warp &warp, const Op &op, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(op.a);
  bool flush = op.flags & FlushFlag;
  auto one = [&](uint16_t bits) -> uint32_t {
    if (flush && (bits & (brain ? 0x7F80 : 0x7C00)) == 0)
      bits &= 0x8000;
    double value = brain ? double(bfloatToFloat(bits)) : double(halfToFloat(bits));
    auto result = static_cast<uint32_t>(encode(brain ? bfloatFormat : halfFormat, F()(value), Rounding::Nearest));
    return flush && (result & (brain ? 0x7F80 : 0x7C00)) == 0 ? result & 0x8000 : result;
  };
  keepActive(mask, warp.at<uint32_t>(op.d), [&](unsigned i) {
    return pair ? one(uint16_t(a[i])) | one(uint16_t(a[i] >> 16)) << 16 : one(uint16_t(a[i]));
  });
  return Status::Next;
}
template <typename F> Handler halfHandler(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
    return halfFunction<F, false, false>;
  case ScalarType::F16x2:
    return halfFunction<F, false, true>;
  case ScalarType::BF16:
    return halfFunction<F, true, false>;
  default:
    return halfFunction<F, true, true>;
  }
}

void oneSource(Decoder &decoder, ScalarType type, Handler handler) {
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  decoder.op.d = decoder.destination(decoder.operand(0), rowBytesOf(type));
  decoder.op.a = decoder.valueOf(decoder.operand(1), type);
  decoder.emit(handler, InstructionClass::Special);
}

template <typename F, bool halves> void decodeFunction(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (!decoder.take("approx"))
    decoder.refuse("it exists as .approx only");
  bool flush = decoder.take("ftz");
  decoder.op.flags = flush ? uint32_t(FlushFlag) : 0;
  if (halves && isHalfType(type))
    return oneSource(decoder, type, halfHandler<F>(type));
  if (type != ScalarType::F32)
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  oneSource(decoder, type, approximateHandler<F>(flush));
}

template <typename F> void decodeRoot(Decoder &decoder, FloatOperation exact) {
  ScalarType type = decoder.takeType();
  if (type != ScalarType::F32 && type != ScalarType::F64)
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  if (!decoder.take("approx"))
    return decodeFloat(decoder, exact, type);
  bool flush = decoder.take("ftz");
  if (type == ScalarType::F64)
    return oneSource(decoder, type, unaryHandler<double, double, ApproximateDouble<F>>);
  oneSource(decoder, type, approximateHandler<F>(flush));
}
void decodeReciprocal(Decoder &decoder) { decodeRoot<Reciprocal>(decoder, FloatOperation::Reciprocal); }
void decodeSquareRoot(Decoder &decoder) { decodeRoot<Root>(decoder, FloatOperation::SquareRoot); }
void decodeReciprocalRoot(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (!decoder.take("approx"))
    decoder.refuse("it exists as .approx only");
  bool flush = decoder.take("ftz");
  if (type == ScalarType::F64)
    return oneSource(decoder, type,
                     flush ? (Handler)unaryHandler<double, double, ApproximateDouble<ReciprocalRoot>>
                           : (Handler)unaryHandler<double, double, ReciprocalRoot>);
  if (type != ScalarType::F32)
    decoder.refuse(std::string("its type cannot be .") + nameOf(type));
  oneSource(decoder, type, approximateHandler<ReciprocalRoot>(flush));
}

// div.approx gives 0 for divisors of 2^126 and more; div.full does not.
template <bool Flush, bool full> struct DivideApproximate {
  float operator()(float a, float b) const {
    if (Flush)
      a = flushed(a), b = flushed(b);
    double quotient = double(a) / double(b);
    if (!full && std::fabs(b) > 0x1p126f && std::isfinite(b))
      quotient = std::isfinite(a) ? std::copysign(0.0, quotient) : NAN;
    float result = single(quotient);
    return Flush && std::fabs(quotient) < 0x1p-126 ? std::copysign(0.0f, result) : result;
  }
};

template <typename T> struct CopySign {
  T operator()(T a, T b) const { return std::copysign(b, a); }
};
void decodeCopySign(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  if (type != ScalarType::F32 && type != ScalarType::F64)
    decoder.refuse("it is for .f32 and .f64");
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  decoder.op.d = decoder.destination(decoder.operand(0), rowBytesOf(type));
  decoder.op.a = decoder.valueOf(decoder.operand(1), type);
  decoder.op.b = decoder.valueOf(decoder.operand(2), type);
  decoder.emit(type == ScalarType::F64 ? (Handler)binaryHandler<double, double, double, CopySign<double>>
                                       : (Handler)binaryHandler<float, float, float, CopySign<float>>,
               InstructionClass::Float);
}

enum class Test : uint8_t { Finite, Infinite, Number, NotANumber, Normal, Subnormal };
template <typename T> Status testHandler(Warp &warp, const Op &op, uint32_t mask) {
  const T *a = warp.at<T>(op.a);
  uint32_t result = 0;
  for (unsigned i = 0; i < laneCount; ++i) {
    int kind = std::fpclassify(a[i]);
    bool yes = false;
    switch (static_cast<Test>(op.flags)) {
    case Test::Finite:
      yes = kind != FP_INFINITE && kind != FP_NAN;
      break;
    case Test::Infinite:
      yes = kind == FP_INFINITE;
      break;
    case Test::Number:
      yes = kind != FP_NAN;
      break;
    case Test::NotANumber:
      yes = kind == FP_NAN;
      break;
    case Test::Normal:
      yes = kind == FP_NORMAL || kind == FP_ZERO;
      break;
    case Test::Subnormal:
      yes = kind == FP_SUBNORMAL;
      break;
    }
    result |= uint32_t(yes) << i;
  }
  uint32_t &d = warp.predicate(op.d);
  d = (d & ~mask) | (result & mask);
  return Status::Next;
}
void decodeTest(Decoder &decoder) {
  ScalarType type = decoder.takeType();
  std::string_view what = decoder.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (what.empty() || (type != ScalarType::F32 && type != ScalarType::F64))
    decoder.refuse("the simulator does not know this test");
  decoder.finishModifiers();
  decoder.expectOperands(2, 2);
  decoder.op.flags = what == "finite"       ? 0
                     : what == "infinite"   ? 1
                     : what == "number"     ? 2
                     : what == "notanumber" ? 3
                     : what == "normal"     ? 4
                                            : 5;
  decoder.op.d = decoder.destination(decoder.operand(0), 0);
  decoder.op.a = decoder.valueOf(decoder.operand(1), type);
  decoder.emit(type == ScalarType::F64 ? (Handler)testHandler<double> : (Handler)testHandler<float>,
               InstructionClass::Float);
}

} // namespace

void decodeFloatDivide(Decoder &decoder, ScalarType type) {
  bool approx = decoder.take("approx"), full = decoder.take("full");
  if (!approx && !full)
    return decodeFloat(decoder, FloatOperation::Divide, type);
  if (type != ScalarType::F32)
    decoder.refuse(".approx and .full are for .f32");
  bool flush = decoder.take("ftz");
  decoder.finishModifiers();
  decoder.expectOperands(3, 3);
  decoder.op.d = decoder.destination(decoder.operand(0), 4);
  decoder.op.a = decoder.valueOf(decoder.operand(1), type);
  decoder.op.b = decoder.valueOf(decoder.operand(2), type);
  Handler handler = full ? (flush ? (Handler)binaryHandler<float, float, float, DivideApproximate<true, true>>
                                  : (Handler)binaryHandler<float, float, float, DivideApproximate<false, true>>)
                         : (flush ? (Handler)binaryHandler<float, float, float, DivideApproximate<true, false>>
                                  : (Handler)binaryHandler<float, float, float, DivideApproximate<false, false>>);
  decoder.emit(handler, InstructionClass::Special);
}

const std::vector<DecoderEntry> mathDecoders = {{"ex2", decodeFunction<Exponential, true>},
                                                {"lg2", decodeFunction<Logarithm, false>},
                                                {"sin", decodeFunction<Sine, false>},
                                                {"cos", decodeFunction<Cosine, false>},
                                                {"tanh", decodeFunction<HyperbolicTangent, true>},
                                                {"rcp", decodeReciprocal},
                                                {"sqrt", decodeSquareRoot},
                                                {"rsqrt", decodeReciprocalRoot},
                                                {"copysign", decodeCopySign},
                                                {"testp", decodeTest}};

} // namespace nacre::simulator
