// Scans, gathers and histograms through shared memory.
#include "compiler/passes/gpu/Lowering.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

// A loop whose iterations are dealt out to the threads of the block.
static void forEachOfThreads(Lowering &lowering, int64_t count, llvm::function_ref<void(Value)> body) {
  gpu::Builder &b = lowering.b;
  auto loop = scf::ForOp::create(b, lowering.threadId(), lowering.i32(count), lowering.i32(lowering.block.threads()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

// Each row is one thread's.
LogicalResult Lowering::lowerScan(tile::ScanOp op) {
  auto type = cast<RankedTensorType>(op.getOperands().front().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t length = shape[op.getAxis()], stride = 1, rows = type.getNumElements() / length;
  for (int64_t extent : shape.drop_front(op.getAxis() + 1))
    stride *= extent;
  SmallVector<Value> parts = scratchParts(op, op.getOperands(), type.getNumElements());
  barrierBefore(op);
  for (auto [operand, part] : llvm::zip(op.getOperands(), parts))
    writeTile(operand, part);
  barrier();
  bool failed = false;
  forEachOfThreads(*this, rows, [&](Value row) {
    Value outer = LLVM::UDivOp::create(b, row, i32(stride)), inner = LLVM::URemOp::create(b, row, i32(stride));
    Value start = LLVM::AddOp::create(b, LLVM::MulOp::create(b, outer, i32(stride * length)), inner);
    auto indexOf = [&](Value step) {
      if (op.getReverse())
        step = LLVM::SubOp::create(b, i32(length - 1), step);
      return Value(LLVM::AddOp::create(b, start, LLVM::MulOp::create(b, step, i32(stride))));
    };
    auto elementsAt = [&](Value index) {
      SmallVector<Value> values;
      for (auto [operand, part] : llvm::zip(op.getOperands(), parts))
        values.push_back(loadShared(part, getElementTypeOrSelf(operand.getType()), index, Value()));
      return values;
    };
    auto loop = scf::ForOp::create(b, i32(1), i32(length), i32(1), elementsAt(indexOf(i32(0))));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value index = indexOf(loop.getInductionVar());
    SmallVector<Value> arguments(loop.getRegionIterArgs());
    llvm::append_range(arguments, elementsAt(index));
    SmallVector<Value> next = inlineRegion(op.getCombine(), arguments);
    if (next.size() != parts.size()) {
      failed = true;
      return;
    }
    for (auto [value, operand, part] : llvm::zip(next, op.getOperands(), parts))
      storeShared(value, part, getElementTypeOrSelf(operand.getType()), index, Value());
    scf::YieldOp::create(b, next);
  });
  if (failed)
    return failure();
  barrier();
  for (auto [result, part] : llvm::zip(op.getResults(), parts))
    readTile(result, part);
  return success();
}

LogicalResult Lowering::lowerGather(tile::GatherOp op) {
  auto source = cast<RankedTensorType>(op.getSource().getType());
  Type type = op.getType(), element = source.getElementType();
  Type indexElement = getElementTypeOrSelf(op.getIndex().getType());
  Value base = scratch(op);
  barrierBefore(op);
  writeTile(op.getSource(), base);
  barrier();
  SmallVector<Value> results;
  ArrayRef<int64_t> shape = source.getShape();
  for (auto [reg, place] : llvm::enumerate(registers(op.getIndex()))) {
    Value along = place;
    if (indexElement.getIntOrFloatBitWidth() > 32)
      along = LLVM::TruncOp::create(b, b.getI32Type(), along);
    else if (indexElement.getIntOrFloatBitWidth() < 32)
      along = LLVM::ZExtOp::create(b, b.getI32Type(), along);
    Value index = i32(0);
    int64_t stride = 1;
    for (unsigned axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
      Value at = axis == op.getAxis() ? along : coordinate(layoutOf(type), reg, axis);
      index = LLVM::AddOp::create(b, index, LLVM::MulOp::create(b, at, i32(stride)));
    }
    results.push_back(loadShared(base, element, index, isInside(type, reg)));
  }
  define(op, results);
  return success();
}

LogicalResult Lowering::lowerHistogram(tile::HistogramOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Type source = op.getSource().getType(), element = type.getElementType();
  Type sourceElement = getElementTypeOrSelf(source);
  int64_t bins = type.getNumElements();
  Value base = scratch(op);
  barrierBefore(op);
  forEachOfThreads(*this, bins,
                   [&](Value bin) { storeShared(constant(element, 0), base, element, bin, Value()); });
  barrier();
  AtomicAccess add{tile::AtomicKind::AddI, tile::MemoryOrder::Relaxed, tile::MemoryScope::CTA, false};
  for (auto [reg, value] : llvm::enumerate(registers(op.getSource()))) {
    unsigned width = sourceElement.getIntOrFloatBitWidth();
    Value wide = width == 64 ? value : Value(LLVM::ZExtOp::create(b, b.getI64Type(), value));
    Value predicate =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, wide, constant(b.getI64Type(), bins));
    predicate = both(both(predicate, isHolder(layoutOf(source))), isInside(source, reg));
    if (op.getMask())
      predicate = both(predicate, registers(op.getMask())[reg]);
    Value bin = LLVM::TruncOp::create(b, b.getI32Type(), wide);
    machine.atomic(b, element, sharedElement(base, element, bin), constant(element, 1), predicate, add);
  }
  barrier();
  readTile(op.getResult(), base);
  return success();
}
