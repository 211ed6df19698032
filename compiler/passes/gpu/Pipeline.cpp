// See Pipeline.h.
#include "compiler/passes/gpu/Pipeline.h"
#include "compiler/ir/gpu/Boxes.h"
#include "compiler/ir/gpu/ShapeLayouts.h"
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/passes/gpu/LateDots.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/passes/gpu/SharedAccesses.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

namespace {

// ---- What may be loaded ahead

// One load, and where it goes.
struct Stage {
  Operation *load;
  SharedType tile; // one slot
  Value ring, barriers;
  // Of boxes: bytes that its copy announces to the barriers; 0: they are those of a load before it, whose copy
  // announces them and who is waited for.
  int64_t expected = 0;

  int64_t bytes() const { return ShapedType::getNumElements(tile.getShape()) * elementBytes(tile.getElementType()); }
};

// An operand in registers of a dot under way: read from the rings an iteration before its dot.
struct OperandAhead {
  DotOp dot;
  llvm::SetVector<Operation *> loads, operations; // what it is made from, in the order of the text
};

// The loads of a loop that are made ahead, and what is computed for them.
struct LoopPlan {
  scf::ForOp loop;
  SmallVector<Stage> stages;
  llvm::SetVector<Operation *> slice;      // operations of the body that make addresses, in the order of the text
  llvm::SetVector<unsigned> carried;       // carried values that these need
  std::optional<LateDots> lateDots;        // the last one of which runs on into the next iteration
  SmallVector<DotOp> dotsUnderWay;         // that may be waited for an iteration later
  SmallVector<OperandAhead> operandsAhead; // of these
  int64_t slots = 0;                       // of a ring
  int64_t distance = 0;                    // iterations ahead
  bool hasWords = false, hasBoxes = false;

