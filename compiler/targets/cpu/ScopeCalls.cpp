// See ScopeCalls.h. LowerToLoops makes of a mark: `if (context->tell) context->tell(context, program, kind, name,
// ...)`.
#include "compiler/targets/cpu/ScopeCalls.h"
#include "compiler/passes/cpu/KernelABI.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace nacre::cpu {

static constexpr unsigned kindArgument = 2, nameArgument = 3;

static std::optional<MarksInCode::Mark> markOf(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call || !call->isIndirectCall() || call->arg_size() <= nameArgument)
    return std::nullopt;
  auto *number = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(kindArgument));
  llvm::StringRef name;
  if (!number || !llvm::getConstantStringInfo(call->getArgOperand(nameArgument), name))
    return std::nullopt;
  auto kind = static_cast<ToldKind>(number->getZExtValue());
  return isScope(kind) ? std::optional(MarksInCode::Mark{isBegin(kind), name.str()}) : std::nullopt;
}

// Whether the pointer is the context's function that is told, on every way to it.
static bool isTellFunction(const llvm::Value &pointer, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  if (auto *choice = llvm::dyn_cast<llvm::PHINode>(&pointer))
    return depth < deepest && llvm::all_of(
                                  choice->incoming_values(),
                                  [&](const llvm::Use &value) {
                                    return value.get() == choice || llvm::isa<llvm::ConstantPointerNull>(value) ||
                                           isTellFunction(*value.get(), depth + 1);
                                  });
  auto *load = llvm::dyn_cast<llvm::LoadInst>(&pointer);
  if (!load)
    return false;
  const llvm::DataLayout &layout = load->getModule()->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
  const llvm::Value *base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  return llvm::isa<llvm::Argument>(base) && offset == offsetof(KernelContext, tell);
}

static std::optional<unsigned> unwatchedSuccessor(const llvm::Instruction &end) {
  auto *branch = llvm::dyn_cast<llvm::BranchInst>(&end);
  auto *compare = branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!compare || !compare->isEquality() || !llvm::isa<llvm::ConstantPointerNull>(compare->getOperand(1)) ||
      !isTellFunction(*compare->getOperand(0)))
    return std::nullopt;
  return compare->getPredicate() == llvm::ICmpInst::ICMP_EQ ? 0 : 1;
}

MarksInCode scopeCalls() { return {markOf, unwatchedSuccessor}; }

} // namespace nacre::cpu
