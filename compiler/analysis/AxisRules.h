// What each operation makes of the axis information of its operands. Internal to AxisInfo.cpp.
#pragma once

#include "compiler/analysis/AxisInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace nacre {

class AxisRules {
public:
  AxisRules(IntegerFacts &integers, llvm::SetVector<mlir::Value> *trusted) : integers(integers), trusted(trusted) {}

  // Of a value at the entry of a kernel, or one that nothing is known of.
  AxisInfo entry(mlir::Value value);
  // Of the index of a loop.
  AxisInfo index(mlir::Value index, const AxisInfo &lowerBound, const AxisInfo &step);
  // Of a result, whose operands were all reached. Not reached: any value will do (poison).
  AxisInfo result(mlir::OpResult result, llvm::ArrayRef<const AxisInfo *> operands);

private:
  using Operands = llvm::ArrayRef<const AxisInfo *>;

  AxisInfo constant(mlir::Attribute attribute, mlir::Type type);
  AxisInfo arange(tile::ArangeOp op);
  AxisInfo spread(mlir::Type type, const AxisInfo &scalar);
  AxisInfo expandDims(tile::ExpandDimsOp op, const AxisInfo &source);
  AxisInfo broadcast(tile::BroadcastOp op, const AxisInfo &source);
  AxisInfo permute(tile::PermuteOp op, const AxisInfo &source);
  AxisInfo reshape(tile::ReshapeOp op, const AxisInfo &source);
  AxisInfo concatenate(tile::ConcatenateOp op, const AxisInfo &first, const AxisInfo &second);
  AxisInfo join(tile::JoinOp op, const AxisInfo &first, const AxisInfo &second);
  AxisInfo hint(tile::HintOp op, const AxisInfo &source);

  AxisInfo elementwise(mlir::OpResult result, Operands operands);
  AxisInfo sum(mlir::Operation *op, const AxisInfo &left, const AxisInfo &right);
  AxisInfo product(mlir::Operation *op, const AxisInfo &left, const AxisInfo &right);
  AxisInfo shiftLeft(mlir::Operation *op, Operands operands);
  AxisInfo quotient(mlir::Operation *op, Operands operands);
  AxisInfo remainder(mlir::Operation *op, Operands operands);
  AxisInfo bitAnd(mlir::Operation *op, Operands operands);
  AxisInfo compare(mlir::arith::CmpIOp op, Operands operands);
  AxisInfo select(mlir::Operation *op, Operands operands);
  AxisInfo extend(mlir::Operation *op, const AxisInfo &source);
  AxisInfo truncate(mlir::Operation *op, const AxisInfo &source);
  AxisInfo castAddress(mlir::Operation *op, const AxisInfo &source);

  // What any function of single elements keeps: equal operands give equal results.
  AxisInfo function(mlir::Type type, Operands operands);
  // Rounds of x - x % (multiples of `divisor`): groups of x along the axis that no multiple of `divisor` lies inside
  // of.
  int64_t groupWithin(const AxisInfo &x, size_t axis, int64_t divisor, int64_t constancy);
  // Whether quotient and remainder of the value count from below zero nowhere.
  bool isNonNegative(mlir::Value value);
  std::optional<int64_t> constantOf(mlir::Value value);

  IntegerFacts &integers;
  llvm::SetVector<mlir::Value> *trusted; // null: none are
};

} // namespace nacre
