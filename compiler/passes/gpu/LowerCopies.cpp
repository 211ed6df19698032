// Copies by the hardware: of boxes, which one thread starts and which complete on barriers, and of words, which every
// thread starts for itself.
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/ir/simt/Boxes.h"
#include "compiler/passes/gpu/Exchange.h"
#include "compiler/passes/gpu/OverlapDots.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// ---- Boxes

static constexpr int64_t barrierBytes = 8;

// The barriers are ready before anything else happens: a copy may be the first thing.
LogicalResult Lowering::lowerAllocateBarriers(AllocateBarriersOp op) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryMarker);
  Value base = scratch(op);
  define(op, base);
  int64_t arrivals = op.getReleased() ? block.warps : 1;
  for (int64_t i = 0; i < op.getType().getCount(); ++i)
    machine.boxCopies()->initBarrier(b, byteOffset(base, i32(i * barrierBytes)), arrivals, isFirstThreadOfBlock());
  needsEntryBarrier = true;
  return success();
}

Value Lowering::barrierAt(Value barriers, Value index) {
  Value base = scalar(barriers);
  if (cast<BarriersType>(barriers.getType()).getCount() == 1)
    return base;
  return byteOffset(base, LLVM::MulOp::create(b, scalar(index), i32(barrierBytes)));
}

// Where the block's part of a tile begins in the array, whose place the tile has at `coordinates`.
static SmallVector<Value> startOfPart(Lowering &lowering, OperandRange coordinates, SharedType tile) {
  const LinearLayout &layout = tile.getLayout().getValue();
  LinearLayout part(layout.axisBits());
  for (int64_t threads = 1; threads < lowering.block.lanes; threads *= 2)
    part.add(Place::Lane, 0);
  for (int64_t warps = 1; warps < lowering.block.warps; warps *= 2)
    part.add(Place::Warp, 0);
  for (uint32_t basis : layout.basesOf(Place::Block))
    part.add(Place::Block, basis);
  SmallVector<Value> start;
  for (auto [axis, coordinate] : llvm::enumerate(coordinates)) {
    Value value = lowering.scalar(coordinate);
    start.push_back(layout.isSplitOverBlocks(axis)
                        ? LLVM::AddOp::create(lowering.b, value, lowering.coordinate(part, 0, axis)).getResult()
                        : value);
  }
  return start;
}

// The coordinates of a piece of what begins at `start`.
static SmallVector<Value> movedBy(Lowering &lowering, ArrayRef<Value> start, const BoxPiece &piece) {
  SmallVector<Value> moved;
  for (auto [value, distance] : llvm::zip_equal(start, piece.coordinates))
    moved.push_back(distance ? LLVM::AddOp::create(lowering.b, value, lowering.i32(distance)).getResult() : value);
  return moved;
}

// The one thread that starts all copies of boxes, and so can wait for those that it started. Null: the code is its own.
static Value startsCopies(Lowering &lowering) {
  if (lowering.isProducer)
    return {};
  Value isFirstWarp = LLVM::ICmpOp::create(lowering.b, LLVM::ICmpPredicate::eq, lowering.warpId(), lowering.i32(0));
  return lowering.both(isFirstWarp, lowering.machine.boxCopies()->isElected(lowering.b));
}

LogicalResult Lowering::lowerCopyBox(CopyBoxOp op) {
  SharedType tile = op.getTarget().getType();
  TensorMapRecipe recipe = recipeOf(op.getMap());
  int64_t size = byteSize(tile.getElementType());
  SmallVector<int64_t> shape = ownShape(tile);
  assert(*tile.getLayout().getValue().ofOneBlock() == boxLayout(recipe, shape) && "the hardware writes in this layout");
  Value starts = startsCopies(*this);
  if (op.getPredicate())
    starts = both(starts, scalar(op.getPredicate()));
  Value barrier = barrierAt(op.getBarriers(), op.getIndex()), base = scalar(op.getTarget());
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  if (int64_t expected = op.getExpected().value_or(elements * size))
    machine.boxCopies()->expectBytes(b, barrier, expected, starts);
  SmallVector<Value> start = startOfPart(*this, op.getCoordinates(), tile);
  for (const BoxPiece &piece : boxPieces(recipe, shape))
    machine.boxCopies()->copyBox(b, scalar(op.getMap()), movedBy(*this, start, piece),
                                 piece.offset ? byteOffset(base, i32(piece.offset * size)) : base, barrier, starts);
  return success();
}

