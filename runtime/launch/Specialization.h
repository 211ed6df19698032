// What a launch makes of the value of an argument, wherever it comes from: Python, C++ or a signature. A kernel is
// compiled for the type of each argument, for whether it is divisible by 16, and for integers that are 1.
//
// An annotation that names a type forces it (`n: tl.int64`), `tl.const` makes a pointer one that is only read; a value
// under a forced type is not looked at.
#pragma once

#include "compiler/frontend/Frontend.h"

namespace nacre {

inline constexpr int specializedDivisor = 16;

// Of a number or an address.
inline bool isSpeciallyDivisible(uint64_t bits) { return bits % specializedDivisor == 0; }
// An integer that is a constant to the kernel. `isUnsigned`: it is one that only 64 bits without a sign hold.
inline bool isConstantOne(int64_t value, bool isUnsigned) { return value == 1 && !isUnsigned; }
// The type that holds an integer.
inline Type integerType(int64_t value, bool isUnsigned) {
  return isUnsigned ? uint64() : value == static_cast<int32_t>(value) ? int32() : int64();
}

// The type that a parameter's annotation forces, as it is written ("tl.int64", "'*fp32'"); null: none.
Type annotatedType(llvm::StringRef annotation);

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