  static std::optional<LoopPlan> make(scf::ForOp loop, const PipelineOptions &options, int64_t sharedBytes);

private:
  bool addLoad(Operation *load, const PipelineOptions &options);
  bool addSlice(Value value, llvm::SetVector<Operation *> &operations, llvm::SetVector<unsigned> &arguments);
  void findDotsUnderWay(const PipelineOptions &options);
  std::optional<OperandAhead> operandAhead(DotOp dot);
  int64_t bytesBesideRings() const;
};

// Whether anything in the loop forbids that memory is read earlier than the text says.
bool readsMayMove(scf::ForOp loop) {
  WalkResult result = loop.getBody()->walk([](Operation *op) {
    if (isa<tile::StoreOp, tile::AtomicRmwOp, tile::AtomicCasOp, tile::BarrierOp, StoreBoxOp, scf::WhileOp,
            tile::InlineAsmOp, tile::ExternalCallOp>(op))
      return WalkResult::interrupt();
    auto load = dyn_cast<tile::LoadOp>(op);
    return load && load.getIsVolatile() ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

// Whether the value goes into a product of the loop, through operations on its elements or its shape.
bool feedsDot(Value value, Block *body, llvm::DenseSet<Operation *> &seen) {
  for (Operation *user : value.getUsers()) {
    if (user->getBlock() != body || !seen.insert(user).second)
      continue;
    if (isa<tile::DotOp, DotOp>(user))
      return true;
    if (auto write = dyn_cast<WriteOp>(user)) {
      if (feedsDot(write.getTarget(), body, seen))
        return true;
      continue;
    }
    bool goesOn = isElementwise(user) || isShapeOperation(user) || isa<ConvertOp, ReadOp, PermuteOp>(user);
    if (goesOn && llvm::any_of(user->getResults(), [&](Value result) { return feedsDot(result, body, seen); }))
      return true;
  }
  return false;
}

// The write of the load's result, in this layout or another, into a tile that nothing else fills, where that is all
// that is done with the result: the ring takes the tile's place.
WriteOp onlyWrite(Operation *load) {
  Value result = load->getResult(0);
  auto user = [&] { return result.hasOneUse() ? *result.getUsers().begin() : nullptr; };
  if (auto convert = dyn_cast_or_null<ConvertOp>(user()))
    result = convert.getResult();
  auto write = dyn_cast_or_null<WriteOp>(user());
  if (!write || write->getBlock() != load->getBlock())
    return {};
  auto allocation = write.getTarget().getDefiningOp<AllocateOp>();
  if (!allocation)
    return {};
  for (Operation *user : allocation->getUsers())
    if (user != write && (isa<WriteOp>(user) || user->getBlock() != load->getBlock() || !write->isBeforeInBlock(user)))
      return {};
  return write;
}

// How a tile lies in a slot of its own: in rows along the axis of which threads have `count` neighbours. Readers of
// whole words that do not take pieces of these rows get their pieces in an order without bank conflicts.
SharedType slotFor(tile::LoadOp load, unsigned axis, int64_t count) {
  auto type = cast<RankedTensorType>(load.getType());
  SmallVector<unsigned> bits = LinearLayout::paddedBits(type.getShape()), order{axis};
  for (unsigned other = type.getRank(); other-- > 0;)
    if (other != axis)
      order.push_back(other);
  unsigned elementBits = llvm::Log2_64(elementBytes(type.getElementType()));
  LinearLayout layout = sharedInRows(bits, order, elementBits);
  if (auto convert = load->hasOneUse() ? dyn_cast<ConvertOp>(*load->user_begin()) : ConvertOp()) {
    const LinearLayout &reader = layoutOf(convert.getType());
    bool takesPieces =
        planSharedAccess(reader, layout, elementBits, /*mayUseMatrices=*/true).kind != SharedAccessPlan::Kind::Words ||
        reader.contiguity(axis) >= count;
    if (!takesPieces && elementBits >= 2)
      layout = sharedInRowsFor(reader, bits, order, elementBits);
  }
  return SharedType::get(load.getContext(), type.getShape(), type.getElementType(),
                         LayoutAttr::get(load.getContext(), layout), 1);
}

// Whether neighbours that a thread copies at once lie side by side in the tile.
bool keepsNeighbours(SharedType tile, const LinearLayout &layout, unsigned axis, int64_t count) {
  BitMatrix toOffset = *tile.getLayout().getValue().matrix().inverse();
  SmallVector<unsigned> bits = layout.contiguousRegisters(axis);
  for (unsigned i = 0; i < llvm::Log2_64(count); ++i)
    if (i >= bits.size() || toOffset.apply(layout.basesOf(Place::Register)[bits[i]]) != uint32_t(1) << i)
      return false;
  return true;
}

// The tile that words are copied into; none: they cannot be.
std::optional<SharedType> slotOfWords(tile::LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV || type.getElementType().isInteger(1))
    return std::nullopt;
  if (load.getOther() && !matchPattern(load.getOther(), m_AnyZeroFloat()) && !matchPattern(load.getOther(), m_Zero()))
    return std::nullopt;
  unsigned axis = type.getRank() - 1;
  int64_t count = 1;
  if (auto vector = load->getAttrOfType<DenseI32ArrayAttr>(vectorAttribute))
    axis = vector[0], count = vector[1];
  int64_t bytes = count * elementBytes(type.getElementType());
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return std::nullopt;
  WriteOp write = onlyWrite(load);
  if (write && keepsNeighbours(write.getTarget().getType(), layoutOf(type), axis, count))
    return write.getTarget().getType();
  SharedType tile = slotFor(load, axis, count);
  if (!keepsNeighbours(tile, layoutOf(type), axis, count))
    return std::nullopt;
  return tile;
}

bool LoopPlan::addSlice(Value value, llvm::SetVector<Operation *> &operations, llvm::SetVector<unsigned> &arguments) {
  Block *body = loop.getBody();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != body || argument == loop.getInductionVar())
      return argument.getOwner() == body || !loop->isProperAncestor(argument.getOwner()->getParentOp());
    unsigned index = argument.getArgNumber() - 1;
    return !arguments.insert(index) || addSlice(loop.getYieldedValues()[index], operations, arguments);
  }
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op) || operations.contains(op))
    return true;
  if (op->getBlock() != body || op->getNumRegions() != 0 || !isPure(op))
    return false;
  for (Value operand : op->getOperands())
    if (!addSlice(operand, operations, arguments))
      return false;
  operations.insert(op);
  return true;
}

