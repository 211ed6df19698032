// tl.extra.libdevice's operations with directed rounding: the nearest result and, exactly, on which side of it the true
// one lies; where that is the wanted side, one step to the neighbour.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Term.h"
#include <cmath>

namespace nacre {

namespace {

enum class Direction { Zero, Down, Up };

const double infinity = HUGE_VAL;

Term fma(const Term &x, const Term &y, const Term &z) {
  return x.with(x.evaluation->builder().fma(x.value(), y.value(), z.value()));
}
Term isInfinite(const Term &x) { return x.unary(UnaryOp::AbsF) == Object(infinity); }

// One step of the bits, which are ordered like the sizes of floats: away from zero or toward it.
Term stepped(const Term &x, const Term &upward) {
  Term bits = x.bitcast(x.type() == float32() ? int32() : int64());
  Term smallest = bits.constant(1).bitcast(x.type());
  Term grows = upward.compare(Comparison::Eq, x > Object(0.0));
  Term moved = choose(grows, bits + Object(1), bits - Object(1)).bitcast(x.type());
  return choose(x == Object(0.0), choose(upward, smallest, -smallest), moved);
}

// `nearest` is the rounded result; the true one lies above it where `above`, below it where `below`.
Term nudged(Direction direction, const Term &nearest, const Term &above, const Term &below) {
  Term goesUp = above, goesDown = below;
  if (direction == Direction::Zero) {
    goesUp = above & (nearest < Object(0.0));
    goesDown = below & (nearest > Object(0.0));
  }
  Term result = nearest;
  if (direction != Direction::Down)
    result = choose(goesUp, stepped(nearest, goesUp.constant(true)), result);
  if (direction != Direction::Up)
    result = choose(goesDown, stepped(nearest, goesDown.constant(false)), result);
  return result;
}

// The same from the error's sign. A finite true result that overflowed lies below the infinity, toward zero.
Term directed(Direction direction, const Term &nearest, const Term &error, const Term &areFinite) {
  Term hasOverflowed = isInfinite(nearest) & areFinite;
  Term above = choose(hasOverflowed, nearest<Object(0.0), error> Object(0.0));
  Term below = choose(hasOverflowed, nearest > Object(0.0), error < Object(0.0));
  return nudged(direction, nearest, above, below);
}

// A sum's error, exactly (Knuth).
Term sumError(const Term &x, const Term &y, const Term &sum) {
  Term part = sum - x;
  return (x - (sum - part)) + (y - part);
}

struct Pair {
  Term x, y;
};
Pair floats(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  requireWideFloat(evaluation, x, "x");
  return {Term(evaluation, x), Term(evaluation, y)};
}
Term single(Evaluation &evaluation, const Object &object) {
  Value value = valueArgument(evaluation, object, "x");
  requireWideFloat(evaluation, value, "x");
  return Term(evaluation, value);
}
Term bothFinite(const Pair &pair) { return ~(isInfinite(pair.x) | isInfinite(pair.y)); }

template <Direction direction, bool isNegated> Object add(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Pair pair = floats(evaluation, arguments);
  Term y = isNegated ? -pair.y : pair.y, sum = pair.x + y;
  Term result = directed(direction, sum, sumError(pair.x, y, sum), bothFinite(pair));
  // Opposite numbers add to -0 when rounding down.
  if (direction == Direction::Down)
    result = choose((pair.x == -y) & ~(pair.x == Object(0.0)) & bothFinite(pair), -sum, result);
  return result.object;
}

template <Direction direction> Object multiply(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Pair pair = floats(evaluation, arguments);
  Term product = pair.x * pair.y;
  return directed(direction, product, fma(pair.x, pair.y, -product), bothFinite(pair)).object;
}

Term quotient(Direction direction, const Term &x, const Term &y) {
  Term nearest = x.binary(BinaryOp::DivF, y);
  Term rest = fma(-nearest, y, x);
  Term error = choose(y < Object(0.0), -rest, rest);
  Term areFinite = ~(isInfinite(x) | isInfinite(y)) & (y != y.constant(0.0));
  return directed(direction, nearest, error, areFinite);
}

template <Direction direction> Object divide(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Pair pair = floats(evaluation, arguments);
  return quotient(direction, pair.x, pair.y).object;
}

template <Direction direction> Object reciprocal(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = single(evaluation, arguments[0]);
  return quotient(direction, x.constant(1.0), x).object;
}

template <Direction direction> Object squareRoot(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = single(evaluation, arguments[0]);
  Term nearest = x.unary(UnaryOp::Sqrt);
  return directed(direction, nearest, fma(-nearest, nearest, x), ~isInfinite(x)).object;
}

// The error of a fused multiply and add: the product as two terms, added exactly to the third (Boldo and Muller).
template <Direction direction> Object multiplyAdd(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Values values = unifyAll(evaluation, arguments);
  requireWideFloat(evaluation, values[0], "x");
  Term x(evaluation, values[0]), y(evaluation, values[1]), z(evaluation, values[2]);
  Term nearest = fma(x, y, z);
  Term product = x * y, productRest = fma(x, y, -product);
  Term low = z + productRest, lowRest = sumError(z, productRest, low);
  Term high = product + low, highRest = sumError(product, low, high);
  Term error = ((high - nearest) + highRest) + lowRest;
  return directed(direction, nearest, error, ~(isInfinite(x) | isInfinite(y) | isInfinite(z))).object;
}

// ---- Conversions

template <Direction direction> Object narrow(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Term x = Term(evaluation, convertOperand(evaluation, arguments[0], float64()));
  Term nearest = x.to(float32()), back = nearest.to(float64());
  return nudged(direction, nearest, x > back, x < back).object;
}

// An integer as a float. The rounded result goes back to an integer exactly, unless it is one above the largest.
template <ScalarKind from, ScalarKind to, Direction direction>
Object convert(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Type integer = Type::scalar(from);
  Term x = Term(evaluation, convertOperand(evaluation, arguments[0], integer));
  Term nearest = x.to(Type::scalar(to));
  double limit = std::ldexp(1.0, integer.isSigned() ? integer.bitWidth() - 1 : integer.bitWidth());
  Term isBeyond = nearest.compare(Comparison::Eq, nearest.constant(limit));
  Term back = choose(isBeyond, nearest.constant(0.0), nearest).to(integer);
  Term above = ~isBeyond & (x > back), below = isBeyond | (x < back);
  return nudged(direction, nearest, above, below).object;
}

template <Direction direction> void addDirection(Table &table, const std::string &suffix, const std::string &where) {
  auto row = [&](const std::string &name, const char *parameters, const char *what, Table::Invoke invoke) {
    table.add((name + suffix + parameters).c_str(), std::string(what) + ", rounded " + where + ".", invoke);
  };
  row("add", "(x: tensor, y: tensor)", "x + y", add<direction, false>);
  row("sub", "(x: tensor, y: tensor)", "x - y", add<direction, true>);
  row("mul", "(x: tensor, y: tensor)", "x * y", multiply<direction>);
  row("div", "(x: tensor, y: tensor)", "x / y", divide<direction>);
  row("rcp", "(x: tensor)", "1 / x", reciprocal<direction>);
  row("sqrt", "(x: tensor)", "The square root", squareRoot<direction>);
  row("fma", "(x: tensor, y: tensor, z: tensor)", "x * y + z", multiplyAdd<direction>);
  using enum ScalarKind;
  row("int2float", "(x: tensor)", "An int32 as fp32", convert<Int32, Float32, direction>);
  row("uint2float", "(x: tensor)", "A uint32 as fp32", convert<UInt32, Float32, direction>);
  row("ll2float", "(x: tensor)", "An int64 as fp32", convert<Int64, Float32, direction>);
  row("ull2float", "(x: tensor)", "A uint64 as fp32", convert<UInt64, Float32, direction>);
  row("ll2double", "(x: tensor)", "An int64 as fp64", convert<Int64, Float64, direction>);
  row("ull2double", "(x: tensor)", "A uint64 as fp64", convert<UInt64, Float64, direction>);
}

} // namespace

void addLibdeviceRounding(Table &table) {
  addDirection<Direction::Zero>(table, "_rz", "toward zero");
  addDirection<Direction::Down>(table, "_rd", "down");
  addDirection<Direction::Up>(table, "_ru", "up");
  table.add("double2float_rd(x: tensor)", "An fp64 as fp32, rounded down.", narrow<Direction::Down>);
  table.add("double2float_ru(x: tensor)", "An fp64 as fp32, rounded up.", narrow<Direction::Up>);
}

} // namespace nacre
