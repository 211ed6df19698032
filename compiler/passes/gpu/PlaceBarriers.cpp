#include "compiler/passes/gpu/PlaceBarriers.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/passes/gpu/SharedAccesses.h"
#include "compiler/support/PlantedBugs.h"
#include <set>

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

// What threads have done to bytes [begin, end) of shared memory.
struct Access {
  enum class Kind : uint8_t {
    Read,
    ReadPast, // by the async proxy, or a read that is over before a fence
    Write,
    Both,     // of an operation's own scratch
    UnderWay, // a read of a dot in flight, which no operation has waited for: a barrier does not end it
    OnItsWay, // a read before a barrier, whose value may not be there yet: the async proxy waits for a fence
    Unfenced, // a write before a barrier, but not yet visible to the async proxy
    Fenced    // a write that the next barrier makes visible to the async proxy
  };
  int64_t begin, end;
  Kind kind;
  int64_t ring = 0; // of a ring with several stages, its number from 1 on
  auto operator<=>(const Access &) const = default;
  bool overlaps(int64_t first, int64_t last) const { return begin < last && first < end; }
};
using Kind = Access::Kind;

// Since the threads last met, and what is not fenced.
using Pending = std::set<Access>;

void meet(Pending &pending, bool isFenced) {
  Pending after;
  for (Access access : pending) {
    bool isWrite = access.kind == Kind::Write || access.kind == Kind::Both || access.kind == Kind::Unfenced;
    bool isRead = access.kind == Kind::Read || access.kind == Kind::OnItsWay;
    if (isWrite)
      access.kind = Kind::Unfenced;
    if (isRead)
      access.kind = Kind::OnItsWay;
    if (access.kind == Kind::UnderWay || ((isWrite || isRead) && !isFenced))
      after.insert(access);
  }
  pending = std::move(after);
}

bool isWrite(Kind kind) {
  return kind == Kind::Write || kind == Kind::Both || kind == Kind::Unfenced || kind == Kind::Fenced;
}
// What only the async proxy still has to wait for.
bool isBehindBarrier(Kind kind) { return kind == Kind::Unfenced || kind == Kind::OnItsWay; }

// Dots are done in the threads that have waited; the others' may still be under way until the threads meet.
void wait(Pending &pending, bool forAll) {
  Pending after;
  for (Access access : pending) {
    if (access.kind == Kind::UnderWay && !forAll)
      after.insert(access);
    if (access.kind == Kind::UnderWay)
      access.kind = Kind::ReadPast;
    after.insert(access);
  }
  pending = std::move(after);
}

void fence(Pending &pending) {
  Pending after;
  for (Access access : pending) {
    if (isWrite(access.kind))
      access.kind = Kind::Fenced;
    if (access.kind == Kind::Read)
      access.kind = Kind::ReadPast;
    if (access.kind != Kind::OnItsWay)
      after.insert(access);
  }
  pending = std::move(after);
}