bool LoopPlan::addLoad(Operation *load, const PipelineOptions &options) {
  Stage stage{load, {}, {}, {}};
  SmallVector<Value> needs;
  if (auto words = dyn_cast<tile::LoadOp>(load)) {
    std::optional<SharedType> tile = options.copiesWords ? slotOfWords(words) : std::nullopt;
    if (!tile)
      return false;
    stage.tile = *tile;
    needs.push_back(words.getPointer());
    if (words.getMask())
      needs.push_back(words.getMask());
  } else {
    auto box = cast<LoadBoxOp>(load);
    stage.tile = boxTile(box.getMap());
    llvm::append_range(needs, box.getCoordinates());
  }
  llvm::SetVector<Operation *> operations = slice;
  llvm::SetVector<unsigned> arguments = carried;
  for (Value value : needs)
    if (!addSlice(value, operations, arguments))
      return false;
  slice = std::move(operations);
  carried = std::move(arguments);
  (isa<tile::LoadOp>(load) ? hasWords : hasBoxes) = true;
  stages.push_back(stage);
  return true;
}

// An operand of whole words that is made from nothing but loads of the plan, for nothing but the dot. Boxes of a loop
// that runs again are awaited once each, also by iterations that do not exist: they are not read ahead.
std::optional<OperandAhead> LoopPlan::operandAhead(DotOp dot) {
  auto type = dyn_cast<RankedTensorType>(dot.getA().getType());
  if (!type || slots < 3 || elementBytes(type.getElementType()) != 4)
    return std::nullopt;
  OperandAhead operand{dot, {}, {}};
  bool isRepeated = static_cast<bool>(loop->getParentOfType<LoopLikeOpInterface>());
  std::function<bool(Value)> add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return cast<BlockArgument>(value).getOwner() != loop.getBody();
    if (!loop->isProperAncestor(op) || operand.loads.contains(op) || operand.operations.contains(op))
      return true;
    if (llvm::any_of(stages, [&](const Stage &stage) { return stage.load == op; }))
      return operand.loads.insert(op) && (isa<tile::LoadOp>(op) || !isRepeated);
    if (op->getBlock() != loop.getBody() || op->getNumRegions() != 0 || !isPure(op) ||
        !llvm::all_of(op->getOperands(), add))
      return false;
    return operand.operations.insert(op);
  };
  if (!add(dot.getA()) || operand.loads.empty())
    return std::nullopt;
  for (const auto &operations : {operand.loads, operand.operations})
    for (Operation *op : operations)
      for (Operation *user : op->getUsers())
        if (user != dot && !operand.operations.contains(user))
          return std::nullopt;
  return dot.getB() == dot.getA() ? std::nullopt : std::optional(std::move(operand));
}

// Registers of a thread that the tile takes.
int64_t registersOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return llvm::divideCeil(layoutOf(type).count(Place::Register) * elementBytes(type.getElementType()), 4);
}

