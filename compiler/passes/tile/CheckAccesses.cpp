// See CheckAccesses.h.
#include "compiler/passes/tile/CheckAccesses.h"
#include "compiler/analysis/PointerRoots.h"
#include "compiler/ir/tile/AccessEffects.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/passes/tile/UserPlace.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace nacre;

namespace {

struct Access {
  StringRef name;
  Value pointer, mask;
  uint32_t effects;
  bool acquires = false;
};

uint32_t releases(tile::MemoryOrder order) {
  return order == tile::MemoryOrder::Release || order == tile::MemoryOrder::AcquireRelease ? AccessReleases : 0;
}

// A program that does not look at what it found learns nothing of who came before it.
bool acquires(tile::MemoryOrder order, Value found) {
  return !found.use_empty() && (order == tile::MemoryOrder::Acquire || order == tile::MemoryOrder::AcquireRelease);
}

std::optional<Access> accessOf(Operation *op) {
  constexpr uint32_t both = AccessReads | AccessWrites | AccessAtomic;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    // A volatile load waits for what another program writes.
    bool waits = load.getIsVolatile();
    return Access{"load", load.getPointer(), load.getMask(), AccessReads | (waits ? AccessAtomic : 0), waits};
  }
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return Access{"store", store.getPointer(), store.getMask(), AccessWrites};
  if (auto atomic = dyn_cast<tile::AtomicRmwOp>(op))
    return Access{"atomic", atomic.getPointer(), atomic.getMask(), both | releases(atomic.getOrder()),
                  acquires(atomic.getOrder(), atomic.getResult())};
  if (auto exchange = dyn_cast<tile::AtomicCasOp>(op))
    return Access{"atomic_cas", exchange.getPointer(), Value(), both | releases(exchange.getOrder()),
                  acquires(exchange.getOrder(), exchange.getResult())};
  return std::nullopt;
}

// What the check's operands are made of, from `place` on in its block; none where that is more than arithmetic.
std::optional<SmallVector<Operation *>> arithmeticBehind(tile::CheckAccessOp check, Operation *place) {
  SmallVector<Operation *> found;
  DenseSet<Operation *> seen;
  SmallVector<Value> pending(check->getOperands());
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != check->getBlock() || op->isBeforeInBlock(place) || !seen.insert(op).second)
      continue;
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
      return std::nullopt;
    found.push_back(op);
    pending.append(op->operand_begin(), op->operand_end());
  }
  llvm::sort(found, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return found;
}

// Loads that follow each other, and what is computed of them, stay together: a target makes one loop of them. Checks
// that stand between move up to the first, in their order. None passes what writes, waits or is seen from outside.
void moveUp(Block &block) {
  Operation *place = nullptr;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto check = dyn_cast<tile::CheckAccessOp>(op)) {
      auto effects = check->getAttrOfType<IntegerAttr>(effectsAttribute);
      bool isPlain = !(effects.getInt() & (AccessAcquires | AccessAtomic));
      auto needed = place && isPlain ? arithmeticBehind(check, place) : std::nullopt;
      if (!needed) {
        place = nullptr;
        continue;
      }
      for (Operation *one : *needed)
        one->moveBefore(place);
      check->moveBefore(place);
    } else if (auto load = dyn_cast<tile::LoadOp>(op); load && !load.getIsVolatile()) {
      place = place ? place : load;
    } else if (!isMemoryEffectFree(&op)) {
      place = nullptr;
    }
  }
}

struct CheckAccesses : PassWrapper<CheckAccesses, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckAccesses)
  explicit CheckAccesses(bool isWatched) : isWatched(isWatched) {}
  StringRef getArgument() const override { return isWatched ? "watch-accesses" : "check-accesses"; }
  StringRef getDescription() const override {
    return isWatched ? "Tell every access to whoever watches the launch"
                     : "Check the addresses of every access before it happens";
  }
  void runOnOperation() override {
    isAnyAcquiring = false;
    getOperation().walk([&](Operation *op) {
      std::optional<Access> access = accessOf(op);
      isAnyAcquiring |= access && access->acquires;
    });
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isWatched && isa<tile::MapOp, tile::ReduceOp, tile::ScanOp>(op))
        return WalkResult::skip(); // functions of single elements
      if (std::optional<Access> access = accessOf(op))
        check(op, *access);
      return WalkResult::advance();
    });
    if (isWatched)
      getOperation().walk([](Block *block) { moveUp(*block); });
  }

private:
  void check(Operation *op, const Access &access) {
    PointerRoots roots = pointerRoots(access.pointer);
    if (!roots.isKnown && !isWatched)
      return;
    int32_t argument = -1;
    if (!roots.isKnown)
      argument = -2;
    else if (roots.isCertain())
      argument = static_cast<int32_t>(llvm::countr_zero(roots.arguments));
    OpBuilder builder(op);
    auto emit = [&](StringRef name, bool writes, uint32_t effects) {
      auto made =
          tile::CheckAccessOp::create(builder, op->getLoc(), name, access.pointer, access.mask, argument, writes);
      if (!isWatched)
        return;
      made->setAttr(effectsAttribute, builder.getI32IntegerAttr(static_cast<int32_t>(effects)));
      UserPlace place = userPlace(op->getLoc());
      made->setAttr(placeAttribute, builder.getStringAttr(place.file + ":" + std::to_string(place.line) + ":" +
                                                          std::to_string(place.column)));
    };
    uint32_t needless = isAnyAcquiring ? 0 : AccessReleases; // nobody would take it over
    emit(access.name, (access.effects & AccessWrites) != 0, access.effects & ~needless);
    if (!isWatched || !access.acquires)
      return;
    builder.setInsertionPointAfter(op);
    emit("acquire", /*writes=*/false, AccessAcquires);
  }

  bool isWatched, isAnyAcquiring = false;
};

} // namespace

std::unique_ptr<Pass> nacre::createCheckAccesses() { return std::make_unique<CheckAccesses>(/*isWatched=*/false); }
std::unique_ptr<Pass> nacre::createWatchAccesses() { return std::make_unique<CheckAccesses>(/*isWatched=*/true); }
void nacre::registerCheckAccesses() {
  registerPass([] { return createCheckAccesses(); });
  registerPass([] { return createWatchAccesses(); });
}
