// tl.extra.libdevice's special functions: inverses of the error function, gamma and Bessel functions. All are computed
// in fp64 and rounded once to the type of the argument: exact to a few units in the last place of fp64, nearly
// correctly rounded in fp32. Series are Chebyshev's (SpecialTables.h); where a function has two forms both are computed
// and one is chosen.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/builtins/SpecialTables.h"
#include "compiler/language/meaning/Term.h"
#include <cmath>

namespace nacre {

namespace {

using namespace special;

const double infinity = HUGE_VAL;
const double pi = 3.14159265358979323846;
const double rootOfPi = 1.77245385090551602730;
const double rootOfTwo = 1.41421356237309504880;

// Clenshaw's sum of a Chebyshev series at t in [-1, 1].
template <size_t count> Term series(const double (&coefficients)[count], const Term &t) {
  Term twice = t + t, last = t.constant(0.0), next = t.constant(coefficients[count - 1]);
  for (size_t k = count - 1; k-- > 1;) {
    Term current = twice * next - last + Object(coefficients[k]);
    last = next;
    next = current;
  }
  return t * next - last + Object(coefficients[0]);
}

Term log(const Term &x) { return x.unary(UnaryOp::Log); }
Term exp(const Term &x) { return x.unary(UnaryOp::Exp); }
Term root(const Term &x) { return x.unary(UnaryOp::Sqrt); }
Term size(const Term &x) { return x.unary(UnaryOp::AbsF); }
Term over(double numerator, const Term &x) { return x.constant(numerator) / x; }
Term larger(const Term &x, double bound) { return x.binary(BinaryOp::MaximumF, x.constant(bound)); }
Term smaller(const Term &x, double bound) { return x.binary(BinaryOp::MinimumF, x.constant(bound)); }
Term withSign(const Term &x, const Term &sign) { return x.binary(BinaryOp::CopySign, sign); }
Term fma(const Term &x, const Term &y, const Term &z) {
  return x.with(x.evaluation->builder().fma(x.value(), y.value(), z.value()));
}

// sin(pi x): whole turns are taken off and the angle is folded, exactly, before pi is multiplied in.
Term sineOfHalfTurns(const Term &x) {
  Term rest = x - (x * Object(0.5)).unary(UnaryOp::RoundEven) * Object(2.0);
  Term folded = choose(size(rest) > Object(0.5), withSign(rest.constant(1.0), rest) - rest, rest);
  return (folded * Object(pi)).unary(UnaryOp::Sin);
}

// ---- The error function

// exp(x^2) erfc(x) for x >= 0.
Term scaledErfc(const Term &x) {
  Term place = x.constant(1.0) - over(8.0, x + Object(4.0));
  return series(erfcxSeries, place) / (x + x + Object(1.0));
}

Term erfcx(const Term &x) {
  Term scaled = scaledErfc(size(x));
  Term square = x * x, rest = fma(x, x, -square); // x^2 exactly
  Term grown = exp(square);
  Term below = (grown + choose(grown == Object(infinity), grown.constant(0.0), grown * rest)) * Object(2.0) - scaled;
  return choose(x < Object(0.0), below, scaled);
}

// y >= 0 with erf(y) = a, for a up to 1/2: a few terms of the series, then Newton's steps.
Term inverseErf(const Term &a) {
  Term square = a * a;
  Term start = (((square * Object(0.0867217) + Object(0.1275561)) * square + Object(0.2320137)) * square +
                Object(rootOfPi / 2)) *
               a;
  for (int step = 0; step < 3; ++step)
    start = start - (start.unary(UnaryOp::Erf) - a) * exp(start * start) * Object(rootOfPi / 2);
  return start;
}

// y >= 0 with erfc(y) = p, for p up to 1/2. Newton's steps on the logarithms, y^2 - log(erfcx(y)) + log(p) = 0, which
// is convex: from above they only descend.
Term inverseErfc(const Term &p) {
  Term logarithm = log(p);
  Term y = root(-logarithm);
  for (int step = 0; step < 6; ++step) {
    Term scaled = scaledErfc(y);
    y = y - (y * y - log(scaled) + logarithm) * scaled * Object(rootOfPi / 2);
  }
  return choose(p == Object(0.0), p.constant(infinity), y);
}

Term erfinv(const Term &x) {
  Term a = size(x);
  Term middle = inverseErf(smaller(a, 0.5)), tail = inverseErfc(x.constant(1.0) - a);
  return withSign(choose(a <= Object(0.5), middle, tail), x);
}

Term erfcinv(const Term &p) {
  Term distance = p.constant(1.0) - p; // exact where it is used
  Term middle = withSign(inverseErf(smaller(size(distance), 0.5)), distance);
  Term isUpper = p > Object(1.0);
  Term tail = inverseErfc(choose(isUpper, p.constant(2.0) - p, p));
  return choose(size(distance) <= Object(0.5), middle, choose(isUpper, -tail, tail));
}

Term normcdfinv(const Term &p) { return erfcinv(p + p) * Object(-rootOfTwo); }

// ---- The gamma function

// y raised in steps of 1 until it is at least 12, and the product of the steps: gamma(y) = gamma(raised) / product.
struct Raised {
  Term value, product;
};
Raised raise(Term y) {
  Term product = y.constant(1.0);
  for (int step = 0; step < 12; ++step) {
    Term isSmall = y < Object(12.0);
    product = choose(isSmall, product * y, product);
    y = choose(isSmall, y + Object(1.0), y);
  }
  return {y, product};
}

// What Stirling's formula leaves out of log(gamma(y)), for y >= 12.
Term stirlingRest(const Term &y) {
  static constexpr double coefficients[] = {1.0 / 12,     -1.0 / 360,      1.0 / 1260,  -1.0 / 1680,
                                            1.0 / 1188.0, -691.0 / 360360, 1.0 / 156.0, -3617.0 / 122400};
  Term inverse = over(1.0, y), square = inverse * inverse, sum = y.constant(coefficients[7]);
  for (int k = 7; k-- > 0;)
    sum = sum * square + Object(coefficients[k]);
  return sum * inverse;
}

// gamma(y) for y >= 1/2. The power is taken by halves, which do not overflow before the whole does.
Term gammaOfPositive(const Term &y) {
  Raised raised = raise(y);
  Term half = raised.value.binary(BinaryOp::Pow, raised.value * Object(0.5) - Object(0.25));
  Term whole = (half * exp(-raised.value)) * half * exp(stirlingRest(raised.value)) * Object(std::sqrt(2 * pi));
  return choose(y > Object(172.0), y.constant(infinity), whole / raised.product);
}

Term tgamma(const Term &x) {
  Term isLow = x < Object(0.5);
  Term positive = gammaOfPositive(choose(isLow, x.constant(1.0) - x, x));
  Term reflected = over(pi, sineOfHalfTurns(x) * positive);
  // Near zero the sine may be subnormal; the pole itself is 1 / x.
  reflected = choose(size(x) < Object(0x1p-60), over(1.0, x), reflected);
  Term isPole = (x < Object(0.0)) & (x.unary(UnaryOp::Floor) == x);
  Term value = choose(isLow, reflected, positive);
  return choose(isPole, x.constant(std::nan("")), choose(x != x, x, value));
}

Term logGammaOfPositive(const Term &y) {
  Term isSmall = y < Object(1.0);
  Term x = smaller(choose(isSmall, y + Object(1.0), y), 3.0);
  Term middle = series(logGammaSeries, x - Object(2.0)) * (x - Object(1.0)) * (x - Object(2.0));
  middle = choose(isSmall, middle - log(y), middle);
  Raised raised = raise(larger(y, 3.0));
  Term tail = (raised.value - Object(0.5)) * log(raised.value) - raised.value +
              (stirlingRest(raised.value) + Object(std::log(2 * pi) / 2)) - log(raised.product);
  tail = choose(y == Object(infinity), y, tail);
  return choose(y < Object(3.0), middle, tail);
}

Term lgamma(const Term &x) {
  Term isNegative = x < Object(0.0);
  Term positive = logGammaOfPositive(choose(isNegative, x.constant(1.0) - x, x));
  Term reflected = log(over(pi, size(sineOfHalfTurns(x)))) - positive;
  // A tiny number is its own reflection: gamma(x) = 1 / x.
  reflected = choose(x > Object(-0x1p-60), -log(-x), reflected);
  Term value = choose(isNegative, reflected, positive);
  Term isInfinite = (size(x) == Object(infinity)) | ((x <= Object(0.0)) & (x.unary(UnaryOp::Floor) == x));
  return choose(isInfinite, x.constant(infinity), value);
}

// ---- Bessel functions

Term squarePlace(const Term &x) { return smaller(x, 8.0) * smaller(x, 8.0) * Object(1.0 / 32) - Object(1.0); }

// From x = 8 on: sqrt(2 / (pi x)) (cosine factor * cos(angle) -+ sine factor * sin(angle)), angle = x - pi / 4 for
// order zero, x - 3 pi / 4 for order one; of the second kind with sine and cosine exchanged.
template <int order, bool isSecond> Term wave(const Term &x) {
  Term bounded = larger(x, 8.0);
  Term place = over(128.0, bounded * bounded) - Object(1.0);
  Term cosineFactor = order == 0 ? series(wave0Cosine, place) : series(wave1Cosine, place);
  Term sineFactor = (order == 0 ? series(wave0Sine, place) : series(wave1Sine, place)) / bounded;
  Term sine = bounded.unary(UnaryOp::Sin), cosine = bounded.unary(UnaryOp::Cos);
  // Of the shifted angle, times the square root of two.
  Term shiftedCosine = order == 0 ? cosine + sine : sine - cosine;
  Term shiftedSine = order == 0 ? sine - cosine : -(sine + cosine);
  Term sum = isSecond ? cosineFactor * shiftedSine + sineFactor * shiftedCosine
                      : cosineFactor * shiftedCosine - sineFactor * shiftedSine;
  Term result = sum / root(bounded * Object(pi));
  return choose(bounded == Object(infinity), x.constant(0.0), result);
}

Term j0(const Term &x) {
  Term a = size(x);
  return choose(a <= Object(8.0), series(j0Series, squarePlace(a)), wave<0, false>(a));
}

Term j1(const Term &x) {
  Term a = size(x);
  Term value = choose(a <= Object(8.0), series(j1Series, squarePlace(a)) * a, wave<1, false>(a));
  return choose(x < Object(0.0), -value, value);
}

// Of a negative number they are NaN, through the logarithm.
Term y0(const Term &x) {
  Term place = squarePlace(x);
  Term small = series(y0Series, place) + log(x) * series(j0Series, place) * Object(2 / pi);
  return choose(x > Object(8.0), wave<0, true>(x), small);
}

Term y1(const Term &x) {
  Term place = squarePlace(x);
  Term small = (series(y1Series, place) + log(x) * series(j1Series, place) * Object(2 / pi)) * x - over(2 / pi, x);
  small = choose(x == Object(0.0), x.constant(-infinity), small);
  return choose(x > Object(8.0), wave<1, true>(x), small);
}

// exp(x) is taken by halves: the function overflows later than its factor.
Term modified(const Term &a, const Term &small, const Term &tail) {
  Term half = exp(a * Object(0.5));
  Term large = half * (tail / root(larger(a, 8.0))) * half;
  return choose(a == Object(infinity), a, choose(a <= Object(8.0), exp(a) * small, large));
}

Term tailPlace(const Term &a) { return over(16.0, larger(a, 8.0)) - Object(1.0); }
Term nearPlace(const Term &a) { return smaller(a, 8.0) * Object(0.25) - Object(1.0); }

Term i0(const Term &x) {
  Term a = size(x);
  return modified(a, series(i0Series, nearPlace(a)), series(i0Tail, tailPlace(a)));
}

Term i1(const Term &x) {
  Term a = size(x);
  return withSign(modified(a, series(i1Series, nearPlace(a)) * a, series(i1Tail, tailPlace(a))), x);
}

template <Term (*function)(const Term &)> Object rounded(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "x");
  requireWideFloat(evaluation, value, "x");
  return function(Term(evaluation, value).to(float64())).to(value.type().scalarType()).object;
}

// Orders above 1 come from a recurrence, in the standard library: how long it is depends on the elements.
template <bool isSecond> Object ofOrder(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value order = valueArgument(evaluation, arguments[0], "n"), value = valueArgument(evaluation, arguments[1], "x");
  if (!order.type().isInteger() || order.type().isBool())
    evaluation.fail(Diagnostic::Kind::Type, "`n` must be an integer, not " + describe(arguments[0]));
  requireWideFloat(evaluation, value, "x");
  Type type = value.type().scalarType();
  Values both =
      broadcastTogether(evaluation, {castTo(evaluation, order, int32()), castTo(evaluation, value, float64())});
  bool isScalar = !both[0].type().isBlock();
  if (isScalar)
    for (Value &part : both)
      part = evaluation.builder().splat(part, {1});
  Term x(evaluation, both[1]);
  Object function(JitReference{isSecond ? "triton.language.standard._bessel_second_kind"
                                        : "triton.language.standard._bessel_first_kind",
                               nullptr});
  Object low = isSecond ? y0(x).object : j0(size(x)).object, high = isSecond ? y1(x).object : j1(size(x)).object;
  Value result = toValue(evaluation, evaluation.call(function, {Object(both[0]), Object(both[1]), low, high}));
  return castTo(evaluation, isScalar ? evaluation.builder().extract(result, {0}) : result, type);
}

// The upper half of the reciprocal, from the upper half of the number; both have 32 bits less, and no subnormals.
Object upperReciprocal(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "x");
  if (value.type().scalarType() != float64())
    evaluation.fail(Diagnostic::Kind::Type, "`x` must be fp64, not " + describe(arguments[0]),
                    "convert it with .to(tl.float64)");
  auto upperHalf = [](const Term &x) {
    Term upper = (x.bitcast(int64()) & Object(int64_t(-1) << 32)).bitcast(float64());
    return choose(size(upper) < Object(0x1p-1022), withSign(x.constant(0.0), x), upper);
  };
  return upperHalf(over(1.0, upperHalf(Term(evaluation, value)))).object;
}

} // namespace

