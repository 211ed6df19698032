// expand-math: the ops of the math dialect that no target has (exp, log, sin, tanh, erf, pow, ...) become arithmetic,
// fused multiply-adds and integer ops of the same shape, accurate to 2 ulp with every special value right.
//
//   %y = math.exp %x : vector<16xf32>
// becomes some twenty arith and math.fma ops on vector<16xf32> and vector<16xi32>.
//
// Works on f32 and f64; f16 and bf16 are computed in f32. Scalars, vectors and static tensors are treated alike, except
// that math.sin, math.cos and math.tan on tensors are left alone: their rare path for huge arguments needs a branch, so
// they are expanded once a target has lowered tiles to vectors or scalars (see MathFunctions.h). Ops that machines do
// have (sqrt, fma, floor, ceil, trunc, round, roundeven, absf, copysign) are left alone too.
#pragma once

#include "compiler/passes/tile/MathFunctions.h"
#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

// Emits at the builder's insertion point what `mathOp` computes, on `operands` in place of its own: they may have
// another shape (a target that walks a tile by vectors hands in the vectors). Null when the op is not one that is
// expanded, or not on this type.
using MathTarget = elementary::MathTarget;
mlir::Value expandMath(mlir::OpBuilder &builder, mlir::Operation *mathOp, mlir::ValueRange operands, const MathTarget *target = nullptr);

// Whether the operation is one that is expanded as it stands.
bool isExpandedMath(mlir::Operation *op);

// The same for one function by itself: expandMath(builder, location, elementary::exp, x). The operands are f16, bf16,
// f32 or f64, of any of the shapes above.
using UnaryFunction = elementary::Real (*)(elementary::Real);
using BinaryFunction = elementary::Real (*)(elementary::Real, elementary::Real);
mlir::Value expandMath(mlir::OpBuilder &builder, mlir::Location location, UnaryFunction function, mlir::Value x,
                       const MathTarget *target = nullptr);
mlir::Value expandMath(mlir::OpBuilder &builder, mlir::Location location, BinaryFunction function, mlir::Value x,
                       mlir::Value y, const MathTarget *target = nullptr);

// `machine`: what the target does better than arithmetic.
std::unique_ptr<mlir::Pass> createExpandMath(MathTarget machine = {});
void registerExpandMath();

} // namespace nacre
