// Signatures as text, for programs without Python: what each argument of a kernel is.
//
//   "*fp32:16, *fp32:16, i32, 1024"          one entry a parameter, in order
//   "*fp32:16, *fp32:16, n=i32, BLOCK=1024"   or by name; parameters with a literal default may be left out
//
// An entry is a type ("fp32", "*kfp16"), with a number that divides the value or the address after a colon (1: the
// value is 1, and a constant to the kernel), or a constant: a number, True, False, None, a text in quotes, a type for a
// constexpr parameter. A tuple is written in parentheses.
#pragma once

#include "compiler/frontend/Frontend.h"

namespace nacre {

// Throws CompileError of kind Argument, naming the entry or the parameter.
std::vector<ArgumentSpec> parseSignature(const FunctionSource &kernel, llvm::StringRef text);

// One entry of a signature. `isConstexpr`: the parameter is one.
ArgumentSpec parseArgument(const FunctionSource &kernel, llvm::StringRef text, bool isConstexpr);

// Throws a CompileError about the signature, with a hint at what it may hold.
[[noreturn]] void failSignature(const FunctionSource &kernel, const std::string &message);

// The other way around, with every parameter's name.
std::string signatureText(llvm::ArrayRef<ArgumentSpec> arguments);

} // namespace nacre
