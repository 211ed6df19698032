// See OrderAccesses.h.
#include "compiler/passes/gpu/OrderAccesses.h"
#include "compiler/analysis/PointerRoots.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

namespace {

// Walks a kernel in the order of its text.
class Order {
public:
  explicit Order(bool isCluster) : isCluster(isCluster) {}
  void run(Block &block);

private:
  struct Access {
    PointerRoots roots;
    bool writes;
    Attribute layout;    // null: a scalar; all threads read it, one writes it
    bool isCopy = false; // by the hardware: that one thread waited for
    Value pointer = {};
    bool isMet = false; // the threads have met since: only copies do not see it yet
    bool operator==(const Access &other) const {
      return roots.arguments == other.roots.arguments && roots.isKnown == other.roots.isKnown &&
             writes == other.writes && layout == other.layout && isCopy == other.isCopy && pointer == other.pointer &&
             isMet == other.isMet;
    }
  };
  // Something that threads wrote somewhere, before they met.
  static Access metWrite() {
    PointerRoots anywhere;
    anywhere.isKnown = false;
    Access access{anywhere, /*writes=*/true, Attribute()};
    access.isMet = true;
    return access;
  }
  static void unite(SmallVector<Access> &accesses, ArrayRef<Access> others) {
    for (const Access &other : others)
      if (!llvm::is_contained(accesses, other))
        accesses.push_back(other);
  }
  std::optional<Access> accessOf(Operation *op);
  bool conflicts(const Access &access);
  void meet();
  void meetBefore(Operation *op, bool fences);
  void meetBeforeLoop(Operation *loop);
  void visit(Operation *op);
  static bool mayMeet(const PointerRoots &left, const PointerRoots &right) {
    return !left.isKnown || !right.isKnown || (left.arguments && right.arguments);
  }
  // Whether every element has one and the same thread in both: the same tile of addresses in the same layout. Arrays of
  // two arguments are taken to be apart, or one and accessed alike.
  static bool isSameThread(const Access &left, const Access &right) {
    bool isSameArray =
        left.roots.isCertain() && right.roots.isCertain() && left.roots.arguments == right.roots.arguments;
    if (isSameArray && left.pointer != right.pointer)
      return false;
    return left.layout && left.layout == right.layout && cast<LayoutAttr>(left.layout).getValue().isInjective();
  }

  // Several blocks run the program: what one of them orders by itself is not ordered for the others.
  const bool isCluster;
  SmallVector<Access> pending; // since the last barrier; what threads wrote, since the last fence
};

} // namespace

// None: it is no access, or one of memory that nobody writes.
std::optional<Order::Access> Order::accessOf(Operation *op) {
  if (isa<LoadBoxOp, StoreBoxOp>(op)) {
    PointerRoots anywhere;
    anywhere.isKnown = false;
    return Access{anywhere, isa<StoreBoxOp>(op), Attribute(), /*isCopy=*/true};
  }
  Value pointer =
      isa<tile::LoadOp, tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op) ? op->getOperand(0) : Value();
  if (!pointer)
    return std::nullopt;
  auto tensor = dyn_cast<RankedTensorType>(pointer.getType());
  if (cast<tile::PointerType>(getElementTypeOrSelf(pointer.getType())).getIsConst())
    return std::nullopt;
  return Access{pointerRoots(pointer), !isa<tile::LoadOp>(op), tensor ? tensor.getEncoding() : Attribute(),
                /*isCopy=*/false, pointer};
}

// Whether the threads must meet between what is pending and the access.
bool Order::conflicts(const Access &access) {
  if (access.isCopy && access.writes && !isCluster) // has a barrier of its own
    return false;
  return llvm::any_of(pending, [&](const Access &other) {
    if (!access.writes && !other.writes)
      return false;
    if (access.isCopy) // the same thread of a block starts all copies
      return isCluster || !other.isCopy;
    if (other.isMet)
      return false;
    // Thread 0 does both.
    bool bothScalarWrites = access.writes && other.writes && !access.layout && !other.layout && !other.isCopy;
    return !bothScalarWrites && mayMeet(access.roots, other.roots) && !isSameThread(access, other);
  });
}

