// tl.extra.libdevice: elementary functions on every target. Those a primitive says directly are one row each; the rest
// are formulas over them. Integer and bit functions are in LibdeviceIntegers.cpp, directed rounding in
// LibdeviceRounding.cpp, the special functions in LibdeviceSpecial.cpp.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Term.h"
#include <cmath>

namespace nacre {

namespace {

// One argument of fp32 or fp64.
Term floatTerm(Evaluation &evaluation, const Object &object, const char *name = "x") {
  Value value = valueArgument(evaluation, object, name);
  requireWideFloat(evaluation, value, name);
  return Term(evaluation, value);
}

// Two arguments, brought to one type and shape.
std::pair<Term, Term> floatTerms(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  requireWideFloat(evaluation, x, "x");
  return {Term(evaluation, x), Term(evaluation, y)};
}

const double infinity = HUGE_VAL;
const double pi = 3.14159265358979323846;

Object isNan(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  return (x != x).object;
}
Object isInfinite(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return (floatTerm(evaluation, arguments[0]).unary(UnaryOp::AbsF) == Object(infinity)).object;
}
Object isFinite(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return (floatTerm(evaluation, arguments[0]).unary(UnaryOp::AbsF) < Object(infinity)).object;
}

Object signBit(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Term bits = x.bitcast(x.type() == float32() ? int32() : int64());
  return (bits < Object(0)).to(int32()).object;
}

// The exponent may be a float of x's type or an integer.
template <Accuracy accuracy> Object power(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  if (arguments[1].isValue() && arguments[1].value().type().isInteger()) {
    Term x = floatTerm(evaluation, arguments[0]);
    Term y = x.with(arguments[1]).to(x.type());
    auto [base, exponent] = unifyShapes(evaluation, x.value(), y.value());
    return evaluation.builder().binary(BinaryOp::Pow, base, exponent, accuracy);
  }
  return binaryMath<BinaryOp::Pow, accuracy>(evaluation, arguments);
}

template <Accuracy accuracy> Object powerOfTen(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  return evaluation.builder().binary(BinaryOp::Pow, x.constant(10.0).value(), x.value(), accuracy);
}

template <UnaryOp op> Object reciprocalOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  return (x.constant(1.0) / x.unary(op)).object;
}

Object reciprocal(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  return (x.constant(1.0) / x).object;
}

template <UnaryOp op> Object roundToInt64(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return floatTerm(evaluation, arguments[0]).unary(op).to(int64()).object;
}

// IEEE remainder: x - n y with n the integer nearest x / y, ties to even. Taken modulo 2 y first, which is exact and
// keeps the parity of n.
Object remainder(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = floatTerms(evaluation, arguments);
  Term size = y.unary(UnaryOp::AbsF);
  Term rest = x.unary(UnaryOp::AbsF).binary(BinaryOp::RemF, size + size);
  Term nearest =
      choose(rest <= size * Object(0.5), rest, choose(rest < size * Object(1.5), rest - size, rest - (size + size)));
  return choose(x < Object(0.0), -nearest, nearest).object;
}

// In fp32 the squares are taken in fp64, where they neither overflow nor vanish; in fp64 the larger side is divided
// out.
Term hypotenuse(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = floatTerms(evaluation, arguments);
  Term a = x.unary(UnaryOp::AbsF), b = y.unary(UnaryOp::AbsF);
  Term isInfinity = (a == Object(infinity)) | (b == Object(infinity));
  if (x.type() == float32()) {
    Term wideA = a.to(float64()), wideB = b.to(float64());
    Term length = (wideA * wideA + wideB * wideB).unary(UnaryOp::Sqrt).to(float32());
    return choose(isInfinity, x.constant(infinity), length);
  }
  Term large = a.binary(BinaryOp::MaximumF, b), small = a.binary(BinaryOp::MinimumF, b);
  Term ratio = small / choose(large == Object(0.0), x.constant(1.0), large);
  return choose(isInfinity, x.constant(infinity), large * (ratio * ratio + Object(1.0)).unary(UnaryOp::Sqrt));
}

Object hypot(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return hypotenuse(evaluation, arguments).object;
}
Object reciprocalHypot(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term length = hypotenuse(evaluation, arguments);
  return (length.constant(1.0) / length).object;
}

// The length of a vector of three or four fp32 (summed in fp64) or fp64 sides.
Term vectorLength(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values sides = unifyAll(evaluation, arguments);
  requireWideFloat(evaluation, sides[0], "x");
  Term total = Term(evaluation, sides[0]).to(float64()).constant(0.0);
  for (const Value &side : sides) {
    Term wide = Term(evaluation, side).to(float64());
    total = total + wide * wide;
  }
  return total.unary(UnaryOp::Sqrt).to(sides[0].type().scalarType());
}

Object norm(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  return vectorLength(evaluation, arguments).object;
}
Object reciprocalNorm(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term length = vectorLength(evaluation, arguments);
  return (length.constant(1.0) / length).object;
}

// The next float from x toward y: one step of the bits, which are ordered like the floats on either side of zero.
Object nextAfter(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = floatTerms(evaluation, arguments);
  Type integer = x.type() == float32() ? int32() : int64();
  Term bits = x.bitcast(integer);
  Term growsAway = (x < y).compare(Comparison::Eq, x > Object(0.0));
  Term stepped = choose(growsAway, bits + Object(1), bits - Object(1)).bitcast(x.type());
  Term smallest = x.constant(0.0).bitcast(integer).constant(1).bitcast(x.type());
  Term fromZero = choose(y < Object(0.0), -smallest, smallest);
  Term moved = choose(x == Object(0.0), fromZero, stepped);
  Term isNan = (x != x) | (y != y);
  return choose(isNan, x + y, choose(x == y, y, moved)).object;
}

// The exponent of x as an integer; a subnormal is scaled up first.
Term exponentOf(const Term &x) {
  Term wide = x.to(float64());
  Term isSmall = wide.unary(UnaryOp::AbsF) < Object(0x1p-1022);
  Term bits = choose(isSmall, wide * Object(0x1p54), wide).bitcast(int64());
  Term biased = ((bits >> Object(52)) & Object(2047)).to(int32());
  return biased - choose(isSmall, biased.constant(1023 + 54), biased.constant(1023));
}

Object integerLogarithm(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Term isSpecial = (x != x) | (x.unary(UnaryOp::AbsF) == Object(infinity));
  Term exponent = choose(isSpecial, exponentOf(x).constant(INT32_MAX), exponentOf(x));
  return choose(x == Object(0.0), exponent.constant(INT32_MIN), exponent).object;
}

Object floatLogarithm(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Term size = x.unary(UnaryOp::AbsF);
  Term exponent = choose((x != x) | (size == Object(infinity)), size, exponentOf(x).to(x.type()));
  return choose(x == Object(0.0), x.constant(-infinity), exponent).object;
}

// sin(pi x) and cos(pi x), in fp64: whole turns are taken off and the angle is folded to at most a quarter turn,
// exactly, before pi is multiplied in.
template <bool isSine> Object ofHalfTurns(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Term wide = x.to(float64());
  Term rest = wide - (wide * Object(0.5)).unary(UnaryOp::RoundEven) * Object(2.0);
  Term size = rest.unary(UnaryOp::AbsF);
  Term folded = isSine ? choose(size > Object(0.5), rest.constant(1.0).binary(BinaryOp::CopySign, rest) - rest, rest)
                       : rest.constant(0.5) - size;
  return (folded * Object(pi)).unary(UnaryOp::Sin).to(x.type()).object;
}

Object positiveDifference(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = floatTerms(evaluation, arguments);
  return choose(x <= y, x.constant(0.0), x - y).object;
}

// 2 to an integer power between -1022 and 1023, exactly, as fp64.
Term exactPowerOfTwo(const Term &exponent) {
  return ((exponent.to(int64()) + Object(1023)) << Object(52)).bitcast(float64());
}

Object scaleByPowerOfTwo(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Value count = valueArgument(evaluation, arguments[1], "n");
  if (!count.type().isInteger())
    evaluation.fail(Diagnostic::Kind::Type, "`n` must be an integer, not " + describe(arguments[1]));
  // Beyond these every finite number overflows or vanishes.
  Term n(evaluation, extremum(evaluation, false, toValue(evaluation, Term(evaluation, count).to(int32()).object),
                              constantOf(evaluation, count.type().withScalar(int32()), 2200), false));
  n = n.with(extremum(evaluation, true, n.value(), n.constant(-2200).value(), false));
  Term wide = x.to(float64());
  // In parts that are powers fp64 can hold.
  Term third = n.with(applyOperator(evaluation, Operator::FloorDiv, n.object, 3));
  Term factor = exactPowerOfTwo(third);
  return (wide * factor * factor * exactPowerOfTwo(n - third - third)).to(x.type()).object;
}

Object saturate(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Value raised = extremum(evaluation, true, x.value(), x.constant(0.0).value(), false);
  return extremum(evaluation, false, raised, x.constant(1.0).value(), false);
}

Object normalDistribution(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = floatTerm(evaluation, arguments[0]);
  Term wide = x.to(float64()); // erfc turns a rounded argument into a much larger error
  return ((wide * Object(-std::sqrt(0.5))).unary(UnaryOp::Erfc) * Object(0.5)).to(x.type()).object;
}

template <bool isMaximum> Object extremumOf(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  return extremum(evaluation, isMaximum, x, y, /*propagateNan=*/false);
}

Object nearestFma(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values values = unifyAll(evaluation, arguments);
  requireWideFloat(evaluation, values[0], "x");
  return evaluation.builder().fma(values[0], values[1], values[2]);
}

} // namespace