struct PlaceBarriers : PassWrapper<PlaceBarriers, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceBarriers)

  StringRef getArgument() const override { return "place-barriers"; }
  StringRef getDescription() const override { return "Orders what threads do to shared memory"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerScratchRules(registry); }

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    orders.clear(); // one pass may see several kernels
    rings.clear();
    Pending pending;
    follow(getOperation().getBody().front(), pending);
    for (auto [op, order] : orders) {
      OpBuilder builder(op);
      if (order.fences)
        FenceOp::create(builder, op->getLoc(), /*global=*/false);
      if (order.meets)
        BarrierOp::create(builder, op->getLoc(), /*warp=*/false);
    }
  }

  // What is pending after the operations of a block. An operation in a loop is seen several times; what it gets stands
  // when the loop's state has come to rest, the last time.
  void follow(Block &block, Pending &pending) {
    for (Operation &op : block)
      follow(&op, pending);
  }

  void follow(Operation *op, Pending &pending) {
    if (isa<tile::BarrierOp>(op) || (isa<BarrierOp>(op) && !cast<BarrierOp>(op).getWarp()))
      return meet(pending, false);
    if (isa<FenceOp>(op))
      return fence(pending);
    if (auto dots = dyn_cast<WaitDotsOp>(op))
      return wait(pending, dots.getPending() == 0);
    if (isa<AllocateOp, AllocateBarriersOp, ProducerOp>(op)) // a producer fills rings alone
      return;
    if (auto offset = op->getAttrOfType<IntegerAttr>(offsetAttribute))
      return useScratch(op, offset.getInt(), pending);
    if (SmallVector<SharedAccess, 2> accesses = sharedAccessesOf(op); !accesses.empty())
      return useTiles(op, accesses, pending);
    if (isa<tile::ReduceOp, tile::ScanOp, tile::MapOp>(op) || op->getNumRegions() == 0)
      return;
    if (isa<scf::IfOp>(op)) {
      Pending after = op->getRegion(1).empty() ? pending : Pending();
      for (Region &region : op->getRegions())
        if (!region.empty()) {
          Pending way = pending;
          follow(region.front(), way);
          if (&region == &op->getRegion(1) && planted(PlantedBug::BarrierAfterElse))
            continue;
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
      if (pending.size() == before || planted(PlantedBug::BarrierAroundLoop))
        break;
    }
    // A `while` is left behind its condition.
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      follow(loop.getBefore().front(), pending);
  }

  // An operation's own scratch: it writes, has the threads meet, and reads.
  void useScratch(Operation *op, int64_t begin, Pending &pending) {
    ScratchUse scratch = scratchOf(op);
    int64_t end = begin + scratch.bytes;
    bool isOrdered = llvm::none_of(pending, [&](const Access &access) {
      return !isBehindBarrier(access.kind) && access.overlaps(begin, end) &&
             !(access.kind == Kind::Both && planted(PlantedBug::ScratchReused));
    });
    if (isOrdered)
      op->setAttr(orderedAttribute, UnitAttr::get(&getContext()));
    else
      op->removeAttr(orderedAttribute);
    if (!scratch.mayBeIdle && (!isOrdered || scratch.meetsWithin))
      meet(pending, false);
    pending.insert({begin, end, Kind::Both});
  }

  // Tiles: readers wait for writers, writers for both. The async proxy waits for a fence and for the barrier after it:
  // to read what threads have written, and to write what they have written or read. Whoever made a ring with several stages orders its accesses among themselves; those to other memory in
  // the same bytes, before and after, are ordered here.
  void useTiles(Operation *op, ArrayRef<SharedAccess> accesses, Pending &pending) {
    Order order;
    Pending own;
    for (const SharedAccess &access : accesses) {
      AllocateOp allocation = allocationOf(access.tile);
      if (!allocation)
        continue;
      auto offset = allocation->getAttrOfType<IntegerAttr>(offsetAttribute);
      assert(offset && "place-shared comes before place-barriers");
      int64_t begin = offset.getInt(), end = begin + allocation.getType().totalBytes();
      int64_t ring = ringOf(allocation);
      bool isUnderWay = isa<DotOp>(op) && cast<DotOp>(op).getAsync();
      if (!access.isAwaited())
        own.insert({begin, end, kindOf(access, isUnderWay), ring});
      for (const Access &other : pending) {
        if (!other.overlaps(begin, end) || (ring && other.ring == ring))
          continue;
        bool isWritten = isWrite(other.kind), isRead = other.kind == Kind::Read || other.kind == Kind::OnItsWay;
        if (isWritten && other.kind != Kind::Fenced && access.isPastThreads)
          order.fences = order.meets = !planted(PlantedBug::AsyncFence);
        else if (isRead && access.isAwaited() && !planted(PlantedBug::AsyncWriteAfterRead))
          order.fences = order.meets = true;
        else if (!isBehindBarrier(other.kind) && (access.writes || isWritten))
          order.meets |= isWritten || !planted(PlantedBug::WriteAfterRead);
      }
    }
    if (order.meets)
      meet(pending, order.fences);
    orders[op] = order;
    pending.insert(own.begin(), own.end());
  }

  static Kind kindOf(const SharedAccess &access, bool isUnderWay) {
    if (access.writes)
      return Kind::Write;
    return isUnderWay ? Kind::UnderWay : access.isPastThreads ? Kind::ReadPast : Kind::Read;
  }

  // 0: it has one stage.
  int64_t ringOf(AllocateOp allocation) {
    if (allocation.getType().getStages() == 1)
      return 0;
    return rings.try_emplace(allocation, static_cast<int64_t>(rings.size()) + 1).first->second;
  }

  // What stands before an operation.
  struct Order {
    bool fences = false, meets = false;
  };
  llvm::MapVector<Operation *, Order> orders;
  DenseMap<Operation *, int64_t> rings;
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createPlaceBarriers() { return std::make_unique<PlaceBarriers>(); }
