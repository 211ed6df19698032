// Tiles in shared memory: moved from and to registers by the plan of ir/layout/SharedAccess.h.
#include "compiler/ir/layout/SharedAccess.h"
#include "compiler/passes/gpu/Exchange.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::gpu;

// Addresses that the thread gives, for the offsets of the plan's accesses.
static SharedAddresses addressesOf(Lowering &lowering, const SharedAccessPlan &plan, Value base, Type element) {
  LinearLayout thread({plan.offsetBits});
  for (uint32_t image : plan.lane.images())
    thread.add(Place::Lane, image);
  for (uint32_t image : plan.warp.images())
    thread.add(Place::Warp, image);
  return SharedAddresses(lowering, base, thread, Lowering::byteSize(element));
}

static SharedAccessPlan planMove(Value tile, SharedType shared, bool mayUseMatrices) {
  Type element = shared.getElementType();
  return planSharedAccess(layoutOf(tile), shared.getLayout().getValue(), llvm::Log2_64(Lowering::byteSize(element)),
                          mayUseMatrices);
}

LogicalResult Lowering::lowerWrite(WriteOp op) {
  SharedType shared = op.getTarget().getType();
  Type element = shared.getElementType();
  const LinearLayout &layout = layoutOf(op.getSource());
  bool isAlone = !layout.copies(Place::Lane) && !layout.copies(Place::Warp);
  SharedAccessPlan plan = planMove(op.getSource(), shared, isAlone && machine.storesMatrices());
  SharedAddresses addresses = addressesOf(*this, plan, scalar(op.getTarget()), element);
  Value isWriter = bitsAreZero(*this, plan.laneCopies, plan.warpCopies);
  ArrayRef<Value> source = registers(op.getSource());
  for (const SharedAccessPlan::Access &access : plan.accesses) {
    SmallVector<Value> values = llvm::map_to_vector(access.registers, [&](uint32_t reg) { return source[reg]; });
    if (plan.kind == SharedAccessPlan::Kind::Words)
      writeShared(*this, values, element, addresses.at(access.offset), isWriter);
    else
      machine.storeMatrices(b, packWords(values, element), addresses.at(access.offset),
                            plan.kind == SharedAccessPlan::Kind::TransposedMatrices);
  }
  return success();
}

LogicalResult Lowering::lowerRead(ReadOp op) {
  SharedType shared = op.getSource().getType();
  Type element = shared.getElementType();
  SharedAccessPlan plan = planMove(op.getResult(), shared, machine.loadsMatrices());
  SharedAddresses addresses = addressesOf(*this, plan, scalar(op.getSource()), element);
  SmallVector<Value> result(registerCount(op.getType()));
  for (const SharedAccessPlan::Access &access : plan.accesses) {
    size_t count = access.registers.size();
    SmallVector<Value> values;
    if (plan.kind == SharedAccessPlan::Kind::Words) {
      values = readShared(*this, element, count, addresses.at(access.offset));
    } else {
      unsigned matrices = count * byteSize(element) / 4;
      values = unpackWords(machine.loadMatrices(b, addresses.at(access.offset), matrices,
                                                plan.kind == SharedAccessPlan::Kind::TransposedMatrices),
                           element, count);
    }
    for (auto [reg, value] : llvm::zip_equal(access.registers, values))
      result[reg] = value;
  }
  for (auto [copy, of] : plan.copies)
    result[copy] = result[of];
  define(op, result);
  return success();
}