void addLibdeviceSpecial(Table &table) {
  table.add("erfinv(x: tensor)", "The inverse of the error function.", rounded<erfinv>);
  table.add("erfcinv(x: tensor)", "The inverse of 1 less the error function.", rounded<erfcinv>);
  table.add("erfcx(x: tensor)", "exp(x * x) times 1 less the error function.", rounded<erfcx>);
  table.add("normcdfinv(x: tensor)", "The inverse of the standard normal distribution.", rounded<normcdfinv>);
  table.add("tgamma(x: tensor)", "The gamma function; NaN at the negative integers.", rounded<tgamma>);
  table.add("lgamma(x: tensor)", "The natural logarithm of the size of the gamma function.", rounded<lgamma>);
  table.add("j0(x: tensor)", "The Bessel function of the first kind of order 0.", rounded<j0>);
  table.add("j1(x: tensor)", "The Bessel function of the first kind of order 1.", rounded<j1>);
  table.add("y0(x: tensor)", "The Bessel function of the second kind of order 0.", rounded<y0>);
  table.add("y1(x: tensor)", "The Bessel function of the second kind of order 1.", rounded<y1>);
  table.add("jn(n: tensor, x: tensor)",
            "The Bessel function of the first kind of order n, an integer; NaN where n is negative.", ofOrder<false>);
  table.add("yn(n: tensor, x: tensor)",
            "The Bessel function of the second kind of order n, an integer; NaN where n or x is negative.",
            ofOrder<true>);
  table.add("cyl_bessel_i0(x: tensor)", "The modified Bessel function of order 0.", rounded<i0>);
  table.add("cyl_bessel_i1(x: tensor)", "The modified Bessel function of order 1.", rounded<i1>);
  table.add("rcp64h(x: tensor)",
            "1 / x of fp64, to 20 bits after the point: the lower half of x is ignored, that of the result zero, and "
            "subnormal numbers count as zero.",
            upperReciprocal);
}

} // namespace nacre
