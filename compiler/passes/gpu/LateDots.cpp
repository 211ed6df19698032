// See LateDots.h.
#include "compiler/passes/gpu/LateDots.h"
#include "compiler/passes/gpu/MatrixInstruction.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

Value nacre::simt::viewed(Value tile) {
  while (auto view = tile.getDefiningOp<PermuteOp>())
    tile = view.getSource();
  return tile;
}

namespace {

class Finder {
public:
  Finder(scf::ForOp loop, const LateDots::Slots &slots) : loop(loop), body(loop.getBody()), slots(slots) {}

  std::optional<LateDots> find(const SoftwarePipelineOptions &options) {
    SmallVector<DotOp> dots;
    bool arePlain = true;
    body->walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op)) {
        dots.push_back(dot);
        arePlain = arePlain && dot->getBlock() == body && !dot.getAsync() && options.isAsync(dot.getInstruction()) &&
                   !sumsInGroups(dot) && isKept(dot.getA()) && isKept(dot.getB());
      }
      arePlain = arePlain && !isa<tile::DotOp, WaitDotsOp>(op);
    });
    if (!arePlain || dots.size() < 2 || isLate(dots.front()))
      return std::nullopt;
    LateDots found;
    for (DotOp dot : dots) {
      if (!isLate(dot)) {
        if (firstUser(dot) == body->getTerminator())
          return std::nullopt;
        continue;
      }
      if (isa<RankedTensorType>(dot.getA().getType()) && isMadeInLoop(dot.getA()) && !dependsOnDot(dot.getA()))
        return std::nullopt;
      found.late.push_back(handedOn(dot));
    }
    if (found.late.empty())
      return std::nullopt;
    found.dots.push_back(dots.front());
    auto rest = llvm::drop_begin(dots);
    for (DotOp dot : rest)
      if (!isLate(dot) && mayMove(dot, found.moved))
        found.dots.push_back(dot);
    for (DotOp dot : rest)
      if (!llvm::is_contained(found.dots, dot))
        found.dots.push_back(dot);
    // What stands in front of the first look at a result, and stays there.
    Operation *firstLook = firstUser(found.dots.front());
    for (DotOp dot : found.dots)
      if (!isLate(dot) && firstUser(dot)->isBeforeInBlock(firstLook))
        firstLook = firstUser(dot);
    for (unsigned number : found.late)
      for (Operation *user : loop.getRegionIterArg(number).getUsers())
        if (Operation *own = body->findAncestorOpInBlock(*user); own->isBeforeInBlock(firstLook))
          return std::nullopt;
    return found;
  }

private:
  bool isKept(Value operand) {
    if (!isa<SharedType>(operand.getType()))
      return true;
    return slots.tiles.contains(viewed(operand)) || !isMadeInLoop(viewed(operand));
  }
  bool isMadeInLoop(Value value) { return loop->isAncestor(value.getParentBlock()->getParentOp()); }

  // Handed on to the next iteration, and nothing else.
  bool isLate(DotOp dot) { return dot.getResult().hasOneUse() && *dot->user_begin() == body->getTerminator(); }
  unsigned handedOn(DotOp dot) {
    return llvm::find(loop.getYieldedValues(), dot.getResult()) - loop.getYieldedValues().begin();
  }

  Operation *firstUser(DotOp dot) {
    Operation *first = body->getTerminator();
    for (Operation *user : dot->getUsers())
      if (Operation *own = body->findAncestorOpInBlock(*user); own->isBeforeInBlock(first))
        first = own;
    return first;
  }

  bool dependsOnDot(Value value) {
    llvm::DenseSet<Operation *> seen;
    std::function<bool(Value)> depends = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != body || !seen.insert(op).second)
        return false;
      return isa<DotOp>(op) || llvm::any_of(op->getOperands(), depends);
    };
    return depends(value);
  }

  // Whether the operation may stand right behind the first dot, with all that it is made from; adds these, in the order
  // in which they are needed. Loads may: pipeline has asked that nothing in the loop writes memory.
  bool mayMove(Operation *op, llvm::SetVector<Operation *> &all) {
    llvm::SetVector<Operation *> moved = all;
    std::function<bool(Operation *)> add = [&](Operation *op) {
      if (!op || op->getBlock() != body || moved.contains(op))
        return true;
      bool isDot = isa<DotOp>(op), isWrite = isa<WriteOp>(op);
      bool isFill = isa<AllocateOp>(op) && slots.tiles.contains(op->getResult(0));
      if (op->getNumRegions() || !(isDot || isWrite || isFill || isPure(op) || slots.loads.contains(op)))
        return false;
      for (Value operand : op->getOperands()) {
        Operation *made = operand.getDefiningOp();
        if (isa_and_nonnull<DotOp>(made) && made->getBlock() == body)
          return false;
        if (auto argument = dyn_cast<BlockArgument>(operand); isDot && argument && argument.getOwner() == body)
          return false;
        if (!add(made))
          return false;
      }
      moved.insert(op);
      if (isFill)
        for (Operation *user : op->getUsers())
          if (isa<WriteOp>(user) && !add(user))
            return false;
      return true;
    };
    if (!add(op))
      return false;
    all = std::move(moved);
    return true;
  }

  scf::ForOp loop;
  Block *body;
  const LateDots::Slots &slots;
};

} // namespace

