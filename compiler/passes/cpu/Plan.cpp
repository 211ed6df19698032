// Where each tile operation is computed. See Plan.h.
#include "compiler/passes/cpu/Plan.h"
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/ir/tile/ToldWhen.h"
#include "compiler/passes/cpu/Recompute.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

bool nacre::cpu::isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

bool nacre::cpu::holdsControl(Block &block) {
  return llvm::any_of(block, [](Operation &op) { return op.getNumRegions() != 0; });
}

bool nacre::cpu::isElementwise(Operation *op) {
  if (isa<tile::FpCastOp, tile::BitcastOp, tile::PtrToIntOp, tile::IntToPtrOp, tile::AddPtrOp, tile::HintOp>(op))
    return true;
  if (isa<arith::ConstantOp>(op))
    return false;
  StringRef dialect = op->getName().getDialectNamespace();
  return (dialect == "arith" || dialect == "math") && op->getNumRegions() == 0;
}

bool nacre::cpu::isUnitReshape(tile::ReshapeOp op) {
  auto significant = [](Type type) {
    SmallVector<int64_t> extents;
    for (int64_t extent : tile::shapeOf(type))
      if (extent != 1)
        extents.push_back(extent);
    return extents;
  };
  return significant(op.getSource().getType()) == significant(op.getType());
}

bool nacre::cpu::movesElements(Operation *op) {
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op) ||
         (isa<tile::ReshapeOp>(op) && isUnitReshape(cast<tile::ReshapeOp>(op)));
}

// What one element costs, roughly in instructions.
static int ownCost(Operation *op) {
  if (isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::CopySignOp>(op))
    return 1;
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
    return 16;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp>(op))
    return 12;
  if (isa<arith::DivFOp, tile::FpCastOp>(op))
    return 6;
  return isElementwise(op) ? 1 : 0;
}

// A check, which is told by rows where it can be, or what is told where something is wrong.
static bool isRarelyTold(Operation *op) {
  auto tell = dyn_cast<tile::TellOp>(op);
  return isa<tile::CheckAccessOp>(op) || (tell && tile::maskOf(tell));
}

int Plan::cost(Value value) const { return costs.lookup(value); }

// Follows the only use of each value from the load; true when it ends at an operand that is packed, in the same block
// with no write in between.
bool Plan::feedsOnlyPacking(Operation *load) const {
  Operation *current = load;
  while (current->getNumResults() == 1 && current->getResult(0).hasOneUse()) {
    Operation *user = *current->user_begin();
    if (user->getBlock() != load->getBlock())
      return false;
    if (isa<RowsOp, PanelsOp>(user)) {
      return isUnchangedBetween(load, user) || planted(PlantedBug::PackedPastStore);
    }
    if (!isElementwise(user) && !isa<tile::PermuteOp>(user))
      return false;
    current = user;
  }
  return false;
}

void Plan::decide(Operation *op) {
  bool hasTileResult = llvm::any_of(op->getResults(), isTile);
  bool hasTileOperand = llvm::any_of(op->getOperands(), isTile);
  auto set = [&](Place place) { places[op] = place; };
  auto force = [&](ValueRange values) {
    for (Value value : values)
      if (isTile(value))
        forced.insert(value);
  };

  auto keep = [&](ValueRange values) {
    for (Value value : values)
      if (isTile(value))
        kept.insert(value);
  };

  if (op->hasTrait<OpTrait::IsTerminator>())
    return set(Place::Standalone); // it reads the values it hands over at the end of its block
  if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
    return set(Place::Control);
  if (isa<tile::BarrierOp>(op))
    return set(Place::Standalone);
  if (!hasTileResult && !hasTileOperand)
    return set(Place::Scalar);

  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    costs[load.getResult()] = 1;
    return set(!load.getIsVolatile() && feedsOnlyPacking(op) ? Place::Deferred : Place::Pinned);
  }
  if (isa<tile::StoreOp, tile::ReduceOp>(op))
    return set(Place::Pinned);
  if (isa<RowsOp, PanelsOp, MultiplyOp, tile::AtomicRmwOp, tile::AtomicCasOp>(op) || isRarelyTold(op))
    return set(Place::Standalone);
  if (isa<tile::ScanOp>(op)) { // along whichever axis the tile lies
    keep(op->getOperands());
    return set(Place::Standalone);
  }
  if (isa<tile::ConcatenateOp, tile::JoinOp, tile::SplitOp, tile::ExtractOp, tile::GatherOp, tile::HistogramOp,
          tile::PrintOp, tile::TellOp, tile::AssertOp, tile::InlineAsmOp, tile::ExternalCallOp, tile::MapOp>(op)) {
    force(op->getOperands());
    return set(Place::Standalone);
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op); reshape && !isUnitReshape(reshape)) {
    force(op->getOperands());
    return set(Place::Standalone);
  }

  // The rest is elementwise, or moves elements without computing.
  int total = ownCost(op);
  for (Value operand : op->getOperands())
    if (isTile(operand))
      total += cost(operand);
  bool severalReaders = false, readDeeper = false, spread = false;
  for (Value result : op->getResults()) {
    // What asks for no element but rarely is no reason to keep them.
    auto isReader = [](Operation *user) { return !isRarelyTold(user); };
    severalReaders |= llvm::count_if(result.getUsers(), isReader) > 1;
    for (Operation *user : llvm::make_filter_range(result.getUsers(), isReader)) {
      readDeeper |= user->getBlock() != op->getBlock();
      if (auto broadcast = dyn_cast<tile::BroadcastOp>(user))
        spread |= broadcast.getType().getShape() != broadcast.getSource().getType().getShape();
      if (isa<tile::ExpandDimsOp>(user))
        spread = true;
    }
  }
  bool pin = (severalReaders && total >= 8) || ((readDeeper || spread) && total >= 6);
  if (!isElementwise(op))
    pin = false;
  for (Value result : op->getResults())
    costs[result] = pin ? 1 : total;
  set(pin ? Place::Pinned : Place::Virtual);
}

Plan::Plan(func::FuncOp kernel) {
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == kernel.getOperation())
      return WalkResult::advance();
    decide(op);
    bool isStraight = isa<tile::ReduceOp, tile::ScanOp>(op) && !holdsControl(op->getRegion(0).front());
    return isStraight ? WalkResult::skip() : WalkResult::advance();
  });
  // What control flow carries, and what must be in memory, is computed at its own place.
  auto pinValue = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && isTile(value) && place(op) == Place::Virtual && isElementwise(op))
      places[op] = Place::Pinned;
    if (op && isTile(value) && place(op) == Place::Deferred)
      places[op] = Place::Pinned;
  };
  kernel.walk([&](Operation *op) {
    if (isa<scf::YieldOp, scf::ConditionOp>(op))
      for (Value operand : op->getOperands())
        pinValue(operand);
  });
  for (Value value : forced)
    pinValue(value);
  for (Value value : kept)
    pinValue(value);
}

llvm::SmallSetVector<Operation *, 8> Plan::readers(Value value, Block *block) const {
  llvm::SmallSetVector<Operation *, 8> found;
  SmallVector<Value> pending{value};
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value current = pending.pop_back_val();
    if (!seen.insert(current).second)
      continue;
    for (Operation *user : current.getUsers()) {
      if (place(user) == Place::Virtual || place(user) == Place::Deferred) {
        pending.append(user->result_begin(), user->result_end());
        continue;
      }
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      found.insert(ancestor ? ancestor : user);
    }
  }
  return found;
}
