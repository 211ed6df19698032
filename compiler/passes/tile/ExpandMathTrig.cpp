// sin, cos, tan: x = n pi/2 + r with r held as a pair, then the polynomials of sin r and cos r, chosen by the quadrant
// n.
//
// Two reductions. The cheap one subtracts n times pi/2 in three parts (Cody and Waite); its first step is exact, and
// the rest keeps what it rounds off. It serves up to |x| = 2^15 in f32, 2^30 in f64. Beyond, x is an integer times a
// power of two, and the digits of 2/pi that matter are those whose product with that integer lies below 4 turns of a
// quarter and above the precision wanted (Payne and Hanek): three words of them are picked by the exponent and
// multiplied as integers. That is some ten times the work, so it stands in an scf.if entered when any lane has such an
// argument.
#include "compiler/passes/tile/MathFunctions.h"
#include "compiler/passes/tile/MathPieces.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

namespace nacre::elementary {

using namespace mlir;

namespace {

// x = quadrant pi/2 + remainder, the quadrant modulo 4 in its lowest bits (the rest of its bits is anything).
struct AngleReduction {
  Bits quadrant;
  Pair remainder;
};

AngleReduction reduceModerate(Real magnitude) {
  RoundedToInteger turns = roundProduct(magnitude, magnitude.part(tables::twoOverPi, 0));
  Real n = turns.n;
  Real exact = fma(n, -magnitude.part(tables::halfPi, 0), magnitude);
  Pair correction = twoProduct(n, magnitude.part(tables::halfPi, 1));
  Real high = exact - correction.high;
  Real lost = (exact - high) - correction.high;
  return {turns.power.biased, {high, fma(n, -magnitude.part(tables::halfPi, 2), lost - correction.low)}};
}

// Three words of the digits of 2/pi, from the digit `first` on, counted in the table with its leading word of zeros.
std::array<Bits, 3> digitsOfTwoOverPi(Elementwise &emitter, Bits first) {
  SmallVector<Bits> words;
  if (emitter.isDouble)
    for (uint64_t word : tables::twoOverPiWords64)
      words.push_back(emitter.bits(word));
  else
    for (uint32_t word : tables::twoOverPiWords32)
      words.push_back(emitter.bits(word));
  // The word index, bit by bit from the highest: each shifts the whole row where it is set.
  unsigned wordBits = emitter.isDouble ? 6 : 5;
  for (unsigned bit = emitter.isDouble ? 5 : 3; bit-- > 0;) {
    Flag shifted = (first & (uint64_t(1) << (wordBits + bit))) != uint64_t(0);
    size_t distance = size_t(1) << bit;
    size_t kept = std::min(words.size(), distance + 3); // words i .. i + 3 with i < distance
    for (size_t index = 0; index < kept && index + distance < words.size(); ++index)
      words[index] = select(shifted, words[index + distance], words[index]);
    words.resize(kept);
  }
  Bits offset = first & (uint64_t(emitter.width()) - 1);
  Bits rest = emitter.bits(emitter.width() - 1) - offset;
  std::array<Bits, 3> digits;
  for (size_t index = 0; index < 3; ++index)
    digits[index] = (words[index] << offset) | ((words[index + 1] >> uint64_t(1)) >> rest);
  return digits;
}

AngleReduction reduceHuge(Real magnitude) {
  Elementwise &emitter = *magnitude.emitter;
  uint64_t width = emitter.width(), mantissaBits = emitter.mantissaBits(), half = width / 2;
  Bits bits = bitsOf(magnitude);
  Bits exponent = bits >> mantissaBits;
  Bits mantissa = (bits & ((uint64_t(1) << mantissaBits) - 1)) | (uint64_t(1) << mantissaBits);

  // magnitude = mantissa 2^(e - mantissaBits), e = exponent - bias. The digit of weight 2^-j contributes mantissa times
  // 2^(e - mantissaBits - j): from j = e - mantissaBits - 1 on it matters modulo 4.
  Bits first = exponent - (emitter.exponentBias() + mantissaBits + 2 - width);
  std::array<Bits, 3> digits = digitsOfTwoOverPi(emitter, first);

  // The two highest words of mantissa * digits modulo 2^(3 width), in units of 2^(2 - 2 width) quarter turns.
  auto [middleLow, middleHigh] = wideProduct(mantissa, digits[1]);
  Bits lowHigh = wideProduct(mantissa, digits[2]).second;
  Bits low = middleLow + lowHigh;
  Bits carry = select(low < lowHigh, emitter.bits(1), emitter.bits(0));
  Bits high = lowProduct(mantissa, digits[0]) + middleHigh + carry;

  Bits quadrant = (high + (uint64_t(1) << (width - 3))) >> (width - 2);
  Bits fraction = high - (quadrant << (width - 2)); // signed, within half a quarter turn
  Bits sign = fraction & emitter.signMask();
  Bits allOnesIfNegative = arithmeticShiftRight(fraction, width - 1);
  Bits upper = fraction ^ allOnesIfNegative, lower = low ^ allOnesIfNegative; // the magnitude, but for one last unit

  // Four half words, each an exact Real, added from the largest on.
  uint64_t halfMask = (uint64_t(1) << half) - 1;
  double down = magnitude.pick(0x1p-16, 0x1p-32);
  double unit = magnitude.pick(0x1p-30, 0x1p-62); // of `upper`
  auto piece = [&](Bits halfWord, double scale) { return toReal(halfWord) * (unit * scale); };
  Pair head = fastTwoSum(piece(upper >> half, 1 / down), piece(upper & halfMask, 1.0));
  Pair tail = fastTwoSum(piece(lower >> half, down), piece(lower & halfMask, down * down));
  Pair sum = fastTwoSum(head.high, tail.high);
  Real sumLow = sum.low + (head.low + tail.low);

  Real halfPi = magnitude.part(tables::halfPi, 0), halfPiLow = magnitude.part(tables::halfPi, 1);
  Pair angle = twoProduct(sum.high, halfPi);
  angle = fastTwoSum(angle.high, fma(sum.high, halfPiLow, fma(sumLow, halfPi, angle.low)));
  Flag infinite = magnitude == std::numeric_limits<double>::infinity();
  Real remainder = select(infinite, std::numeric_limits<double>::quiet_NaN(), flipSign(angle.high, sign));
  return {quadrant, {remainder, flipSign(angle.low, sign)}};
}

Value anyLane(Flag flag) {
  OpBuilder &builder = flag.emitter->builder;
  Location location = flag.emitter->location;
  auto type = dyn_cast<VectorType>(flag.value.getType());
  if (!type)
    return flag.value;
  Value lanes = flag.value;
  if (type.getRank() != 1)
    lanes = vector::ShapeCastOp::create(builder, location,
                                        VectorType::get({type.getNumElements()}, builder.getI1Type()), lanes);
  return vector::ReductionOp::create(builder, location, vector::CombiningKind::OR, lanes);
}

AngleReduction reduceAngle(Real magnitude) {
  Elementwise &emitter = *magnitude.emitter;
  OpBuilder &builder = emitter.builder;
  assert(!isa<TensorType>(emitter.realType) && "sin, cos and tan are expanded on scalars and vectors");

  AngleReduction moderate = reduceModerate(magnitude);
  Flag huge = magnitude > magnitude.pick(0x1p15, 0x1p30);
  Value moderateValues[] = {moderate.quadrant.value, moderate.remainder.high.value, moderate.remainder.low.value};
  auto choice = scf::IfOp::create(builder, emitter.location, TypeRange(ValueRange(moderateValues)), anyLane(huge),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  AngleReduction far = reduceHuge(magnitude);
  scf::YieldOp::create(builder, emitter.location,
                       ValueRange{select(huge, far.quadrant, moderate.quadrant).value,
                                  select(huge, far.remainder.high, moderate.remainder.high).value,
                                  select(huge, far.remainder.low, moderate.remainder.low).value});
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, emitter.location, moderateValues);
  return {{&emitter, choice.getResult(0)}, {{&emitter, choice.getResult(1)}, {&emitter, choice.getResult(2)}}};
}

// sin(r) and cos(r) as pairs that are not normalized: the high parts are r and 1 - r^2/2.
struct SineAndCosine {
  Pair sine, cosine;
};

SineAndCosine sineAndCosine(Pair r) {
  Real square = r.high * r.high;
  Real sineTail = fma(r.high * square, polynomial(square, tables::sine), r.low);
  Real squareLow = fma(r.high, r.high, -square);
  Real halfSquare = square * 0.5;
  Real cosineHead = 1.0 - halfSquare;
  Real rounded = (1.0 - cosineHead) - halfSquare;
  Real cosineTail =
      fma(square * square, polynomial(square, tables::cosine), fma(-r.high, r.low, fma(squareLow, -0.5, rounded)));
  return {{r.high, sineTail}, {cosineHead, cosineTail}};
}

// sin(quadrant pi/2 + r), negated where `sign` has its sign bit.
Real sineInQuadrant(Bits quadrant, Pair remainder, Bits sign) {
  Elementwise &emitter = *quadrant.emitter;
  auto [sine, cosine] = sineAndCosine(remainder);
  Flag odd = (quadrant & uint64_t(1)) != uint64_t(0);
  Real value = select(odd, cosine.high + cosine.low, sine.high + sine.low);
  Bits negative = (quadrant << uint64_t(emitter.width() - 2)) & emitter.signMask();
  return flipSign(value, negative ^ sign);
}

} // namespace

Real sin(Real x) {
  AngleReduction angle = reduceAngle(abs(x));
  return sineInQuadrant(angle.quadrant, angle.remainder, signOf(x));
}

Real cos(Real x) {
  AngleReduction angle = reduceAngle(abs(x));
  return sineInQuadrant(angle.quadrant + uint64_t(1), angle.remainder, x.emitter->bits(0));
}

Real tan(Real x) {
  Elementwise &emitter = *x.emitter;
  AngleReduction angle = reduceAngle(abs(x));
  auto [sine, cosine] = sineAndCosine(angle.remainder);
  sine = fastTwoSum(sine.high, sine.low);
  cosine = fastTwoSum(cosine.high, cosine.low);
  Flag odd = (angle.quadrant & uint64_t(1)) != uint64_t(0);
  // tan r, or -1 / tan r in an odd quadrant.
  Pair numerator = {select(odd, cosine.high, sine.high), select(odd, cosine.low, sine.low)};
  Pair denominator = {select(odd, sine.high, cosine.high), select(odd, sine.low, cosine.low)};
  Pair ratio = quotient(numerator, denominator);
  Bits negative = angle.quadrant << uint64_t(emitter.width() - 1);
  return flipSign(ratio.high + ratio.low, negative ^ signOf(x));
}

} // namespace nacre::elementary
