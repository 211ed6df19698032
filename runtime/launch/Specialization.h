// What a launch makes of the value of an argument, wherever it comes from: Python, C++ or a signature. A kernel is
// compiled for the type of each argument, for whether it is divisible by 16, and for integers that are 1. That is decided
// here and nowhere else: callers read values, and keep what they are told in their own forms.
//
// An annotation that names a type forces it (`n: tl.int64`), `tl.const` makes a pointer one that is only read. Of an
// integer under a forced type divisibility alone is looked at; a float or a bool is not.
#pragma once

#include "compiler/frontend/Frontend.h"

namespace nacre {

inline constexpr int specializedDivisor = 16;

// The type that an annotation forces, as it is written ("tl.int64", "'*fp32'", "int", "float8_e4m3fn"); null: none.
Type annotatedType(llvm::StringRef annotation);

// What the definition of a kernel says of a parameter.
struct SpecializationRule {
  bool takesConstants = true; // an integer that is 1 is a constant (not: do_not_specialize)
  bool takesDivisors = true;  // divisibility is looked at (not: do_not_specialize, do_not_specialize_on_alignment)
  bool isConst = false;       // `tl.const`
  Type forced;                // by the annotation; null: none
};

struct SpecializedInteger {
  bool isConstant = false; // the value is a constant to the kernel; else:
  Type type;
  bool isDivisible = false; // by specializedDivisor
};
// Of a parameter that forces no number. `isUnsigned`: the value is one that only 64 bits without a sign hold.
inline SpecializedInteger specializeInteger(const SpecializationRule &rule, int64_t value, bool isUnsigned) {
  if (value == 1 && !isUnsigned && rule.takesConstants)
    return {.isConstant = true};
  Type type = isUnsigned ? uint64() : value == static_cast<int32_t>(value) ? int32() : int64();
  return {.type = type, .isDivisible = rule.takesDivisors && value % specializedDivisor == 0};
}

// Of an integer whose type the annotation forces: whether it is divisible by specializedDivisor.
inline bool forcedIsDivisible(const SpecializationRule &rule, uint64_t value) {
  return rule.takesDivisors && rule.forced.isInteger() && !rule.forced.isBool() && value % specializedDivisor == 0;
}

struct SpecializedPointer {
  Type element;
  bool isConst, isDivisible;
};
// `element`: what the array says it holds.
inline SpecializedPointer specializePointer(const SpecializationRule &rule, Type element, uint64_t address) {
  bool isForced = rule.forced && rule.forced.isPointer();
  return {isForced ? rule.forced.element() : element, rule.isConst || (isForced && rule.forced.isConst()),
          rule.takesDivisors && address % specializedDivisor == 0};
}

// Arguments by their values.
ArgumentSpec integerArgument(const ParameterInfo &parameter, int64_t value, bool isUnsigned);
ArgumentSpec floatArgument(const ParameterInfo &parameter, double value);
ArgumentSpec boolArgument(const ParameterInfo &parameter, bool value);
ArgumentSpec pointerArgument(const ParameterInfo &parameter, Type element, uint64_t address);

// An argument of which only the type is known, and what divides it: of signatures, whoever reads them.
ArgumentSpec typeArgument(Type type, int divisibility);

// Arguments for the parameters of a kernel in order: gives them their names, and those that are left out the literal
// that the definition has for them. Throws CompileError of kind Argument when there is none.
std::vector<ArgumentSpec> completeArguments(const FunctionSource &kernel,
                                            std::vector<std::optional<ArgumentSpec>> given);

} // namespace nacre
