// Python's operators on constexprs: numbers of any size, strings, tuples, types, None.
#pragma once

#include "compiler/language/meaning/Semantics.h"

namespace nacre {

Object constexprOperator(Evaluation &evaluation, Operator op, const Object &lhs, const Object &rhs);
Object constexprUnary(Evaluation &evaluation, UnaryOperator op, const Object &operand);
// For `is` and `is not` the operands may also be run-time values.
Object constexprComparison(Evaluation &evaluation, Comparison op, const Object &lhs, const Object &rhs);
bool truth(Evaluation &evaluation, const Object &object); // Python's bool(x)

const char *operatorSymbol(Operator op); // as written: "+", "//"

// "%d of %s" % values, with Python's meaning for the conversions d i u x X o f F e E g G s r c and %%.
std::string formatPercent(Evaluation &evaluation, llvm::StringRef format, const Object &arguments);
// format(x, spec) as f-strings use it: [[fill]align][sign][#][0][width][,][.precision][type].
std::string formatSpecified(Evaluation &evaluation, const Object &object, llvm::StringRef specification);
// Fails when a text or a sequence of so many elements is more than any kernel needs.
void checkLength(Evaluation &evaluation, size_t length);
// str(x): strings as they are, anything else as repr.
std::string displayText(const Object &object);

} // namespace nacre
