// How the elements of a tile along the vectorized axis are known while a loop is being emitted.
//
// A loop over a tile takes `width` neighbouring elements, lanes, at a time. Most index and pointer arithmetic does not
// need a vector for that: a value that is the same in every lane is kept as one scalar, one that grows by a fixed step
// from lane to lane as its first element and the step. Additions and scalings stay in that form, so that an address
// computed through any chain of arange, broadcast, multiply and add arrives at the load as "start, step 1", and a bound
// check as "the first n lanes".
#pragma once

#include "mlir/IR/Value.h"

namespace nacre::cpu {

struct Lanes {
  enum class Kind {
    Uniform, // `value` is a scalar, the same in every lane
    Linear,  // lane i is value + i * stride; integers, or pointers with `stride` an i64 in bytes
    Prefix,  // a mask: lane i is true where i < value; `value` an i64, perhaps negative or beyond the width
    Varying, // `value` is a vector of the width
  };
  Kind kind = Kind::Uniform;
  mlir::Value value;
  mlir::Value stride;

  static Lanes uniform(mlir::Value value) { return {Kind::Uniform, value, {}}; }
  static Lanes linear(mlir::Value start, mlir::Value stride) { return {Kind::Linear, start, stride}; }
  static Lanes prefix(mlir::Value count) { return {Kind::Prefix, count, {}}; }
  static Lanes varying(mlir::Value vector) { return {Kind::Varying, vector, {}}; }

  bool isUniform() const { return kind == Kind::Uniform; }
  bool isLinear() const { return kind == Kind::Linear; }
  bool isPrefix() const { return kind == Kind::Prefix; }
  bool isVarying() const { return kind == Kind::Varying; }
};

} // namespace nacre::cpu