std::optional<LateDots> LateDots::find(scf::ForOp loop, const Slots &slots, const SoftwarePipelineOptions &options) {
  return Finder(loop, slots).find(options);
}

void LateDots::apply(scf::ForOp loop) {
  Block *body = loop.getBody();
  // Those that stand in front of the first dot stay there.
  Operation *behind = dots.front();
  for (Operation *op : moved)
    if (dots.front()->isBeforeInBlock(op)) {
      op->moveAfter(behind);
      behind = op;
    }
  OpBuilder b(loop);
  Location location = dots.front().getLoc();
  // In the order of the looks: each waits for its dot, and so for all before it.
  SmallVector<std::pair<Operation *, size_t>> looks;
  for (auto [number, dot] : llvm::enumerate(dots)) {
    dot.setAsync(true);
    Operation *first = body->getTerminator();
    for (Operation *user : dot->getUsers())
      if (Operation *own = body->findAncestorOpInBlock(*user); own->isBeforeInBlock(first))
        first = own;
    if (first != body->getTerminator())
      looks.emplace_back(first, number);
  }
  llvm::sort(looks, [](const auto &left, const auto &right) {
    return left.first == right.first ? left.second > right.second : left.first->isBeforeInBlock(right.first);
  });
  size_t waited = 0; // dots of this iteration
  bool isFirst = true;
  for (auto [user, number] : looks) {
    if (number < waited)
      continue;
    size_t started = llvm::count_if(dots, [&, user = user](DotOp dot) { return dot->isBeforeInBlock(user); });
    SmallVector<Value> values;
    for (size_t i = waited; i <= number; ++i)
      values.push_back(dots[i].getResult());
    if (isFirst)
      for (unsigned index : late)
        values.push_back(loop.getRegionIterArg(index));
    b.setInsertionPoint(user);
    auto pending = b.getI32IntegerAttr(static_cast<int32_t>(started - number - 1));
    auto wait = WaitDotsOp::create(b, location, ValueRange(values).getTypes(), pending, values);
    for (auto [value, done] : llvm::zip_equal(values, wait.getResults()))
      value.replaceUsesWithIf(done, [&, wait = wait](OpOperand &use) { return use.getOwner() != wait; });
    waited = number + 1;
    isFirst = false;
  }
  b.setInsertionPointAfter(loop);
  SmallVector<Value> results =
      llvm::map_to_vector(late, [&](unsigned index) -> Value { return loop.getResult(index); });
  auto end = WaitDotsOp::create(b, location, ValueRange(results).getTypes(), b.getI32IntegerAttr(0), results);
  for (auto [result, done] : llvm::zip_equal(results, end.getResults()))
    result.replaceAllUsesExcept(done, end);
}
