// See StoreOrder.h.
#include "compiler/passes/cpu/StoreOrder.h"
#include "compiler/passes/cpu/Plan.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// Whether the store may stand behind the operation, and stays in the loops that compute its value.
static bool mayPass(tile::StoreOp store, Operation *op) {
  if (isa<tile::LoadOp>(op) && planted(PlantedBug::StorePastLoad))
    return true;
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  if (isa<arith::ConstantOp, tile::ArangeOp, tile::SplatOp>(op))
    return true;
  return isElementwise(op) && llvm::all_of(op->getResultTypes(), [&](Type type) {
           return !isa<RankedTensorType>(type) || tile::shapeOf(type) == tile::shapeOf(store.getValue().getType());
         });
}

void nacre::cpu::sinkStores(func::FuncOp kernel) {
  SmallVector<tile::StoreOp> stores;
  kernel.walk([&](tile::StoreOp store) {
    if (isTile(store.getValue()))
      stores.push_back(store);
  });
  // The last first, so that those before it can follow; two stores keep their order.
  for (tile::StoreOp store : llvm::reverse(stores)) {
    Operation *behind = store;
    while (behind->getNextNode() && mayPass(store, behind->getNextNode()))
      behind = behind->getNextNode();
    if (behind != store)
      store->moveAfter(behind);
  }
}