LogicalResult Lowering::lowerAwait(AwaitOp op) {
  Value barrier = barrierAt(op.getBarriers(), op.getIndex());
  if (op.getPhase()) {
    machine.boxCopies()->awaitBarrier(b, barrier, scalar(op.getPhase()));
    return success();
  }
  // The phases are a variable of the thread, which LLVM makes a register of: a bit for each barrier of the ring.
  assert(op.getBarriers().getType().getCount() <= 32 && "a bit for each barrier");
  Value &variable = phases[op.getBarriers()];
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto allocation = op.getBarriers().getDefiningOp<AllocateBarriersOp>();
  int64_t first = allocation && allocation.getReleased() ? -1 : 0; // the phase before the first, or the first
  if (!variable)
    variable = atEntry([&]() -> Value {
      Value made = LLVM::AllocaOp::create(b, pointer, b.getI32Type(), i32(1), 4);
      LLVM::StoreOp::create(b, i32(first), made);
      return made;
    });
  Value all = LLVM::LoadOp::create(b, b.getI32Type(), variable), index = scalar(op.getIndex());
  Value phase = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, all, index), i32(1));
  if (op->hasAttr(againAttribute)) {
    machine.boxCopies()->awaitBarrier(b, barrier, LLVM::XOrOp::create(b, phase, i32(1)));
    return success();
  }
  machine.boxCopies()->awaitBarrier(b, barrier, phase);
  LLVM::StoreOp::create(b, LLVM::XOrOp::create(b, all, LLVM::ShlOp::create(b, i32(1), index)), variable);
  return success();
}

// The warps behind the kernel's own. They are told apart by what every lane of a warp has from one of them: the machine
// sees that a warp does not part there.
LogicalResult Lowering::lowerProducer(ProducerOp op) {
  Value own = i32(block.warps), number = machine.shuffleFrom(b, warpId(), i32(0));
  Value isOther = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::uge, number, own);
  auto branch = scf::IfOp::create(b, TypeRange{}, isOther, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    if (op.getRegisters())
      machine.boxCopies()->setRegisters(b, (*op.getRegisters())[0], /*areMore=*/false);
    Value isFirst = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, number, own);
    auto alone =
        scf::IfOp::create(b, TypeRange{}, both(isFirst, machine.boxCopies()->isElected(b)), /*withElse=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(alone.thenBlock());
      isProducer = true;
      if (failed(lowerBlock(op.getBody().front())))
        return failure();
      isProducer = false;
    }
    machine.leave(b);
  }
  if (op.getRegisters())
    machine.boxCopies()->setRegisters(b, (*op.getRegisters())[1], /*areMore=*/true);
  meeting = block.threads();
  return success();
}

LogicalResult Lowering::lowerRelease(ReleaseOp op) {
  if (op.getAfterReads())
    machine.warpBarrier(b);
  Value acts = machine.boxCopies()->isElected(b);
  if (op.getPredicate())
    acts = both(acts, scalar(op.getPredicate()));
  machine.boxCopies()->arrive(b, barrierAt(op.getBarriers(), op.getIndex()), acts);
  return success();
}

