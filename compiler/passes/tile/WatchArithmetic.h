// watch-arithmetic: integer arithmetic that can go wrong tells its operands to whoever watches the launch, before it
// happens: divisions (by zero; the least number by -1), shifts (by the width or more) and, where the front end was
// asked to assert that sums and products of signed numbers fit, these.
//
//   %q = arith.divsi %a, %b : tensor<8xi32>
//     ==>  tile.tell "arithmetic" "div int32" %a, %b
//          %q = arith.divsi %a, %b : tensor<8xi32>
//
// Divisions and shifts by constants that are fine, and functions of single elements, are left alone.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createWatchArithmetic();
void registerWatchArithmetic();

} // namespace nacre
