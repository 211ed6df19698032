// Which axis of a tile the lanes run along.
//
// Lanes run along the last axis, unless more of what a group reads and writes lies in neighbouring places along another
// one: a column of a matrix that is summed, an axis of extent 1 at the end of a tile. Then the loops are turned. That
// is legal where no two elements of a store have the same place, since those are written in the order of the tile;
// loads and values have no order. What still lies along another axis than the lanes, half of a transposition, goes
// through squares in registers (Turned.h).
#include "compiler/passes/cpu/Turned.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

std::optional<int64_t> Nest::strideAlong(Value pointer, int axis, bool mayAssume) {
  int before = lane;
  lane = axis;
  forgetForms();
  Form form = classify(pointer, identity(shape.size()));
  lane = before;
  forgetForms();
  if (form.kind == Lanes::Kind::Uniform)
    return 0;
  return form.kind == Lanes::Kind::Linear && (mayAssume || !form.assumes) ? form.stride : std::nullopt;
}

// Whether no two elements are stored to the same place: each axis steps over all that those with smaller steps span.
bool Nest::storesEachPlaceOnce(tile::StoreOp store) {
  int64_t size = byteSize(getElementTypeOrSelf(store.getValue().getType()));
  SmallVector<std::pair<int64_t, int64_t>> steps; // in bytes, and how many
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (extent == 1)
      continue;
    std::optional<int64_t> stride = strideAlong(store.getPointer(), static_cast<int>(axis));
    if (!stride)
      return false;
    steps.push_back({std::abs(*stride), extent});
  }
  llvm::sort(steps);
  int64_t span = size;
  for (auto [step, extent] : steps) {
    if (step < span || step > std::numeric_limits<int32_t>::max())
      return false;
    span = step * extent;
  }
  return true;
}

bool Nest::hasNeighbours(Value pointer, Type element) {
  Form form = classify(pointer, identity(shape.size()));
  return form.kind == Lanes::Kind::Uniform || (form.kind == Lanes::Kind::Linear && form.stride &&
                                               (*form.stride == 0 || std::abs(*form.stride) == byteSize(element)));
}

// What the group's accesses without neighbours along the lanes cost, of users' memory and of scratch memory. What a
// store writes goes through scratch memory twice.
int64_t Nest::costOfAccesses() {
  int64_t count = 0;
  Coordinates own = identity(shape.size());
  auto lookAt = [&](Value pointer, Type element, int64_t cost) { count += hasNeighbours(pointer, element) ? 0 : cost; };
  auto lookAtBuffer = [&](const Buffer &buffer, const Coordinates &coordinates) {
    auto axis = llvm::find(coordinates, lane);
    count += axis != coordinates.end() && buffer.strides[axis - coordinates.begin()] != 1 ? 2 : 0;
  };
  SmallVector<std::pair<Value, Coordinates>> pending;
  DenseSet<Key> seen;
  for (Operation *member : members) {
    if (auto store = dyn_cast<tile::StoreOp>(member))
      lookAt(store.getPointer(), getElementTypeOrSelf(store.getValue().getType()), 2);
    if (auto load = dyn_cast<tile::LoadOp>(member))
      lookAt(load.getPointer(), getElementTypeOrSelf(load.getType()), 1);
    for (Value operand : member->getOperands())
      pending.emplace_back(operand, own);
  }
  for (auto &[value, buffer] : writeBacks)
    lookAtBuffer(buffer, own);
  while (!pending.empty()) {
    auto [value, place] = pending.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!isTile(value) || !seen.insert({value, encode(place)}).second)
      continue;
    auto load = value.getDefiningOp<tile::LoadOp>();
    if (const Buffer *buffer = bufferOf(value, place)) {
      lookAtBuffer(*buffer, place);
    } else if (load && lowering.isReadAgain(load) && place == own) {
      lookAt(load.getPointer(), getElementTypeOrSelf(load.getType()), 1);
    } else if (op && movesElements(op)) {
      pending.emplace_back(op->getOperand(0), operandCoordinates(op, place));
    } else if (op && isElementwise(op) && !llvm::is_contained(members, op)) {
      for (Value operand : op->getOperands())
        pending.emplace_back(operand, place);
    }
  }
  return count;
}

void Nest::chooseLane(ArrayRef<Operation *> group) {
  if (shape.size() == 1)
    return;
  members.assign(group.begin(), group.end());
  std::optional<int> reduced;
  for (Operation *member : members) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(member)) {
      reduced = reduce.getAxis();
      continue;
    }
    for (Value result : member->getResults()) // a carried tile has its place
      if (auto found = lowering.destinations.find(result); found != lowering.destinations.end())
        writeBacks.push_back({result, found->second.second});
  }
  const SmallVector<int> natural(order);
  auto turn = [&](int axis) {
    order.assign(natural.begin(), natural.end());
    runAlong(axis);
    if (reduced) { // it is innermost
      llvm::erase(order, *reduced);
      order.push_back(*reduced);
    }
  };
  const int last = lane;
  turn(last);
  int chosen = last;
  int64_t least = shape[last] >= narrowest ? costOfAccesses() : std::numeric_limits<int64_t>::max();
  for (int axis = last - 1; axis >= 0 && least > 0; --axis) {
    if (shape[axis] < narrowest)
      continue;
    turn(axis);
    int64_t cost = costOfAccesses();
    if (cost < least) {
      least = cost;
      chosen = axis;
    }
  }
  turn(last);
  // Where all other axes have extent 1 the order is the same.
  bool isOnlyAxis = llvm::count_if(shape, [](int64_t extent) { return extent > 1; }) == 1;
  auto mayTurn = [&](Operation *member) {
    auto store = dyn_cast<tile::StoreOp>(member);
    return !store || storesEachPlaceOnce(store);
  };
  if (chosen != last && (isOnlyAxis || llvm::all_of(members, mayTurn)))
    turn(chosen);
}

// Tiles that later loops read lie along the lanes too, where nothing else has settled how they lie.
void Nest::layWriteBacks() {
  for (auto &[value, buffer] : writeBacks)
    if (!lowering.plan.isForced(value) && !lowering.destinations.contains(value))
      buffer.layAlong(lane);
}

// Loads along another axis than the lanes are copied first, and then no members any more. A group's loads come before
// its stores, so they may run earlier.
void Nest::turnLoads() {
  SmallVector<Operation *> remaining;
  for (Operation *member : members) {
    auto load = dyn_cast<tile::LoadOp>(member);
    std::optional<int> along = load && lowering.recompute.mayRun(load) ? turnedAxis(*this, load) : std::nullopt;
    auto kept = llvm::find_if(writeBacks, [&](auto &entry) { return entry.first.getDefiningOp() == member; });
    if (!along || (kept != writeBacks.end() && kept->second.strides[lane] != 1)) {
      remaining.push_back(member);
      continue;
    }
    Buffer target;
    if (kept != writeBacks.end()) {
      target = kept->second;
      writeBacks.erase(kept);
    } else {
      target = lowering.allocate(cast<RankedTensorType>(load.getType()), load->getBlock());
      target.layAlong(lane);
    }
    lowering.note(load, ", first transposed from axis " + Twine(*along));
    copyTurned(lowering, load, target, *along, lane);
    lowering.hold(load.getResult(), target);
  }
  members.assign(remaining.begin(), remaining.end());
  forgetForms();
}
