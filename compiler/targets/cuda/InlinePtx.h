// Writing inline PTX: operands are added one by one, and the text names them by what add() gave.
//
//   InlinePtx ptx(b);
//   std::string old = ptx.result(b.getI32Type()), address = ptx.operand(pointer), value = ptx.operand(x);
//   Value result = ptx.emit("atom.relaxed.gpu.global.add.u32 " + old + ", [" + address + "], " + value + ";")[0];
//
// Results come before operands. Integers of 8 bits travel in registers of 16.
//
// LLVM may give a result the register of an operand that nobody reads afterwards, or that holds the same value as the
// one the result starts with. That is right for one instruction, which reads all its operands before it writes; in any
// other text a result may be written while operands are still to be read. So results are early clobbers, which share no
// register with an operand (other than the value they start with), unless the text is one instruction that is done when
// the next one starts. `emit` reads that off the text (resultsMayShare): nobody who writes a text has to think of it,
// and no other file makes inline assembly of our own.
#pragma once

#include "compiler/passes/gpu/Machine.h"

namespace nacre::cuda {

class InlinePtx {
public:
  explicit InlinePtx(simt::Builder &b) : b(b) {}

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

  simt::Builder &b;
  unsigned number = 0;
  std::string inputs;                                          // constraints
  llvm::SmallVector<mlir::Type> types;                         // of results
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> initial; // of which result
  llvm::SmallVector<mlir::Value> values;
};

// Whether results of a text may have the registers of operands: it is one instruction, and not an asynchronous one.
bool resultsMayShare(llvm::StringRef text);

// LLVM's number of the shared memory of a cluster's blocks.
inline constexpr unsigned clusterSpace = 7;

// "global", "shared" or "shared::cluster": the state space of an address.
std::string spaceOf(mlir::Value address);

} // namespace nacre::cuda
