// Tiles in shared memory: moved from and to registers by the plan of ir/layout/SharedAccess.h.
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/passes/gpu/Exchange.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

// Addresses that the thread gives, for the offsets of the plan's accesses.
static SharedAddresses addressesOf(Lowering &lowering, const SharedAccessPlan &plan, Value base, Type element) {
  LinearLayout thread({plan.offsetBits});
  for (uint32_t image : plan.lane.images())
    thread.add(Place::Lane, image);
  for (uint32_t image : plan.warp.images())
    thread.add(Place::Warp, image);
  return SharedAddresses(lowering, base, thread, Lowering::byteSize(element));
}

// What a block moves, both as one block has it.
static std::pair<LinearLayout, LinearLayout> layoutsOfMove(Value tile, SharedType shared) {
  const LinearLayout &registers = layoutOf(tile), &memory = shared.getLayout().getValue();
  LinearLayout own = *memory.ofOneBlock();
  // Where each block has all of the tile in memory, its threads read their part of it.
  if (!memory.isSplitOverBlocks() && registers.isSplitOverBlocks())
    return {registers.withBlocksAsWarps(), own};
  return {*registers.ofOneBlock(), own};
}

static SharedAccessPlan planMove(Value tile, SharedType shared, bool mayUseMatrices) {
  auto [registers, memory] = layoutsOfMove(tile, shared);
  return planSharedAccess(registers, memory, llvm::Log2_64(Lowering::byteSize(shared.getElementType())),
                          mayUseMatrices);
}

LogicalResult Lowering::lowerWrite(WriteOp op) {
  SharedType shared = op.getTarget().getType();
  Type element = shared.getElementType();
  const LinearLayout &layout = layoutOf(op.getSource());
  bool isAlone = !layout.copies(Place::Lane) && !layout.copies(Place::Warp);
  SharedAccessPlan plan =
      planMove(op.getSource(), shared, isAlone && machine.matrixMoves() && machine.matrixMoves()->storesMatrices());
  SharedAddresses addresses = addressesOf(*this, plan, scalar(op.getTarget()), element);
  Value isWriter = bitsAreZero(*this, plan.laneCopies, plan.warpCopies);
  ArrayRef<Value> source = registers(op.getSource());
  for (const SharedAccessPlan::Access &access : plan.accesses) {
    SmallVector<Value> values = llvm::map_to_vector(access.registers, [&](uint32_t reg) { return source[reg]; });
    if (plan.kind == SharedAccessPlan::Kind::Words)
      writeShared(*this, values, element, addresses.at(access.offset), isWriter);
    else
      machine.matrixMoves()->storeMatrices(b, packWords(values, element), addresses.at(access.offset),
                                           plan.kind == SharedAccessPlan::Kind::TransposedMatrices);
  }
  return success();
}

static SharedAccessPlan planOf(Lowering &lowering, ReadOp op) {
  SharedType shared = op.getSource().getType();
  if (lowering.machine.matrixMoves() && Lowering::byteSize(shared.getElementType()) == 1) {
    auto layouts = layoutsOfMove(op.getResult(), shared);
    if (auto plan = planTransposedBytes(layouts.first, layouts.second))
      return *plan;
  }
  return planMove(op.getResult(), shared, lowering.machine.matrixMoves());
}

// Every second byte of two words, from the first on, and from the second on.
static SmallVector<Value> everySecond(Lowering &lowering, Value first, Value second) {
  simt::Builder &b = lowering.b;
  auto bytes = VectorType::get({4}, b.getI8Type());
  Value left = LLVM::BitcastOp::create(b, bytes, first), right = LLVM::BitcastOp::create(b, bytes, second);
  SmallVector<Value> words;
  for (int32_t start : {0, 1}) {
    int32_t places[] = {start, start + 2, start + 4, start + 6};
    Value taken = LLVM::ShuffleVectorOp::create(b, left, right, places);
    words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), taken));
  }
  return words;
}

namespace nacre::simt {

// The registers of a tile in shared memory, access by access.
class SharedRead {
public:
  SharedRead(Lowering &lowering, ReadOp op)
      : lowering(lowering), element(op.getSource().getType().getElementType()), plan(planOf(lowering, op)),
        addresses(addressesOf(lowering, plan, lowering.scalar(op.getSource()), element)),
        values(Lowering::registerCount(op.getType())) {
    for (auto [number, access] : llvm::enumerate(plan.accesses))
      for (uint32_t reg : access.registers)
        accessOf[reg] = number;
    for (auto [copy, of] : plan.copies)
      accessOf[copy] = accessOf[of];
  }

  Value get(uint32_t reg) {
    if (!values[reg])
      load(plan.accesses[accessOf[reg]]);
    return values[reg];
  }
  ArrayRef<Value> all() {
    for (uint32_t reg = 0; reg < values.size(); ++reg)
      get(reg);
    return values;
  }

private:
  void load(const SharedAccessPlan::Access &access) {
    size_t count = access.registers.size();
    Value address = addresses.at(access.offset);
    SmallVector<Value> loaded;
    if (plan.kind == SharedAccessPlan::Kind::Words) {
      loaded = readShared(lowering, element, count, address);
    } else if (plan.kind == SharedAccessPlan::Kind::TransposedBytes) {
      SmallVector<Value> matrices = lowering.machine.matrixMoves()->loadMatrices(lowering.b, address, 4,
                                                                                 /*isTransposed=*/true),
                         words;
      for (unsigned pair : {0, 2})
        llvm::append_range(words, everySecond(lowering, matrices[pair], matrices[pair + 1]));
      loaded = lowering.unpackWords(words, element, count);
    } else {
      unsigned matrices = count * Lowering::byteSize(element) / 4;
      bool isTransposed = plan.kind == SharedAccessPlan::Kind::TransposedMatrices;
      loaded = lowering.unpackWords(
          lowering.machine.matrixMoves()->loadMatrices(lowering.b, address, matrices, isTransposed), element, count);
    }
    for (auto [reg, value] : llvm::zip_equal(access.registers, loaded))
      values[reg] = value;
    for (auto [copy, of] : plan.copies)
      values[copy] = values[of];
  }

  Lowering &lowering;
  Type element;
  SharedAccessPlan plan;
  SharedAddresses addresses;
  SmallVector<Value> values;
  llvm::DenseMap<uint32_t, size_t> accessOf;
};

} // namespace nacre::simt

// Whether the tile may be got where its only reader, a product in the same block that multiplies it, asks for it: nothing
// in between writes memory or has threads meet. Sums to add to are there before a product begins.
static bool mayReadOnDemand(ReadOp op) {
  if (!op->hasOneUse())
    return false;
  auto dot = dyn_cast<DotOp>(*op->user_begin());
  if (!dot || dot->getBlock() != op->getBlock() || dot.getAccumulator() == op.getResult())
    return false;
  for (Operation *between = op->getNextNode(); between != dot; between = between->getNextNode())
    if (!isa<ReadOp>(between) && !isMemoryEffectFree(between))
      return false;
  return true;
}

LogicalResult Lowering::lowerRead(ReadOp op) {
  auto read = std::make_shared<SharedRead>(*this, op);
  if (mayReadOnDemand(op))
    readsOnDemand[op.getResult()] = read;
  else
    define(op, read->all());
  return success();
}

Value Lowering::registerOf(Value tile, uint32_t reg) {
  auto read = readsOnDemand.find(tile);
  return read == readsOnDemand.end() ? registers(tile)[reg] : read->second->get(reg);
}
