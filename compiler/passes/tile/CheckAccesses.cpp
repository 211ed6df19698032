// See CheckAccesses.h.
#include "compiler/passes/tile/CheckAccesses.h"
#include "compiler/analysis/PointerRoots.h"
#include "compiler/ir/tile/Tile.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace nacre;

namespace {

void checkBefore(Operation *op, StringRef access, Value pointer, Value mask, bool writes) {
  PointerRoots roots = pointerRoots(pointer);
  if (!roots.isKnown)
    return;
  OpBuilder builder(op);
  auto argument = roots.isCertain() ? static_cast<int32_t>(llvm::countr_zero(roots.arguments)) : -1;
  tile::CheckAccessOp::create(builder, op->getLoc(), access, pointer, mask, argument, writes);
}

struct CheckAccesses : PassWrapper<CheckAccesses, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckAccesses)
  StringRef getArgument() const override { return "check-accesses"; }
  StringRef getDescription() const override { return "Check the addresses of every access before it happens"; }
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<tile::MapOp, tile::ReduceOp, tile::ScanOp>(op))
        return WalkResult::skip(); // functions of single elements
      if (auto load = dyn_cast<tile::LoadOp>(op))
        checkBefore(op, "load", load.getPointer(), load.getMask(), /*writes=*/false);
      else if (auto store = dyn_cast<tile::StoreOp>(op))
        checkBefore(op, "store", store.getPointer(), store.getMask(), /*writes=*/true);
      else if (auto atomic = dyn_cast<tile::AtomicRmwOp>(op))
        checkBefore(op, "atomic", atomic.getPointer(), atomic.getMask(), /*writes=*/true);
      else if (auto exchange = dyn_cast<tile::AtomicCasOp>(op))
        checkBefore(op, "atomic_cas", exchange.getPointer(), Value(), /*writes=*/true);
      return WalkResult::advance();
    });
  }
};

} // namespace

std::unique_ptr<Pass> nacre::createCheckAccesses() { return std::make_unique<CheckAccesses>(); }
void nacre::registerCheckAccesses() { PassRegistration<CheckAccesses>(); }
