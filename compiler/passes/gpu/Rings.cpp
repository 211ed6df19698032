// See Rings.h.
#include "compiler/passes/gpu/Rings.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// Whether nothing but loads of the plan, and what they are put into, stands between two of them: they are needed at the
// same time.
static bool areTogether(const LoopPlan &plan, const Stage &first, const Stage &second) {
  auto isAhead = [&](const Stage &stage) {
    return llvm::any_of(plan.operandsAhead,
                        [&](const OperandAhead &operand) { return operand.loads.contains(stage.load); });
  };
  if (isAhead(first) || isAhead(second))
    return false;
  for (Operation *op = first.load->getNextNode(); op != second.load; op = op->getNextNode()) {
    bool isOfPlan = llvm::any_of(plan.stages, [&](const Stage &stage) {
      return stage.load == op || (isa<WriteOp>(op) && onlyWrite(stage.load) == op);
    });
    if (!isOfPlan && !isa<AllocateOp>(op) && (isa<DotOp>(op) || !isMemoryEffectFree(op)))
      return false;
  }
  return true;
}

// Boxes that are needed at the same time have one ring of barriers.
void nacre::simt::makeRings(LoopPlan &plan, OpBuilder &b) {
  Location location = plan.loop.getLoc();
  Stage *leader = nullptr;
  for (Stage &stage : plan.stages) {
    stage.ring = AllocateOp::create(b, location, stage.tile.withStages(plan.slots));
    if (!isa<LoadBoxOp>(stage.load))
      continue;
    if (leader && areTogether(plan, *leader, stage)) {
      stage.barriers = leader->barriers;
      leader->expected += stage.bytes();
      continue;
    }
    leader = &stage;
    stage.barriers = AllocateBarriersOp::create(b, location, BarriersType::get(b.getContext(), plan.slots)).getResult();
    stage.expected = stage.bytes();
  }
}

void nacre::simt::shareRings(LoopPlan &plan, const LoopPlan &other) {
  for (auto [stage, like] : llvm::zip_equal(plan.stages, other.stages)) {
    Operation *load = stage.load;
    stage = like;
    stage.load = load;
  }
}

Value nacre::simt::nextSlot(OpBuilder &b, Location location, int64_t slots, Value slot, Value *wraps) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value next = arith::AddIOp::create(b, location, slot, number(1));
  Value isLast = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, next, number(slots));
  if (wraps)
    *wraps = isLast;
  return arith::SelectOp::create(b, location, isLast, number(0), next);
}

void nacre::simt::awaitBoxes(const LoopPlan &plan, Value slot, Value phase) {
  for (const Stage &leader : plan.stages) {
    if (!leader.expected)
      continue;
    Operation *first = leader.load;
    for (const Stage &stage : plan.stages)
      if (stage.barriers == leader.barriers && stage.load->isBeforeInBlock(first))
        first = stage.load;
    OpBuilder b(first);
    AwaitOp::create(b, leader.load->getLoc(), leader.barriers, slot, phase);
  }
}

// What changes the layout of the operation's result changes that of its operand.
static void changeBefore(tile::ExpandDimsOp expand) {
  OpBuilder b(expand);
  for (Operation *user : llvm::make_early_inc_range(expand->getUsers())) {
    auto convert = dyn_cast<ConvertOp>(user);
    std::optional<LinearLayout> layout =
        convert ? operandLayout(expand, layoutOf(convert.getType())) : std::optional<LinearLayout>();
    if (!layout)
      continue;
    Value source = expand->getOperand(0);
    IRMapping map;
    map.map(source, ConvertOp::create(b, convert.getLoc(), withLayout(source.getType(), *layout), source).getResult());
    Operation *copy = b.clone(*expand, map);
    copy->getResult(0).setType(convert.getType());
    convert.replaceAllUsesWith(copy->getResult(0));
    convert->erase();
  }
  if (expand->use_empty())
    expand->erase();
}

Value nacre::simt::replaceLoad(const Stage &stage, Value slot) {
  OpBuilder b(stage.load);
  Value tile = SlotOp::create(b, stage.load->getLoc(), stage.tile, stage.ring, slot);
  Value result = stage.load->getResult(0);
  if (WriteOp write = onlyWrite(stage.load); write && write.getTarget().getType() == stage.tile) {
    auto allocation = write.getTarget().getDefiningOp<AllocateOp>();
    auto convert = write.getSource().getDefiningOp<ConvertOp>();
    write->erase();
    if (convert)
      convert->erase();
    allocation.getResult().replaceAllUsesWith(tile);
    allocation->erase();
  } else {
    // A row or a column of a tile: its layout is changed before it is one.
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto expand = dyn_cast<tile::ExpandDimsOp>(user))
        changeBefore(expand);
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto convert = dyn_cast<ConvertOp>(user)) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(convert);
        convert.replaceAllUsesWith(ReadOp::create(b, convert.getLoc(), convert.getType(), tile).getResult());
        convert->erase();
      }
    if (!result.use_empty())
      result.replaceAllUsesWith(ReadOp::create(b, stage.load->getLoc(), result.getType(), tile).getResult());
  }
  stage.load->erase();
  return tile;
}