// Sums that each iteration adds to and nothing in the loop looks at, of operands that lie in the rings, or come from
// there: all dots of the loop that the machine does while the threads go on, or none. Operands that are read ahead take
// registers twice.
void LoopPlan::findDotsUnderWay(const PipelineOptions &options) {
  llvm::DenseSet<Value> slots;
  for (const Stage &stage : stages)
    if (WriteOp write = onlyWrite(stage.load); write && write.getTarget().getType() == stage.tile)
      slots.insert(write.getTarget());
  lateDots = LateDots::find(loop, slots, options.isAsync);
  SmallVector<DotOp> dots;
  SmallVector<OperandAhead> ahead;
  bool areAll = true;
  int64_t registers = 0;
  loop.getBody()->walk([&](DotOp dot) {
    if (!options.isAsync || !options.isAsync(dot.getInstruction()))
      return;
    auto argument = dyn_cast<BlockArgument>(dot.getAccumulator());
    bool isInSlot = slots.contains(viewed(dot.getA()));
    std::optional<OperandAhead> operand = isInSlot ? std::nullopt : operandAhead(dot);
    registers += registersOf(dot.getResult());
    if (operand) {
      registers += 2 * registersOf(dot.getA());
      ahead.push_back(std::move(*operand));
    }
    areAll &= dot->getBlock() == loop.getBody() && (isInSlot || operand) && slots.contains(viewed(dot.getB())) &&
              argument && argument.getOwner() == loop.getBody() && argument.hasOneUse() &&
              dot.getResult().hasOneUse() && loop.getYieldedValues()[argument.getArgNumber() - 1] == dot.getResult();
    dots.push_back(dot);
  });
  constexpr int64_t mostRegisters = 200; // of the 255 of a thread; addresses take the rest
  if (!areAll || (!ahead.empty() && registers > mostRegisters))
    return;
  dotsUnderWay = std::move(dots);
  operandsAhead = std::move(ahead);
}

// Shared memory that is in use in the loop besides the rings: tiles, the operations' own scratch, barriers.
int64_t LoopPlan::bytesBesideRings() const {
  llvm::DenseSet<Value> replaced;
  for (const Stage &stage : stages)
    if (WriteOp write = onlyWrite(stage.load); write && write.getTarget().getType() == stage.tile)
      replaced.insert(write.getTarget());
  int64_t tiles = 0, scratch = 0, barriers = 0;
  loop->getParentOfType<func::FuncOp>().walk([&](Operation *op) {
    if (auto allocation = dyn_cast<AllocateOp>(op)) {
      bool isUsed = llvm::any_of(usersOf(allocation), [&](Operation *user) { return loop->isProperAncestor(user); });
      if (isUsed && !replaced.contains(allocation))
        tiles += llvm::alignTo(allocation.getType().totalBytes(), allocation.getType().alignment());
    }
    if (auto allocation = dyn_cast<AllocateBarriersOp>(op))
      barriers += 8 * allocation.getType().getCount();
    if (loop->isProperAncestor(op))
      scratch = std::max(scratch, scratchOf(op).bytes);
  });
  return tiles + (scratch == 0 ? 0 : std::max(scratch, scratchBesideOne)) + barriers;
}

std::optional<LoopPlan> LoopPlan::make(scf::ForOp loop, const PipelineOptions &options, int64_t sharedBytes) {
  std::optional<int32_t> hint = tile::LoopHints::of(loop).numStages;
  int64_t stages = hint ? *hint : tile::LaunchOptions::of(loop->getParentOfType<ModuleOp>()).numStages.value_or(1);
  if (stages < 2 || !readsMayMove(loop))
    return std::nullopt;
  LoopPlan plan;
  plan.loop = loop;
  for (Operation &op : *loop.getBody()) {
    if (!isa<tile::LoadOp, LoadBoxOp>(op) || !isa<RankedTensorType>(op.getResult(0).getType()))
      continue;
    llvm::DenseSet<Operation *> seen;
    if (hint || feedsDot(op.getResult(0), loop.getBody(), seen))
      plan.addLoad(&op, options);
  }
  int64_t bytes = 0;
  for (const Stage &stage : plan.stages)
    bytes += stage.tile.stageBytes();
  if (bytes == 0)
    return std::nullopt;
  constexpr int64_t mostSlots = 32, bytesOfBarriers = 8 * mostSlots;
  int64_t room = sharedBytes - plan.bytesBesideRings() - bytesOfBarriers * static_cast<int64_t>(plan.stages.size());
  plan.slots = std::min({stages, room / bytes, mostSlots});
  if (plan.slots < 2)
    return std::nullopt;
  plan.findDotsUnderWay(options);
  plan.distance = plan.slots - 1;
  return plan;
}

// ---- The loop

