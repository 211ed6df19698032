// watch-arithmetic: integer arithmetic that can go wrong tells its operands to whoever watches the launch, before it
// happens: divisions (by zero; the least number by -1), shifts (by the width or more) and what the front end tells of
// sums, differences and products of signed numbers, which alone it knows.
//
//   %q = arith.divsi %a, %b : tensor<8xi32>
//     ==>  %isZero = arith.cmpi eq, %b, %zeros : tensor<8xi32>  (or the least number by -1)
//          tile.tell "arithmetic" "div int32" %a, %b, %isZero {when}
//          %q = arith.divsi %a, %b : tensor<8xi32>
//
// The mask (ToldWhen.h) holds at least where something is wrong; who watches looks again. Where all elements of the operands lie
// between two numbers that are known before the tile is (an arange and a program's offset), it is one comparison for the
// whole tile; where constants alone prove it false, nothing is told. Reductions and scans that add up signed numbers of
// at most 32 bits are done in 64 bits as well, and tell both results where they differ. Functions of single elements are
// left alone.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre {

std::unique_ptr<mlir::Pass> createWatchArithmetic();
void registerWatchArithmetic();

} // namespace nacre