void addLibdevice(Table &table) {
  table.section(libdeviceModule, "libdevice");
  // Said by one primitive.
  table.add("tan(x: tensor)", "The tangent of x radians.", unaryMath<UnaryOp::Tan>);
  table.add("asin(x: tensor)", "The angle in radians whose sine is x.", unaryMath<UnaryOp::Asin>);
  table.add("acos(x: tensor)", "The angle in radians whose cosine is x.", unaryMath<UnaryOp::Acos>);
  table.add("atan(x: tensor)", "The angle in radians whose tangent is x.", unaryMath<UnaryOp::Atan>);
  table.add("atan2(y: tensor, x: tensor)", "The angle in radians of the point (x, y).", binaryMath<BinaryOp::Atan2>);
  table.add("sinh(x: tensor)", "The hyperbolic sine.", unaryMath<UnaryOp::Sinh>);
  table.add("cosh(x: tensor)", "The hyperbolic cosine.", unaryMath<UnaryOp::Cosh>);
  table.add("tanh(x: tensor)", "The hyperbolic tangent.", unaryMath<UnaryOp::Tanh>);
  table.add("asinh(x: tensor)", "The inverse hyperbolic sine.", unaryMath<UnaryOp::Asinh>);
  table.add("acosh(x: tensor)", "The inverse hyperbolic cosine.", unaryMath<UnaryOp::Acosh>);
  table.add("atanh(x: tensor)", "The inverse hyperbolic tangent.", unaryMath<UnaryOp::Atanh>);
  table.add("exp2(x: tensor)", "2 to the power x, also where the result is subnormal.", unaryMath<UnaryOp::Exp2>);
  table.add("expm1(x: tensor)", "e to the power x, less 1, exact near 0.", unaryMath<UnaryOp::Expm1>);
  table.add("log1p(x: tensor)", "The natural logarithm of 1 + x, exact near 0.", unaryMath<UnaryOp::Log1p>);
  table.add("log10(x: tensor)", "The logarithm to base 10.", unaryMath<UnaryOp::Log10>);
  table.add("cbrt(x: tensor)", "The cube root.", unaryMath<UnaryOp::Cbrt>);
  table.add("erfc(x: tensor)", "1 less the error function, exact for large x.", unaryMath<UnaryOp::Erfc>);
  table.add("trunc(x: tensor)", "x without its fraction.", unaryMath<UnaryOp::Trunc>);
  table.add("round(x: tensor)", "The nearest integer, halves away from zero, as a float.", unaryMath<UnaryOp::Round>);
  table.add("rint(x: tensor)", "The nearest integer, halves to even, as a float.", unaryMath<UnaryOp::RoundEven>);
  table.add("nearbyint(x: tensor)", "The nearest integer, halves to even, as a float.", unaryMath<UnaryOp::RoundEven>);
  table.add("copysign(x: tensor, y: tensor)", "The size of x with the sign of y.", binaryMath<BinaryOp::CopySign>);
  table.add("fmod(x: tensor, y: tensor)", "What is left of x after whole multiples of y, with the sign of x.",
            binaryMath<BinaryOp::RemF>);
  table.add("pow(x: tensor, y: tensor)", "x to the power y. y may be an integer.", power<Accuracy::Rounded>);

  // Composed.
  table.add("isnan(x: tensor)", "Whether x is NaN, as int1.", isNan);
  table.add("isinf(x: tensor)", "Whether x is an infinity, as int1.", isInfinite);
  table.add("finitef(x: tensor)", "Whether x is neither an infinity nor NaN, as int1.", isFinite);
  table.add("isfinited(x: tensor)", "Whether x is neither an infinity nor NaN, as int1.", isFinite);
  table.add("signbit(x: tensor)", "1 where the sign bit of x is set, else 0, as int32.", signBit);
  table.add("exp10(x: tensor)", "10 to the power x.", powerOfTen<Accuracy::Rounded>);
  table.add("rcbrt(x: tensor)", "1 over the cube root.", reciprocalOf<UnaryOp::Cbrt>);
  table.add("llrint(x: tensor)", "The nearest integer, halves to even, as int64.", roundToInt64<UnaryOp::RoundEven>);
  table.add("llround(x: tensor)", "The nearest integer, halves away from zero, as int64.",
            roundToInt64<UnaryOp::Round>);
  table.add("remainder(x: tensor, y: tensor)", "x less the multiple of y nearest to it, halves to even.", remainder);
  table.add("hypot(x: tensor, y: tensor)", "The square root of x * x + y * y, without overflow.", hypot);
  table.add("rhypot(x: tensor, y: tensor)", "1 over the square root of x * x + y * y.", reciprocalHypot);
  table.add("norm3d(x: tensor, y: tensor, z: tensor)", "The length of the vector (x, y, z).", norm);
  table.add("rnorm3d(x: tensor, y: tensor, z: tensor)", "1 over the length of the vector (x, y, z).", reciprocalNorm);
  table.add("norm4d(x: tensor, y: tensor, z: tensor, w: tensor)", "The length of the vector (x, y, z, w).", norm);
  table.add("rnorm4d(x: tensor, y: tensor, z: tensor, w: tensor)", "1 over the length of the vector (x, y, z, w).",
            reciprocalNorm);
  table.add("nextafter(x: tensor, y: tensor)", "The next float from x in the direction of y.", nextAfter);
  table.add("ilogb(x: tensor)", "The exponent of x as int32: the logarithm to base 2, rounded down.", integerLogarithm);
  table.add("logb(x: tensor)", "The exponent of x as a float: the logarithm to base 2, rounded down.", floatLogarithm);
  table.add("sinpi(x: tensor)", "The sine of pi x.", ofHalfTurns<true>);
  table.add("cospi(x: tensor)", "The cosine of pi x.", ofHalfTurns<false>);
  table.add("fdim(x: tensor, y: tensor)", "x - y where that is positive, else 0.", positiveDifference);
  table.add("ldexp(x: tensor, n: tensor)", "x times 2 to the integer power n.", scaleByPowerOfTwo);
  table.add("scalbn(x: tensor, n: tensor)", "x times 2 to the integer power n.", scaleByPowerOfTwo);
  table.add("saturatef(x: tensor)", "x brought into the range from 0 to 1; NaN becomes 0.", saturate);
  table.add("normcdf(x: tensor)", "The standard normal distribution up to x.", normalDistribution);
  table.add("max(x: tensor, y: tensor)", "The larger of x and y, elementwise.", extremumOf<true>);
  table.add("min(x: tensor, y: tensor)", "The smaller of x and y, elementwise.", extremumOf<false>);

  // Nearest rounding; the other directions are in LibdeviceRounding.cpp.
  table.add("add_rn(x: tensor, y: tensor)", "x + y, rounded to nearest.", binaryMath<BinaryOp::AddF>);
  table.add("sub_rn(x: tensor, y: tensor)", "x - y, rounded to nearest.", binaryMath<BinaryOp::SubF>);
  table.add("mul_rn(x: tensor, y: tensor)", "x * y, rounded to nearest.", binaryMath<BinaryOp::MulF>);
  table.add("fma_rn(x: tensor, y: tensor, z: tensor)", "x * y + z with a single rounding to nearest.", nearestFma);
  table.add("rcp_rn(x: tensor)", "1 / x, rounded to nearest.", reciprocal);
  table.add("rsqrt_rn(x: tensor)", "1 over the square root.", unaryMath<UnaryOp::Rsqrt>);

  // The fast_ names allow less exact results, where the target has faster ones.
  table.add("fast_dividef(x: tensor, y: tensor)", "x / y.", binaryMath<BinaryOp::DivF, Accuracy::Fast>);
  table.add("fast_expf(x: tensor)", "e to the power x.", unaryMath<UnaryOp::Exp, Accuracy::Fast>);
  table.add("fast_exp10f(x: tensor)", "10 to the power x.", powerOfTen<Accuracy::Fast>);
  table.add("fast_logf(x: tensor)", "The natural logarithm.", unaryMath<UnaryOp::Log, Accuracy::Fast>);
  table.add("fast_log2f(x: tensor)", "The logarithm to base 2.", unaryMath<UnaryOp::Log2, Accuracy::Fast>);
  table.add("fast_log10f(x: tensor)", "The logarithm to base 10.", unaryMath<UnaryOp::Log10, Accuracy::Fast>);
  table.add("fast_powf(x: tensor, y: tensor)", "x to the power y.", power<Accuracy::Fast>);
  table.add("fast_sinf(x: tensor)", "The sine of x radians.", unaryMath<UnaryOp::Sin, Accuracy::Fast>);
  table.add("fast_cosf(x: tensor)", "The cosine of x radians.", unaryMath<UnaryOp::Cos, Accuracy::Fast>);
  table.add("fast_tanf(x: tensor)", "The tangent of x radians.", unaryMath<UnaryOp::Tan, Accuracy::Fast>);
  table.add("fast_tanhf(x: tensor)", "The hyperbolic tangent.", unaryMath<UnaryOp::Tanh, Accuracy::Fast>);
  addLibdeviceRounding(table);
  addLibdeviceSpecial(table);
  addLibdeviceIntegers(table);
}

} // namespace nacre
