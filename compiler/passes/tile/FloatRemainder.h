// What is left of one float after whole multiples of another (C's fmod), exactly, for targets that have no such
// instruction. Works on scalars of f32 and f64.
#pragma once

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nacre {

mlir::Value floatRemainder(mlir::ImplicitLocOpBuilder &b, mlir::Value x, mlir::Value y);

} // namespace nacre
