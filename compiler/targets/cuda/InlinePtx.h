// Writing inline PTX: operands are added one by one, and the text names them by what add() gave.
//
//   InlinePtx ptx(b);
//   std::string old = ptx.result(b.getI32Type()), address = ptx.operand(pointer), value = ptx.operand(x);
//   Value result = ptx.emit("atom.relaxed.gpu.global.add.u32 " + old + ", [" + address + "], " + value + ";")[0];
//
// Results come before operands. Integers of 8 bits travel in registers of 16.
#pragma once

#include "compiler/passes/gpu/Machine.h"

namespace nacre::cuda {

class InlinePtx {
public:
  explicit InlinePtx(gpu::Builder &b) : b(b) {}

  // A register that the text writes, of an integer type of 8 to 64 bits, or f32 or f64.
  std::string result(mlir::Type type);
  // The same, that holds `value` before.
  std::string result(mlir::Value value);
  // An operand: an integer (an i1 is a predicate), f32, f64, or a pointer.
  std::string operand(mlir::Value value);
  // "@$5 ", or nothing where there is no predicate.
  std::string guard(mlir::Value predicate) { return predicate ? "@" + operand(predicate) + " " : ""; }

  // The results, of their own types. Code that has effects stays where it is.
  llvm::SmallVector<mlir::Value> emit(const std::string &text, bool hasEffects = true);

private:
  void addInitialValues();
  std::string next() { return "$" + std::to_string(number++); }

  gpu::Builder &b;
  unsigned number = 0;
  std::string outputs, inputs;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> initial; // of which result
  llvm::SmallVector<mlir::Value> values;
};

// "global" or "shared": the state space of an address.
std::string spaceOf(mlir::Value address);

} // namespace nacre::cuda
