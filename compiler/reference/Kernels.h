// The inner loops of the elementwise operations, found by operation and element kind. Narrow floats have none of their
// own: they are computed by the Float32 kernels (see elementwise()). A null answer means that the operation is not
// defined on that kind, which the semantics and the verifiers exclude.
#pragma once

#include "compiler/reference/Loops.h"

namespace nacre {

Kernel integerUnaryKernel(UnaryOp op, ScalarKind kind);
Kernel integerBinaryKernel(BinaryOp op, ScalarKind kind);
Kernel floatUnaryKernel(UnaryOp op, ScalarKind kind); // Float32, Float64
Kernel floatBinaryKernel(BinaryOp op, ScalarKind kind);
Kernel mathKernel(UnaryOp op, ScalarKind kind);      // the functions of the C library
Kernel compareKernel(CompareOp op, ScalarKind kind); // the result is int1
Kernel fmaKernel(ScalarKind kind);
Kernel selectKernel(int elementSize); // condition, whenTrue, whenFalse

bool isFloatOp(BinaryOp op);
bool isFloatOp(UnaryOp op);
bool isFloatOp(CompareOp op);

// Conversions between kinds of which none is a narrow float.
Kernel convertKernel(CastOp op, ScalarKind from, ScalarKind to);

} // namespace nacre
