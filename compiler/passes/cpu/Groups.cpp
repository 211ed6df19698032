// Tile operations that run in one loop nest: which of them may, what of theirs is kept in memory and where, and which
// stores leave the group. See Lowering.h.
#include "compiler/ir/cpu/Cpu.h"
#include "compiler/passes/cpu/Lowering.h"
#include "compiler/passes/cpu/Nest.h"
#include "compiler/passes/cpu/Turned.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

// ---- Who joins

static ArrayRef<int64_t> iterationShape(Operation *op) {
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return tile::shapeOf(store.getValue().getType());
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return tile::shapeOf(reduce.getOperands().front().getType());
  return tile::shapeOf(op->getResult(0).getType());
}

// Whether evaluating `value` at the group's own coordinates reads something the pending group computes in a way that
// must wait: a reduction's result, or an element of another place.
bool Lowering::readsPending(Value value, bool identity) const {
  if (buffer(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (llvm::is_contained(group, op))
    return isa<tile::ReduceOp>(op) || !identity;
  if (!isTile(value))
    return false;
  if (plan.place(op) != Place::Virtual)
    return false;
  if (isa<tile::SplatOp>(op)) // a scalar: it may be a reduction's
    return op->getOperand(0).getDefiningOp() && llvm::is_contained(group, op->getOperand(0).getDefiningOp());
  bool same = identity && isElementwise(op);
  return llvm::any_of(op->getOperands(), [&](Value operand) { return readsPending(operand, same); });
}

bool Lowering::joins(Operation *op) const {
  if (group.empty())
    return true;
  if (iterationShape(op) != iterationShape(group.front()))
    return false;
  bool hasStore = llvm::any_of(group, [](Operation *member) { return isa<tile::StoreOp>(member); });
  if (isa<tile::LoadOp>(op) && hasStore && !planted(PlantedBug::LoadJoinsStore))
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op); load && load.getIsVolatile())
    return false;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    for (Operation *member : group)
      if (auto other = dyn_cast<tile::ReduceOp>(member); other && other.getAxis() != reduce.getAxis())
        return false;
  // A value whose definition needs a scalar of the group cannot be computed inside its loops either.
  return llvm::none_of(op->getOperands(), [&](Value operand) { return readsPending(operand, true); });
}

// ---- A group becomes loops

void Lowering::note(Operation *op, const Twine &text) {
  if (notes)
    (*notes)[op] += text.str();
}

// Stores along another axis than the lanes of their group are emitted by themselves, in their turn.
Lowering::Step Lowering::nextStep(ArrayRef<Operation *> rest) {
  Nest nest(*this, iterationShape(rest.front()));
  nest.chooseLane(rest);
  std::optional<int> axis;
  ArrayRef<Operation *> together = rest.take_until([&](Operation *member) {
    axis = isa<tile::StoreOp>(member) ? turnedAxis(nest, member) : std::nullopt;
    return axis.has_value();
  });
  return {together, nest.lane, axis};
}

void Lowering::flush() {
  SmallVector<Operation *> members;
  std::swap(members, group);
  for (ArrayRef<Operation *> rest = members; !rest.empty();) {
    Step step = nextStep(rest);
    rest = rest.drop_front(step.together.size());
    if (!step.together.empty())
      emitTogether(step);
    if (!step.storeAxis)
      continue;
    auto store = cast<tile::StoreOp>(rest.front());
    note(store, ", by itself, transposed from axis " + Twine(step.lane) + " to axis " + Twine(*step.storeAxis));
    b.setLoc(store.getLoc());
    lowerTurnedStore(store, step.lane, *step.storeAxis);
    done.insert(store);
    releaseDead(store->getBlock());
    rest = rest.drop_front();
  }
}

Lowering::Kept Lowering::keptAs(Value result, ArrayRef<Operation *> members, int lane) {
  Operation *member = result.getDefiningOp();
  auto isOutside = [&](Operation *reader) { return !llvm::is_contained(members, reader); };
  if (!isTile(result))
    return Kept::Not;
  bool isKept = plan.isForced(result) || isa<tile::ReduceOp>(member) ||
                llvm::any_of(readersAnew(result, member->getBlock()), isOutside);
  if (!isKept)
    return Kept::Not;
  if (canReadAgain(member, lane))
    return Kept::ReadAgain;
  return destinationInPlace(result, members) ? Kept::InPlace : Kept::InMemory;
}

void Lowering::emitTogether(const Step &step) {
  ArrayRef<Operation *> members = step.together;
  Block *block = members.front()->getBlock();
  SmallVector<BlockArgument> overwritten;
  for (Operation *member : members) {
    note(member, ", loops " + Twine(nestCount) + " along axis " + Twine(step.lane));
    for (Value result : member->getResults())
      switch (keptAs(result, members, step.lane)) {
      case Kept::Not:
        break;
      case Kept::ReadAgain:
        note(member, ", read again");
        readAgain.insert(member);
        break;
      case Kept::InPlace: {
        note(member, ", in place");
        auto &[argument, buffer] = destinations.find(result)->second;
        hold(result, Buffer(buffer));
        overwritten.push_back(argument);
        break;
      }
      case Kept::InMemory:
        note(member, ", in memory");
        hold(result, allocate(cast<RankedTensorType>(result.getType()), block));
        break;
      }
  }
  ++nestCount;
  // Loads that each reader runs anew have nothing to do here.
  if (!llvm::all_of(members, [&](Operation *member) { return readAgain.contains(member); })) {
    b.setLoc(members.front()->getLoc());
    Nest nest(*this, iterationShape(members.front()));
    if (step.lane != nest.lane)
      nest.runAlong(step.lane);
    nest.emitGroup(members);
  }
  done.insert(members.begin(), members.end());
  for (BlockArgument argument : overwritten)
    drop(argument);
  releaseDead(block);
}

