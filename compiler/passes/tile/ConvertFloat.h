// Conversions between the language's float types on values in registers, for the lowerings of every target: the small
// formats by integer arithmetic, exactly and with one rounding. Emits arith and math operations.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nacre {

// `value` is a scalar or a vector of one dimension; bf16 and fp8 are integers of their width, in and out. `from` and
// `to` are the language's element types. `convertsHalf`: the machine converts fp16 to and from fp32 itself.
mlir::Value convertFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value, mlir::Type from, mlir::Type to,
                         tile::Rounding rounding, bool convertsHalf = true);

} // namespace nacre
