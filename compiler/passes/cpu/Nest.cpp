// The loops of a nest: levels, segments of the lane level, reductions carried through them. See Nest.h.
#include "compiler/passes/cpu/Nest.h"
#include "compiler/analysis/ReductionIdentity.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

Nest::Nest(Lowering &lowering, ArrayRef<int64_t> shape) : lowering(lowering), b(lowering.b), shape(shape) {
  for (size_t level = 0; level < shape.size(); ++level)
    order.push_back(level);
  lane = static_cast<int>(shape.size()) - 1;
  indices.resize(shape.size());
}

void Nest::runAlong(int level) {
  lane = level;
  llvm::erase(order, level);
  order.push_back(level);
  forgetForms();
}

void Nest::moveIndex(Value base, int64_t offset) {
  size_t inside = llvm::find(order, movedLevel) - order.begin() + 1;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(positions[inside].anchor);
    indices[movedLevel] = b.add(base, b.index(offset));
  }
  for (size_t position = inside; position < positions.size(); ++position)
    positions[position].known.clear();
}

Coordinates Nest::identity(int64_t rank) const {
  Coordinates coordinates;
  for (int64_t level = 0; level < rank; ++level)
    coordinates.push_back(level);
  return coordinates;
}

// ---- Positions: where code that depends on the loops so far is put.

void Nest::enter(size_t position) {
  positions[position].anchor = arith::ConstantOp::create(b, b.getBoolAttr(false));
  positions[position].known.clear();
}

void Nest::leave(size_t position) {
  positions[position].anchor->erase();
  positions[position].anchor = nullptr;
  positions[position].known.clear();
}

// ---- Widths

void Nest::chooseWidth() {
  // Cheap bodies take several registers at a time, for independent work in flight; costly ones would spill.
  bool many = lowering.target.registers >= 32;
  int64_t unroll = cost > 40 ? (many ? 2 : 1) : (many ? 4 : 2);
  int64_t lanes = std::max<int64_t>(1, lowering.target.vectorBytes / elementBytes * unroll);
  if (widthLimit)
    lanes = std::min(lanes, widthLimit);
  fullWidth = int64_t(1) << llvm::Log2_64(std::min(lanes, shape[lane]));
  if (fullWidth < narrowest)
    fullWidth = 1;
}

// ---- Loops

void Nest::emitLevel(size_t position) {
  enter(position);
  if (position + 1 >= order.size()) {
    emitInnermost();
  } else if (order[position] == lane) {
    emitLanes([&] { emitLevel(position + 1); });
  } else {
    emitIndexLoop(order[position], [&] { emitLevel(position + 1); });
  }
  leave(position);
}

