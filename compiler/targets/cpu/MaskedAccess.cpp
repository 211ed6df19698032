// See MaskedAccess.h.
#include "compiler/targets/cpu/MaskedAccess.h"
#include "compiler/support/PlantedBugs.h"
#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;

namespace {

using Builder = IRBuilder<InstSimplifyFolder>;

// One masked load or store, or a part of one.
struct Access {
  Value *pointer;
  Align alignment;
  Value *mask;
  Value *value; // what is stored, or what a load gives where the mask is false
  bool isLoad;

  FixedVectorType *type() const { return cast<FixedVectorType>(value->getType()); }
  unsigned lanes() const { return type()->getNumElements(); }
};

class Legalizer {
public:
  Legalizer(Module &module, unsigned registerBytes)
      : layout(module.getDataLayout()), builder(module.getContext(), InstSimplifyFolder(layout)),
        registerBytes(registerBytes) {}

  void replace(IntrinsicInst &call) {
    builder.SetInsertPoint(&call);
    parts.clear();
    bool isLoad = call.getIntrinsicID() == Intrinsic::masked_load;
    Value *pointer = call.getArgOperand(isLoad ? 0 : 1);
    unsigned maskIndex = isLoad ? 1 : 2;
    Align alignment = call.getParamAlign(isLoad ? 0 : 1).valueOrOne();
    Access access{pointer, alignment, call.getArgOperand(maskIndex), call.getArgOperand(isLoad ? 2 : 0), isLoad};
    if (!isa<Constant>(access.mask) && bytes(access) <= registerBytes)
      return;
    Value *result = emit(access);
    if (isLoad)
      call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

private:
  uint64_t bytes(const Access &access) const { return layout.getTypeStoreSize(access.type()).getFixedValue(); }

  // Masks are cut at what they are made of, so that a part which is constant becomes one here: the code generator,
  // which is given the parts, finds none to fold by itself.
  Value *lanesOf(Value *vector, unsigned first, unsigned count) {
    if (Value *known = parts.lookup({vector, {first, count}}))
      return known;
    auto cut = [&](Value *operand) { return lanesOf(operand, first, count); };
    Value *part = nullptr;
    bool isMask = vector->getType()->getScalarType()->isIntegerTy(1);
    bool isConjunction = match(vector, PatternMatch::m_And(PatternMatch::m_Value(), PatternMatch::m_Value()));
    if (isMask && !isConjunction && nacre::planted(nacre::PlantedBug::WideMaskUncut))
      isMask = false;
    if (auto *compare = dyn_cast<CmpInst>(vector); isMask && compare) {
      part = builder.CreateCmp(compare->getPredicate(), cut(compare->getOperand(0)), cut(compare->getOperand(1)));
    } else if (auto *binary = dyn_cast<BinaryOperator>(vector); isMask && binary && binary->isBitwiseLogicOp()) {
      part = builder.CreateBinOp(binary->getOpcode(), cut(binary->getOperand(0)), cut(binary->getOperand(1)));
    } else if (auto *select = dyn_cast<SelectInst>(vector); isMask && select) {
      Value *condition = select->getCondition();
      part = builder.CreateSelect(condition->getType()->isVectorTy() ? cut(condition) : condition,
                                  cut(select->getTrueValue()), cut(select->getFalseValue()));
    } else {
      SmallVector<int> picked(count);
      std::iota(picked.begin(), picked.end(), static_cast<int>(first));
      part = builder.CreateShuffleVector(vector, picked);
    }
    return parts[{vector, {first, count}}] = part;
  }

  Access part(const Access &access, unsigned first, unsigned count) {
    uint64_t offset = first * layout.getTypeStoreSize(access.type()->getElementType()).getFixedValue();
    return {builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), access.pointer, offset),
            commonAlignment(access.alignment, offset), lanesOf(access.mask, first, count),
            lanesOf(access.value, first, count), access.isLoad};
  }

  // The loaded value; nothing for a store.
  Value *emit(const Access &access) {
    if (auto *mask = dyn_cast<Constant>(access.mask))
      return emitConstant(access, mask);
    if (bytes(access) <= registerBytes) {
      if (access.isLoad)
        return builder.CreateMaskedLoad(access.type(), access.pointer, access.alignment, access.mask, access.value);
      builder.CreateMaskedStore(access.value, access.pointer, access.alignment, access.mask);
      return nullptr;
    }
    unsigned half = access.lanes() / 2;
    Value *low = emit(part(access, 0, half)), *high = emit(part(access, half, access.lanes() - half));
    if (!access.isLoad)
      return nullptr;
    SmallVector<int> joined(access.lanes());
    std::iota(joined.begin(), joined.end(), 0);
    return builder.CreateShuffleVector(low, high, joined);
  }

  // Plain accesses of the runs of lanes that a constant mask keeps, each a power of two long.
  Value *emitConstant(const Access &access, Constant *mask) {
    auto isKept = [&](unsigned lane) {
      auto *bit = dyn_cast_or_null<ConstantInt>(mask->getAggregateElement(lane));
      return bit && bit->isOne(); // an undefined bit may be read as false
    };
    Value *result = access.value;
    for (unsigned lane = 0; lane < access.lanes();) {
      unsigned run = 0;
      while (lane + run < access.lanes() && isKept(lane + run))
        ++run;
      if (run == 0) {
        ++lane;
        continue;
      }
      unsigned count = 1u << Log2_32(run);
      result = emitPiece(access, result, lane, count);
      lane += count;
    }
    return access.isLoad ? result : nullptr;
  }

  Value *emitPiece(const Access &access, Value *result, unsigned first, unsigned count) {
    Type *element = access.type()->getElementType();
    uint64_t offset = first * layout.getTypeStoreSize(element).getFixedValue();
    Value *pointer = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), access.pointer, offset);
    Align alignment = commonAlignment(access.alignment, offset);
    if (!access.isLoad) {
      Value *stored =
          count == 1 ? builder.CreateExtractElement(access.value, first) : lanesOf(access.value, first, count);
      builder.CreateAlignedStore(stored, pointer, alignment);
      return nullptr;
    }
    Type *type = count == 1 ? element : FixedVectorType::get(element, count);
    Value *loaded = builder.CreateAlignedLoad(type, pointer, alignment);
    if (count == 1)
      return builder.CreateInsertElement(result, loaded, first);
    SmallVector<int> widened(access.lanes(), PoisonMaskElem), merged(access.lanes());
    std::iota(widened.begin(), widened.begin() + count, 0);
    std::iota(merged.begin(), merged.end(), 0);
    std::iota(merged.begin() + first, merged.begin() + first + count, static_cast<int>(access.lanes()));
    return builder.CreateShuffleVector(result, builder.CreateShuffleVector(loaded, widened), merged);
  }

  const DataLayout &layout;
  Builder builder;
  unsigned registerBytes;
  // Of the access being replaced: a vector, its first lane and how many -> those lanes.
  DenseMap<std::pair<Value *, std::pair<unsigned, unsigned>>, Value *> parts;
};

} // namespace

void nacre::cpu::legalizeMaskedAccesses(Module &module, unsigned registerBytes) {
  SmallVector<IntrinsicInst *> accesses;
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
        if ((call->getIntrinsicID() == Intrinsic::masked_load || call->getIntrinsicID() == Intrinsic::masked_store) &&
            isa<FixedVectorType>(call->getIntrinsicID() == Intrinsic::masked_load ? call->getType()
                                                                                  : call->getArgOperand(0)->getType()))
          accesses.push_back(call);
  Legalizer legalizer(module, registerBytes);
  for (IntrinsicInst *access : accesses)
    legalizer.replace(*access);
}
