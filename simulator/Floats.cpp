// f32 and f64: add, sub, mul, fma, div, rcp, sqrt in every rounding mode; min, max, neg, abs.
#include "simulator/FloatOps.h"
#include <cfenv>

namespace nacre::simulator {

float saturated(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; } // NaN gives 0

namespace {

// --- to nearest, no saturation: vector loops ---
template <typename T, bool Flush> T in(T value) {
  if constexpr (Flush)
    return flushed(value);
  return value;
}
template <typename T, bool Flush> T out(T value) {
  if constexpr (std::is_same_v<T, float>) {
    value = canonical(value);
    if constexpr (Flush)
      value = flushed(value);
  }
  return value;
}
template <typename T, bool Flush> struct AddNearest {
  T operator()(T a, T b) const { return out<T, Flush>(in<T, Flush>(a) + in<T, Flush>(b)); }
};
template <typename T, bool Flush> struct SubtractNearest {
  T operator()(T a, T b) const { return out<T, Flush>(in<T, Flush>(a) - in<T, Flush>(b)); }
};
// What is below the normal numbers before rounding is flushed, even where rounding would make it the smallest of them.
template <bool Flush, typename T> T flushTiny(T result, double exact) {
  if constexpr (Flush)
    return std::fabs(exact) < 0x1p-126 ? std::copysign(T(0), result) : result;
  return result;
}
template <typename T, bool Flush> struct MultiplyNearest {
  T operator()(T a, T b) const {
    a = in<T, Flush>(a), b = in<T, Flush>(b);
    return flushTiny<Flush>(out<T, Flush>(a * b), Flush ? double(a) * double(b) : 0);
  }
};
template <typename T, bool Flush> struct FmaNearest {
  T operator()(T a, T b, T c) const {
    a = in<T, Flush>(a), b = in<T, Flush>(b), c = in<T, Flush>(c);
    return flushTiny<Flush>(out<T, Flush>(std::fma(a, b, c)), Flush ? double(a) * double(b) + double(c) : 0);
  }
};
template <typename T, bool Flush> struct DivideNearest {
  T operator()(T a, T b) const {
    a = in<T, Flush>(a), b = in<T, Flush>(b);
    return flushTiny<Flush>(out<T, Flush>(a / b), Flush ? double(a) / double(b) : 0);
  }
};

// --- every mode, one lane at a time ---
thread_local bool tiny; // the last result was below the normal numbers before rounding
float singleOf(double exactOrOdd, Rounding mode) {
  tiny = std::fabs(exactOrOdd) < 0x1p-126;
  return std::bit_cast<float>(static_cast<uint32_t>(encode(singleFormat, exactOrOdd, mode)));
}
float zeroOf(double sum, float a, float b, Rounding mode) { // an exact zero sum: its sign
  if (sum == 0 && a == -b && std::signbit(a) != std::signbit(b))
    return mode == Rounding::Down ? -0.0f : 0.0f;
  return static_cast<float>(sum);
}

float compute(FloatOperation operation, float a, float b, float c, Rounding mode) {
  double x = a, y = b, z = c;
  switch (operation) {
  case FloatOperation::Add: {
    double sum = addToOdd(x, y);
    return sum == 0 ? zeroOf(sum, a, b, mode) : singleOf(sum, mode);
  }
  case FloatOperation::Subtract: {
    double sum = addToOdd(x, -y);
    return sum == 0 ? zeroOf(sum, a, -b, mode) : singleOf(sum, mode);
  }
  case FloatOperation::Multiply:
    return singleOf(x * y, mode);
  case FloatOperation::Fma: {
    double product = x * y, sum = addToOdd(product, z);
    if (sum == 0 && product == -z && std::signbit(product) != std::signbit(z))
      return mode == Rounding::Down ? -0.0f : 0.0f;
    return singleOf(sum, mode);
  }
  case FloatOperation::Reciprocal:
    y = x, x = 1;
    [[fallthrough]];
  case FloatOperation::Divide: {
    double quotient = x / y;
    if (!std::isfinite(quotient) || quotient == 0 || !std::isfinite(y))
      return singleOf(quotient, mode);
    double rest = std::fma(-quotient, y, x); // exact
    return singleOf(toOdd(quotient, y < 0 ? -rest : rest), mode);
  }
  case FloatOperation::SquareRoot: {
    double root = std::sqrt(x);
    if (!std::isfinite(root) || root == 0)
      return singleOf(root, mode);
    return singleOf(toOdd(root, std::fma(-root, root, x)), mode);
  }
  default:
    return 0;
  }
}

double computeDouble(FloatOperation operation, double a, double b, double c, Rounding mode) {
  volatile double x = a, y = b, z = c, result = 0;
  int old = std::fegetround();
  std::fesetround(mode == Rounding::Zero   ? FE_TOWARDZERO
                  : mode == Rounding::Down ? FE_DOWNWARD
                  : mode == Rounding::Up   ? FE_UPWARD
                                           : FE_TONEAREST);
  switch (operation) {
  case FloatOperation::Add:
    result = x + y;
    break;
  case FloatOperation::Subtract:
    result = x - y;
    break;
  case FloatOperation::Multiply:
    result = x * y;
    break;
  case FloatOperation::Fma:
    result = std::fma(x, y, z);
    break;
  case FloatOperation::Divide:
    result = x / y;
    break;
  case FloatOperation::Reciprocal: {
    volatile double one = 1.0;
    result = one / x;
    break;
  }
  case FloatOperation::SquareRoot:
    result = std::sqrt(x);
    break;
  default:
    break;
  }
  std::fesetround(old);
  return result;
}

template <FloatOperation operation> Status generalSingle(Warp &warp, const Op &op, uint32_t mask) {
  auto mode = static_cast<Rounding>(op.flags & RoundingMask);
  bool flush = op.flags & FlushFlag, saturate = op.flags & SaturateFlag;
  const float *a = warp.at<float>(op.a), *b = warp.at<float>(op.b), *c = warp.at<float>(op.c);
  float *d = warp.at<float>(op.d);
  forEachLane(mask, [&](unsigned i) {
    float x = flush ? flushed(a[i]) : a[i], y = flush ? flushed(b[i]) : b[i], z = flush ? flushed(c[i]) : c[i];
    tiny = false;
    float result = canonical(compute(operation, x, y, z, mode));
    if (flush)
      result = tiny ? std::copysign(0.0f, result) : flushed(result);
    d[i] = saturate ? saturated(result) : result;
  });
  return Status::Next;
}
template <FloatOperation operation> Status generalDouble(Warp &warp, const Op &op, uint32_t mask) {
  auto mode = static_cast<Rounding>(op.flags & RoundingMask);
  const double *a = warp.at<double>(op.a), *b = warp.at<double>(op.b), *c = warp.at<double>(op.c);
  double *d = warp.at<double>(op.d);
  forEachLane(mask, [&](unsigned i) { d[i] = computeDouble(operation, a[i], b[i], c[i], mode); });
  return Status::Next;
}

// Two f32 in one 64-bit register.
template <FloatOperation operation> Status pairSingle(Warp &warp, const Op &op, uint32_t mask) {
  auto mode = static_cast<Rounding>(op.flags & RoundingMask);
  bool flush = op.flags & FlushFlag;
  auto *a = warp.at<float>(op.a), *b = warp.at<float>(op.b), *c = warp.at<float>(op.c), *d = warp.at<float>(op.d);
  forEachLane(mask, [&](unsigned lane) {
    for (unsigned i = lane * 2; i < lane * 2 + 2; ++i) {
      float x = flush ? flushed(a[i]) : a[i], y = flush ? flushed(b[i]) : b[i], z = flush ? flushed(c[i]) : c[i];
      float result = canonical(compute(operation, x, y, z, mode));
      d[i] = flush ? flushed(result) : result;
    }
  });
  return Status::Next;
}

template <typename T, bool maximum> T pickExtreme(T a, T b) {
  bool aNaN = a != a, bNaN = b != b;
  // -0 is below +0.
  bool first = maximum ? (a > b || (a == b && !std::signbit(a))) : (a < b || (a == b && std::signbit(a)));
  return aNaN ? b : bNaN ? a : first ? a : b;
}
template <typename T, bool maximum> Status extremeHandler(Warp &warp, const Op &op, uint32_t mask) {
  bool flush = op.flags & FlushFlag, nan = op.flags & NanFlag, xorSign = op.flags & XorSignFlag;
  const Element<T> *a = warp.at<Element<T>>(op.a), *b = warp.at<Element<T>>(op.b);
  keepActive(mask, warp.at<Element<T>>(op.d), [&](unsigned i) {
    T x = fromElement<T>(a[i]), y = fromElement<T>(b[i]);
    if constexpr (std::is_same_v<T, float>)
      if (flush)
        x = flushed(x), y = flushed(y);
    bool sign = std::signbit(x) != std::signbit(y);
    if (xorSign)
      x = std::fabs(x), y = std::fabs(y);
    T result = pickExtreme<T, maximum>(x, y);
    bool isNaN = nan ? (x != x || y != y) : (x != x && y != y);
    if (isNaN) {
      if constexpr (std::is_same_v<T, float>)
        return canonicalNaN;
      else
        return x != x ? a[i] : b[i];
    }
    if (xorSign)
      result = std::copysign(result, sign ? T(-1) : T(1));
    return toElement<T>(result);
  });
  return Status::Next;
}

template <typename T> Handler nearestHandler(FloatOperation operation, bool flush) {
  constexpr bool single = std::is_same_v<T, float>;
#define NACRE_NEAREST(NAME)                                                                                            \
  (single && flush ? (Handler)binaryHandler<T, T, T, NAME<T, single>> : (Handler)binaryHandler<T, T, T, NAME<T, false>>)
  switch (operation) {
  case FloatOperation::Add:
    return NACRE_NEAREST(AddNearest);
  case FloatOperation::Subtract:
    return NACRE_NEAREST(SubtractNearest);
  case FloatOperation::Multiply:
    return NACRE_NEAREST(MultiplyNearest);
  case FloatOperation::Divide:
    return NACRE_NEAREST(DivideNearest);
  case FloatOperation::Fma:
    return single && flush ? (Handler)ternaryHandler<T, T, T, T, FmaNearest<T, single>>
                           : (Handler)ternaryHandler<T, T, T, T, FmaNearest<T, false>>;
  default:
    return nullptr;
  }
#undef NACRE_NEAREST
}

Handler generalHandler(FloatOperation operation, ScalarType type) {
#define NACRE_GENERAL(NAME)                                                                                            \
  case FloatOperation::NAME:                                                                                           \
    return type == ScalarType::F64     ? generalDouble<FloatOperation::NAME>                                           \
           : type == ScalarType::F32x2 ? pairSingle<FloatOperation::NAME>                                              \
                                       : generalSingle<FloatOperation::NAME>;
  switch (operation) {
    NACRE_GENERAL(Add)
    NACRE_GENERAL(Subtract)
    NACRE_GENERAL(Multiply)
    NACRE_GENERAL(Fma)
    NACRE_GENERAL(Divide)
    NACRE_GENERAL(Reciprocal)
    NACRE_GENERAL(SquareRoot)
  default:
    return nullptr;
  }
#undef NACRE_GENERAL
}

// NaN of f32 becomes the canonical one; of f64 it is made quiet and keeps its sign.
template <typename T> T signFree(T result, T source) {
  if constexpr (std::is_same_v<T, float>)
    return canonical(result);
  else
    return source != source ? std::bit_cast<double>(std::bit_cast<uint64_t>(source) | uint64_t(1) << 51) : result;
}
template <typename T, bool Flush> struct Negate {
  T operator()(T a) const { return signFree<T>(-in<T, Flush>(a), a); }
};
template <typename T, bool Flush> struct Absolute {
  T operator()(T a) const { return signFree<T>(std::fabs(in<T, Flush>(a)), a); }
};

} // namespace

void decodeFloat(Decoder &decoder, FloatOperation operation, ScalarType type) {
  FloatModifiers modifiers = takeFloatModifiers(decoder);
  bool isDouble = type == ScalarType::F64;
  InstructionClass kind = isDouble ? InstructionClass::Double : InstructionClass::Float;
  Op &op = decoder.op;
  if (isDouble && (modifiers.flush || modifiers.saturate))
    decoder.refuse("f64 has neither .ftz nor .sat");
  if (modifiers.rounding == Rounding::NearestAway)
    decoder.refuse("the mode .rna is for conversions");
  op.flags = modifiers.flags();
  if (operation == FloatOperation::Minimum || operation == FloatOperation::Maximum) {
    op.flags |= decoder.take("NaN") ? uint32_t(NanFlag) : 0;
    if (decoder.take("xorsign")) {
      if (!decoder.take("abs"))
        decoder.refuse(".xorsign needs .abs");
      op.flags |= XorSignFlag;
    }
  }
  decoder.finishModifiers();
  bool three = operation == FloatOperation::Fma;
  bool one = operation == FloatOperation::Reciprocal || operation == FloatOperation::SquareRoot ||
             operation == FloatOperation::Negate || operation == FloatOperation::Absolute;
  size_t sources = three ? 3 : one ? 1 : 2;
  decoder.expectOperands(1 + sources, 1 + sources);
  op.d = decoder.destination(decoder.operand(0), rowBytesOf(type));
  op.a = op.b = op.c = decoder.valueOf(decoder.operand(1), type);
  if (sources > 1)
    op.b = decoder.valueOf(decoder.operand(2), type);
  if (sources > 2)
    op.c = decoder.valueOf(decoder.operand(3), type);
  Handler handler = nullptr;
  if (type == ScalarType::F32x2) {
    handler = generalHandler(operation, type);
    if (!handler)
      decoder.refuse("it has no form for .f32x2");
  } else if (operation == FloatOperation::Minimum) {
    handler = isDouble ? extremeHandler<double, false> : extremeHandler<float, false>;
  } else if (operation == FloatOperation::Maximum) {
    handler = isDouble ? extremeHandler<double, true> : extremeHandler<float, true>;
  } else if (operation == FloatOperation::Negate) {
    handler = isDouble          ? (Handler)unaryHandler<double, double, Negate<double, false>>
              : modifiers.flush ? (Handler)unaryHandler<float, float, Negate<float, true>>
                                : (Handler)unaryHandler<float, float, Negate<float, false>>;
  } else if (operation == FloatOperation::Absolute) {
    handler = isDouble          ? (Handler)unaryHandler<double, double, Absolute<double, false>>
              : modifiers.flush ? (Handler)unaryHandler<float, float, Absolute<float, true>>
                                : (Handler)unaryHandler<float, float, Absolute<float, false>>;
  } else {
    if (modifiers.rounding == Rounding::Nearest && !modifiers.saturate)
      handler = isDouble ? nearestHandler<double>(operation, false) : nearestHandler<float>(operation, modifiers.flush);
    if (!handler)
      handler = generalHandler(operation, type);
  }
  decoder.emit(handler, kind);
}

} // namespace nacre::simulator
