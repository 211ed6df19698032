// See LoopPlan.h.
#include "compiler/passes/gpu/LoopPlan.h"
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/ir/simt/Boxes.h"
#include "compiler/ir/simt/ShapeLayouts.h"
#include "compiler/passes/gpu/Clusters.h"
#include "compiler/passes/gpu/MatrixInstruction.h"
#include "compiler/passes/gpu/Scratch.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// Whether anything in the loop forbids that memory is read earlier than the text says.
static bool readsMayMove(scf::ForOp loop) {
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
static bool feedsDot(Value value, Block *body, llvm::DenseSet<Operation *> &seen) {
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

WriteOp nacre::simt::onlyWrite(Operation *load) {
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

// Whether what a block of a cluster loads is all that it needs of the tile, however its layout changes: it then reads the
// tile from its own memory.
static bool staysInBlock(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type)
    return true;
  if (!layoutOf(type).ofOneBlock())
    return false;
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (auto convert = dyn_cast<ConvertOp>(user))
      return layoutOf(convert).ofOneBlock() &&
             layoutOf(convert).basesOf(Place::Block) == layoutOf(type).basesOf(Place::Block);
    return !isShapeOperation(user) || llvm::all_of(user->getResults(), staysInBlock);
  });
}

// The layout in which the only one who uses the load wants it; none: as it is.
static std::optional<LinearLayout> readerOf(tile::LoadOp load) {
  auto only = [](Operation *op) { return op->hasOneUse() ? *op->user_begin() : nullptr; };
  Operation *user = only(load);
  auto permute = dyn_cast_or_null<tile::PermuteOp>(user);
  if (auto convert = dyn_cast_or_null<ConvertOp>(permute ? only(permute) : user))
    return permute ? operandLayout(permute, layoutOf(convert.getType())) : layoutOf(convert.getType());
  return std::nullopt;
}

// How a tile lies in a slot of its own: in rows along the axis of which threads have `count` neighbours. Readers of
// whole words that do not take pieces of these rows get their pieces in an order without bank conflicts.
static SharedType slotFor(tile::LoadOp load, unsigned axis, int64_t count) {
  auto type = cast<RankedTensorType>(load.getType());
  LinearLayout parts = layoutOf(type).parts();
  SmallVector<unsigned> bits = ownBits(layoutOf(type).axisBits(), parts), order{axis};
  for (unsigned other = type.getRank(); other-- > 0;)
    if (other != axis)
      order.push_back(other);
  unsigned elementBits = llvm::Log2_64(elementBytes(type.getElementType()));
  LinearLayout layout = sharedInRows(bits, order, elementBits);
  if (std::optional<LinearLayout> reader = readerOf(load)) {
    reader = reader->ofOneBlock();
    bool takesPieces =
        planSharedAccess(*reader, layout, elementBits, /*mayUseMatrices=*/true).kind != SharedAccessPlan::Kind::Words ||
        reader->contiguity(axis) >= count;
    if (!takesPieces && elementBits != 1)
      layout = sharedInRowsFor(*reader, bits, order, elementBits);
  }
  return SharedType::get(load.getContext(), type.getShape(), type.getElementType(),
                         LayoutAttr::get(load.getContext(), layout.product(parts)), 1);
}

// Whether neighbours that a thread copies at once lie side by side in the tile.
static bool keepsNeighbours(SharedType tile, const LinearLayout &whole, unsigned axis, int64_t count) {
  const LinearLayout layout = *whole.ofOneBlock();
  BitMatrix toOffset = *tile.getLayout().getValue().ofOneBlock()->matrix().inverse();
  SmallVector<unsigned> bits = layout.contiguousRegisters(axis);
  for (unsigned i = 0; i < llvm::Log2_64(count); ++i)
    if (i >= bits.size() || toOffset.apply(layout.basesOf(Place::Register)[bits[i]]) != uint32_t(1) << i)
      return false;
  return true;
}

// The tile that words are copied into; none: they cannot be.
static std::optional<SharedType> slotOfWords(tile::LoadOp load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile() || load.getCache() == tile::CacheModifier::CV || type.getElementType().isInteger(1))
    return std::nullopt;
  if (load.getOther() && !matchPattern(load.getOther(), m_AnyZeroFloat()) && !matchPattern(load.getOther(), m_Zero()) &&
      !planted(PlantedBug::CopyOther))
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

