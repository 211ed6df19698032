// legalize-integers: integer division, remainder and shifts of the language, which have an answer for every operand,
// become operations that MLIR defines for the operands they get.
//
//   the language:  x // 0 has all bits set, x % 0 is x, the least number // -1 is itself and its remainder 0;
//                  a shift by the width or more leaves 0, or the sign
//   MLIR:          each of these is undefined
//
//   %q = arith.divsi %x, %y      ==>      %q = select(%y == 0, -1, select(%y == -1, 0 - %x, divsi %x, %safe))
//
// Where ranges prove that no such operand comes (IntegerFacts.h), the operation stays as it is. Scalars, vectors and
// tiles are treated alike. A lowering that looks at lines of addresses (`offsets % n`) keeps the operations as they are
// and calls legalInteger() for what it emits.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

// What `op` (divsi, divui, remsi, remui, shli, shrsi, shrui) means for these operands, which may be of another shape
// than its own. Null for other operations.
mlir::Value legalInteger(mlir::ImplicitLocOpBuilder &b, mlir::Operation *op, mlir::Value left, mlir::Value right);
mlir::Value divideSigned(mlir::ImplicitLocOpBuilder &b, mlir::Value left, mlir::Value right);
mlir::Value remainderSigned(mlir::ImplicitLocOpBuilder &b, mlir::Value left, mlir::Value right);

// The one value of all lanes of a vector, or null: what is the same for all of them is asked and computed once.
mlir::Value scalarOfSplat(mlir::Value vector);

std::unique_ptr<mlir::Pass> createLegalizeIntegers();
void registerLegalizeIntegers();

} // namespace nacre
