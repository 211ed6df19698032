// Copies by the hardware: of boxes, which one thread starts and which complete on barriers, and of words, which every
// thread starts for itself.
#include "compiler/ir/gpu/Boxes.h"
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/passes/gpu/Exchange.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

// ---- Boxes

static constexpr int64_t barrierBytes = 8;

// The barriers are ready before anything else happens: a copy may be the first thing.
LogicalResult Lowering::lowerAllocateBarriers(AllocateBarriersOp op) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryMarker);
  Value base = scratch(op);
  define(op, base);
  for (int64_t i = 0; i < op.getType().getCount(); ++i)
    machine.initBarrier(b, byteOffset(base, i32(i * barrierBytes)), isFirstThread());
  needsEntryBarrier = true;
  return success();
}

Value Lowering::barrierAt(Value barriers, Value index) {
  Value base = scalar(barriers);
  if (cast<BarriersType>(barriers.getType()).getCount() == 1)
    return base;
  return byteOffset(base, LLVM::MulOp::create(b, scalar(index), i32(barrierBytes)));
}

// The coordinates of a piece of the tile that begins at `coordinates`.
static SmallVector<Value> movedBy(Lowering &lowering, OperandRange coordinates, const BoxPiece &piece) {
  SmallVector<Value> moved;
  for (auto [coordinate, distance] : llvm::zip_equal(coordinates, piece.coordinates)) {
    Value value = lowering.scalar(coordinate);
    moved.push_back(distance ? LLVM::AddOp::create(lowering.b, value, lowering.i32(distance)).getResult() : value);
  }
  return moved;
}

// The one thread that starts all copies of boxes, and so can wait for those that it started.
static Value startsCopies(Lowering &lowering) {
  Value isFirstWarp = LLVM::ICmpOp::create(lowering.b, LLVM::ICmpPredicate::eq, lowering.warpId(), lowering.i32(0));
  return lowering.both(isFirstWarp, lowering.machine.isElected(lowering.b));
}

LogicalResult Lowering::lowerCopyBox(CopyBoxOp op) {
  SharedType tile = op.getTarget().getType();
  TensorMapRecipe recipe = recipeOf(op.getMap());
  int64_t size = byteSize(tile.getElementType());
  assert(tile.getLayout().getValue() == boxLayout(recipe, tile.getShape()) && "the hardware writes in this layout");
  Value starts = startsCopies(*this);
  if (op.getPredicate())
    starts = both(starts, scalar(op.getPredicate()));
  Value barrier = barrierAt(op.getBarriers(), op.getIndex()), base = scalar(op.getTarget());
  int64_t elements = 1;
  for (int64_t extent : tile.getShape())
    elements *= extent;
  machine.expectBytes(b, barrier, elements * size, starts);
  for (const BoxPiece &piece : boxPieces(recipe, tile.getShape()))
    machine.copyBox(b, scalar(op.getMap()), movedBy(*this, op.getCoordinates(), piece),
                    piece.offset ? byteOffset(base, i32(piece.offset * size)) : base, barrier, starts);
  return success();
}

LogicalResult Lowering::lowerAwait(AwaitOp op) {
  Value barrier = barrierAt(op.getBarriers(), op.getIndex());
  if (op.getPhase()) {
    machine.awaitBarrier(b, barrier, scalar(op.getPhase()));
    return success();
  }
  // The phases are a variable of the thread, which LLVM makes a register of: a bit for each barrier of the ring.
  assert(op.getBarriers().getType().getCount() <= 32 && "a bit for each barrier");
  Value &variable = phases[op.getBarriers()];
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  if (!variable)
    variable = atEntry([&]() -> Value {
      Value made = LLVM::AllocaOp::create(b, pointer, b.getI32Type(), i32(1), 4);
      LLVM::StoreOp::create(b, i32(0), made);
      return made;
    });
  Value all = LLVM::LoadOp::create(b, b.getI32Type(), variable), index = scalar(op.getIndex());
  machine.awaitBarrier(b, barrier, LLVM::AndOp::create(b, LLVM::LShrOp::create(b, all, index), i32(1)));
  LLVM::StoreOp::create(b, LLVM::XOrOp::create(b, all, LLVM::ShlOp::create(b, i32(1), index)), variable);
  return success();
}

LogicalResult Lowering::lowerCopyOut(CopyOutOp op) {
  SharedType tile = op.getSource().getType();
  TensorMapRecipe recipe = recipeOf(op.getMap());
  int64_t size = byteSize(tile.getElementType());
  assert(tile.getLayout().getValue() == boxLayout(recipe, tile.getShape()) && "the hardware reads in this layout");
  Value base = scalar(op.getSource()), starts = startsCopies(*this);
  for (const BoxPiece &piece : boxPieces(recipe, tile.getShape()))
    machine.storeBox(b, scalar(op.getMap()), movedBy(*this, op.getCoordinates(), piece),
                     piece.offset ? byteOffset(base, i32(piece.offset * size)) : base, op.getKind(), starts);
  machine.finishStores(b, starts);
  return success();
}

// ---- Words

LogicalResult Lowering::lowerCopy(CopyOp op) {
  SharedType tile = op.getTarget().getType();
  Type pointers = op.getPointer().getType();
  const LinearLayout &layout = layoutOf(pointers);
  int64_t size = byteSize(tile.getElementType());
  // Where elements go: the tile's layout backwards.
  BitMatrix toOffset = *tile.getLayout().getValue().matrix().inverse();
  LinearLayout offsets = layout.compose(toOffset, {toOffset.outputBits()});
  SharedAddresses targets(*this, scalar(op.getTarget()), offsets, size);
  Value holder = isHolder(layout);
  Value predicate = op.getPredicate() ? both(holder, scalar(op.getPredicate())) : holder;
  for (const SmallVector<uint32_t> &group : groupRegisters(op, pointers)) {
    uint32_t first = offsets.apply(Position{.reg = group.front()});
    for (auto [distance, reg] : llvm::enumerate(group))
      assert(offsets.apply(Position{.reg = reg}) == first + distance && "neighbours in memory stay neighbours");
    Value isRead = isInside(pointers, group.front());
    if (op.getMask())
      isRead = both(isRead, registers(op.getMask())[group.front()]);
    machine.copyWords(b, static_cast<int64_t>(group.size()) * size, registers(op.getPointer())[group.front()],
                      targets.at(first), isRead, predicate);
  }
  return success();
}