// Contiguous memory that nobody writes in the meantime is as good as a copy of it.
bool Lowering::canReadAgain(Operation *op, int lane) {
  auto load = dyn_cast<tile::LoadOp>(op);
  if (!load || load.getIsVolatile() || plan.isForced(load.getResult()))
    return false;
  Nest nest(*this, iterationShape(op));
  if (lane != nest.lane)
    nest.runAlong(lane);
  Coordinates coordinates = nest.identity(nest.shape.size());
  if (!nest.readsNeighbours(load.getResult(), coordinates) ||
      (load.getMask() && !nest.holdsForPrefix(load.getMask(), coordinates)))
    return false;
  if (!recompute.mayRun(load))
    return false;
  Operation *last = op;
  for (Operation *reader : plan.readers(load.getResult(), op->getBlock())) {
    if (plan.place(reader) != Place::Pinned || reader->getBlock() != op->getBlock())
      return false;
    if (last->isBeforeInBlock(reader))
      last = reader;
  }
  if (last != op && !isUnchangedBetween(op, last) && !planted(PlantedBug::ReadAgainPastStore))
    return false;
  return readsOwnElement(load.getResult()) || !sharesLoopsWithStore(last) || planted(PlantedBug::ReadAgainElsewhere);
}

// Whether all that reads the tile looks only at the element it is computing: no broadcast, no transposition.
bool Lowering::readsOwnElement(Value tile) const {
  SmallVector<Value> pending{tile};
  DenseSet<Value> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (plan.place(user) == Place::Pinned)
        continue;
      if (!isElementwise(user))
        return false;
      for (Value result : user->getResults())
        if (seen.insert(result).second)
          pending.push_back(result);
    }
  return true;
}

// Whether a store runs in the loops that compute `op`: what one of their steps writes, a later step may read.
bool Lowering::sharesLoopsWithStore(Operation *op) const {
  ArrayRef<int64_t> shape = iterationShape(op);
  for (; op; op = op->getNextNode()) {
    Place place = plan.place(op);
    if (place == Place::Virtual || place == Place::Deferred || (place == Place::Scalar && isMemoryEffectFree(op)))
      continue;
    if (place != Place::Pinned || iterationShape(op) != shape)
      return false;
    if (isa<tile::StoreOp>(op))
      return true;
  }
  return false;
}

// A value handed to the next iteration may overwrite the carried tile it replaces when each read of that tile is over,
// or is made now, by the loops that write, and looks only at the element being written. What is virtual reads when, and
// where, its own readers do: whether the walk has passed it says nothing.
bool Lowering::canWriteInPlace(BlockArgument argument, ArrayRef<Operation *> now) {
  Block *block = argument.getOwner();
  struct Read {
    Value value;
    bool ownElement; // it looks at the element of the carried tile that it computes
  };
  SmallVector<Read> pending{{argument, true}};
  DenseSet<std::pair<Value, unsigned>> seen;
  while (!pending.empty()) {
    Read read = pending.pop_back_val();
    if (!seen.insert({read.value, read.ownElement}).second)
      continue;
    for (OpOperand &use : read.value.getUses()) {
      Operation *user = use.getOwner(), *ancestor = block->findAncestorOpInBlock(*user);
      assert(ancestor && "a carried tile is read in its loop");
      Place place = plan.place(user);
      // A product reads an element of its accumulator where it writes the sum, and those of its operands anywhere.
      auto product = dyn_cast<MultiplyOp>(user);
      bool summed = product && &use == &product.getAccumulatorMutable();
      bool ownElement = read.ownElement && isElementwise(user);
      if (place == Place::Virtual || place == Place::Deferred) {
        for (Value result : user->getResults())
          pending.push_back({result, ownElement});
        continue;
      }
      if (llvm::is_contained(now, user)) {
        if ((!read.ownElement || (product && !summed)) && !planted(PlantedBug::InPlaceOtherElement))
          return false;
        continue;
      }
      if (!done.contains(ancestor) && !planted(PlantedBug::InPlaceStillRead))
        return false;
      // It is over, unless its result is the same memory, or is evaluated anew by an operation still to come.
      for (Value result : user->getResults())
        if (const Buffer *view = buffer(result); view && view->pointer == buffer(argument)->pointer)
          pending.push_back({result, false});
      if (readAgain.contains(user) && isStillRead(user->getResult(0), block))
        return false;
    }
  }
  return true;
}

std::optional<Buffer> Lowering::destinationInPlace(Value value, ArrayRef<Operation *> now) {
  auto found = destinations.find(value);
  if (found == destinations.end())
    return std::nullopt;
  auto &[argument, buffer] = found->second;
  if (value.getParentBlock() != argument.getOwner() || !canWriteInPlace(argument, now))
    return std::nullopt;
  return buffer;
}
