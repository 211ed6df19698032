// The matrix instructions of a machine, as data: what choose-dots chooses from and what simt.dot names. Only the
// machine knows how one is written.
#pragma once

#include "compiler/ir/layout/LinearLayout.h"
#include "compiler/ir/simt/Simt.h"
#include "mlir/IR/BuiltinTypes.h"
#include <string>

namespace nacre::simt {

// What is multiplied. TF32 are f32 of which only the upper 19 bits are looked at.
enum class MatrixElement : uint8_t { F16, BF16, TF32, F64, E4M3, E5M2, S8 };
unsigned matrixElementBytes(MatrixElement element);
// Of tiles with this element type; `mayRound`: f32 may be taken as TF32. None: no instruction multiplies these.
std::optional<MatrixElement> matrixElementOf(mlir::Type element, bool mayRound);

struct MatrixInstruction {
  std::string name; // unique within the machine
  unsigned m, n, k; // powers of two
  MatrixElement a, b;
  unsigned warps = 1; // that do it together, each holding a part of every register operand

  // Where operands may be. Shared ones are rows of 32, 64 or 128 bytes in the hardware's swizzle (Constructors.h,
  // sharedSwizzled), rows along k; or along m and n too, where `takesTransposed`.
  bool aInRegisters = true, aInShared = false, bInShared = false;
  bool takesTransposed = false;
  // The registers are written when the machine has waited for the instruction.
  bool isAsync = false;
  // The machine keeps fewer bits of the sums than their type has (maxImpreciseAcc of dots).
  bool sumsImprecisely = false;

  // The name of the same instruction with its rows in another order, in which A in registers is easily got from rows
  // across k in shared memory; empty: there is none. It is taken for such operands alone (`onlyAcross`).
  std::string across;
  bool onlyAcross = false;

  // Of one instruction, for operands in registers; axes (m, k), (k, n) and (m, n).
  LinearLayout aLayout, bLayout, resultLayout;

  mlir::Type sumType(mlir::MLIRContext *context) const; // f32, f64 or i32
};

// A dot may sum so many products in the machine's own precision (maxImpreciseAcc): that many instructions along k are
// one group, which starts from zero and is added to the accumulator in the accumulator's type. None: the dot has no
// such limit, the machine sums in full, or the limit is longer than the dot. The threads wait for each group, so that
// such a dot is done when it has been started.
std::optional<int64_t> stepsOfGroup(const MatrixInstruction &row, DotOp op);
// Whether it does where the machine sums fp8 imprecisely.
bool sumsInGroups(DotOp op);
// How many products are summed: the extent of the operands along k.
int64_t depthOf(DotOp op);

} // namespace nacre::simt
