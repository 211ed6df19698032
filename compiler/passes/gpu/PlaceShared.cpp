#include "compiler/passes/gpu/PlaceShared.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/passes/gpu/SharedAccesses.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

constexpr int64_t alignment = 16;

// The tiles of an allocation: their bytes, and from which operation to which they are in use, by numbers in the order
// of the text.
struct Buffer {
  AllocateOp op;
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  int64_t begin = 0, end = 0;
  bool livesWith(const Buffer &other) const { return first <= other.last && other.first <= last; }
};

struct PlaceShared : PassWrapper<PlaceShared, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceShared)

  StringRef getArgument() const override { return "place-shared"; }
  StringRef getDescription() const override { return "Places tiles and the scratch of operations in shared memory"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerScratchRules(registry); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    number(module);
    placeBuffers(module);
    placeScratch(module);
    placeBarriers(module);
    module->setAttr(sharedAttribute, Builder(&getContext()).getI64IntegerAttr(total));
  }

  // Numbers of an operation and of the last one within it.
  void number(Operation *op) {
    int64_t first = count++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner);
    numbers[op] = {first, count - 1};
  }

  // The largest first, each at the lowest place that is free while it is in use.
  void placeBuffers(ModuleOp module) {
    module.walk([&](AllocateOp op) {
      Buffer buffer{op, op.getType().totalBytes(), numbers[op].first, numbers[op].second};
      for (Operation *user : usersOf(op))
        // A user deeper in loops is one at any time while these run.
        if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
          buffer.last = std::max(buffer.last, here->getNumRegions() && planted(PlantedBug::SharedLifetime)
                                                  ? numbers[here].first
                                                  : numbers[here].second);
      buffers.push_back(buffer);
    });
    llvm::sort(buffers, [](const Buffer &left, const Buffer &right) {
      return std::pair(-left.bytes, left.first) < std::pair(-right.bytes, right.first);
    });
    for (size_t i = 0; i < buffers.size(); ++i) {
      Buffer &buffer = buffers[i];
      int64_t alignment = buffer.op.getType().alignment();
      SmallVector<Buffer> beside;
      for (const Buffer &other : ArrayRef(buffers).take_front(i))
        if (buffer.livesWith(other))
          beside.push_back(other);
      llvm::sort(beside, [](const Buffer &left, const Buffer &right) { return left.begin < right.begin; });
      for (const Buffer &other : beside) {
        if (buffer.begin + buffer.bytes <= other.begin)
          break;
        buffer.begin = std::max(buffer.begin, static_cast<int64_t>(llvm::alignTo(other.end, alignment)));
      }
      buffer.end = buffer.begin + buffer.bytes;
      total = std::max(total, buffer.end);
      buffer.op->setAttr(offsetAttribute, Builder(&getContext()).getI64IntegerAttr(buffer.begin));
    }
  }

  // Behind the tiles that are in use where the operation stands; side by side with the one before it if that is little.
  void placeScratch(ModuleOp module) {
    SmallVector<std::pair<Operation *, int64_t>> uses;
    DenseMap<int64_t, int64_t> largest; // of those that lie behind the same tiles
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (int64_t bytes = scratchOf(op).bytes) {
        uses.push_back({op, llvm::alignTo(bytes, alignment)});
        int64_t &most = largest[floorAt(op)];
        most = std::max(most, uses.back().second);
      }
      // What combines elements is no code of its own.
      return isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    int64_t begin = 0, end = 0, floor = 0;
    Builder b(&getContext());
    for (auto [op, bytes] : uses) {
      int64_t lowest = floorAt(op);
      if (lowest != floor)
        begin = end = floor = lowest;
      int64_t room = std::max(largest[floor], scratchBesideOne);
      if (begin - floor >= bytes)
        begin = floor;
      else
        begin = end + bytes <= floor + room ? end : floor;
      end = begin + bytes;
      total = std::max(total, end);
      op->setAttr(scratchAttribute, b.getI64IntegerAttr(bytes));
      op->setAttr(offsetAttribute, b.getI64IntegerAttr(begin));
    }
  }

  // Behind everything else: a barrier is one from the start of the kernel to its end.
  void placeBarriers(ModuleOp module) {
    constexpr int64_t bytesOfBarrier = 8;
    module.walk([&](AllocateBarriersOp op) {
      total = llvm::alignTo(total, bytesOfBarrier);
      op->setAttr(offsetAttribute, Builder(&getContext()).getI64IntegerAttr(total));
      total += op.getType().getCount() * bytesOfBarrier;
    });
  }

  int64_t floorAt(Operation *op) {
    int64_t floor = 0, at = numbers[op].first;
    for (const Buffer &buffer : buffers)
      if (buffer.first <= at && at <= buffer.last && !planted(PlantedBug::ScratchUnderTile))
        floor = std::max(floor, buffer.end);
    return floor;
  }

  DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
  SmallVector<Buffer> buffers;
  int64_t count = 0, total = 0;
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createPlaceShared() { return std::make_unique<PlaceShared>(); }