class Rewrite {
public:
  explicit Rewrite(LoopPlan &plan)
      : plan(plan), loop(plan.loop), isRepeated(loop->getParentOfType<LoopLikeOpInterface>()), b(plan.loop),
        location(plan.loop.getLoc()) {}
  void run();

private:
  // The values of an iteration ahead: what its addresses need.
  struct Ahead {
    Value induction, exists;    // its induction variable; whether there is such an iteration
    SmallVector<Value> carried; // in the order of plan.carried
    Value slot;
    SmallVector<Value> all() const {
      SmallVector<Value> values{induction, exists, slot};
      llvm::append_range(values, carried);
      return values;
    }
    static Ahead of(ValueRange values) {
      return {values[0], values[1], SmallVector<Value>(values.drop_front(3)), values[2]};
    }
  };

  Value number(int64_t value) { return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value)); }
  Value nextSlot(Value slot, Value *wraps = nullptr);
  bool areTogether(const Stage &first, const Stage &second);
  void allocate();
  Ahead copyAhead(const Ahead &ahead);
  void replaceLoad(const Stage &stage, Value slot, Value phase);
  void awaitWords(int64_t pending);
  SmallVector<Value> leaveUnderWay();
  SmallVector<Value> waitForDots(MutableArrayRef<Value> sums, int64_t pending, ValueRange operands = {});
  SmallVector<Value> readOperands(Value slot, Value phase);
  SmallVector<Value> readFirstOperands(Value exists);
  void takeOperands(ValueRange operands);

  LoopPlan &plan;
  scf::ForOp loop;
  const bool isRepeated; // it stands in another loop
  OpBuilder b;
  Location location;
};

Value Rewrite::nextSlot(Value slot, Value *wraps) {
  Value next = arith::AddIOp::create(b, location, slot, number(1));
  Value isLast = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, next, number(plan.slots));
  if (wraps)
    *wraps = isLast;
  return arith::SelectOp::create(b, location, isLast, number(0), next);
}

// Whether nothing but loads of the plan, and what they are put into, stands between two of them: they are needed at the
// same time.
bool Rewrite::areTogether(const Stage &first, const Stage &second) {
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
void Rewrite::allocate() {
  Stage *leader = nullptr;
  for (Stage &stage : plan.stages) {
    stage.ring = AllocateOp::create(b, location, stage.tile.withStages(plan.slots));
    if (!isa<LoadBoxOp>(stage.load))
      continue;
    if (leader && areTogether(*leader, stage)) {
      stage.barriers = leader->barriers;
      leader->expected += stage.bytes();
      continue;
    }
    leader = &stage;
    stage.barriers = AllocateBarriersOp::create(b, location, BarriersType::get(b.getContext(), plan.slots)).getResult();
    stage.expected = stage.bytes();
  }
}

// Starts the copies of an iteration, and gives the values of the one after it.
Rewrite::Ahead Rewrite::copyAhead(const Ahead &ahead) {
  IRMapping map;
  // Beside dots under way, which leave no time, each copy's address is computed from what the loop carries. A variable
  // of the loop for each of them, as LLVM would have it, is moved before it is counted up, since the copy reads it
  // late: one copy then waits for the other.
  bool isUrgent = plan.hasWords && !plan.dotsUnderWay.empty() && plan.operandsAhead.empty();
  auto opaque = [&](Value value) -> Value {
    bool isNumber = value.getType().isSignlessInteger(32) || value.getType().isSignlessInteger(64);
    return isUrgent && isNumber ? OpaqueOp::create(b, location, value.getType(), value).getResult() : value;
  };
  map.map(loop.getInductionVar(), opaque(ahead.induction));
  for (auto [index, value] : llvm::zip_equal(plan.carried, ahead.carried))
    map.map(loop.getRegionIterArg(index), opaque(value));
  for (Operation *op : plan.slice)
    b.clone(*op, map);
  for (const Stage &stage : plan.stages) {
    Value tile = SlotOp::create(b, location, stage.tile, stage.ring, ahead.slot);
    if (auto load = dyn_cast<tile::LoadOp>(stage.load)) {
      Value mask = load.getMask() ? map.lookupOrDefault(load.getMask()) : Value();
      auto copy = CopyOp::create(b, load.getLoc(), map.lookupOrDefault(load.getPointer()), tile, mask, ahead.exists);
      if (Attribute vector = load->getAttr(vectorAttribute))
        copy->setAttr(vectorAttribute, vector);
    } else {
      auto box = cast<LoadBoxOp>(stage.load);
      SmallVector<Value> coordinates;
      for (Value coordinate : box.getCoordinates())
        coordinates.push_back(map.lookupOrDefault(coordinate));
      CopyBoxOp::create(b, box.getLoc(), box.getMap(), coordinates, tile, stage.barriers, ahead.slot, ahead.exists,
                        b.getI64IntegerAttr(stage.expected));
    }
  }
  if (plan.hasWords)
    CommitCopiesOp::create(b, location);
  // While there is an iteration, its distance to the upper bound is known without overflow.
  Ahead next;
  Value left = arith::SubIOp::create(b, location, loop.getUpperBound(), ahead.induction);
  Value isMore = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, left, loop.getStep());
  next.exists = arith::AndIOp::create(b, location, ahead.exists, isMore);
  next.induction = arith::AddIOp::create(b, location, ahead.induction, loop.getStep());
  for (unsigned index : plan.carried)
    next.carried.push_back(map.lookupOrDefault(loop.getYieldedValues()[index]));
  next.slot = nextSlot(ahead.slot);
  return next;
}

