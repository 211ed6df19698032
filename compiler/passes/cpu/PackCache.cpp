// See PackCache.h.
#include "compiler/passes/cpu/PackCache.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::cpu;

static constexpr int64_t budgetBytes = 2 << 20; // of one operand, on each thread
static constexpr int64_t mostSlots = 128;

// The number of the iteration of the innermost loop around the product, modulo the slots.
Value PackCache::slotNumber(int64_t slots) {
  Emit &b = lowering.b;
  auto loop = packs->getParentOfType<scf::ForOp>();
  if (!loop || slots == 1)
    return b.index(0);
  Value first = b.toI64(lowering.scalar(loop.getLowerBound())), step = b.toI64(lowering.scalar(loop.getStep()));
  Value iteration = b.sub(b.toI64(lowering.scalar(loop.getInductionVar())), first);
  if (!Emit::isKnown(step, 1))
    iteration = arith::DivUIOp::create(b, iteration, step);
  return arith::AndIOp::create(b, iteration, b.index(slots - 1));
}

Value PackCache::emit(Value temporary, int64_t bytes, llvm::function_ref<void(Value target)> pack) {
  Emit &b = lowering.b;
  Type i64 = b.getI64Type();
  // A slot: launch, state (1: holds the operand), the key; then the operand.
  int64_t header = (8 * (2 + static_cast<int64_t>(key.size())) + 63) / 64 * 64;
  int64_t slotBytes = header + (bytes + 63) / 64 * 64;
  int64_t slots =
      std::clamp<int64_t>(int64_t(1) << llvm::Log2_64(std::max<int64_t>(1, budgetBytes / slotBytes)), 1, mostSlots);
  Value region = lowering.allocateKept(slots * slotBytes);
  Value slot = b.offsetBytes(region, b.mul(slotNumber(slots), b.index(slotBytes)));
  auto field = [&](int64_t index) { return b.offsetBytes(slot, b.index(8 * index)); };

  SmallVector<Value> asked;
  asked.push_back(b.load(i64, b.offsetBytes(lowering.context, b.index(offsetof(KernelContext, launchId))), 8));
  for (Value value : key) {
    Value bits = lowering.scalar(value);
    if (isa<LLVM::LLVMPointerType>(bits.getType()))
      bits = LLVM::PtrToIntOp::create(b, i64, bits);
    else if (auto floating = dyn_cast<FloatType>(bits.getType()))
      bits = arith::BitcastOp::create(b, b.getIntegerType(floating.getWidth()), bits);
    asked.push_back(b.toI64(bits));
  }
  Value same;
  for (auto [i, value] : llvm::enumerate(asked)) {
    Value equal = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.load(i64, field(i == 0 ? 0 : i + 1), 8), value);
    same = same ? Value(arith::AndIOp::create(b, same, equal)) : equal;
  }
  Value held = arith::AndIOp::create(
      b, same, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, b.load(i64, field(1), 8), b.index(1)));
  Value target = b.select(same, b.offsetBytes(slot, b.index(header)), temporary);
  Value missing = arith::XOrIOp::create(b, held, b.constant(b.getI1Type(), 1));
  auto branch = scf::IfOp::create(b, TypeRange{}, missing, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  pack(target);
  for (auto [i, value] : llvm::enumerate(asked))
    b.store(value, field(i == 0 ? 0 : i + 1), 8);
  b.store(arith::ExtUIOp::create(b, i64, same), field(1), 8);
  return target;
}