bool LoopPlan::addLoad(Operation *load, const SoftwarePipelineOptions &options) {
  Stage stage{load, {}, {}, {}, {}};
  SmallVector<Value> needs;
  if (!staysInBlock(load->getResult(0)))
    return false;
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
    stage.tile = boxTile(box.getMap(), layoutOf(box.getResult()));
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

// The dot's alone.
std::optional<OperandInParts> LoopPlan::operandInParts(DotOp dot) {
  auto type = dyn_cast<RankedTensorType>(dot.getA().getType());
  if (!type || type.getRank() != 2)
    return std::nullopt;
  OperandInParts operand{dot, dot.getA().getDefiningOp(), {}};
  auto isAlone = [&] {
    return operand.load && operand.load->hasOneUse() && operand.load->getBlock() == loop.getBody();
  };
  while (isAlone() && isa<ConvertOp, tile::PermuteOp>(operand.load)) {
    operand.isExchanged ^= isa<tile::PermuteOp>(operand.load) && cast<tile::PermuteOp>(operand.load).getOrder()[0] == 1;
    operand.between.push_back(operand.load);
    operand.load = operand.load->getOperand(0).getDefiningOp();
  }
  bool isOfPlan = isAlone() && llvm::any_of(stages, [&](const Stage &stage) { return stage.load == operand.load; });
  return isOfPlan ? std::optional(std::move(operand)) : std::nullopt;
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
static int64_t registersOf(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  return llvm::divideCeil(layoutOf(type).count(Place::Register) * elementBytes(type.getElementType()), 4);
}

// Sums that each iteration adds to and nothing in the loop looks at, of operands that lie in the rings, or come from
// there: all dots of the loop that the machine does while the threads go on, or none. Operands that are read ahead take
// registers twice.
void LoopPlan::findDotsUnderWay(const SoftwarePipelineOptions &options) {
  LateDots::Slots copied;
  for (const Stage &stage : stages) {
    copied.loads.insert(stage.load);
    if (WriteOp write = onlyWrite(stage.load); write && write.getTarget().getType() == stage.tile)
      copied.tiles.insert(write.getTarget());
  }
  const llvm::DenseSet<Value> &slots = copied.tiles;
  lateDots = LateDots::find(loop, copied, options);
  SmallVector<DotOp> dots;
  SmallVector<OperandAhead> ahead;
  SmallVector<OperandInParts> inParts;
  bool areAll = true;
  int64_t registers = 0;
  loop.getBody()->walk([&](DotOp dot) {
    if (!options.isAsync(dot.getInstruction()) || sumsInGroups(dot))
      return;
    auto argument = dyn_cast<BlockArgument>(dot.getAccumulator());
    bool isInSlot = slots.contains(viewed(dot.getA()));
    std::optional<OperandInParts> parts = isInSlot ? std::nullopt : operandInParts(dot);
    std::optional<OperandAhead> operand = isInSlot || parts ? std::nullopt : operandAhead(dot);
    registers += registersOf(dot.getResult());
    if (parts) {
      registers += registersOf(dot.getA());
      inParts.push_back(std::move(*parts));
    }
    if (operand) {
      registers += 2 * registersOf(dot.getA());
      ahead.push_back(std::move(*operand));
    }
    areAll &= dot->getBlock() == loop.getBody() && (isInSlot || parts || operand) &&
              slots.contains(viewed(dot.getB())) && argument && argument.getOwner() == loop.getBody() &&
              argument.hasOneUse() && dot.getResult().hasOneUse() &&
              loop.getYieldedValues()[argument.getArgNumber() - 1] == dot.getResult();
    dots.push_back(dot);
  });
  constexpr int64_t mostRegisters = 200; // of the 255 of a thread; addresses take the rest
  if (!areAll || (!(ahead.empty() && inParts.empty()) && registers > mostRegisters))
    return;
  dotsUnderWay = std::move(dots);
  operandsAhead = std::move(ahead);
  operandsInParts = std::move(inParts);
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

std::optional<LoopPlan> LoopPlan::make(scf::ForOp loop, const SoftwarePipelineOptions &options) {
  std::optional<int32_t> hint = tile::LoopHints::of(loop).numStages;
  int64_t stages = hint ? *hint : tile::LaunchOptions::of(loop->getParentOfType<ModuleOp>()).numStages.value_or(1);
  if (stages < 2 || (!readsMayMove(loop) && !planted(PlantedBug::LoadAheadOfStore)))
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
  int64_t room =
      options.sharedBytes - plan.bytesBesideRings() - bytesOfBarriers * static_cast<int64_t>(plan.stages.size());
  plan.slots = std::min({stages, room / bytes, mostSlots});
  if (plan.slots < 2)
    return std::nullopt;
  plan.findDotsUnderWay(options);
  plan.distance = plan.slots - 1;
  return plan;
}