// The load becomes a read of its slot, in every layout that is wanted; or its slot takes the place of the tile that it
// was put into.
void Rewrite::replaceLoad(const Stage &stage, Value slot, Value phase) {
  b.setInsertionPoint(stage.load);
  // A loop that runs again goes on with the phases where it ended, which the barriers' own waits count.
  if (stage.expected)
    AwaitOp::create(b, stage.load->getLoc(), stage.barriers, slot, isRepeated ? Value() : phase);
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
}

// The thread's copies for this iteration are done, and seen by the dots that read past the threads.
void Rewrite::awaitWords(int64_t pending) {
  if (!plan.hasWords)
    return;
  WaitCopiesOp::create(b, location, static_cast<uint32_t>(pending));
  bool arePastThreads = false;
  loop.getBody()->walk([&](DotOp dot) {
    arePastThreads |= isa<SharedType>(dot.getA().getType()) || isa<SharedType>(dot.getB().getType());
  });
  if (arePastThreads)
    FenceOp::create(b, location, /*global=*/false);
}

// The dots' sums, waited for behind the loop. Goes on behind the last dot.
SmallVector<Value> Rewrite::leaveUnderWay() {
  b.setInsertionPointAfter(loop);
  for (DotOp dot : plan.dotsUnderWay) {
    unsigned index = cast<BlockArgument>(dot.getAccumulator()).getArgNumber() - 1;
    dot.setAsync(true);
    Value result = loop.getResult(index);
    auto last =
        WaitDotsOp::create(b, location, TypeRange{result.getType()}, b.getI32IntegerAttr(0), ValueRange{result});
    result.replaceAllUsesExcept(last.getResult(0), last);
  }
  b.setInsertionPointAfter(plan.dotsUnderWay.back());
  return llvm::map_to_vector(plan.dotsUnderWay, [](DotOp dot) -> Value { return dot.getResult(); });
}

// Gives the operands that dots had in registers.
SmallVector<Value> Rewrite::waitForDots(MutableArrayRef<Value> sums, int64_t pending, ValueRange operands) {
  auto count = b.getI32IntegerAttr(static_cast<int32_t>(pending));
  SmallVector<Value> all(sums);
  llvm::append_range(all, operands);
  auto wait = WaitDotsOp::create(b, location, ValueRange(all).getTypes(), count, all);
  for (auto [sum, waited] : llvm::zip(sums, wait.getResults()))
    sum.replaceAllUsesExcept(waited, wait);
  return wait.getResults().drop_front(sums.size());
}

