// Integer operations where the machine faults or answers as it likes: the language gives each an answer, the same on
// every engine. x // 0 is -1 (all bits set), x % 0 is x; the smallest integer // -1 wraps to itself, % -1 is 0. A shift
// by the width or more shifts everything out: 0, or the sign for >> of a signed integer.
//
// What is known at compile time costs nothing: the guards of a constant divisor or amount fold away.
#pragma once

#include "compiler/passes/cpu/Emit.h"

namespace nacre::cpu {

// arith.divsi, divui, remsi, remui, shli, shrsi, shrui on register values, scalars or vectors; null for other ops.
mlir::Value integerOperation(Emit &b, mlir::Operation *op, mlir::Value left, mlir::Value right);

mlir::Value divideSigned(Emit &b, mlir::Value left, mlir::Value right);
mlir::Value remainderSigned(Emit &b, mlir::Value left, mlir::Value right);

} // namespace nacre::cpu