// What the launch makes a tensor map of, in 64 bits: the kernel has the same arguments.
static Value valueOf(Lowering &lowering, func::FuncOp kernel, const LaunchExpression &expression) {
  using Kind = LaunchExpression::Kind;
  simt::Builder &b = lowering.b;
  Type word = b.getI64Type();
  SmallVector<Value> stack;
  auto combine = [&](auto make) {
    Value right = stack.pop_back_val(), left = stack.pop_back_val();
    stack.push_back(make(left, right));
  };
  for (const LaunchExpression::Step &step : expression.steps)
    switch (step.kind) {
    case Kind::Argument: {
      Value given = lowering.scalar(kernel.getArgument(static_cast<unsigned>(step.number)));
      if (isa<LLVM::LLVMPointerType>(given.getType()))
        given = LLVM::PtrToIntOp::create(b, word, given);
      stack.push_back(given.getType() == word ? given : LLVM::ZExtOp::create(b, word, given).getResult());
      break;
    }
    case Kind::Number:
      stack.push_back(lowering.constant(word, step.number));
      break;
    case Kind::SignExtend:
    case Kind::ZeroExtend: {
      Value low = LLVM::TruncOp::create(b, b.getIntegerType(static_cast<unsigned>(step.number)), stack.pop_back_val());
      stack.push_back(step.kind == Kind::SignExtend ? LLVM::SExtOp::create(b, word, low).getResult()
                                                    : LLVM::ZExtOp::create(b, word, low).getResult());
      break;
    }
    case Kind::Add:
      combine([&](Value left, Value right) -> Value { return LLVM::AddOp::create(b, left, right); });
      break;
    case Kind::Subtract:
      combine([&](Value left, Value right) -> Value { return LLVM::SubOp::create(b, left, right); });
      break;
    case Kind::Multiply:
      combine([&](Value left, Value right) -> Value { return LLVM::MulOp::create(b, left, right); });
      break;
    case Kind::Minimum:
      combine([&](Value left, Value right) -> Value { return LLVM::SMinOp::create(b, left, right); });
      break;
    case Kind::Maximum:
      combine([&](Value left, Value right) -> Value { return LLVM::SMaxOp::create(b, left, right); });
      break;
    }
  return stack.back();
}

// Stores the tile by the threads, element by element in the order of shared memory: what lies in the array.
static void storeByThreads(Lowering &lowering, CopyOutOp op, const TensorMapRecipe &recipe, ArrayRef<Value> start) {
  simt::Builder &b = lowering.b;
  SharedType tile = op.getSource().getType();
  const LinearLayout layout = *tile.getLayout().getValue().ofOneBlock();
  SmallVector<int64_t> shape = ownShape(tile);
  Type element = tile.getElementType(), word = b.getI64Type();
  auto kernel = cast<func::FuncOp>(cast<BlockArgument>(op.getMap()).getOwner()->getParentOp());
  int64_t size = Lowering::byteSize(element), elements = 1;
  SmallVector<Value> extents, strides;
  for (unsigned axis = 0; axis < recipe.rank(); ++axis) {
    elements *= shape[axis];
    extents.push_back(valueOf(lowering, kernel, recipe.shape[axis]));
    strides.push_back(axis + 1 < recipe.rank() ? valueOf(lowering, kernel, recipe.strides[axis])
                                               : lowering.constant(word, 1));
  }
  Value array = valueOf(lowering, kernel, recipe.base);
  auto loop =
      scf::ForOp::create(b, lowering.threadId(), lowering.i32(elements), lowering.i32(lowering.block.threads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value place = loop.getInductionVar(), packed = lowering.i32(0);
  for (auto [bit, basis] : llvm::enumerate(layout.basesOf(Place::Offset))) {
    Value isSet = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, place, lowering.i32(bit)), lowering.i32(1));
    packed = LLVM::XOrOp::create(b, packed, LLVM::MulOp::create(b, isSet, lowering.i32(basis)));
  }
  // One of the blocks that have the same part.
  Value isThere = lowering.isHolder(tile.getLayout().getValue()), distance = lowering.constant(word, 0),
        zero = lowering.constant(word, 0);
  for (unsigned axis = recipe.rank(), shift = 0; axis-- > 0;) {
    auto bits = llvm::Log2_64(static_cast<uint64_t>(layout.extent(axis)));
    Value inTile = LLVM::AndOp::create(b, LLVM::LShrOp::create(b, packed, lowering.i32(shift)),
                                       lowering.i32((int64_t(1) << bits) - 1));
    shift += bits;
    Value begin = LLVM::SExtOp::create(b, word, start[axis]);
    Value coordinate = LLVM::AddOp::create(b, begin, LLVM::ZExtOp::create(b, word, inTile));
    isThere = lowering.both(isThere, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::sge, coordinate, zero));
    isThere = lowering.both(isThere, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, coordinate, extents[axis]));
    distance = LLVM::AddOp::create(b, distance, LLVM::MulOp::create(b, coordinate, strides[axis]));
  }
  Value bytes = LLVM::MulOp::create(b, distance, lowering.constant(word, size));
  Value address = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1),
                                           LLVM::AddOp::create(b, array, bytes).getResult());
  Value value = lowering.loadShared(lowering.scalar(op.getSource()), element, place, Value());
  value = lowering.toMemory(value, element);
  if (std::optional<tile::AtomicKind> kind = op.getKind()) {
    AtomicAccess access{*kind, tile::MemoryOrder::Relaxed, tile::MemoryScope::GPU, /*wantsResult=*/false};
    lowering.machine.atomic(b, element, address, value, isThere, access);
  } else {
    Type bitsOfElement = b.getIntegerType(static_cast<unsigned>(8 * size));
    lowering.machine.store(b, lowering.bitcast(value, bitsOfElement), address, isThere, {});
  }
}

