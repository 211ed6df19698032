// See StageBoxes.h.
#include "compiler/passes/gpu/StageBoxes.h"
#include "compiler/ir/gpu/Boxes.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

namespace {

struct StageBoxes : PassWrapper<StageBoxes, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageBoxes)

  StringRef getArgument() const override { return "stage-boxes"; }
  StringRef getDescription() const override { return "Copies of boxes through tiles in shared memory"; }

  void runOnOperation() override {
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
    Value tile = AllocateOp::create(b, location, boxTile(op.getMap()));
    Value full = AllocateBarriersOp::create(b, location, BarriersType::get(&getContext(), 1));
    Value first = arith::ConstantOp::create(b, location, b.getI32IntegerAttr(0));
    CopyBoxOp::create(b, location, op.getMap(), op.getCoordinates(), tile, full, first, Value(), IntegerAttr());
    AwaitOp::create(b, location, full, first, Value());
    op.replaceAllUsesWith(ReadOp::create(b, location, op.getType(), tile).getResult());
  }

  void stage(StoreBoxOp op, OpBuilder &b) {
    Location location = op.getLoc();
    Value tile = AllocateOp::create(b, location, boxTile(op.getMap()));
    WriteOp::create(b, location, op.getValue(), tile);
    FenceOp::create(b, location, /*global=*/true);
    BarrierOp::create(b, location, /*warp=*/false);
    CopyOutOp::create(b, location, op.getMap(), op.getCoordinates(), tile, op.getKindAttr());
  }
};

} // namespace

std::unique_ptr<Pass> nacre::gpu::createStageBoxes() { return std::make_unique<StageBoxes>(); }
