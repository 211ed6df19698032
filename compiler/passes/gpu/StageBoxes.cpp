// See StageBoxes.h.
#include "compiler/passes/gpu/StageBoxes.h"
#include "compiler/ir/simt/Boxes.h"
#include "compiler/passes/gpu/CandidateLayouts.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

// Whether threads of the kernel may write global memory themselves, or tell others that something is there. (Where a
// copy begins before its array they store it, too: that is behind them unless there are several.)
bool threadsWrite(func::FuncOp kernel) {
  unsigned copies = 0;
  bool mayWrite = false;
  kernel.walk([&](Operation *op) {
    if (isa<StoreBoxOp>(op))
      copies += isa<func::FuncOp>(op->getParentOp()) ? 1 : 2;
    mayWrite |= isa_and_nonnull<tile::TileDialect>(op->getDialect()) && !isa<tile::LoadOp, tile::BarrierOp>(op) &&
                op->getNumRegions() == 0 && !isMemoryEffectFree(op);
  });
  return mayWrite || copies > 1;
}

struct StageBoxes : PassWrapper<StageBoxes, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageBoxes)

  StringRef getArgument() const override { return "stage-boxes"; }
  StringRef getDescription() const override { return "Copies of boxes through tiles in shared memory"; }

  void runOnOperation() override {
    areGlobal = threadsWrite(getOperation());
    SmallVector<Operation *> boxes;
    getOperation().walk([&](Operation *op) {
      if (isa<LoadBoxOp, StoreBoxOp>(op))
        boxes.push_back(op);
    });
    for (Operation *op : boxes) {
      OpBuilder b(op);
      if (auto load = dyn_cast<LoadBoxOp>(op))
        stage(load, b);
      else
        stage(cast<StoreBoxOp>(op), b);
      op->erase();
    }
  }

  void stage(LoadBoxOp op, OpBuilder &b) {
    Location location = op.getLoc();
    Value tile = AllocateOp::create(b, location, boxTile(op.getMap(), layoutOf(op.getResult())));
    Value full = AllocateBarriersOp::create(b, location, BarriersType::get(&getContext(), 1));
    Value first = arith::ConstantOp::create(b, location, b.getI32IntegerAttr(0));
    CopyBoxOp::create(b, location, op.getMap(), op.getCoordinates(), tile, full, first, Value(), IntegerAttr());
    AwaitOp::create(b, location, full, first, Value());
    op.replaceAllUsesWith(ReadOp::create(b, location, op.getType(), tile).getResult());
  }

  void stage(StoreBoxOp op, OpBuilder &b) {
    Location location = op.getLoc();
    SharedType type = boxTile(op.getMap(), layoutOf(op.getValue()));
    Value tile = AllocateOp::create(b, location, type), value = op.getValue();
    // Where the blocks' parts are no whole boxes, each has all of the tile, and the first one stores it.
    if (const LinearLayout &layout = layoutOf(value); !type.getLayout().getValue().isSplitOverBlocks() &&
                                                      (layout.isSplitOverBlocks() || !layout.ofOneBlock())) {
      BlockShape block = BlockShape::of(op->getParentOfType<ModuleOp>());
      LinearLayout all = defaultLayout(cast<RankedTensorType>(value.getType()), {block.warps, block.lanes});
      for (int64_t blocks = 1; blocks < block.ctas; blocks *= 2)
        all.add(Place::Block, 0);
      value = ConvertOp::create(b, location, withLayout(value.getType(), all), value);
    }
    WriteOp::create(b, location, value, tile);
    // What threads wrote where the copy goes is there before it; shared memory alone takes a small part of the time.
    FenceOp::create(b, location, /*global=*/areGlobal);
    BarrierOp::create(b, location, /*warp=*/false);
    CopyOutOp::create(b, location, op.getMap(), op.getCoordinates(), tile, op.getKindAttr());
  }

  bool areGlobal = true; // fences
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createStageBoxes() { return std::make_unique<StageBoxes>(); }
