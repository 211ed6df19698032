// See ScopeClocks.h. LowerMarks.cpp reads the clock, stores it, and stores the mark's number after it: predicated
// stores are inline PTX of which the value is the second operand, and which stays in its order.
#include "compiler/targets/cuda/ScopeClocks.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace nacre::cuda {

static const llvm::CallInst *nextStore(const llvm::Instruction *after) {
  for (; after; after = after->getNextNode())
    if (auto *call = llvm::dyn_cast<llvm::CallInst>(after); call && call->isInlineAsm() && call->arg_size() >= 2)
      return call;
  return nullptr;
}

// The number of the mark whose clock this is.
static std::optional<uint64_t> numberOf(const llvm::Instruction &instruction) {
  auto *clock = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!clock || clock->getIntrinsicID() != llvm::Intrinsic::nvvm_read_ptx_sreg_clock64)
    return std::nullopt;
  const llvm::CallInst *stored = nextStore(clock);
  const llvm::CallInst *numbered = stored ? nextStore(stored->getNextNode()) : nullptr;
  if (!numbered || stored->getArgOperand(1) != clock)
    return std::nullopt;
  auto *number = llvm::dyn_cast<llvm::ConstantInt>(numbered->getArgOperand(1));
  return number ? std::optional(number->getZExtValue()) : std::nullopt;
}

MarksInCode scopeClocks(std::vector<simt::MarkPlace> places) {
  auto markOf = [places = std::move(places)](const llvm::Instruction &instruction) -> std::optional<MarksInCode::Mark> {
    std::optional<uint64_t> number = numberOf(instruction);
    if (!number || *number >= places.size())
      return std::nullopt;
    const simt::MarkPlace &place = places[*number];
    return isScope(place.kind) ? std::optional(MarksInCode::Mark{isBegin(place.kind), place.name}) : std::nullopt;
  };
  return {markOf, [](const llvm::Instruction &) { return std::optional<unsigned>(); }};
}

} // namespace nacre::cuda
