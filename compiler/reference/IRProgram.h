// One program of a kernel while its IR is walked: the values computed so far, and the evaluation of each family of
// operations. Internal to the walker.
#pragma once

#include "compiler/ir/tile/Tile.h"
#include "compiler/reference/IRWalker.h"
#include "llvm/ADT/DenseMap.h"

namespace nacre {

class IRProgram {
public:
  explicit IRProgram(EagerBuilder &builder) : builder(builder) {}

  // Runs a function's body; gives what it returns.
  llvm::SmallVector<Value> call(mlir::func::FuncOp function, llvm::ArrayRef<Value> arguments);

private:
  // Runs a block up to its terminator and gives the terminator's operands.
  llvm::SmallVector<Value> runBlock(mlir::Block &block, llvm::ArrayRef<Value> arguments);
  void run(mlir::Operation &op);

  // Each returns false for an operation that is not of its family.
  bool runControl(mlir::Operation &op);
  bool runArith(mlir::Operation &op);
  bool runMath(mlir::Operation &op);
  bool runShape(mlir::Operation &op);
  bool runMemory(mlir::Operation &op);
  bool runDescriptor(mlir::Operation &op);
  bool runTile(mlir::Operation &op);

  Builder::Combine combineBy(mlir::Region &region);
  Values runMap(tile::MapOp map);
  // A descriptor is a value whose handle is its array.
  Descriptor descriptorOf(mlir::Value value, tile::Padding padding = tile::Padding::Zero) const;

  Value get(mlir::Value value) const;
  Value getOrNull(mlir::Value value) const { return value ? get(value) : Value(); }
  void set(mlir::Value value, Value computed) { values[value] = std::move(computed); }
  // All operands. Inside a combining region a scalar may stand for a slice: those that are scalars still are spread.
  Values operandsOf(mlir::Operation &op) const;
  // The type of a result computed from `like`: the IR's element type in the shape the operands came in.
  Type resultType(mlir::Type type, const Value &like) const;
  bool isTrue(mlir::Value condition) const;
  int64_t integerOf(mlir::Value value) const;
  Value constant(mlir::Attribute attribute, mlir::Type type);
  // An integer of the (signless) type in the shape of `like`.
  Value integerLike(const Value &like, int64_t number);
  Value compareFloats(int64_t predicate, const Value &lhs, const Value &rhs);
  [[noreturn]] void fail(mlir::Operation &op, const std::string &message);
  void locate(mlir::Operation &op);

  EagerBuilder &builder;
  llvm::DenseMap<mlir::Value, Value> values;
};

} // namespace nacre
