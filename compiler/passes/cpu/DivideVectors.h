// divide-vectors: divisions and remainders of integer vectors are done by the floating-point units.
//
//   %q = arith.divsi %x, %y : vector<16xi32>   ==>   %q = fptosi(sitofp(%x) / sitofp(%y))
//   %r = arith.remsi %x, %y                          %r = %x - %q * %y
//
// No machine divides integers by vectors: LLVM would take the lanes apart, divide them one by one and put them together
// again. Where all lanes have one divisor the quotient is a product with its reciprocal, which is hoisted out of loops.
//
// Legal for integers of up to 32 bits as f64, and of up to 16 bits as f32, exactly:
// - the operands are exact. With |x| < 2^32 and n the whole part of |x / y|, |x / y| is n or more, and n + 1 - 1/|y| or
//   less. A rounded quotient is at most 2^-53 of itself away, and never below an n that it was not below; from n + 1 it
//   is 1/|y| away, more than that error since (n + 1) |y| < 2^34. So its whole part is n.
// - the reciprocal is made larger by 2^-50 of itself, more than three roundings take away: the product is never below n
//   and at most 2^-49 of itself too large, still less than 1/|y|. With f32 the same holds of |x| < 2^16 and 2^-21.
// - what MLIR leaves undefined (a divisor of 0, the least number by -1) may give anything: legalize-integers has seen
//   to it that nobody reads it. Conversions that overflow do not trap.
// Divisors that are constants stay: LLVM multiplies by them. So do 64-bit integers, which f64 does not hold.
//
// Before: loops over vectors, simplified. After: no such division but by constants and of 64 bits.
#pragma once

#include "mlir/Pass/Pass.h"
#include <memory>

namespace nacre::cpu {

std::unique_ptr<mlir::Pass> createDivideVectors();
void registerDivideVectors();

} // namespace nacre::cpu
