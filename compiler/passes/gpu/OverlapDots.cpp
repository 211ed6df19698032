// See OverlapDots.h.
#include "compiler/passes/gpu/OverlapDots.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// What is made of the value in the body, and for nothing but `dot`; false: for more than that.
static bool collect(Value value, DotOp dot, llvm::SetVector<Operation *> &all) {
  for (Operation *user : value.getUsers()) {
    if (user == dot)
      continue;
    if (user->getBlock() != dot->getBlock() || user->getNumRegions() || !isPure(user))
      return false;
    if (all.insert(user))
      for (Value result : user->getResults())
        if (!collect(result, dot, all))
          return false;
  }
  return true;
}

std::optional<OverlapDots> OverlapDots::find(const LoopPlan &plan) {
  if (!plan.lateDots || plan.lateDots->dots.size() != 2 || plan.lateDots->late.size() != 1)
    return std::nullopt;
  scf::ForOp loop = plan.loop;
  OverlapDots found;
  found.first = plan.lateDots->dots[0], found.second = plan.lateDots->dots[1];
  found.sums = plan.lateDots->late[0];
  DotOp second = found.second;
  if (!isa<RankedTensorType>(second.getA().getType()) || !isa<SharedType>(second.getB().getType()) ||
      found.first.getResult() == second.getAccumulator())
    return std::nullopt;
  Operation *made = second.getA().getDefiningOp();
  if (!made || made->getBlock() != loop.getBody())
    return std::nullopt;
  Value values = viewed(second.getB());
  const auto *own = llvm::find_if(plan.stages, [&](const Stage &stage) {
    WriteOp write = onlyWrite(stage.load);
    return write && write.getTarget() == values && write.getTarget().getType() == stage.tile;
  });
  if (own == plan.stages.end() || llvm::count_if(plan.stages, [&](const Stage &stage) {
                                    return stage.barriers == own->barriers;
                                  }) != 1)
    return std::nullopt;
  for (Value tile = second.getB(); tile; tile = tile == values ? Value() : tile.getDefiningOp()->getOperand(0))
    if (llvm::any_of(tile.getUsers(), [&](Operation *user) {
          return user != second && !isa<PermuteOp>(user) && !isa<WriteOp>(user);
        }))
      return std::nullopt;
  Value sums = loop.getRegionIterArg(found.sums);
  if (!collect(sums, second, found.scales) || llvm::is_contained(sums.getUsers(), loop.getBody()->getTerminator()))
    return std::nullopt;
  for (Operation *op : found.scales)
    for (Operation *user : op->getUsers())
      if (user == second && (second.getA() == op->getResult(0) || second.getB() == op->getResult(0)))
        return std::nullopt;
  return found;
}

namespace {

// The operations of the loop's body, by when they run.
struct Parts {
  SmallVector<Operation *> before;  // and with the first product
  SmallVector<Operation *> between; // what works on its result
  SmallVector<Operation *> operand; // makes the second one's operand narrower: behind it, in the same registers
  SmallVector<Operation *> slot;    // the second one's slot, and the wait for it
  SmallVector<Operation *> scales;
  SmallVector<Operation *> release; // of that slot
};

Parts partsOf(scf::ForOp loop, DotOp first, DotOp second, const llvm::SetVector<Operation *> &scales) {
  llvm::DenseSet<Operation *> slot, operand;
  for (Operation *op = second.getB().getDefiningOp(); op && op->getBlock() == loop.getBody();
       op = op->getOperand(0).getDefiningOp())
    slot.insert(op);
  for (Operation *op = second.getA().getDefiningOp();
       op && op->hasOneUse() && op->getBlock() == loop.getBody() && isa<ConvertOp, arith::TruncFOp>(op);
       op = op->getOperand(0).getDefiningOp())
    operand.insert(op);
  Parts parts;
  bool isBehindFirst = false, isBehindSecond = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == second) {
      isBehindSecond = true;
    } else if (slot.contains(&op) || (isa<AwaitOp>(op) && slot.contains(op.getNextNode()))) {
      parts.slot.push_back(&op);
    } else if (isBehindSecond && isa<ReleaseOp>(op) && isa_and_nonnull<DotOp>(op.getPrevNode())) {
      parts.release.push_back(&op);
    } else if (scales.contains(&op)) {
      parts.scales.push_back(&op);
    } else if (operand.contains(&op)) {
      parts.operand.push_back(&op);
    } else {
      (isBehindFirst ? parts.between : parts.before).push_back(&op);
    }
    isBehindFirst |= &op == first;
  }
  return parts;
}

} // namespace