// Whether nothing that the block does after it touches global memory or tells others: then nobody but what runs after
// the kernel, which sees all of it, looks at what was stored.
static bool isLastAccess(CopyOutOp op) {
  if (!isa<func::FuncOp>(op->getParentOp()))
    return false;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (!isa<func::ReturnOp>(next) && !isMemoryEffectFree(next))
      return false;
  return true;
}

LogicalResult Lowering::lowerCopyOut(CopyOutOp op) {
  SharedType tile = op.getSource().getType();
  TensorMapRecipe recipe = recipeOf(op.getMap());
  int64_t size = byteSize(tile.getElementType());
  SmallVector<int64_t> shape = ownShape(tile);
  assert(*tile.getLayout().getValue().ofOneBlock() == boxLayout(recipe, shape) && "the hardware reads in this layout");
  Value base = scalar(op.getSource()), starts = both(startsCopies(*this), isHolder(tile.getLayout().getValue()));
  SmallVector<Value> start = startOfPart(*this, op.getCoordinates(), tile);
  // The hardware refuses boxes that begin before the array: they are rare, and stored by the threads.
  Value isBefore;
  for (Value coordinate : op.getCoordinates()) {
    if (llvm::APInt known; matchPattern(coordinate, m_ConstantInt(&known)) && known.isNonNegative())
      continue;
    Value here = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::slt, scalar(coordinate), i32(0));
    isBefore = isBefore ? LLVM::OrOp::create(b, isBefore, here).getResult() : here;
  }
  OpBuilder::InsertionGuard guard(b);
  scf::IfOp branch;
  if (isBefore) {
    branch = scf::IfOp::create(b, TypeRange{}, isBefore, /*withElse=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    storeByThreads(*this, op, recipe, start);
    b.setInsertionPointToStart(branch.elseBlock());
  }
  for (const BoxPiece &piece : boxPieces(recipe, shape))
    machine.boxCopies()->storeBox(b, scalar(op.getMap()), movedBy(*this, start, piece),
                                  piece.offset ? byteOffset(base, i32(piece.offset * size)) : base, op.getKind(),
                                  starts);
  if (branch)
    b.setInsertionPointAfter(branch);
  machine.boxCopies()->finishStores(b, isLastAccess(op), starts);
  return success();
}

// ---- Words

LogicalResult Lowering::lowerCopy(CopyOp op) {
  SharedType tile = op.getTarget().getType();
  Type pointers = op.getPointer().getType();
  const LinearLayout layout = *layoutOf(pointers).ofOneBlock();
  int64_t size = byteSize(tile.getElementType());
  // Where elements go: the tile's layout backwards.
  BitMatrix toOffset = *tile.getLayout().getValue().ofOneBlock()->matrix().inverse();
  LinearLayout offsets = layout.compose(toOffset, {toOffset.outputBits()});
  SharedAddresses targets(*this, scalar(op.getTarget()), offsets, size);
  Value holder = isScratchHolder(layout);
  Value predicate = op.getPredicate() ? both(holder, scalar(op.getPredicate())) : holder;
  for (const SmallVector<uint32_t> &group : groupRegisters(op, pointers)) {
    uint32_t first = offsets.apply(Position{.reg = group.front()});
    for (auto [distance, reg] : llvm::enumerate(group))
      assert(offsets.apply(Position{.reg = reg}) == first + distance && "neighbours in memory stay neighbours");
    Value isRead = isInside(pointers, group.front());
    if (op.getMask())
      isRead = both(isRead, registers(op.getMask())[group.front()]);
    machine.asyncCopies()->copyWords(b, static_cast<int64_t>(group.size()) * size,
                                     registers(op.getPointer())[group.front()], targets.at(first), isRead, predicate);
  }
  return success();
}
