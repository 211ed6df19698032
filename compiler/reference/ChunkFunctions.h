// The inner loops of the elementwise operations, found by operation and element kind. Narrow floats have none of their
// own: they are computed by the Float32 kernels (see elementwise()). A null answer means that the operation is not
// defined on that kind, which the semantics and the verifiers exclude.
#pragma once

#include "compiler/reference/Loops.h"

namespace nacre {

ChunkFunction integerUnaryFunction(UnaryOp op, ScalarKind kind);
ChunkFunction integerBinaryFunction(BinaryOp op, ScalarKind kind);
ChunkFunction floatUnaryFunction(UnaryOp op, ScalarKind kind); // Float32, Float64
ChunkFunction floatBinaryFunction(BinaryOp op, ScalarKind kind);
ChunkFunction mathFunction(UnaryOp op, ScalarKind kind);      // the functions of the C library
ChunkFunction compareFunction(CompareOp op, ScalarKind kind); // the result is int1
ChunkFunction fmaFunction(ScalarKind kind);
ChunkFunction selectFunction(int elementSize); // condition, whenTrue, whenFalse

bool isFloatOp(BinaryOp op);
bool isFloatOp(UnaryOp op);
bool isFloatOp(CompareOp op);

// Conversions between kinds of which none is a narrow float.
ChunkFunction convertFunction(CastOp op, ScalarKind from, ScalarKind to);

} // namespace nacre
