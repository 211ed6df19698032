// Atomics: one thread acts for each element. An atomic that releases or acquires orders the accesses of the whole
// block, not of its thread alone: the block meets before, and after.
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/support/PlantedBugs.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

static bool releases(tile::MemoryOrder order) {
  return order == tile::MemoryOrder::Release || order == tile::MemoryOrder::AcquireRelease;
}
static bool acquires(tile::MemoryOrder order) {
  return order == tile::MemoryOrder::Acquire || order == tile::MemoryOrder::AcquireRelease;
}

// Through shared memory, element by element.
void Lowering::shareResult(Operation *op, MutableArrayRef<Value> old) {
  Lowering &lowering = *this;
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  Value holder = lowering.actor(type);
  if (!holder)
    return;
  Value base = lowering.scratch(op);
  int64_t count = tensor ? tensor.getNumElements() : 1;
  SmallVector<Value> shared(old.size());
  for (auto [number, part] : llvm::enumerate(scratchParts(count, Lowering::byteSize(element)))) {
    number ? lowering.barrier() : lowering.barrierBefore(op);
    auto forEach = [&](auto access) {
      for (uint32_t reg = 0; reg < old.size(); ++reg) {
        Value index = tensor ? lowering.elementIndex(type, reg) : lowering.i32(0);
        Value isHere = lowering.isOfPart(index, part);
        access(reg, index, lowering.both(tensor ? lowering.isInside(type, reg) : Value(), isHere));
      }
    };
    forEach([&](uint32_t reg, Value index, Value predicate) {
      lowering.storeShared(old[reg], base, element, index, lowering.both(holder, predicate));
    });
    if (!planted(PlantedBug::AtomicResultBarrier))
      lowering.barrier();
    forEach([&](uint32_t reg, Value index, Value predicate) {
      shared[reg] = lowering.loadShared(base, element, index, predicate, shared[reg]);
    });
  }
  llvm::copy(shared, old.begin());
}

static Value predicateOf(Lowering &lowering, Type type, Value mask, uint32_t reg) {
  bool isTile = isa<RankedTensorType>(type);
  Value predicate = lowering.actor(type);
  if (predicate && planted(PlantedBug::AtomicOfCopies))
    predicate = Value();
  if (isTile)
    predicate = lowering.both(predicate, lowering.isInside(type, reg));
  return mask ? lowering.both(predicate, lowering.registers(mask)[reg]) : predicate;
}

LogicalResult Lowering::lowerAtomicRmw(tile::AtomicRmwOp op) {
  Type type = op.getType(), element = getElementTypeOrSelf(type);
  AtomicAccess access{op.getKind(), op.getOrder(), op.getScope(), !op.getResult().use_empty()};
  if (releases(access.order) && !elements)
    programBarrier();
  SmallVector<Value> old;
  for (unsigned reg = 0; reg < registerCount(type); ++reg) {
    Value predicate = predicateOf(*this, type, op.getMask(), reg);
    Value result = machine.atomic(b, element, registers(op.getPointer())[reg],
                                  toMemory(registers(op.getValue())[reg], element), predicate, access);
    if (!access.wantsResult) {
      old.push_back(zero(registerType(element)));
      continue;
    }
    if (predicate)
      result = LLVM::SelectOp::create(b, predicate, result, zero(result.getType()));
    old.push_back(fromMemory(result, element));
  }
  if (access.wantsResult)
    shareResult(op, old);
  if (acquires(access.order) && !elements)
    programBarrier();
  define(op, old);
  return success();
}

LogicalResult Lowering::lowerAtomicCas(tile::AtomicCasOp op) {
  Type type = op.getType(), element = getElementTypeOrSelf(type), memory = memoryType(element);
  AtomicAccess access{tile::AtomicKind::Exchange, op.getOrder(), op.getScope(), !op.getResult().use_empty()};
  if (releases(access.order) && !elements)
    programBarrier();
  Type word = b.getIntegerType(8 * byteSize(element));
  auto wordOf = [&](Value value, unsigned reg) { return bitcast(toMemory(registers(value)[reg], element), word); };
  SmallVector<Value> old;
  for (unsigned reg = 0; reg < registerCount(type); ++reg) {
    Value predicate = predicateOf(*this, type, Value(), reg);
    Value result = machine.compareAndSwap(b, registers(op.getPointer())[reg], wordOf(op.getExpected(), reg),
                                          wordOf(op.getDesired(), reg), predicate, access);
    if (predicate)
      result = LLVM::SelectOp::create(b, predicate, result, zero(word));
    old.push_back(fromMemory(bitcast(result, memory), element));
  }
  if (access.wantsResult)
    shareResult(op, old);
  if (acquires(access.order) && !elements)
    programBarrier();
  define(op, old);
  return success();
}
