#include "compiler/passes/gpu/PlaceBarriers.h"
#include "compiler/passes/gpu/Scratch.h"
#include <set>

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

namespace {

// Ranges of bytes, [begin, end).
using Pending = std::set<std::pair<int64_t, int64_t>>;

bool overlaps(const Pending &pending, int64_t begin, int64_t end) {
  return llvm::any_of(pending, [&](auto &range) { return range.first < end && begin < range.second; });
}

struct PlaceBarriers : PassWrapper<PlaceBarriers, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceBarriers)

  StringRef getArgument() const override { return "place-barriers"; }
  StringRef getDescription() const override { return "Says where threads need not meet before they use shared memory"; }

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Pending pending;
    follow(getOperation().getBody().front(), pending);
  }

  // What is pending after the operations of a block. An operation in a loop is seen several times; what it gets stands
  // when the loop's state has come to rest, the last time.
  void follow(Block &block, Pending &pending) {
    for (Operation &op : block)
      follow(&op, pending);
  }

  void follow(Operation *op, Pending &pending) {
    if (isa<tile::BarrierOp>(op) || (isa<BarrierOp>(op) && !cast<BarrierOp>(op).getWarp())) {
      pending.clear();
      return;
    }
    if (auto offset = op->getAttrOfType<IntegerAttr>(offsetAttribute)) {
      use(op, offset.getInt(), pending);
      return;
    }
    if (isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op) || op->getNumRegions() == 0)
      return;
    if (isa<scf::IfOp>(op)) {
      Pending after = op->getRegion(1).empty() ? pending : Pending();
      for (Region &region : op->getRegions())
        if (!region.empty()) {
          Pending way = pending;
          follow(region.front(), way);
          after.insert(way.begin(), way.end());
        }
      pending = std::move(after);
      return;
    }
    // A loop: any number of times through its regions, one after the other.
    while (true) {
      Pending after = pending;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          follow(block, after);
      size_t before = pending.size();
      pending.insert(after.begin(), after.end());
      if (pending.size() == before)
        return;
    }
  }

  void use(Operation *op, int64_t begin, Pending &pending) {
    ScratchUse scratch = scratchOf(op);
    bool isOrdered = !overlaps(pending, begin, begin + scratch.bytes);
    if (isOrdered)
      op->setAttr(orderedAttribute, UnitAttr::get(&getContext()));
    else
      op->removeAttr(orderedAttribute);
    if (!scratch.mayBeIdle && (!isOrdered || scratch.meetsWithin))
      pending.clear();
    pending.insert({begin, begin + scratch.bytes});
  }
};

} // namespace

std::unique_ptr<Pass> nacre::gpu::createPlaceBarriers() { return std::make_unique<PlaceBarriers>(); }
