// What the files of this folder share below the public semantics: numbers as typed scalars, constants of a shape, and
// the elementwise primitives with their rule for fp8 (computed in fp32, rounded back), so that no builder ever meets
// fp8 arithmetic.
#pragma once

#include "compiler/language/meaning/Number.h"
#include "compiler/language/meaning/Semantics.h"

namespace nacre {

// For error texts: "fp32 tensor of shape [128]", "the int 3", "None".
std::string describe(const Object &object);
// What to do where a pointer stands for a number: a tensor of one element that was passed in its place.
inline constexpr const char *numberInsteadOfPointer =
    "an array arrives as a pointer: read from it with tl.load, or pass a number, such as x.item()";
// "tl.sqrt" for "sqrt": the language's own function in place of one of NumPy's, torch's or math's; empty when it has
// none.
std::string languageFunction(llvm::StringRef name);
// A hint for an object that stands where a tensor or a number should; empty when there is none.
std::string whatToPutInstead(const Object &object);
std::string shapeText(Shape shape); // "[128, 64]"

bool integerFits(const Integer &value, Type type);
Integer smallestInteger(Type type);
Integer largestInteger(Type type);

// The type a number takes when nothing else decides: bools int1, integers the first of int32, uint32, int64, uint64
// that holds them, floats fp32 or fp64.
Type numberType(Evaluation &evaluation, const Object &number);
// Promotion of two scalar types, neither a pointer.
Type promoteScalars(Evaluation &evaluation, Type a, Type b, bool forDivision = false);
void requireOperand(Evaluation &evaluation, const Object &object); // a number or a value, else an error
// A number or a value, converted to a scalar type; keeps the shape.
Value toOperand(Evaluation &evaluation, const Object &object, Type scalar);
// The same by the rules of an explicit cast: integers out of range wrap, floats become integers by truncation. A number
// that the type holds is made in it directly, so that it is rounded once.
Value convertOperand(Evaluation &evaluation, const Object &object, Type scalar);
// Converts all to one type and shape.
Values unifyAll(Evaluation &evaluation, llvm::ArrayRef<Object> operands);
// Brings all to one shape, types kept.
Values broadcastTogether(Evaluation &evaluation, llvm::ArrayRef<Value> values);
// One value to a shape that is given; `name` is what errors call it.
Value growTo(Evaluation &evaluation, Value value, Shape shape, const char *name);

// A constant of any scalar or block type, every element `number`.
Value constantOf(Evaluation &evaluation, Type type, const Object &number);

Value elementwise(Evaluation &evaluation, UnaryOp op, Value value);
Value elementwise(Evaluation &evaluation, BinaryOp op, Value lhs, Value rhs, Accuracy accuracy = Accuracy::Rounded);
// The comparison for the operands' type: signed, unsigned or floating. `op` is Eq, Ne, Lt, Le, Gt or Ge.
Value compareValues(Evaluation &evaluation, Comparison op, Value lhs, Value rhs);

// The one element of a scalar or a one-element block.
Value toScalar(Evaluation &evaluation, Value value);

} // namespace nacre