// At a barrier without a fence.
void Order::meet() {
  bool threadsWrote = llvm::any_of(pending, [](const Access &access) { return access.writes && !access.isCopy; });
  pending.clear();
  if (threadsWrote)
    pending.push_back(metWrite());
}

void Order::meetBefore(Operation *op, bool fences) {
  OpBuilder builder(op);
  if (fences)
    FenceOp::create(builder, op->getLoc(), /*global=*/true);
  tile::BarrierOp::create(builder, op->getLoc());
  if (fences)
    pending.clear();
  else
    meet();
}

void Order::visit(Operation *op) {
  // What single elements do to memory happens between two barriers of the operation's own.
  if (isa<tile::MapOp>(op) && !runsOnRegisters(op)) {
    pending.assign(1, metWrite());
    return;
  }
  if (isa<tile::BarrierOp>(op)) {
    auto fence = dyn_cast_or_null<FenceOp>(op->getPrevNode());
    return fence && fence.getGlobal() ? pending.clear() : meet();
  }
  // Threads that meet while they exchange data have met; of a cluster's, only those of one block.
  if (!pending.empty() && !isCluster)
    if (ScratchUse scratch = scratchOf(op); scratch.bytes > 0 && scratch.meetsWithin && !scratch.mayBeIdle)
      meet();
  std::optional<Access> access = accessOf(op);
  if (!access)
    return;
  if (conflicts(*access))
    meetBefore(op, /*fences=*/access->isCopy);
  if (isa<StoreBoxOp>(op) && !isCluster)
    pending.clear();
  if (!isa<LoadBoxOp>(op) || isCluster)
    unite(pending, *access);
}

// What is pending before a loop is ordered before it, not again in each iteration.
void Order::meetBeforeLoop(Operation *loop) {
  bool meets = false, fences = false;
  loop->walk([&](Operation *op) {
    std::optional<Access> access = accessOf(op);
    if (!access || !conflicts(*access))
      return;
    meets = true;
    fences |= access->isCopy;
  });
  if (meets)
    meetBefore(loop, fences);
}

void Order::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    visit(&op);
    if (isa<scf::ForOp, scf::WhileOp>(op)) {
      meetBeforeLoop(&op);
      SmallVector<Access> before = pending; // there may be no iteration
      // Twice: what the end of an iteration leaves meets what the next one does.
      for (int round = 0; round < (planted(PlantedBug::GlobalOrderAroundLoop) ? 1 : 2); ++round)
        for (Region &region : op.getRegions())
          run(region.front());
      unite(pending, before);
      if (auto loop = dyn_cast<scf::WhileOp>(op)) // it is left behind its condition
        run(loop.getBefore().front());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      SmallVector<Access> before = pending, after;
      for (Region &region : branch->getRegions()) {
        pending = before;
        if (!region.empty())
          run(region.front());
        if (&region != &branch.getThenRegion() || !planted(PlantedBug::GlobalOrderAfterBranch))
          unite(after, pending);
      }
      pending = std::move(after);
    }
  }
}

namespace {

struct OrderAccesses : PassWrapper<OrderAccesses, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OrderAccesses)

  StringRef getArgument() const override { return "order-accesses"; }
  StringRef getDescription() const override { return "Barriers between threads that access the same global memory"; }
  void getDependentDialects(DialectRegistry &registry) const override { registerScratchRules(registry); }

  void runOnOperation() override {
    if (getOperation()->hasAttr(tile::kernelAttribute))
      Order(BlockShape::of(getOperation()->getParentOfType<ModuleOp>()).ctas > 1)
          .run(getOperation().getBody().front());
  }
};

} // namespace

std::unique_ptr<Pass> nacre::simt::createOrderAccesses() { return std::make_unique<OrderAccesses>(); }