// The operands that dots take from registers, of the iteration whose tiles are in the slot.
SmallVector<Value> Rewrite::readOperands(Value slot, Value phase) {
  SmallVector<Value> operands;
  for (OperandAhead &operand : plan.operandsAhead) {
    IRMapping map;
    llvm::DenseMap<Operation *, Value> tiles;
    for (const Stage &stage : plan.stages) {
      if (!operand.loads.contains(stage.load))
        continue;
      if (stage.barriers)
        AwaitOp::create(b, stage.load->getLoc(), stage.barriers, slot, phase);
      Value tile = tiles[stage.load] = SlotOp::create(b, stage.load->getLoc(), stage.tile, stage.ring, slot);
      bool isReadAsItIs = llvm::any_of(stage.load->getUsers(), [](Operation *user) { return !isa<ConvertOp>(user); });
      if (Value result = stage.load->getResult(0); isReadAsItIs)
        map.map(result, ReadOp::create(b, stage.load->getLoc(), result.getType(), tile).getResult());
    }
    for (Operation *op : operand.operations) {
      Operation *source = isa<ConvertOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
      if (Value tile = tiles.lookup(source))
        map.map(op->getResult(0), ReadOp::create(b, op->getLoc(), op->getResult(0).getType(), tile).getResult());
      else
        b.clone(*op, map);
    }
    operands.push_back(map.lookup(operand.dot.getA()));
  }
  return operands;
}

// Those of the first iteration, before the loop; nothing in particular if there is none.
SmallVector<Value> Rewrite::readFirstOperands(Value exists) {
  if (plan.operandsAhead.empty())
    return {};
  awaitWords(plan.distance - 1);
  BarrierOp::create(b, location, /*warp=*/false);
  SmallVector<Type> types =
      llvm::map_to_vector(plan.operandsAhead, [](OperandAhead &operand) { return operand.dot.getA().getType(); });
  auto branch = scf::IfOp::create(b, location, types, exists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, location, readOperands(number(0), number(0)));
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> nothing = llvm::map_to_vector(
      types, [&](Type type) -> Value { return arith::ConstantOp::create(b, location, b.getZeroAttr(type)); });
  scf::YieldOp::create(b, location, nothing);
  return branch.getResults();
}

// The dots take operands that were read before; what made them is gone.
void Rewrite::takeOperands(ValueRange operands) {
  for (auto [operand, value] : llvm::zip_equal(plan.operandsAhead, operands))
    operand.dot.getAMutable().set(value);
  for (const OperandAhead &operand : plan.operandsAhead) {
    for (Operation *op : llvm::reverse(operand.operations))
      op->erase();
    for (Operation *load : operand.loads)
      load->erase();
    llvm::erase_if(plan.stages, [&](const Stage &stage) { return operand.loads.contains(stage.load); });
  }
}