void Nest::emitIndexLoop(int level, llvm::function_ref<void()> inner) {
  if (shape[level] == 1) {
    indices[level] = b.index(0);
    return inner();
  }
  int64_t step = level == movedLevel ? movedStep : 1;
  auto loop = scf::ForOp::create(b, b.index(0), b.index(shape[level] / step * step), b.index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[level] = loop.getInductionVar();
  inner();
}

// Runs `inner` for the lanes [from, to) in steps of `step`, carrying the reductions' accumulators.
void Nest::emitLaneLoop(Value from, Value to, int64_t step, const Segment &part, const std::function<void()> &inner) {
  llvm::SaveAndRestore within(segment, part);
  SmallVector<Value> carried;
  for (Reduction &reduction : reductions)
    carried.append(reduction.accumulators);
  auto loop = scf::ForOp::create(b, from, to, b.index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto assign = [&](ValueRange values) {
    size_t next = 0;
    for (Reduction &reduction : reductions)
      for (Value &accumulator : reduction.accumulators)
        accumulator = values[next++];
  };
  assign(loop.getRegionIterArgs());
  indices[lane] = loop.getInductionVar();
  width = step;
  inner();
  SmallVector<Value> results;
  for (Reduction &reduction : reductions)
    results.append(reduction.accumulators);
  if (!results.empty())
    scf::YieldOp::create(b, results);
  assign(loop.getResults());
}

// The lane level: in segments where the guards hold, lane by lane where one does not. One lane is always known exactly.
void Nest::emitLanes(const std::function<void()> &inner) {
  if (guards.empty() || fullWidth == 1)
    return emitLaneSegments(segment, inner);
  Value holds = guardsHold();
  if (Emit::known(holds) && Emit::isKnown(holds, -1))
    return emitLaneSegments(segment, inner);
  // Reductions over the lanes leave one number each, whichever way was taken.
  bool overLanes = !reductions.empty() && order.back() == lane;
  SmallVector<Type> types;
  for (Reduction &reduction : reductions)
    if (overLanes)
      for (Value operand : reduction.op->getOperands())
        types.push_back(registerType(getElementTypeOrSelf(operand.getType())));
  auto branch = scf::IfOp::create(b, types, holds, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  int64_t chosenWidth = fullWidth;
  for (bool guarded : {true, false}) {
    b.setInsertionPointToStart(guarded ? branch.thenBlock() : branch.elseBlock());
    // Without the guards lanes are taken one by one; those that are gathered anyway by vectors of wrapped numbers.
    bool isByVectors = !guarded && gathers && reductions.empty();
    width = fullWidth = guarded || isByVectors ? chosenWidth : 1;
    Segment base = segment;
    base.guardsHold = !isByVectors;
    for (Reduction &reduction : reductions) {
      reduction.accumulators.clear();
      reduction.scalars.clear();
      if (overLanes)
        startAccumulators(reduction);
    }
    emitLaneSegments(base, inner);
    SmallVector<Value> results;
    for (Reduction &reduction : reductions)
      if (overLanes)
        results.append(reduction.scalars);
    if (!types.empty())
      scf::YieldOp::create(b, results);
  }
  fullWidth = chosenWidth;
  size_t next = 0;
  for (Reduction &reduction : reductions) {
    reduction.accumulators.clear();
    for (Value &scalar : reduction.scalars)
      scalar = branch.getResult(next++);
  }
}

// So few gathers stand one after the other, each where the one before it had lanes: their sums can stay in registers
// (PlaceScratch.h).
static constexpr int64_t fewSteps = 4;

void Nest::emitFewSteps(int64_t end, Value beyond, const std::function<void()> &inner) {
  OpBuilder::InsertionGuard guard(b);
  for (int64_t start = 0; start < end; start += fullWidth) {
    if (beyond) {
      Value hasLanes = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, b.index(start), beyond);
      b.setInsertionPointToStart(scf::IfOp::create(b, TypeRange{}, hasLanes, /*withElse=*/false).thenBlock());
    }
    indices[lane] = b.index(start);
    width = fullWidth;
    inner();
  }
}

void Nest::emitLaneSegments(Segment base, const std::function<void()> &inner) {
  llvm::SaveAndRestore within(segment, base);
  const bool mayAssume = base.guardsHold && fullWidth > 1; // what is assumable rests on the guards
  auto isRun = [](const Assumable &entry) { return entry.kind == Assumable::Kind::Run; };
  if (mayAssume && llvm::any_of(assumable, isRun))
    return emitRuns(base, inner);
  Segment holding = base, failing = base;
  holding.assumption = Segment::Assumption::Holds;
  failing.assumption = Segment::Assumption::Fails;
  int64_t extent = shape[lane];
  int64_t whole = extent / fullWidth * fullWidth;
  // How many lanes, from the first, every assumable check holds for, and from which on none does.
  Value limit, beyond;
  bool onlyBounds = llvm::all_of(assumable, [](Assumable &entry) { return entry.kind == Assumable::Kind::Bound; });
  if (mayAssume && !assumable.empty()) {
    limit = b.index(extent);
    beyond = b.index(0);
    for (Assumable &entry : assumable) {
      entry.count = probe(entry);
      limit = b.minSigned(limit, entry.count);
      if (entry.kind == Assumable::Kind::Bound)
        beyond = b.maxSigned(beyond, b.minSigned(entry.count, b.index(extent)));
    }
    limit = b.maxSigned(limit, b.index(0));
  }

  Value next = b.index(0);
  bool peel = llvm::any_of(reductions, [&](Reduction &r) { return r.accumulators.empty(); });
  if (peel) {
    indices[lane] = next;
    width = fullWidth;
    inner();
    next = b.index(fullWidth);
  }
  bool endsAtBounds = limit && isIdleBeyondBounds(), isIdle = endsAtBounds && onlyBounds;
  bool areFew = gathers && reductions.empty() && whole <= fewSteps * fullWidth;
  if (isIdle && areFew) {
    emitFewSteps(whole, beyond, inner);
    next = b.index(whole);
  } else if (isIdle && gathers) {
    // One loop with masks up to the last lane: a gather takes as long with masks as without, and only one loop exit is
    // mispredicted.
    Value end = arith::AndIOp::create(b, b.add(beyond, b.index(fullWidth - 1)), b.index(~(fullWidth - 1)));
    emitLaneLoop(next, b.minSigned(end, b.index(whole)), fullWidth, base, inner);
    next = b.index(whole);
  } else if (limit) {
    Value end = b.constant(b.getI64Type(), ~(fullWidth - 1));
    end = arith::AndIOp::create(b, b.minSigned(limit, b.index(whole)), end);
    end = b.maxSigned(end, next);
    emitLaneLoop(next, end, fullWidth, holding, inner);
    next = end;
    bool wraps = llvm::any_of(assumable, [](Assumable &entry) {
      return entry.kind == Assumable::Kind::Remainder || entry.kind == Assumable::Kind::Stepwise;
    });
    if (wraps && reductions.empty()) {
      emitBeyondWrap(next, endsAtBounds ? b.minSigned(beyond, b.index(whole)) : b.index(whole), base, inner);
      next = b.index(whole);
    } else if (whole > fullWidth && onlyBounds && !Emit::known(beyond)) {
      Value aligned = arith::AndIOp::create(b, b.add(beyond, b.index(fullWidth - 1)), b.index(~(fullWidth - 1)));
      Value end = b.maxSigned(b.minSigned(aligned, b.index(whole)), next);
      emitLaneLoop(next, end, fullWidth, base, inner);
      if (!isIdle)
        emitLaneLoop(end, b.index(whole), fullWidth, failing, inner);
      next = b.index(whole);
    }
  }
  if (!Emit::isKnown(next, whole)) {
    if (Emit::isKnown(next, 0) && whole == fullWidth) { // one step: no loop
      indices[lane] = next;
      width = fullWidth;
      inner();
    } else if (Emit::isKnown(next, 0) && areFew) {
      emitFewSteps(whole, {}, inner);
    } else {
      emitLaneLoop(next, b.index(whole), fullWidth, base, inner);
    }
  }
  // What is left, in pieces of halving width. A reduction over the lanes is finished piece by piece.
  bool overLanes = !reductions.empty() && order.back() == lane;
  if (overLanes)
    finishLanes();
  for (int64_t start = whole; start < extent; start += width) {
    indices[lane] = b.index(start);
    width = int64_t(1) << llvm::Log2_64(std::min(extent - start, fullWidth));
    if (width < narrowest)
      width = 1;
    for (Reduction &reduction : reductions)
      if (overLanes)
        reduction.accumulators.clear();
    inner();
    if (overLanes)
      finishLanes();
  }
}

// The lanes [next, last), most of them one by one.
void Nest::emitBeyondWrap(Value next, Value last, const Segment &base, const std::function<void()> &inner) {
  auto isBound = [](Assumable &entry) { return entry.kind == Assumable::Kind::Bound; };
  auto entry = llvm::find_if_not(assumable, isBound);
  bool alone = llvm::count_if(assumable, isBound) + 1 == static_cast<int64_t>(assumable.size());
  if (alone && entry->kind == Assumable::Kind::Remainder) {
    Value mask = b.index(~(fullWidth - 1));
    Value first = arith::AndIOp::create(b, b.add(entry->count, b.index(fullWidth - 1)), mask);
    first = b.maxSigned(b.minSigned(first, last), next);
    Value second = b.minSigned(b.add(entry->count, b.toI64(entry->divisor)), last);
    Value negative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sle, entry->count, b.index(0)); // it has wrapped before
    Value end = arith::AndIOp::create(b, b.select(negative, b.index(0), second), mask);
    end = b.maxSigned(end, first);
    Segment wrapped = base;
    wrapped.assumption = Segment::Assumption::Wrapped;
    emitLaneLoop(next, first, 1, base, inner);
    emitLaneLoop(first, end, fullWidth, wrapped, inner);
    next = end;
  }
  emitLaneLoop(next, last, 1, base, inner);
}

void Nest::emitInnermost() {
  size_t body = order.size();
  auto runBody = [&] {
    enter(body);
    emitBody();
    leave(body);
  };
  for (Reduction &reduction : reductions) {
    reduction.accumulators.clear();
    reduction.scalars.clear();
  }
  int level = order.back();
  if (level == lane) {
    width = fullWidth;
    for (Reduction &reduction : reductions)
      startAccumulators(reduction);
    emitLanes(runBody);
    for (Reduction &reduction : reductions)
      reduction.accumulators = reduction.scalars;
    width = 1;
  } else {
    int64_t from = 0;
    for (Reduction &reduction : reductions)
      startAccumulators(reduction);
    if (llvm::any_of(reductions, [](Reduction &r) { return r.accumulators.empty(); })) {
      indices[level] = b.index(0);
      runBody();
      from = 1;
    }
    if (from < shape[level]) {
      SmallVector<Value> carried;
      for (Reduction &reduction : reductions)
        carried.append(reduction.accumulators);
      auto loop = scf::ForOp::create(b, b.index(from), b.index(shape[level]), b.index(1), carried);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      indices[level] = loop.getInductionVar();
      size_t next = 0;
      for (Reduction &reduction : reductions)
        for (Value &accumulator : reduction.accumulators)
          accumulator = loop.getRegionIterArgs()[next++];
      runBody();
      SmallVector<Value> results;
      for (Reduction &reduction : reductions)
        results.append(reduction.accumulators);
      if (!results.empty())
        scf::YieldOp::create(b, results);
      next = 0;
      for (Reduction &reduction : reductions)
        for (Value &accumulator : reduction.accumulators)
          accumulator = loop.getResults()[next++];
    }
  }
  writeReductions();
}

void Nest::emitBody() {
  if (customBody)
    return customBody(*this);
  // Values wait for the end of the step to be written: members still to come may read what they overwrite. Those that
  // fill the registers are written before; they would only be spilled, and LLVM takes more than linear time for that.
  const int64_t registerBytes = lowering.target.registers * lowering.target.vectorBytes;
  int64_t waitingBytes = 0;
  size_t waiting = 0, written = 0; // of writeBacks, which stand in the members' order
  auto writeWaiting = [&](bool isEnd) {
    for (; written < waiting; ++written) {
      auto &[value, buffer] = writeBacks[written];
      Lanes lanes = evaluate(value, identity(shape.size()));
      // A tile that is overwritten is read first, for the members still to come.
      auto found = lowering.destinations.find(value);
      if (!isEnd && found != lowering.destinations.end() && found->second.second.pointer == buffer.pointer)
        evaluate(found->second.first, identity(shape.size()));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(positions.back().anchor);
      writeBuffer(buffer, lanes, identity(shape.size()));
    }
    waitingBytes = 0;
  };
  for (Operation *member : members) {
    if (auto store = dyn_cast<tile::StoreOp>(member)) {
      Coordinates coordinates = identity(shape.size());
      std::optional<Lanes> mask;
      if (store.getMask())
        mask = evaluate(store.getMask(), coordinates);
      if (mask && mask->isUniform() && Emit::isKnown(mask->value, 0))
        continue;
      Lanes pointer = evaluate(store.getPointer(), coordinates);
      Lanes value = evaluate(store.getValue(), coordinates);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(positions.back().anchor);
      Type element = getElementTypeOrSelf(store.getValue().getType());
      Value streaming = lowering.isStreaming(store);
      if (streaming && hasShortRows(byteSize(element))) { // else the next rows would be fetched to be overwritten
        Value kept = arith::XOrIOp::create(b, streaming, b.constant(b.getI1Type(), 1));
        auto branch = scf::IfOp::create(b, TypeRange{}, kept, /*withElse=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        prefetchNext(store.getPointer(), store.getPointer(), pointer, coordinates, /*isWrite=*/true);
      }
      this->store(element, pointer, value, mask, streaming);
      continue;
    }
    if (isa<tile::ReduceOp>(member)) {
      for (Reduction &reduction : reductions)
        if (reduction.op == member)
          accumulate(reduction);
      continue;
    }
    evaluate(member->getResult(0), identity(shape.size()));
    for (; waiting < writeBacks.size() && writeBacks[waiting].first.getDefiningOp() == member; ++waiting)
      waitingBytes += width * byteSize(writeBacks[waiting].second.element);
    if (waitingBytes > registerBytes)
      writeWaiting(/*isEnd=*/false);
  }
  writeWaiting(/*isEnd=*/true);
}

// ---- Reductions

void Nest::startAccumulators(Reduction &reduction) {
  auto op = cast<tile::ReduceOp>(reduction.op);
  Type type = op.getCombine().front().getArgument(0).getType();
  bool isSmall = isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32; // not a number in registers
  TypedAttr identity = isSmall ? TypedAttr() : reductionIdentity(op.getCombine());
  if (!identity)
    return; // started by the first elements
  Value value = arith::ConstantOp::create(b, identity);
  reduction.accumulators.push_back(width > 1 ? b.splat(value, width) : value);
}

void Nest::accumulate(Reduction &reduction) {
  auto op = cast<tile::ReduceOp>(reduction.op);
  SmallVector<Lanes> lanes;
  for (Value operand : op.getOperands())
    lanes.push_back(evaluate(operand, identity(shape.size())));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(positions.back().anchor);
  SmallVector<Value> values;
  for (auto [operand, lane] : llvm::zip(op.getOperands(), lanes))
    values.push_back(vectorOf(lane, getElementTypeOrSelf(operand.getType())));
  if (reduction.accumulators.empty()) {
    reduction.accumulators = values;
    return;
  }
  SmallVector<Value> arguments = reduction.accumulators;
  arguments.append(values);
  reduction.accumulators = lowering.combine(op.getCombine(), arguments);
}

// Folds the lanes of each accumulator into one, and that into what earlier segments left.
void Nest::finishLanes() {
  for (Reduction &reduction : reductions) {
    auto op = cast<tile::ReduceOp>(reduction.op);
    SmallVector<Value> values = reduction.accumulators;
    for (int64_t half = width / 2; half >= 1; half /= 2) {
      SmallVector<Value> arguments;
      for (int64_t part : {int64_t(0), half})
        for (Value value : values)
          arguments.push_back(half == 1 ? b.lane(value, part) : b.slice(value, part, half));
      values = lowering.combine(op.getCombine(), arguments);
    }
    if (!reduction.scalars.empty()) {
      SmallVector<Value> arguments = reduction.scalars;
      arguments.append(values);
      values = lowering.combine(op.getCombine(), arguments);
    }
    reduction.scalars = values;
  }
}

void Nest::writeReductions() {
  for (Reduction &reduction : reductions) {
    auto op = cast<tile::ReduceOp>(reduction.op);
    for (auto [result, value] : llvm::zip(op.getResults(), reduction.accumulators)) {
      const Buffer *buffer = lowering.buffer(result);
      if (!buffer) {
        lowering.scalars[result] = value;
        continue;
      }
      Coordinates coordinates;
      for (size_t level = 0; level < shape.size(); ++level)
        if (level != op.getAxis())
          coordinates.push_back(level);
      bool varies = width > 1 && static_cast<int>(op.getAxis()) != lane;
      writeBuffer(*buffer, varies ? Lanes::varying(value) : Lanes::uniform(value), coordinates);
    }
  }
}

// ---- Entry points

void Nest::emitGroup(ArrayRef<Operation *> group) {
  members.assign(group.begin(), group.end());
  for (Operation *member : members)
    for (Value result : member->getResults()) {
      if (isa<tile::ReduceOp>(member))
        continue;
      if (const Buffer *buffer = lowering.buffer(result))
        writeBacks.push_back({result, *buffer});
    }
  // While the loops are emitted the members are computed, not read back.
  for (auto &[value, buffer] : writeBacks)
    lowering.drop(value);
  std::optional<int> axis;
  for (Operation *member : members)
    if (auto reduce = dyn_cast<tile::ReduceOp>(member)) {
      axis = reduce.getAxis();
      reductions.push_back({member, {}, {}});
    }
  if (axis) { // the reduced axis is innermost
    llvm::erase(order, *axis);
    order.push_back(*axis);
  }
  forgetForms();
  layWriteBacks();
  turnLoads();
  if (members.empty())
    return;
  for (Operation *member : members) {
    if (auto store = dyn_cast<tile::StoreOp>(member))
      requireGuardsOfAccess(store.getPointer(), store.getMask(), identity(shape.size()));
    if (auto load = dyn_cast<tile::LoadOp>(member)) {
      requireGuardsOfAccess(load.getPointer(), load.getMask(), identity(shape.size()));
      // A gather takes as long for lanes that are masked; steps of one register leave most of those out.
      if (classify(load.getPointer(), identity(shape.size())).kind == Lanes::Kind::Varying) {
        int64_t lanes = lowering.target.vectorBytes / 4;
        widthLimit = widthLimit ? std::min(widthLimit, lanes) : lanes;
        gathers = true;
      }
    }
    for (Value operand : member->getOperands())
      if (isTile(operand))
        collectAssumable(operand, identity(shape.size()));
    cost += 1;
  }
  // A check is made once a row, outside the lanes: it cannot look at an index that moves inside them.
  if (axis && *axis != lane)
    llvm::erase_if(assumable, [&](const Assumable &entry) {
      return dependencies(entry.value, entry.coordinates) & (1u << *axis);
    });
  settleRemainders();
  chooseWidth();
  positions.resize(order.size() + 1);
  emitLevel(0);
  for (auto &[value, buffer] : writeBacks)
    lowering.place(value, buffer);
}

Lanes Nest::evaluateAlone(Value value, const Coordinates &coordinates) {
  assert(shape.size() == 1 && "an edge");
  positions.resize(order.size() + 1);
  enter(0);
  Lanes lanes = evaluateRow(value, coordinates);
  leave(0);
  return lanes;
}

bool Nest::hasRows(Value pointer, Value mask) {
  Coordinates coordinates = identity(shape.size());
  Form line = classify(pointer, coordinates), bound = mask ? classify(mask, coordinates) : Form();
  return (line.kind == Lanes::Kind::Uniform || line.kind == Lanes::Kind::Linear) && !line.assumes &&
         (bound.kind == Lanes::Kind::Uniform || bound.kind == Lanes::Kind::Prefix) && !bound.assumes;
}

void Nest::emitRows(Value pointer, Value mask, RowBody body) {
  assert(order.back() == lane && hasRows(pointer, mask) && "rows along the lanes");
  Coordinates coordinates = identity(shape.size());
  forgetForms();
  requireGuardsOfAccess(pointer, mask, coordinates);
  width = fullWidth = shape[lane];
  positions.resize(order.size() + 1);
  std::function<void(size_t)> emit = [&](size_t position) {
    enter(position);
    if (order[position] != lane) {
      emitIndexLoop(order[position], [&] { emit(position + 1); });
    } else {
      Value holds = guards.empty() ? Value() : guardsHold();
      Lanes row = evaluateRow(pointer, coordinates);
      body(row, mask ? std::optional(evaluateRow(mask, coordinates)) : std::nullopt, holds);
    }
    leave(position);
  };
  emit(0);
}

void Nest::settleLoops(const Body &body, ArrayRef<Value> evaluated, int64_t maxWidth) {
  customBody = body;
  widthLimit = maxWidth;
  forgetForms();
  for (Value value : evaluated)
    collectAssumable(value, identity(shape.size()));
  settleRemainders();
  chooseWidth();
}

int64_t Nest::widthOfLoops(const Body &body, ArrayRef<Value> evaluated, int64_t maxWidth) {
  settleLoops(body, evaluated, maxWidth);
  return fullWidth;
}

void Nest::emitLoops(const Body &body, ArrayRef<Value> evaluated, int64_t maxWidth) {
  settleLoops(body, evaluated, maxWidth);
  positions.resize(order.size() + 1);
  emitLevel(0);
}
