// See StreamedRegisters.h.
#include "compiler/passes/gpu/StreamedRegisters.h"
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static int64_t registersOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile || !tile.getEncoding() || isa<tile::PointerType>(tile.getElementType()))
    return 0;
  int64_t words = Lowering::byteSize(tile.getElementType()) > 4 ? 2 : 1; // short ones are worked on in 32 bits
  return words * layoutOf(type).count(Place::Register);
}

std::optional<int64_t> nacre::simt::streamedRegisters(func::FuncOp kernel) {
  std::optional<int64_t> most;
  bool hasProducts = false;
  kernel.walk([&](Operation *op) { hasProducts |= isa<DotOp, tile::DotOp>(op); });
  if (hasProducts)
    return std::nullopt;
  kernel.walk([&](scf::ForOp loop) {
    int64_t count = 0, loaded = 0;
    llvm::SmallDenseSet<Value> outside;
    for (Value carried : loop.getInitArgs())
      count += registersOf(carried.getType());
    loop.getBody()->walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        loaded += registersOf(load.getType());
      for (Value operand : op->getOperands())
        // What has no float in it are places and masks, which are made anew where they are used.
        if (!loop->isAncestor(operand.getParentBlock()->getParentOp()) && tile::isFloatLike(operand.getType()) &&
            !operand.getDefiningOp<arith::ConstantOp>() && outside.insert(operand).second)
          count += registersOf(operand.getType());
    });
    if (loaded > 0)
      most = std::max(most.value_or(0), count + loaded);
  });
  return most;
}

std::optional<int64_t> nacre::simt::productRegisters(func::FuncOp kernel) {
  std::optional<int64_t> most;
  kernel.walk([&](scf::ForOp loop) {
    int64_t count = 0;
    bool hasProducts = false;
    for (Value carried : loop.getInitArgs())
      count += registersOf(carried.getType());
    loop.getBody()->walk([&](DotOp dot) {
      hasProducts = true;
      count += 2 * registersOf(dot.getA().getType());
    });
    if (hasProducts)
      most = std::max(most.value_or(0), count);
  });
  return most;
}
