// See LateDots.h.
#include "compiler/passes/gpu/LateDots.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

Value nacre::gpu::viewed(Value tile) {
  while (auto view = tile.getDefiningOp<PermuteOp>())
    tile = view.getSource();
  return tile;
}

std::optional<LateDots> LateDots::find(scf::ForOp loop, const llvm::DenseSet<Value> &slots,
                                       const std::function<bool(StringRef)> &isAsync) {
  SmallVector<DotOp> dots;
  Block *body = loop.getBody();
  bool arePlain = isAsync != nullptr;
  body->walk([&](Operation *op) {
    if (auto dot = dyn_cast<DotOp>(op)) {
      dots.push_back(dot);
      arePlain = arePlain && dot->getBlock() == body && !dot.getAsync() && isAsync(dot.getInstruction());
    }
    arePlain = arePlain && !isa<tile::DotOp, WaitDotsOp>(op);
  });
  if (!arePlain || dots.size() != 2)
    return std::nullopt;
  LateDots found{dots[0], dots[1]};
  auto isSafe = [&](Value operand) { return !isa<SharedType>(operand.getType()) || slots.contains(viewed(operand)); };
  Value result = found.last.getResult();
  if (!isSafe(found.last.getA()) || !isSafe(found.last.getB()) || !result.hasOneUse() ||
      *result.getUsers().begin() != body->getTerminator())
    return std::nullopt;
  found.sum = llvm::find(loop.getYieldedValues(), result) - loop.getYieldedValues().begin();
  for (Operation *user : loop.getRegionIterArg(found.sum).getUsers())
    if (!found.first->isBeforeInBlock(body->findAncestorOpInBlock(*user)))
      return std::nullopt;
  return found;
}

void LateDots::apply(scf::ForOp loop) {
  OpBuilder b(loop);
  Location location = last.getLoc();
  auto awaited = [&](ValueRange values) {
    return WaitDotsOp::create(b, location, values.getTypes(), b.getI32IntegerAttr(0), values);
  };
  first.setAsync(true);
  last.setAsync(true);
  b.setInsertionPointAfter(first);
  BlockArgument late = loop.getRegionIterArg(sum);
  WaitDotsOp wait = awaited({first.getResult(), late});
  first.getResult().replaceAllUsesExcept(wait.getResult(0), wait);
  late.replaceAllUsesExcept(wait.getResult(1), wait);
  b.setInsertionPointAfter(loop);
  Value result = loop.getResult(sum);
  WaitDotsOp end = awaited(result);
  result.replaceAllUsesExcept(end.getResult(0), end);
}
