#include "compiler/passes/gpu/PlaceShared.h"
#include "compiler/passes/gpu/Scratch.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

namespace {

// Bytes that may be spent so that operations in a row lie side by side, whatever the largest of them needs.
constexpr int64_t littleBytes = 16 << 10;
constexpr int64_t alignment = 16;

struct PlaceShared : PassWrapper<PlaceShared, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceShared)

  StringRef getArgument() const override { return "place-shared"; }
  StringRef getDescription() const override { return "Places the scratch of operations in shared memory"; }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<std::pair<Operation *, int64_t>> uses;
    int64_t largest = 0;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (int64_t bytes = scratchOf(op).bytes) {
        uses.push_back({op, llvm::alignTo(bytes, alignment)});
        largest = std::max(largest, uses.back().second);
      }
      // What combines elements is no code of its own.
      return isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    int64_t room = std::max(largest, littleBytes), begin = 0, end = 0, total = 0;
    Builder b(&getContext());
    for (auto [op, bytes] : uses) {
      if (begin >= bytes)
        begin = 0;
      else
        begin = end + bytes <= room ? end : 0;
      end = begin + bytes;
      total = std::max(total, end);
      op->setAttr(scratchAttribute, b.getI64IntegerAttr(bytes));
      op->setAttr(offsetAttribute, b.getI64IntegerAttr(begin));
    }
    module->setAttr(sharedAttribute, b.getI64IntegerAttr(total));
  }
};

} // namespace

std::unique_ptr<Pass> nacre::gpu::createPlaceShared() { return std::make_unique<PlaceShared>(); }