Operation *OverlapDots::apply(scf::ForOp loop) {
  OpBuilder b(loop);
  Location location = second.getLoc();
  Parts parts = partsOf(loop, first, second, scales);
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  unsigned slotNumber = loop.getNumRegionIterArgs() - 1;
  auto cloneAll = [&](ArrayRef<Operation *> operations, IRMapping &map) {
    for (Operation *op : operations)
      b.clone(*op, map);
  };
  // The second product, of the iteration whose slot that is.
  auto startSecond = [&](Value operand, Value sum, Value slot) {
    IRMapping map;
    map.map(loop.getRegionIterArg(slotNumber), slot);
    cloneAll(parts.slot, map);
    map.map(second.getA(), operand);
    map.map(second.getAccumulator(), sum);
    auto dot = cast<DotOp>(b.clone(*second, map));
    dot.setAsync(true);
    return dot.getResult();
  };
  auto wait = [&](Value sum, int32_t pending) -> Value {
    return WaitDotsOp::create(b, location, TypeRange{sum.getType()}, b.getI32IntegerAttr(pending), ValueRange{sum})
        .getResult(0);
  };
  auto lookAgain = [&](Value slot) {
    IRMapping map;
    map.map(loop.getRegionIterArg(slotNumber), slot);
    for (Operation *op : parts.slot)
      if (isa<AwaitOp>(op))
        b.clone(*op, map)->setAttr(againAttribute, b.getUnitAttr());
  };
  auto release = [&](Value slot) {
    IRMapping map;
    map.map(loop.getRegionIterArg(slotNumber), slot);
    cloneAll(parts.release, map);
  };

  auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value begin = loop.getLowerBound(), end = loop.getUpperBound(), step = loop.getStep();
  Value exists = arith::CmpIOp::create(b, location, below, begin, end);
  auto branch = scf::IfOp::create(b, location, loop.getResultTypes(), exists, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, location, loop.getInitArgs());
  b.setInsertionPointToStart(branch.thenBlock());

  // The first iteration, but for its second product.
  IRMapping map;
  map.map(loop.getInductionVar(), begin);
  map.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (ArrayRef<Operation *> some : {parts.before, parts.between, parts.operand, parts.scales})
    cloneAll(some, map);
  SmallVector<Value> initial;
  for (auto [number, value] : llvm::enumerate(yield.getOperands()))
    initial.push_back(map.lookupOrDefault(number == sums ? second.getAccumulator() : value));
  initial.push_back(map.lookupOrDefault(second.getA()));
  initial.push_back(loop.getInitArgs()[slotNumber]);
  // While there is an iteration, its distance to the upper bound is known without overflow.
  Value left = arith::SubIOp::create(b, location, end, begin);
  Value isMore = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, left, step);
  Value next = arith::AddIOp::create(b, location, begin, step);
  Value from = arith::SelectOp::create(b, location, isMore, next, end);
  auto made = scf::ForOp::create(b, location, from, end, step, initial, /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    ValueRange arguments = made.getRegionIterArgs();
    Value operand = arguments[arguments.size() - 2], slot = arguments.back();
    IRMapping map;
    map.map(loop.getInductionVar(), made.getInductionVar());
    map.map(loop.getRegionIterArgs(), arguments.drop_back(2));
    cloneAll(parts.before, map);
    auto started = cast<DotOp>(map.lookup(first.getResult()).getDefiningOp());
    started.setAsync(true);
    Value late = startSecond(operand, arguments[sums], slot);
    map.map(first.getResult(), wait(started.getResult(), 1));
    cloneAll(parts.between, map);
    lookAgain(slot);
    map.map(loop.getRegionIterArg(sums), wait(late, 0));
    release(slot);
    cloneAll(parts.operand, map);
    cloneAll(parts.scales, map);
    SmallVector<Value> yielded;
    for (auto [number, value] : llvm::enumerate(yield.getOperands()))
      yielded.push_back(map.lookupOrDefault(number == sums ? second.getAccumulator() : value));
    yielded.push_back(map.lookupOrDefault(second.getA()));
    yielded.push_back(arguments[slotNumber]);
    scf::YieldOp::create(b, location, yielded);
  }
  ValueRange results = made.getResults();
  Value last = wait(startSecond(results[results.size() - 2], results[sums], results.back()), 0);
  release(results.back());
  SmallVector<Value> yielded(results.drop_back(2));
  yielded[sums] = last;
  scf::YieldOp::create(b, location, yielded);
  loop.replaceAllUsesWith(branch.getResults());
  loop->erase();
  return branch;
}
