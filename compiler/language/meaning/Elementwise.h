// What the elementwise builtins share (Math.cpp, Libdevice.cpp, Arithmetic.cpp).
#pragma once

#include "compiler/language/builtins/Arguments.h"

namespace nacre {

// fp32 or fp64, which is what math functions take; the error says how to convert.
void requireWideFloat(Evaluation &evaluation, const Value &value, const char *name);

// One-argument functions of fp32 and fp64 that a primitive says directly.
template <UnaryOp op, Accuracy accuracy = Accuracy::Rounded>
Object unaryMath(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  Value value = valueArgument(evaluation, arguments[0], "x");
  requireWideFloat(evaluation, value, "x");
  return evaluation.builder().unary(op, value, accuracy);
}

// The same for two arguments, which are promoted to one type.
template <BinaryOp op, Accuracy accuracy = Accuracy::Rounded>
Object binaryMath(Evaluation &evaluation, llvm::ArrayRef<Object> arguments) {
  auto [x, y] = unify(evaluation, arguments[0], arguments[1]);
  requireWideFloat(evaluation, x, "x");
  return evaluation.builder().binary(op, x, y, accuracy);
}

// The larger or smaller of two values of one type and shape.
Value extremum(Evaluation &evaluation, bool isMaximum, Value x, Value y, bool propagateNan);

} // namespace nacre
