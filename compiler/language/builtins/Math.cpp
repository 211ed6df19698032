// The math functions: one row each.
#include "compiler/language/builtins/Definitions.h"
#include "compiler/language/meaning/Elementwise.h"

namespace nacre {

void requireWideFloat(Evaluation &evaluation, const Value &value, const char *name) {
  Type type = value.type().scalarType();
  if (type == float32() || type == float64())
    return;
  evaluation.fail(Diagnostic::Kind::Type,
                  std::string("Expected dtype fp32 or fp64 for `") + name + "` but got " + type.str(),
                  "convert it first: x.to(tl.float32)");
}

void addMath(Table &table) {
  table.section(mathModule, "math");
  table.add("exp(x: tensor)", "e to the power x.", unaryMath<UnaryOp::Exp>, Table::method);
  table.add("exp2(x: tensor)", "2 to the power x. GPUs give 0 for fp32 results below 2^-126.",
            unaryMath<UnaryOp::Exp2, Accuracy::Usual>, Table::method);
  table.add("log(x: tensor)", "The natural logarithm.", unaryMath<UnaryOp::Log>, Table::method);
  table.add("log2(x: tensor)", "The logarithm to base 2.", unaryMath<UnaryOp::Log2>, Table::method);
  table.add("sin(x: tensor)", "The sine of x radians.", unaryMath<UnaryOp::Sin>, Table::method);
  table.add("cos(x: tensor)", "The cosine of x radians.", unaryMath<UnaryOp::Cos>, Table::method);
  table.add("sqrt(x: tensor)", "The square root.", unaryMath<UnaryOp::Sqrt, Accuracy::Usual>, Table::method);
  table.add("sqrt_rn(x: tensor)", "The square root, correctly rounded.", unaryMath<UnaryOp::Sqrt>, Table::method);
  table.add("rsqrt(x: tensor)", "1 over the square root.", unaryMath<UnaryOp::Rsqrt, Accuracy::Usual>, Table::method);
  table.add("erf(x: tensor)", "The error function.", unaryMath<UnaryOp::Erf>, Table::method);
  table.add("floor(x: tensor)", "The largest integer not above x, as a float.", unaryMath<UnaryOp::Floor>,
            Table::method);
  table.add("ceil(x: tensor)", "The smallest integer not below x, as a float.", unaryMath<UnaryOp::Ceil>,
            Table::method);
}

} // namespace nacre