void Rewrite::run() {
  allocate();
  Ahead first;
  first.induction = loop.getLowerBound();
  auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  first.exists = arith::CmpIOp::create(b, location, below, loop.getLowerBound(), loop.getUpperBound());
  for (unsigned index : plan.carried)
    first.carried.push_back(loop.getInitArgs()[index]);
  first.slot = number(0);
  if (isRepeated) // everybody has read the slots of the time before
    BarrierOp::create(b, location, /*warp=*/false);
  auto prologue = scf::ForOp::create(b, location, number(0), number(plan.distance), number(1), first.all());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(prologue.getBody());
    Ahead next = copyAhead(Ahead::of(prologue.getRegionIterArgs()));
    scf::YieldOp::create(b, location, next.all());
  }

  // The loop again, with more values.
  SmallVector<Value> initial(loop.getInitArgs());
  unsigned own = initial.size();
  llvm::append_range(initial, prologue.getResults());
  initial.push_back(number(0)); // the slot of this iteration, and the phase of its barriers
  initial.push_back(number(0));
  unsigned operandsFrom = initial.size();
  llvm::append_range(initial, readFirstOperands(first.exists));
  auto made = scf::ForOp::create(b, location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), initial,
                                 /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = made.getBody();
  if (!body->empty())
    body->back().erase();
  ValueRange operands = made.getRegionIterArgs().drop_front(operandsFrom);
  ValueRange more = made.getRegionIterArgs().drop_front(own).drop_back(operands.size());
  Ahead ahead = Ahead::of(more.drop_back(2));
  Value slot = more[more.size() - 2], phase = more.back();

  Block *old = loop.getBody();
  old->getArgument(0).replaceAllUsesWith(made.getInductionVar());
  for (unsigned i = 0; i < own; ++i)
    old->getArgument(i + 1).replaceAllUsesWith(made.getRegionIterArg(i));
  body->getOperations().splice(body->end(), old->getOperations());
  loop.replaceAllUsesWith(made.getResults().take_front(own));
  loop->erase();
  loop = made;

  // The slot that is filled next is the one of the iteration before. Its readers are done when the threads have met:
  // before this iteration's dots are started, or, where those of the iteration before were still under way, after.
  bool areUnderWay = !plan.dotsUnderWay.empty(), readsAhead = !plan.operandsAhead.empty();
  b.setInsertionPointToStart(body);
  if (!readsAhead)
    awaitWords(plan.distance - 1);
  if (!readsAhead && (plan.hasWords || !(areUnderWay || plan.lateDots)))
    BarrierOp::create(b, location, /*warp=*/false);
  SmallVector<Value> sums;
  if (areUnderWay) {
    sums = leaveUnderWay();
    if (readsAhead) // the tiles of the next iteration are there
      awaitWords(plan.distance - 2);
    else
      waitForDots(sums, static_cast<int64_t>(sums.size()));
    BarrierOp::create(b, location, /*warp=*/false);
  } else if (plan.lateDots) {
    plan.lateDots->apply(loop);
    b.setInsertionPoint(plan.lateDots->last); // long behind the wait: nobody waits for those who were later
    BarrierOp::create(b, location, /*warp=*/false);
  }
  Ahead next = copyAhead(ahead);
  Value wraps, following = nextSlot(slot, &wraps);
  Value other = arith::XOrIOp::create(b, location, phase, number(1));
  Value flipped = arith::SelectOp::create(b, location, wraps, other, phase);
  SmallVector<Value> nextOperands;
  if (readsAhead) {
    // The last iteration reads its own tiles again. Registers that the dots read are theirs until they have been waited
    // for: what is read goes into others, which the select keeps apart.
    Value left = arith::SubIOp::create(b, location, loop.getUpperBound(), loop.getInductionVar());
    Value isMore = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, left, loop.getStep());
    SmallVector<Value> read = readOperands(arith::SelectOp::create(b, location, isMore, following, slot),
                                           arith::SelectOp::create(b, location, isMore, flipped, phase));
    SmallVector<Value> held = waitForDots(sums, 0, operands);
    for (auto [there, here] : llvm::zip_equal(read, held))
      nextOperands.push_back(arith::SelectOp::create(b, location, isMore, there, here));
  }
  auto yield = cast<scf::YieldOp>(body->getTerminator());
  SmallVector<Value> yielded(yield.getOperands());
  llvm::append_range(yielded, next.all());
  yielded.push_back(following);
  yielded.push_back(flipped);
  llvm::append_range(yielded, nextOperands);
  yield->setOperands(yielded);
  takeOperands(operands);
  for (const Stage &stage : plan.stages)
    replaceLoad(stage, slot, phase);
}

// ---- The pass

struct Pipeline : PassWrapper<Pipeline, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Pipeline)
  explicit Pipeline(const PipelineOptions &options) : options(options) {}

  StringRef getArgument() const override { return "pipeline"; }
  StringRef getDescription() const override { return "Loads of later iterations while an iteration computes"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, scf::SCFDialect, GpuDialect>();
  }

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); }); // the innermost first
    for (scf::ForOp loop : loops)
      if (std::optional<LoopPlan> plan = LoopPlan::make(loop, options, options.sharedBytes))
        Rewrite(*plan).run();
  }

  const PipelineOptions options;
};

} // namespace

std::unique_ptr<Pass> nacre::gpu::createPipeline(const PipelineOptions &options) {
  return std::make_unique<Pipeline>(options);
}
