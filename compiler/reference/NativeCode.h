// What the evaluator cannot compute by itself: inline assembly, and functions of a user's library. Whoever has a
// compiler makes machine code of them; the same code then runs in the interpreter as in compiled kernels.
#pragma once

#include "compiler/language/meaning/Builder.h"
#include <cstddef>

namespace nacre {

class NativeCode {
public:
  virtual ~NativeCode() = default;

  // Emits the operation with a builder, on values of the types given to `run`.
  using Emit = std::function<Values(Builder &builder, llvm::ArrayRef<Value> operands)>;

  // Runs the operation. `operands` and `results` point to row-major elements; all types have one shape. Equal keys and
  // types mean equal operations: code that was made once serves again. Throws CompileError. Threads may call it at
  // once.
  virtual void run(const std::string &key, llvm::ArrayRef<Type> operandTypes, llvm::ArrayRef<Type> resultTypes,
                   const Emit &emit, llvm::ArrayRef<const std::byte *> operands,
                   llvm::ArrayRef<std::byte *> results) = 0;
};

} // namespace nacre
